"""Builds `report.html` from a run: reads the exchanges once, lays out the views, fills the template."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from reports.exchange import Exchange
from reports.html import charts
from reports.html.environment import asset, content_policy, environment
from reports.html.evidence import Packer
from reports.html.finding import (
    MOST_EXCHANGES,
    MOST_KINDS,
    EvidenceBudget,
    Kind,
    RequirementView,
    kinds,
    requirement_view,
)
from reports.measurements import QUANTILES, Measurements
from reports.record import Run, write_atomically
from reports.wording import VERDICT_WORDS, by_topic, findings, headline, unjudged

_WORST = 6
_ICONS = {"conformant": "pass", "non-conformant": "fail", "incomplete": "inconclusive"}


class Topic(NamedTuple):
    """A topic's requirements, the worst first, and its counts."""

    name: str
    counts: Counter[str]
    words: str
    items: list[RequirementView]


class Proven(NamedTuple):
    """How many checks of this run were seen to fail, by how many planted faults, and those that were not."""

    checks: int
    faults: int
    others: list[dict[str, Any]]


class Unjudged(NamedTuple):
    """Promises that one kind of reason left undecided."""

    verdict: str
    words: str
    rows: list[dict[str, Any]]


def render(run: Run, *, split: bool = False) -> str:
    """The page as text. `split` links `report.css` and `report.js` beside it instead of carrying them,
    for hosts whose own policy forbids inline styles (Jenkins).

    Raises RecordError where an exchange is not what its schema says.
    """
    evidence = {id_ for row in run.requirements for item in row["violations"] for id_ in item["exchanges"]}
    places: dict[str, int] = {}
    sent: dict[str, int] = {}
    measurements, packer = Measurements(), Packer()
    for exchange in run.exchanges():
        measurements.add(exchange)
        packer.add(exchange)
        if exchange.id in evidence:
            places[exchange.id] = exchange.offset
            sent[exchange.id] = len(exchange.sent)
    found = {row["id"]: kinds(row, sent) for row in run.requirements}
    kept = {id_: run.exchange_at(places[id_]) for id_ in _shown_exchanges(found) if id_ in places}
    latency, latency_ticks = charts.spreads(measurements.latency_by_topic())
    results = {"notes": [], "only": [], "waivers": [], "command": "", "diagnosis": [], **run.results}
    style, script = asset("report.css"), asset("report.js")
    template = environment().get_template("report.html.j2")
    return template.render(
        results=results,
        target={"models": {}, "induce": False, **results["target"]},
        headline=headline(run),
        run_icon=_ICONS[results["verdict"]],
        started=_day_and_time(results["started"]),
        took=_seconds_between(results["started"], results["ended"]),
        findings=findings(run),
        findings_title=_findings_title(run),
        worst=_WORST,
        untested=_untested(run),
        topics=_topics(run, found, kept),
        proven=_proven(run),
        replay=f"conformance replay {run.directory.resolve().name}",
        histograms=[charts.histogram(series) for series in measurements.series()],
        latency=latency,
        latency_ticks=latency_ticks,
        quantile_names=[f"{share:.0%}" if share != 0.5 else "median" for share in QUANTILES],
        pack=packer.pack(),
        unfinished=run.unfinished,
        split=split,
        style=style,
        script=script,
        policy=_SPLIT_POLICY if split else content_policy(script=script, style=style),
    )


_SPLIT_POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none'"


def write(run: Run, path: Path, *, split: bool = False) -> None:
    """Write the page to `path`, and with `split` its style sheet and script beside it."""
    write_atomically(path, render(run, split=split))
    if split:
        for name in ("report.css", "report.js"):
            write_atomically(path.parent / name, asset(name))


def _findings_title(run: Run) -> str:
    counts = run.results["counts"]
    if counts["fail"] or counts["error"]:
        return "The worst findings"
    return "Nothing failed; warnings" if counts["warn"] else "No promise was broken"


def _shown_exchanges(found: dict[str, list[Kind]]) -> set[str]:
    """Ids of the exchanges that findings show in full."""
    return {
        id_
        for made in found.values()
        for kind in made[:MOST_KINDS]
        for id_ in kind.smallest["exchanges"][:MOST_EXCHANGES]
    }


def _topics(run: Run, found: dict[str, list[Kind]], kept: dict[str, Exchange]) -> list[Topic]:
    budget = EvidenceBudget()
    # The worst findings take their share of the evidence first, wherever they stand in the page.
    worst = findings(run)
    views = {row["id"]: requirement_view(row, found[row["id"]], kept, budget, open_=len(worst) <= 2) for row in worst}
    topics = []
    for name, rows in by_topic(run.requirements).items():
        ordered = sorted(rows, key=lambda row: (list(VERDICT_WORDS).index(row["verdict"]), row["id"]))
        counts = Counter(str(row["verdict"]) for row in rows)
        items = [
            views.get(row["id"]) or requirement_view(row, found[row["id"]], kept, budget, open_=False)
            for row in ordered
        ]
        topics.append(Topic(name, counts, _topic_words(counts), items))
    return topics


def _topic_words(counts: Counter[str]) -> str:
    return ", ".join(
        f"{counts[verdict]} {word.lower()}" for verdict, (word, _) in VERDICT_WORDS.items() if counts[verdict]
    )


def _untested(run: Run) -> list[Unjudged]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in unjudged(run):
        groups.setdefault(row["verdict"], []).append(row)
    return [
        Unjudged(verdict, f"{VERDICT_WORDS[verdict][0]}: {VERDICT_WORDS[verdict][1]}", rows)
        for verdict, rows in groups.items()
    ]


def _proven(run: Run) -> Proven | None:
    """None where the record says nothing about it, as those of other suites and of earlier versions do not."""
    known = [row for row in run.requirements if row["proven_by"] is not None]
    if not known:
        return None
    others = [row for row in known if not row["proven_by"]]
    return Proven(len(known) - len(others), len({fault for row in known for fault in row["proven_by"]}), others)


def _day_and_time(instant: str) -> str:
    at = datetime.fromisoformat(instant)
    return f"{at.day} {at:%B %Y, %H:%M} UTC"


def _seconds_between(started: str, ended: str) -> float:
    return max((datetime.fromisoformat(ended) - datetime.fromisoformat(started)).total_seconds(), 0.0)
