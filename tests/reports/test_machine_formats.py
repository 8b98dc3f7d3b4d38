"""CTRF, HAR, Markdown, badge, CSV and annotations say what the record says, whatever an endpoint put into it."""

import base64
import csv
import json
import os
import re
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import jsonschema
import pytest
from markdown_it import MarkdownIt

import reports
from reports import badge
from reports.synthetic import HOSTILE
from reports.text_safety import visible

NAMES = ["clean", "three", "many", "hostile"]


@pytest.mark.parametrize("name", NAMES)
def test_ctrf_is_valid_and_its_summary_counts_its_tests(rendered, name):
    document = json.loads((rendered[name] / "ctrf.json").read_text())
    schema = json.loads(Path(__file__).with_name("ctrf.schema.json").read_text())
    jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker()).validate(document)
    results = document["results"]
    counted = Counter(test["status"] for test in results["tests"])
    summary = results["summary"]
    assert {status: summary[status] for status in counted} == counted
    assert summary["tests"] == sum(counted.values())
    assert summary["failed"] == reports.load_run(rendered[name]).results["counts"]["fail"]
    assert summary["stop"] - summary["start"] == 872_000


@pytest.mark.skipif(not os.environ.get("CTRF_SCHEMA"), reason="CTRF_SCHEMA names no copy of the published schema")
@pytest.mark.parametrize("name", NAMES)
def test_ctrf_is_valid_by_its_published_schema(rendered, name):
    schema = json.loads(Path(os.environ["CTRF_SCHEMA"]).read_text(encoding="utf-8"))
    jsonschema.Draft7Validator(schema).validate(json.loads((rendered[name] / "ctrf.json").read_text()))


def test_ctrf_says_how_often_a_violation_came_back(rendered):
    tests = json.loads((rendered["three"] / "ctrf.json").read_text())["results"]["tests"]
    rows = reports.load_run(rendered["three"]).by_id
    said = {test["name"]: test["extra"]["reproduced"] for test in tests if test["status"] == "failed"}
    assert len(said) == 3
    assert said == {name: [rows[name]["violations"][0]["reproduced"]] for name in said}


def test_har_holds_every_exchange_and_the_events_of_streams(rendered):
    log = json.loads((rendered["three"] / "exchanges.har").read_text())["log"]
    exchanges = list(reports.load_run(rendered["three"]).exchanges())
    assert log["version"] == "1.2"
    assert len(log["entries"]) == len(exchanges)
    for entry, exchange in zip(log["entries"], exchanges, strict=True):
        assert entry["response"]["content"]["text"] == exchange.response["body"]
        assert entry["request"]["postData"]["text"].encode() == exchange.sent
        assert [event["data"] for event in entry["response"]["content"].get("_sse", [])] == [
            event.raw for event in exchange.events()
        ]
        assert entry["time"] == pytest.approx(exchange.total_s * 1000, abs=0.01)


def test_har_carries_binary_bodies_and_exchanges_without_an_answer(runs, tmp_path):
    results = json.loads((runs["clean"] / "results.json").read_text())
    reports.write_results(tmp_path, results)
    template = json.loads((runs["clean"] / "exchanges.jsonl").read_text().splitlines()[0])
    binary = template | {"response": template["response"] | {"body": "/wA=", "encoding": "base64", "events": []}}
    silent = template | {"id": "x0002", "response": None, "end": "timeout"}
    (tmp_path / "exchanges.jsonl").write_text(json.dumps(binary) + "\n" + json.dumps(silent) + "\n")
    reports.render(tmp_path, ["har"])
    first, second = json.loads((tmp_path / "exchanges.har").read_text())["log"]["entries"]
    content = first["response"]["content"]
    assert content["encoding"] == "base64"
    assert base64.b64decode(content["text"]) == b"\xff\x00"
    assert (second["response"]["status"], second["response"]["statusText"]) == (0, "timeout")


@pytest.mark.parametrize("name", NAMES)
def test_markdown_has_no_link_image_heading_or_html_from_an_endpoint(rendered, name):
    text = (rendered[name] / "summary.md").read_text()
    assert len(text.encode()) < 1 << 20
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(text)
    inline = [child for token in tokens for child in token.children or ()]
    assert not [token for token in inline if token.type in ("link_open", "image", "s_open")]
    html = {token.content for token in [*tokens, *inline] if token.type in ("html_inline", "html_block")}
    assert html <= {"<code>", "</code>", "<br>", "<details><summary>By topic</summary>\n", "</details>\n"}
    headings = [tokens[at + 1].content for at, token in enumerate(tokens) if token.type == "heading_open"]
    assert set(headings) <= {
        "Conformant", "Not conformant", "The worst findings", "Not tested, and why",
    }  # fmt: skip


def test_markdown_says_what_was_not_tested_apart_and_names_it(rendered):
    text = (rendered["three"] / "summary.md").read_text()
    run = reports.load_run(rendered["three"])
    row = next(row for row in run.requirements if row["verdict"] == "not_exercised")
    assert f"Not exercised: `{row['id']}`" in text
    assert "| Passed | Failed | Warned | Inconclusive | Not exercised | Waived |" in text


@pytest.mark.parametrize("name", NAMES)
def test_csv_has_a_row_per_requirement_and_no_formula(rendered, name):
    rows = list(csv.DictReader((rendered[name] / "requirements.csv").read_text().splitlines()))
    assert [row["id"] for row in rows] == list(reports.load_run(rendered[name]).by_id)
    assert not [cell for row in rows for cell in row.values() if re.match(r"[=+\-@\t\r]", cell)]
    assert not [cell for row in rows for cell in row.values() if cell != visible(cell)]


@pytest.mark.parametrize(("name", "message", "error"), [("clean", "conformant", False), ("three", "3 broken", True)])
def test_badge_says_the_verdict_and_never_a_percentage(rendered, name, message, error):
    said = json.loads((rendered[name] / "badge.json").read_text())
    assert said["schemaVersion"] == 1
    assert (said["label"], said["message"], said.get("isError", False)) == ("synthetic 2026-11", message, error)
    root = ET.parse(rendered[name] / "badge.svg").getroot()
    assert root.get("aria-label") == f"synthetic 2026-11: {message}"


@pytest.mark.parametrize("change", [{"only": ["stream.*"]}, {"waivers": [{"requirement": "a.b"}]}])
def test_a_partial_run_never_wears_the_badge_of_a_whole_one(runs, change):
    run = reports.load_run(runs["clean"])
    partial = reports.Run(run.directory, {**run.results, **change})
    assert json.loads(badge.as_json(partial))["message"] == "partly conformant"


def test_annotations_are_the_ten_worst_and_each_stays_one_command(rendered):
    lines = reports.worst_annotations(reports.load_run(rendered["hostile"]))
    assert len(lines) == 10
    for line in lines:
        assert re.fullmatch(r"::error title=[^:,\r\n]+::[^\r\n]+", line)
    assert reports.worst_annotations(reports.load_run(rendered["three"]))[3].startswith("::warning title=")


def test_every_attack_is_in_the_hostile_run(rendered):
    text = (rendered["hostile"] / "results.json").read_text()
    assert all(json.dumps(attack, ensure_ascii=False)[1:-1] in text for attack in HOSTILE[:18])


def test_unknown_formats_are_refused_before_anything_is_written(runs, tmp_path):
    with pytest.raises(ValueError, match="no such format: pdf"):
        reports.render(runs["three"], ["html", "pdf"], out=tmp_path)
    assert list(tmp_path.iterdir()) == []
