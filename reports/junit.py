"""JUnit XML: one test case per requirement, in the shape that GitLab, Jenkins and GitHub read.

What happened maps to what CI knows: a failed must is a failure; a suite error, and a must that could not be
decided, is an error, because neither may look green; what was not exercised, does not apply or is waived is
skipped with its reason; a warning passes and says so in its output.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from reports.optional import needed
from reports.record import Run, write_atomically
from reports.text_safety import for_xml, shortened
from reports.wording import VERDICT_WORDS, by_topic, counts_sentence, headline, level_and_basis, reproduction

if TYPE_CHECKING:
    from junitparser import TestCase, TestSuite
    from junitparser.junitparser import FinalResult

_LONGEST = 4_000


def render(run: Run) -> str:
    """The JUnit document. Raises MissingDependency without `junitparser`."""
    junit = needed("junitparser", "junit")
    document = junit.JUnitXml(name=for_xml(f"{run.results['suite']['name']} {run.results['profile']}"))
    for topic, rows in by_topic(run.requirements).items():
        suite = junit.TestSuite(for_xml(f"{run.results['profile']}.{topic}"))
        suite.timestamp = run.results["started"]
        _describe(run, suite)
        for row in rows:
            suite.add_testcase(_case(junit, run, row))
        document.add_testsuite(suite)
    document.update_statistics()
    document.time = _wall_seconds(run)
    return str(document.tostring().decode("utf-8"))


def _wall_seconds(run: Run) -> float:
    """Jenkins and GitLab show this as the duration of the whole."""
    started, ended = (datetime.fromisoformat(run.results[end]) for end in ("started", "ended"))
    return max((ended - started).total_seconds(), 0.0)


def _describe(run: Run, suite: TestSuite) -> None:
    target = run.results["target"]
    for name, value in (
        ("verdict", headline(run)),
        ("reason", run.results["reason"]),
        ("counts", counts_sentence(run)),
        ("suite", f"{run.results['suite']['name']} {run.results['suite']['version']}"),
        ("edition", run.results["edition"]),
        ("base_url", target["base_url"]),
        ("model", target["model"] or ""),
        ("seed", str(run.results["seed"])),
    ):
        suite.add_property(name, for_xml(value))


def _case(junit: ModuleType, run: Run, row: Mapping[str, Any]) -> TestCase:
    case: TestCase = junit.TestCase(for_xml(row["id"]), classname=for_xml(f"{run.results['profile']}.{row['topic']}"))
    case.time = 0
    properties = junit.Properties()  # junitparser's TestCase has no add_property of its own
    for name, value in (
        ("level", row["level"] or "none"),
        ("basis", row.get("basis") or ""),
        ("clause", row.get("where") or ""),
        ("title", row["title"]),
        ("verdict", row["verdict"]),
        ("scored", str(row.get("scored", True)).lower()),
    ):
        properties.add_property(junit.Property(name, for_xml(value)))
    case._elem.append(properties._elem)
    said = f"{VERDICT_WORDS[row['verdict']][0]}: {row.get('why') or row['title']}"
    verdict = row["verdict"]
    if verdict == "fail" and row.get("scored", True):
        case.result = [_result(junit.Failure, said, row)]
    elif verdict == "error" or (verdict == "inconclusive" and row["level"] == "must" and row.get("scored", True)):
        case.result = [_result(junit.Error, said, row)]
    elif verdict in ("inconclusive", "not_exercised", "not_applicable", "waived"):
        case.result = [_result(junit.Skipped, said, row)]
    elif verdict in ("warn", "fail"):
        case.system_out = for_xml(shortened(f"{said}\n\n{_details(row)}", _LONGEST))
    return case


def _result(kind: type[FinalResult], said: str, row: Mapping[str, Any]) -> FinalResult:
    first = row["violations"][0]["message"] if row["violations"] else said
    result = kind(for_xml(shortened(first.replace("\n", " "), 300)), for_xml(row["verdict"]))
    promise = f"{row['title']}\n{level_and_basis(row)}; {row.get('where') or ''}"
    result.text = for_xml(shortened(f"{promise}\n\n{_details(row)}", _LONGEST))
    return result


def _details(row: Mapping[str, Any]) -> str:
    parts = []
    for violation in row["violations"]:
        lines = [violation["message"]]
        lines += [f"  {name}: {violation[name]}" for name in ("expected", "observed") if violation.get(name)]
        lines += [f"  {said}" for said in [reproduction(violation)] if said]
        lines += [f"  curl: {violation['curl']}"] if violation.get("curl") else []
        lines.append(f"  exchanges: {', '.join(violation['exchanges'])}")
        parts.append("\n".join(lines))
    return "\n\n".join(parts) or str(row.get("why") or "")


def write(run: Run, path: Path) -> None:
    """Write the JUnit document to `path`."""
    write_atomically(path, render(run))
