"""JUnit as CI systems read it: what happened is neither hidden nor invented."""

import json
import sys
import xml.etree.ElementTree as ET
from collections import Counter

import junitparser
import pytest

import reports
from reports.junit import render


def cases(path):
    return [case for suite in junitparser.JUnitXml.fromfile(str(path)) for case in suite]


def test_one_case_per_requirement_named_by_its_id(rendered):
    run = reports.load_run(rendered["three"])
    found = cases(rendered["three"] / "junit.xml")
    assert sorted(case.name for case in found) == sorted(run.by_id)
    # GitLab drops what shares class and name, and shows the class as the suite.
    assert len({(case.classname, case.name) for case in found}) == len(found)
    assert {case.classname for case in found} == {f"synthetic.{row['topic']}" for row in run.requirements}


def test_totals_count_failures_errors_and_skips_as_ci_does(rendered):
    run = reports.load_run(rendered["many"])
    root = ET.parse(rendered["many"] / "junit.xml").getroot()
    counts = run.results["counts"]
    assert int(root.get("tests")) == len(run.requirements)
    assert int(root.get("failures")) == counts["fail"]
    assert int(root.get("skipped")) == counts["not_exercised"] + counts["not_applicable"] + counts["inconclusive"]
    assert float(root.get("time")) == 872.0


@pytest.mark.parametrize(
    ("verdict", "level", "scored", "kind"),
    [
        ("pass", "must", True, None),
        ("fail", "must", True, "failure"),
        ("fail", "must", False, None),
        ("warn", "should", True, None),
        ("error", "should", True, "error"),
        ("inconclusive", "must", True, "error"),
        ("inconclusive", "should", True, "skipped"),
        ("not_exercised", "must", True, "skipped"),
        ("not_applicable", "must", True, "skipped"),
        ("waived", "must", True, "skipped"),
    ],
)
def test_verdicts_become_what_ci_knows(runs, tmp_path, verdict, level, scored, kind):
    results = json.loads((runs["three"] / "results.json").read_text())
    row = results["requirements"][0] | {"verdict": verdict, "level": level, "scored": scored, "why": "Because."}
    counts = dict.fromkeys(results["counts"], 0) | {verdict: 1}
    run = reports.Run(tmp_path, {**results, "requirements": [row], "counts": counts})
    case = ET.fromstring(render(run)).find("testsuite/testcase")
    kinds = [child.tag for child in case if child.tag in ("failure", "error", "skipped")]
    assert kinds == ([kind] if kind else [])
    properties = {item.get("name"): item.get("value") for item in case.iter("property")}
    assert properties["verdict"] == verdict
    assert properties["level"] == level
    assert properties["clause"] == row["where"]
    if verdict == "warn":
        assert "twice" in case.findtext("system-out")


def test_hostile_text_stays_text(rendered):
    text = (rendered["hostile"] / "junit.xml").read_text()
    root = ET.fromstring(text)
    assert Counter(element.tag for element in root.iter())["failure"] == 19
    assert "]]>" not in text
    assert any("]]></system-out>" in (element.text or "") for element in root.iter("failure"))


def test_a_missing_library_is_named_after_everything_else_is_written(runs, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "junitparser", None)
    with pytest.raises(reports.MissingDependency, match=r"junitparser.*pip install"):
        reports.render(runs["three"], out=tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert "junit.xml" not in names
    assert {"report.html", "ctrf.json", "requirements.csv"} <= names
