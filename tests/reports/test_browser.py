"""Real reports in a real browser: what people see, reach by keyboard, filter, print, and what cannot run there.

Needs the system's Chromium and the playwright package; axe-core's file is named by AXE_PATH.
"""

import json
from pathlib import Path

import pytest

import reports
from reports.synthetic import HOSTILE
from tests.reports.attacks import attacked_run
from tests.reports.browser import AXE, fits, serious

pytestmark = [pytest.mark.browser]


@pytest.fixture
def opened(chromium, rendered):
    """Opens a run's report; at the end, no page may have said anything or asked for anything."""
    trouble, contexts = [], []

    def open_(name, address="", width=1280, height=900, script=True, **options):
        context = chromium.new_context(
            viewport={"width": width, "height": height}, java_script_enabled=script, **options
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: trouble.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: trouble.append(f"error: {error}"))
        page.on("dialog", lambda dialog: trouble.append(f"dialog: {dialog.message}"))
        file = (rendered[name] / "report.html").as_uri()
        page.on("request", lambda request: request.url.startswith(file) or trouble.append(f"request: {request.url}"))
        page.goto(file + address)
        return page

    yield open_
    for context in contexts:
        context.close()
    assert trouble == []


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", ["clean", "three", "many", "hostile"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_first_screen_shows_verdict_counts_and_target_and_nothing_overflows(opened, name, width, scheme):
    page = opened(name, width=width, color_scheme=scheme)
    assert fits(page)
    verdict = page.locator("h1")
    assert verdict.inner_text() == ("Conformant" if name == "clean" else "Not conformant")
    for part in ("h1", ".lead", ".facts", ".counts"):
        box = page.locator(part).bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        assert box["y"] + box["height"] < 900
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, background[4:-1].split(","))) < 200) == (scheme == "dark")


def visible_rows(page):
    return page.locator("details.requirement:visible").evaluate_all("rows => rows.map(row => row.id)")


def test_filters_narrow_the_list_and_live_in_the_address(opened, rendered):
    run = reports.load_run(rendered["three"])
    page = opened("three")
    assert len(visible_rows(page)) == len(run.requirements)
    page.locator("label.chip.is-fail").click()
    assert page.url.endswith("#?verdict=fail")
    assert set(visible_rows(page)) == {row["id"] for row in run.requirements if row["verdict"] == "fail"}
    assert page.locator("#shown").inner_text() == f"3 of {len(run.requirements)} requirements shown"
    page.locator("label.chip.is-warn").click()
    page.locator("label.chip", has_text="should").click()
    assert page.url.endswith("#?verdict=fail,warn&level=should")
    warned = {row["id"] for row in run.requirements if row["verdict"] == "warn"}
    assert set(visible_rows(page)) == warned
    page.locator("#topic").select_option("tools")
    assert set(visible_rows(page)) == {id_ for id_ in warned if id_.startswith("tools.")}
    page.locator("#clear").click()
    assert len(visible_rows(page)) == len(run.requirements)


def test_an_address_with_filters_opens_filtered(opened, rendered):
    run = reports.load_run(rendered["three"])
    page = opened("three", "#?verdict=not_exercised&level=must&q=Condition%20cannot")
    page.locator("#clear").wait_for()
    expected = {row["id"] for row in run.requirements if row["verdict"] == "not_exercised" and row["level"] == "must"}
    assert expected
    assert set(visible_rows(page)) == expected
    assert page.locator("#q").input_value() == "Condition cannot"


def test_search_finds_ids_sentences_and_messages_from_the_keyboard(opened):
    page = opened("three")
    page.keyboard.press("/")
    page.keyboard.type("wire.synthetic-000")
    assert visible_rows(page) == ["wire.synthetic-000"]
    page.locator("#q").fill("chatcmpl-90bd promise 1)")
    assert visible_rows(page) == ["auth.synthetic-001"]


def test_a_permalink_opens_its_requirement_and_brings_it_into_view(opened):
    page = opened("many", "#errors.synthetic-039")
    page.wait_for_function("document.activeElement.closest('details')?.id === 'errors.synthetic-039'")
    row = page.locator("[id='errors.synthetic-039']")
    assert row.get_attribute("open") is not None
    assert 0 <= row.bounding_box()["y"] < 900


def test_a_finding_on_the_first_screen_leads_to_its_evidence(opened):
    page = opened("three")
    page.locator("ol.worst a", has_text="ends with one terminator").first.click()
    row = page.locator("[id='wire.synthetic-000']")
    assert row.locator("ins", has_text="once").is_visible()
    assert row.locator("del", has_text="twice").is_visible()
    for name in ("The answer", "The request as curl", "The request as Python", "Send it again and judge it"):
        row.locator("summary", has_text=name).click()
    assert row.locator("pre", has_text="curl -sS").is_visible()
    assert row.locator("pre", has_text="import httpx").is_visible()
    assert row.locator("pre", has_text="conformance replay three").is_visible()
    assert row.locator("pre", has_text="HTTP/1.1 200 OK").is_visible()
    assert fits(page)


def test_requirements_open_from_the_keyboard(opened):
    page = opened("three")
    summary = page.locator("[id='auth.synthetic-001'] > summary")
    summary.focus()
    page.keyboard.press("Enter")
    assert page.locator("[id='auth.synthetic-001']").get_attribute("open") is not None


