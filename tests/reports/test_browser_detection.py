"""The page of a proof in a real browser: what people see, filter, search, follow and print."""

import json
from pathlib import Path

import pytest

import reports
from reports.synthetic import HOSTILE
from tests.reports.browser import AXE, fits, serious
from tests.reports.proofs import attacked_proof, bad_proof, good_proof, large_proof

pytestmark = [pytest.mark.browser]


@pytest.fixture
def opened(chromium, tmp_path):
    """Opens the page of a proof; at the end, no page may have said anything or asked for anything."""
    trouble, contexts = [], []

    def open_(record, address="", width=1280, script=True, **options):
        file = tmp_path / "detection.html"
        file.write_bytes(reports.detection_page(record).encode("utf-8", "backslashreplace"))
        context = chromium.new_context(viewport={"width": width, "height": 900}, java_script_enabled=script, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: trouble.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: trouble.append(f"error: {error}"))
        uri = file.as_uri()
        page.on("request", lambda request: request.url.startswith(uri) or trouble.append(f"request: {request.url}"))
        page.goto(uri + address)
        return page

    yield open_
    for context in contexts:
        context.close()
    assert trouble == []


def shown(page, kind):
    return page.locator(f".{kind}:visible code.id").all_inner_texts()


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_first_screen_says_what_was_found_and_nothing_overflows(opened, width, scheme):
    page = opened(bad_proof(), width=width, color_scheme=scheme)
    assert fits(page)
    assert page.locator("h1").inner_text() == "1 of 3 planted faults detected"
    box = page.locator(".tallies").bounding_box()
    assert box["y"] + box["height"] < 900
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    assert fits(page)
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, background[4:-1].split(","))) < 200) == (scheme == "dark")


@pytest.mark.parametrize("script", [True, False])
def test_states_are_filtered_with_and_without_javascript(opened, script):
    page = opened(bad_proof(), script=script)
    assert len(shown(page, "fault")) == 3
    page.locator("label.chip", has_text="Missed").click()
    assert shown(page, "fault") == ["done-twice"]
    assert page.locator("#faults > .topic:visible").count() == 1
    assert len(shown(page, "promise-row")) == 5
    page.locator("label.chip", has_text="Not proven").click()
    assert shown(page, "promise-row") == ["usage.adds-up"]
    page.locator("label.chip", has_text="seen in public").click()
    assert shown(page, "fault") == ["done-twice"]
    assert page.locator("#search").is_visible() == script


@pytest.mark.parametrize("script", [True, False])
def test_a_link_opens_the_row_that_it_leads_to_whatever_is_filtered(opened, script):
    page = opened(good_proof(), script=script)
    page.locator("label.chip", has_text="seen in public").click()
    page.locator(".promise-row > summary", has_text="finish.once").click()
    page.locator("[id='requirement-finish.once'] a", has_text="end-twice").click()
    body = page.locator("[id='fault-end-twice']")
    body.wait_for(state="visible")
    assert 0 <= body.bounding_box()["y"] < 900


def test_search_finds_words_anywhere_in_a_row_from_the_keyboard(opened):
    page = opened(good_proof())
    page.keyboard.press("/")
    page.keyboard.type("no text has no end")
    assert shown(page, "fault") == ["text-null"]
    assert shown(page, "promise-row") == []
    assert page.locator("#shown").inner_text() == "1 of 7 rows have these words"
    page.evaluate("location.hash = '#requirement-finish.once'")
    page.locator("[id='requirement-finish.once']").wait_for(state="visible")
    assert page.locator("#q").input_value() == ""


def test_it_prints_every_fault_with_what_it_turned_red(opened, tmp_path):
    page = opened(bad_proof())
    page.emulate_media(media="print")
    assert not page.locator(".filters").is_visible()
    assert page.locator(".fault .turns code", has_text="response.has-text").is_visible()
    assert page.pdf(path=tmp_path / "proof.pdf", format="A4").startswith(b"%PDF-")


@pytest.mark.parametrize("text", [*HOSTILE[:8], "A" * 600, "Z" + "\u0351\u036b\u0343" * 40, "العربية \u202e " * 30])
def test_hostile_texts_run_nothing_and_break_nothing(opened, text):
    page = opened(attacked_proof(text), width=390)
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    assert fits(page)
    assert page.evaluate("window.pwned") is None
    assert page.evaluate("document.querySelectorAll('base, iframe, img, object, form').length") == 0


def test_as_many_faults_as_there_are_are_searched_at_once(opened):
    page = opened(large_proof())
    took = page.evaluate(
        """() => {
            const q = document.getElementById("q");
            const start = performance.now();
            q.value = "promise-7";
            q.dispatchEvent(new Event("input", {bubbles: true}));
            return performance.now() - start;
        }"""
    )
    assert took < 3_000  # milliseconds, on a machine that may be busy


@pytest.mark.skipif(not Path(AXE).is_file(), reason="AXE_PATH names no axe-core file")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("make", [good_proof, bad_proof, lambda: attacked_proof(HOSTILE[0])])
def test_axe_finds_no_serious_violation(opened, make, scheme):
    page = opened(make(), color_scheme=scheme, bypass_csp=True)
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    found = serious(page)
    assert found == [], json.dumps(found, indent=1)
