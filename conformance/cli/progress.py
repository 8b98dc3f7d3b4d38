"""What a person sees while a run goes on, and at its end. Every string of an endpoint is made harmless first."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from conformance.plan import Plan
from conformance.settings import Settings

MARKS = {
    "pass": "✓", "fail": "✗", "warn": "!", "inconclusive": "?", "not_exercised": "·", "not_applicable": "–",
    "waived": "w", "error": "E",
}  # fmt: skip
WORDS = {
    "pass": "passed", "fail": "failed", "warn": "warned", "inconclusive": "inconclusive",
    "not_exercised": "not exercised", "not_applicable": "not applicable", "waived": "waived",
    "error": "could not be judged",
}  # fmt: skip
EVERY_S = 5.0


class Progress:
    """A pytest plugin that says how far the run is: one line now and then, never a flood."""

    def __init__(self, settings: Settings) -> None:
        self.base_url = settings.target.base_url
        self.profile = settings.profile
        self.console = Console(stderr=True, highlight=False)
        self.total = 0
        self.done = 0
        self._spoke = time.monotonic()

    def plan(self, plan: Plan) -> None:
        """Say what is about to be sent."""
        self.total = len(plan.probes)
        self.console.print(
            f"certifying {self.base_url} against {self.profile}: {self.total} probes, "
            f"{plan.requests} requests, {len(plan.requirements)} requirements",
            markup=False,
        )

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count finished probes."""
        if report.when != "teardown":
            return
        self.done += 1
        if time.monotonic() - self._spoke >= EVERY_S:
            self._spoke = time.monotonic()
            self.console.print(f"  {self.done} of {self.total} probes", markup=False)


def summary(record: Mapping[str, Any], out: Path) -> str:
    """The end of a run in a few lines: verdict, counts, findings, where the reports are."""
    from reports.text_safety import for_terminal

    lines = [f"{record['verdict'].upper()}: {record['reason']}"]
    counts = [f"{MARKS[name]} {count} {WORDS[name]}" for name, count in record["counts"].items() if count]
    lines.append("  " + "   ".join(counts))
    worst = [row for row in record["requirements"] if row["verdict"] in ("fail", "warn", "error")]
    worst.sort(key=lambda row: ("fail", "error", "warn").index(row["verdict"]))
    for row in worst[:20]:
        message = row["violations"][0]["message"] if row["violations"] else row["why"]
        lines.append(f"  {MARKS[row['verdict']]} {row['id']}: {message}")
    if len(worst) > 20:
        lines.append(f"  … and {len(worst) - 20} more in the report")
    lines += [f"  gate: {reason}" for reason in record["gate"]["reasons"]]
    cost = record["cost"]
    lines.append(
        f"  {cost['requests']} requests, {cost['prompt_tokens'] + cost['completion_tokens']} tokens, "
        f"{cost['wall_s']:.1f} s"
    )
    lines.append(f"  report: {out / 'report.html'}")
    return "\n".join(for_terminal(line) for line in lines)


def is_terminal() -> bool:
    """Whether standard error is a person's terminal."""
    return sys.stderr.isatty()
