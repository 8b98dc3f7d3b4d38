"""The page as a file: self-contained, under its own policy, readable without its script, of bounded size."""

import base64
import gzip
import hashlib
import html
import json
import re
from html.parser import HTMLParser

import pytest

import reports
from reports.html import render
from reports.synthetic import HOSTILE, write_run
from tests.reports.attacks import attacked_run

NAMES = ["clean", "three", "many", "hostile"]
VOID = {"meta", "link", "input", "br", "img", "hr"}


class Page(HTMLParser):
    """Collects elements with their attributes, the text inside each kind, and ids."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.inside, self.open = [], {}, []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data):
        if self.open:
            self.inside.setdefault(self.open[-1], []).append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module", params=NAMES)
def page(request, rendered):
    return Page((rendered[request.param] / "report.html").read_text())


def test_nothing_is_loaded_and_no_handler_or_style_is_inline(page):
    for tag, attributes in page.elements:
        assert tag not in ("img", "iframe", "object", "embed", "link", "base", "video", "audio")
        assert not [name for name in attributes if name.startswith("on")]
        assert not attributes.keys() & {"style", "src", "srcset", "action"}
        target = attributes.get("href", attributes.get("xlink:href", "#"))
        assert target.startswith(("#", "https://github.com/"))


def test_the_policy_allows_exactly_the_pages_own_script_and_style(page):
    [policy] = [meta["content"] for meta in page.all("meta") if meta.get("http-equiv") == "Content-Security-Policy"]
    style = "".join(page.inside["style"])
    script = page.inside["script"][-1]
    for text, directive in ((style, "style-src"), (script, "script-src")):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    assert len(page.all("style")) == 1
    assert len([attributes for attributes in page.all("script") if "type" not in attributes]) == 1


def test_ids_are_unique_and_every_link_within_the_page_leads_somewhere(page):
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    places = {attributes["href"][1:] for attributes in page.all("a") if attributes["href"].startswith("#")}
    # Links to exchanges and to a filter are followed by the script; without it they lead nowhere, harmlessly.
    assert {place for place in places if not place.startswith(("?", "exchange-"))} <= set(ids)


@pytest.mark.parametrize("name", NAMES)
def test_every_requirement_has_its_permalink_and_stands_in_the_static_page(rendered, name):
    run = reports.load_run(rendered[name])
    page = Page((rendered[name] / "report.html").read_text())
    rows = {attributes["id"]: attributes for attributes in page.all("details") if "data-verdict" in attributes}
    assert {id_: row["data-verdict"] for id_, row in rows.items()} == {
        id_: row["verdict"] for id_, row in run.by_id.items()
    }


def test_first_screen_says_verdict_counts_apart_what_was_not_tested_and_the_command(rendered):
    text = (rendered["three"] / "report.html").read_text()
    run = reports.load_run(rendered["three"])
    first = text[text.index("<header") : text.index('id="requirements"')]
    words = ("Not conformant", "synthetic", "edition 2026-11", "synthetic-1", "29 November 2026", "0.1.0", "seed 0")
    for word in words:
        assert word in first
    for verdict in ("not_exercised", "inconclusive", "waived", "fail"):
        assert re.search(rf'href="#\?verdict={verdict}"><b>{run.results["counts"][verdict]}</b>', first)
    for row in run.requirements:
        if row["verdict"] in ("not_exercised", "inconclusive"):
            assert row["id"] in first
    assert "no vision" in first
    assert "conformance run --profile ark" in first


def test_a_failure_shows_sentence_place_level_difference_request_answer_timeline_and_replay(rendered):
    run = reports.load_run(rendered["three"])
    page = (rendered["three"] / "report.html").read_text()
    start = page.index('id="wire.synthetic-000"')
    row = page[start : page.index('<details class="requirement', start)]
    violation = run.by_id["wire.synthetic-000"]["violations"][0]
    assert "section wire, field 0" in row
    assert "must, " in row
    assert "<ins>once</ins>" in row
    assert "<del>twice</del>" in row
    assert "curl -sS" in row
    assert "import httpx" in row
    assert f"conformance replay three {violation['exchanges'][0]}" in row
    assert "HTTP/1.1 200 OK" in row
    assert "pydantic-ai in chat, tools: raises" in row
    assert 'href="https://github.com/ray-project/ray/issues/62246"' in row
    assert "'authorization: Bearer '\"$API_KEY\"''" in html.unescape(row)
    exchange = next(item for item in run.exchanges() if item.id == violation["exchanges"][0])
    if exchange.spans:
        assert "the offending one is event 3" in row


def test_it_says_which_checks_were_seen_to_fail_under_which_faults(rendered):
    run = reports.load_run(rendered["three"])
    text = (rendered["three"] / "report.html").read_text()
    section = text[text.index('id="proof"') : text.index('id="speed"')]
    proven = [row for row in run.requirements if row["proven_by"]]
    assert f"<b>{len(proven)}</b> of the {len(run.requirements)} checks" in section
    assert "under 4 faults" in section
    others = [row["id"] for row in run.requirements if not row["proven_by"]]
    assert others
    assert all(f'href="#{id_}"' in section for id_ in others)
    assert text.count("Seen to fail under") == len(proven)
    assert "1 planted fault: <code>breaks-ends-with-one-terminator</code>" in text


def test_a_record_that_does_not_know_how_checks_were_proven_says_nothing_about_it(runs, tmp_path):
    results = json.loads((runs["three"] / "results.json").read_text())
    for row in results["requirements"]:
        del row["proven_by"]
    reports.write_results(tmp_path, results)
    text = render(reports.load_run(tmp_path))
    assert 'id="proof"' not in text
    assert "Seen to fail under" not in text


def test_packed_evidence_opens_and_is_what_was_recorded(rendered):
    page = Page((rendered["three"] / "report.html").read_text())
    texts = page.inside["script"]
    index, *blocks = [json.loads(gzip.decompress(base64.b64decode(text))) for text in texts[:-1]]
    exchanges = {exchange.id: exchange for exchange in reports.load_run(rendered["three"]).exchanges()}
    assert [row[0] for row in index] == list(exchanges)
    for id_, _, _, status, _, block in index:
        [entry] = [entry for entry in blocks[block] if entry["id"] == id_]
        assert status == exchanges[id_].status
        assert exchanges[id_].received.decode().startswith(entry["body"])


@pytest.mark.parametrize("attack", [*HOSTILE, "`<b>` and `</code><script>`", "one ` alone <i>"])
def test_an_attack_in_every_string_of_the_record_adds_no_element(tmp_path, attack):
    plain = Page(render(reports.load_run(attacked_run(tmp_path / "plain", re.sub("[^`]", "h", attack)))))
    attacked = Page(render(reports.load_run(attacked_run(tmp_path / "attacked", attack))))
    assert [tag for tag, _ in attacked.elements] == [tag for tag, _ in plain.elements]
    harmful = re.compile(r"^(javascript|data|vbscript):", re.IGNORECASE)
    assert not [value for _, found in attacked.elements for value in found.values() if value and harmful.match(value)]


def test_the_split_page_carries_neither_script_nor_style(runs, tmp_path):
    reports.render(runs["three"], ["html-split"], out=tmp_path)
    page = Page((tmp_path / "report.html").read_text())
    assert [link["href"] for link in page.all("link")] == ["report.css"]
    assert "style" not in page.inside
    assert {path.name for path in tmp_path.iterdir()} == {"report.html", "report.css", "report.js"}


def test_a_run_without_exchanges_or_requirements_still_renders(runs, tmp_path):
    results = json.loads((runs["clean"] / "results.json").read_text())
    results |= {
        "requirements": [], "verdict": "incomplete", "exit_status": 5, "reason": "The endpoint refused the key.",
        "counts": dict.fromkeys(results["counts"], 0), "cost": {"requests": 0},
    }  # fmt: skip
    for name in ("notes", "waivers", "only", "command", "workers"):
        del results[name]
    reports.write_results(tmp_path, results)
    reports.render(tmp_path)
    text = (tmp_path / "report.html").read_text()
    assert "Incomplete: not enough was judged" in text
    assert "The endpoint refused the key." in text


@pytest.mark.slow
def test_five_thousand_exchanges_stay_small_and_say_how_many_are_packed(tmp_path):
    directory = write_run(tmp_path, exchanges=5_000, failures=40, requirements=500)
    reports.render(directory, ["html"])
    assert (directory / "report.html").stat().st_size < 5_000_000
    text = (directory / "report.html").read_text()
    assert "5,000 exchanges" in text


def test_what_does_not_fit_is_counted_and_every_probe_keeps_some(runs, monkeypatch):
    monkeypatch.setattr("reports.html.evidence._EMBEDDED", 4_000)
    monkeypatch.setattr("reports.html.evidence._BLOCK", 10)
    run = reports.load_run(runs["many"])
    page = Page(render(run))
    index = json.loads(gzip.decompress(base64.b64decode(page.inside["script"][0])))
    packed = [row for row in index if row[5] >= 0]
    assert 0 < len(packed) < len(index) == 120
    assert f"{len(packed)} of them, from every probe" in render(run)


def test_violations_that_say_the_same_are_one_finding_shown_by_its_smallest_request(runs, tmp_path):
    results = json.loads((runs["three"] / "results.json").read_text())
    exchanges = list(reports.load_run(runs["three"]).exchanges())
    row = results["requirements"][0]
    template = row["violations"][0]
    row["violations"] = [template | {"exchanges": [exchange.id]} for exchange in exchanges[:12]]
    row["violations"].append(template | {"message": "another thing", "exchanges": ["x0020"]})
    reports.write_results(tmp_path, results)
    (tmp_path / "exchanges.jsonl").write_bytes((runs["three"] / "exchanges.jsonl").read_bytes())
    page = render(reports.load_run(tmp_path))
    start = page.index('id="wire.synthetic-000"')
    text = page[start : page.index('<details class="requirement', start)]
    smallest = min(exchanges[:12], key=lambda exchange: len(exchange.sent))
    assert f"conformance replay {tmp_path.name} {smallest.id}" in text
    assert text.count("<article") == 2
    assert "1 of 2" in text
    assert text.count("The same in") == 1
    assert "and 3 more.</span>" in text
