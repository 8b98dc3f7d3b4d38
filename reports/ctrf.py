"""CTRF (Common Test Report Format) JSON: one test per requirement.

CTRF's statuses are passed, failed, skipped, pending and other. A must that could not be decided, and a suite
error, are `other`, which no consumer shows as green; the verdict itself is in `rawStatus` and `extra`.
Source: the CTRF specification, https://ctrf.io/docs/specification.
"""

from __future__ import annotations

import json
import uuid
from datetime import datetime
from pathlib import Path
from typing import Any

from reports.record import Run, write_atomically
from reports.text_safety import shortened, visible
from reports.wording import level_and_basis

SPEC_VERSION = "0.0.0"

_STATUS = {
    "pass": "passed",
    "fail": "failed",
    "warn": "passed",
    "error": "other",
    "inconclusive": "other",
    "not_exercised": "skipped",
    "not_applicable": "skipped",
    "waived": "skipped",
}
_LONGEST = 2_000


def render(run: Run) -> str:
    """The CTRF document."""
    results = run.results
    tests = [_test(row, results["profile"]) for row in run.requirements]
    started, ended = (_milliseconds(results[end]) for end in ("started", "ended"))
    by_status = [test["status"] for test in tests]
    summary: dict[str, Any] = {
        "tests": len(tests),
        **{status: by_status.count(status) for status in ("passed", "failed", "skipped", "pending", "other")},
        "start": started,
        "stop": ended,
        "duration": max(ended - started, 0),
    }
    document = {
        "reportFormat": "CTRF",
        "specVersion": SPEC_VERSION,
        # The same record always renders to the same identifier.
        "reportId": str(uuid.uuid5(uuid.NAMESPACE_URL, f"{results['started']} {results['target']} {results['seed']}")),
        "timestamp": results["ended"],
        "generatedBy": f"{results['suite']['name']} {results['suite']['version']}",
        "results": {
            "tool": {"name": results["suite"]["name"], "version": results["suite"]["version"]},
            "summary": summary,
            "tests": tests,
            "environment": {
                "appName": visible(results["target"]["model"] or ""),
                "testEnvironment": visible(results["target"]["base_url"]),
                "extra": {
                    "profile": results["profile"],
                    "edition": results["edition"],
                    "effort": results["effort"],
                    "seed": results["seed"],
                },
            },
            "extra": {
                "verdict": results["verdict"],
                "reason": visible(results["reason"]),
                "counts": results["counts"],
                "catalogueSha256": results["suite"]["catalogue_sha256"],
            },
        },
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _test(row: dict[str, Any], profile: str) -> dict[str, Any]:
    scored = row["scored"]
    status = _STATUS[row["verdict"]] if scored or row["verdict"] != "fail" else "passed"
    if row["verdict"] == "inconclusive" and (row["level"] != "must" or not scored):
        status = "skipped"
    test: dict[str, Any] = {
        "name": row["id"],
        "status": status,
        "duration": 0,
        "rawStatus": row["verdict"],
        "suite": [profile, row["topic"]],
        "type": "conformance",
        "tags": [tag for tag in (row["level"], row["basis"], row["topic"]) if tag],
        "extra": {
            "title": visible(row["title"]),
            "level": row["level"],
            "basis": row["basis"] or None,
            "where": visible(row["where"] or ""),
            "scored": scored,
            "observations": row["observations"],
        },
    }
    if row["violations"]:
        first = row["violations"][0]
        test["message"] = _text(first["message"])
        test["trace"] = _text(
            f"{row['title']}\n{level_and_basis(row)}; {row['where'] or ''}\n"
            f"expected: {first.get('expected') or ''}\nobserved: {first.get('observed') or ''}\n"
            f"exchanges: {', '.join(first['exchanges'])}\n"
            f"reproduced: {first.get('reproduced') or 'not tried'}"
        )
        # Not CTRF's `flaky`, which means that a test passed in the end.
        test["extra"]["reproduced"] = [violation.get("reproduced") or "" for violation in row["violations"]]
    elif row["why"]:
        test["message"] = _text(row["why"])
    return test


def _text(text: str) -> str:
    return shortened(visible(text), _LONGEST)


def _milliseconds(instant: str) -> int:
    return round(datetime.fromisoformat(instant).timestamp() * 1000)


def write(run: Run, path: Path) -> None:
    """Write the CTRF document to `path`."""
    write_atomically(path, render(run))