def test_recorded_exchanges_are_found_and_opened_on_demand(opened, rendered):
    exchanges = {exchange.id: exchange for exchange in reports.load_run(rendered["three"]).exchanges()}
    page = opened("three")
    page.locator("#xq").fill("x0007")
    assert page.locator("#xshown").inner_text() == "1 of 1 exchanges listed"
    page.locator("#rows button").click()
    page.locator("#opened pre").first.wait_for()
    shown = page.locator("#opened pre").all_inner_texts()
    assert exchanges["x0007"].sent.decode() in shown[0]
    assert exchanges["x0007"].received.decode()[:5000].strip() in shown[1]


def test_a_link_to_an_exchange_opens_it(opened):
    page = opened("three", "#exchange-x0011")
    page.locator("#opened h3", has_text="Exchange x0011").wait_for()
    page = opened("three", "#exchange-nosuch")
    page.locator("#opened", has_text="No such exchange in this run.").wait_for()


def test_the_theme_can_be_chosen(opened):
    page = opened("three", color_scheme="light")
    page.locator("#theme").click()
    page.locator("#theme").click()
    assert page.locator("#theme").inner_text() == "Theme: dark"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 21, 24)"


def test_everything_is_readable_without_javascript(opened, rendered):
    page = opened("three", script=False)
    run = reports.load_run(rendered["three"])
    assert page.locator("details.requirement").count() == len(run.requirements)
    assert not page.locator("#filters").is_visible()
    page.locator("[id='wire.synthetic-000'] > summary").click()
    assert page.locator("[id='wire.synthetic-000'] del").is_visible()
    assert page.locator("noscript").is_visible()


def test_it_prints_with_findings_open(opened, tmp_path):
    page = opened("three")
    page.emulate_media(media="print")
    assert page.locator("[id='wire.synthetic-000'] del").is_visible()
    assert not page.locator("#filters").is_visible()
    pdf = page.pdf(path=tmp_path / "report.pdf", format="A4")
    assert pdf.startswith(b"%PDF-")
    assert pdf.count(b"/Type /Page\n") + pdf.count(b"/Type /Page ") >= 2


def test_hostile_answers_run_nothing_load_nothing_and_break_nothing(opened):
    page = opened("hostile")
    for summary in page.locator("details.is-fail > summary").all():
        summary.click()
    for summary in page.locator("details.is-fail details > summary").all():
        summary.click()
    page.locator("#xq").fill("")
    for number in range(8):
        page.locator("#rows button").nth(number).click()
        page.locator("#opened pre").nth(1).wait_for()
    assert page.evaluate("window.pwned") is None
    assert page.evaluate("document.querySelectorAll('base, iframe, img, object, form[action]').length") == 0
    assert fits(page)
    text = page.locator("body").inner_text()
    assert HOSTILE[0] in text
    assert "\\u202egnp.exe" in text
    assert page.locator("h1").is_visible()


@pytest.mark.parametrize("text", ["A" * 600, "Z" + "\u0351\u036b\u0343" * 40, "العربية \u202e " * 30, "a b\n" * 200])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_layout_holds_whatever_stands_in_every_string(chromium, tmp_path, text, width):
    directory = attacked_run(tmp_path, text)
    reports.render(directory, ["html"])
    page = chromium.new_page(viewport={"width": width, "height": 900})
    page.goto((directory / "report.html").as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    assert fits(page)
    page.close()


def test_what_is_not_ours_cannot_run_even_if_it_got_into_the_page(chromium, rendered):
    """The policy holds on its own: markup put into the open page neither runs nor loads."""
    page = chromium.new_page()
    page.goto((rendered["clean"] / "report.html").as_uri())
    page.evaluate(
        """() => { const box = document.createElement("div");
        box.innerHTML = '<img src=x onerror="window.pwned=1"><svg onload="window.pwned=1"></svg>';
        addEventListener("securitypolicyviolation", () => { window.stopped = true; });
        document.body.append(box); }"""
    )
    page.wait_for_function("window.stopped")
    assert page.evaluate("window.pwned") is None
    page.close()


def test_large_lists_filter_at_once(opened):
    page = opened("many")
    took = page.evaluate(
        """() => {
            const q = document.getElementById("q");
            const start = performance.now();
            q.value = "promise 7";
            q.dispatchEvent(new Event("input", {bubbles: true}));
            return performance.now() - start;
        }"""
    )
    assert took < 3_000  # milliseconds, on a machine that may be busy


@pytest.mark.skipif(not Path(AXE).is_file(), reason="AXE_PATH names no axe-core file")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["clean", "three", "hostile"])
def test_axe_finds_no_serious_violation(opened, name, scheme):
    page = opened(name, color_scheme=scheme, bypass_csp=True)
    for row in page.locator("details.is-fail, details.is-warn").all()[:3]:
        row.evaluate(
            "row => { row.open = true; row.querySelectorAll('details').forEach(inner => { inner.open = true; }); }"
        )
    page.locator("#rows button").first.click()
    page.locator("#opened pre").first.wait_for()
    found = serious(page)
    assert found == [], json.dumps(found, indent=1)


@pytest.mark.parametrize("kind", ["matrix", "history"])
@pytest.mark.parametrize("width", [1280, 390])
def test_pages_of_several_runs_fit_and_stay_quiet(chromium, rendered, tmp_path, kind, width):
    made = {
        "matrix": lambda: reports.matrix([rendered["clean"], rendered["hostile"]]).html(),
        "history": lambda: reports.history(rendered["three"].parent).html(),
    }[kind]()
    (tmp_path / "page.html").write_text(made)
    page = chromium.new_page(viewport={"width": width, "height": 900})
    trouble = []
    page.on("console", lambda message: trouble.append(message.text))
    page.on("request", lambda request: request.url.endswith("/page.html") or trouble.append(request.url))
    page.goto((tmp_path / "page.html").as_uri())
    assert fits(page)
    assert trouble == []
    page.close()
