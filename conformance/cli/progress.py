"""What a person sees while a run goes on, and at its end. Every string of an endpoint is made harmless first."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.table import Table

import reports
from conformance.plan import Plan, PlannedTopic
from conformance.plugin import BUDGET, VIOLATED
from conformance.settings import Settings
from conformance.wire.budget import Budget, Spent

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
    """A pytest plugin that says how far the run is.

    On a terminal a table that is drawn again every second; otherwise one line now and then, never a flood. What
    it shows are our own numbers and the ids of requirements, never a word of the endpoint.
    """

    def __init__(self, settings: Settings, console: Console | None = None) -> None:
        self.settings = settings
        self.console = console or Console(stderr=True, highlight=False, soft_wrap=True)
        self.planned: PlannedTopic | None = None
        self.probes = 0
        self.done = 0
        self.broken: set[str] = set()
        self._started = self._spoke = time.monotonic()
        self._live: Live | None = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def plan(self, plan: Plan) -> None:
        """Say what is about to be sent."""
        target = self.settings.target
        self.planned = plan.total(target)
        self.probes = len(plan.probes)
        cost = "" if self.planned.cost is None else f" and {self._money(self.planned.cost)}"
        self.console.print(
            f"certifying {target.base_url} against {self.settings.profile}: {self.probes} probes, "
            f"{self.planned.requests} requests, {len(plan.requirements)} requirements; "
            f"at most {self.planned.tokens.prompt + self.planned.tokens.completion} tokens{cost}",
            markup=False,
        )
        self._started = time.monotonic()
        if self.console.is_terminal:
            self._live = Live(
                get_renderable=self.table, console=self.console, refresh_per_second=1, transient=True,
                redirect_stdout=False, redirect_stderr=False,
            )  # fmt: skip
            self._live.start()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count finished probes, and requirements that were seen violated."""
        if report.when != "teardown":
            return
        self.done += 1
        self.broken |= {str(value) for name, value in report.user_properties if name == VIOLATED}
        if self._live is None and time.monotonic() - self._spoke >= EVERY_S:
            self._spoke = time.monotonic()
            spent = self._spent()
            self.console.print(
                f"  {self.done} of {self.probes} probes, {spent.requests} requests, {spent.tokens} tokens, "
                f"{len(self.broken)} findings",
                markup=False,
            )

    def table(self) -> Table:
        """What is spent, found and left by now."""
        spent, passed = self._spent(), time.monotonic() - self._started
        planned = self.planned.requests if self.planned else 0
        caps = self.settings.caps
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
        table.add_row("probes", f"{self.done} of {self.probes}")
        table.add_row("requests", f"{spent.requests} of {planned}{_cap(caps.requests)}")
        table.add_row("tokens", f"{spent.tokens}{_cap(caps.tokens)}")
        if self.settings.target.prices is not None:
            table.add_row("money", f"{self._money(spent.cost)}{_cap(caps.cost)}")
        table.add_row("rate", f"{60 * spent.requests / max(passed, 1e-9):.0f} requests a minute")
        table.add_row("waiting", f"{spent.waiting_s:.0f} s in all for the endpoint's rate limits")
        table.add_row("findings", escape("\n".join([str(len(self.broken)), *sorted(self.broken)[:5]])))
        table.add_row("remaining", remaining(spent.requests, min(planned, caps.requests or planned), passed))
        return table

    def _spent(self) -> Spent:
        return Budget(self.settings.out / BUDGET, self.settings.caps).read()

    def _money(self, amount: float) -> str:
        prices = self.settings.target.prices
        return f"{amount:.4f} {prices.currency if prices else ''}".rstrip()


def remaining(requests: int, planned: int, passed: float) -> str:
    """How long the rest takes at the rate so far, in words."""
    if requests < 3:
        return "not known yet"
    seconds = max(0, planned - requests) * passed / requests
    return f"about {seconds:.0f} s" if seconds < 120 else f"about {seconds / 60:.0f} min"


def _cap(cap: float | None) -> str:
    return "" if cap is None else f" (at most {cap:g})"


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
    for likeness in record["diagnosis"][:1]:
        seen = f" (seen in {', '.join(likeness['citations'][:3])})" if likeness["citations"] else ""
        lines.append(f"  looks like {likeness['fault']}: {likeness['sentence']}{seen}")
    lines += [f"  gate: {reason}" for reason in record["gate"]["reasons"]]
    cost = record["cost"]
    lines.append(
        f"  {cost['requests']} requests, {cost['prompt_tokens'] + cost['completion_tokens']} tokens, "
        f"{cost['wall_s']:.1f} s"
    )
    lines.append(f"  report: {out / 'report.html'}")
    safe = [for_terminal(line) for line in lines]
    if os.environ.get("GITHUB_ACTIONS") == "true":  # GitHub shows such lines beside the change
        safe += reports.worst_annotations(reports.load_run(out))
    return "\n".join(safe)
