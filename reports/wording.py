"""The words that every format uses for verdicts, levels and the run as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from reports.record import Run

RUN_VERDICTS = {
    "conformant": "Conformant",
    "non-conformant": "Not conformant",
    "incomplete": "Incomplete: not enough was judged",
}

# Verdict -> (word, what it means), in the order in which a reader needs them.
VERDICT_WORDS: Mapping[str, tuple[str, str]] = {
    "fail": ("Failed", "a must is violated"),
    "warn": ("Warned", "a should is violated"),
    "error": ("Suite error", "the suite itself failed"),
    "inconclusive": ("Inconclusive", "exercised, but the answers do not decide it"),
    "not_exercised": ("Not exercised", "its condition never occurred"),
    "waived": ("Waived", "violated, and excused by the waivers of this run"),
    "pass": ("Passed", "every observation kept it"),
    "not_applicable": ("Not applicable", "not promised, or the capability is absent"),
}

BASES = {
    "stated": "stated",
    "example": "rests on an example",
    "implied": "implied",
    "reading": "rests on a reading",
}

_LEVELS = {"must": 0, "should": 1, "may": 2, None: 3}
_VERDICTS = {verdict: rank for rank, verdict in enumerate(VERDICT_WORDS)}


def counts_sentence(run: Run) -> str:
    """The counts in one line, what was not judged apart from what was: `212 passed, 3 failed; 4 …`."""
    counts = run.results["counts"]
    judged = [f"{counts[v]} {VERDICT_WORDS[v][0].lower()}" for v in ("pass", "fail", "warn")]
    apart = [
        f"{counts[v]} {VERDICT_WORDS[v][0].lower()}"
        for v in ("inconclusive", "not_exercised", "waived", "not_applicable", "error")
        if counts[v] or v in ("inconclusive", "not_exercised", "waived")
    ]
    return f"{', '.join(judged)}; {', '.join(apart)}"


def headline(run: Run) -> str:
    """The verdict on the run in words."""
    return RUN_VERDICTS[run.results["verdict"]]


def level_and_basis(row: Mapping[str, Any]) -> str:
    """`must, stated`; `not promised` where the document makes no such promise."""
    if not row["level"]:
        return "not promised"
    basis = BASES.get(row.get("basis") or "")
    return f"{row['level']}, {basis}" if basis else str(row["level"])


def severity(row: Mapping[str, Any]) -> tuple[int, int, int, int, str]:
    """Sort key: what a reader should see first comes first (scored, verdict, level, how often)."""
    return (
        0 if row.get("scored", True) else 1,
        _VERDICTS[row["verdict"]],
        _LEVELS[row["level"]],
        -int(row["observations"]["violated"]),
        row["id"],
    )


def findings(run: Run) -> list[dict[str, Any]]:
    """Every requirement that failed, warned or broke the suite, the worst first."""
    found = [row for row in run.requirements if row["verdict"] in ("fail", "warn", "error")]
    return sorted(found, key=severity)


def finding_sentence(row: Mapping[str, Any]) -> str:
    """What went wrong, in the words of its first violation."""
    if row["violations"]:
        return str(row["violations"][0]["message"])
    return str(row.get("why") or row["title"])


def unjudged(run: Run) -> list[dict[str, Any]]:
    """Requirements that the document promises and that this run did not decide, worst level first."""
    kinds = ("error", "inconclusive", "not_exercised", "waived")
    return sorted((row for row in run.requirements if row["verdict"] in kinds), key=severity)


def by_topic(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Rows grouped by topic, in the order in which topics first appear."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault(row["topic"], []).append(row)
    return groups


def reproduction(violation: Mapping[str, Any]) -> str:
    """How often a violation came back, as a sentence; empty where nothing is known.

    `3/3` counts the first time: `1/1` was never sent again.
    """
    seen, _, tried = (violation.get("reproduced") or "").partition("/")
    if not (seen.isdecimal() and tried.isdecimal()):
        return ""
    return "Not sent again." if int(tried) < 2 else f"Seen in {int(seen)} of {int(tried)} tries."


def topic_title(topic: str) -> str:
    """A topic as a heading: `json` is JSON, `tool_calls` is Tool calls."""
    return "JSON" if topic == "json" else topic.replace("_", " ").capitalize()


def seconds(value: float | None) -> str:
    """A duration as people read it: `840 µs`, `12 ms`, `1.24 s`, `3 min 5 s`."""
    if value is None:
        return "unknown"
    if value < 0.001:
        return f"{value * 1e6:.0f} µs"
    if value < 1:
        return f"{value * 1e3:.3g} ms" if value < 0.9995 else "1.00 s"
    if value < 60:
        return f"{value:.3g} s"
    minutes, rest = divmod(round(value), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
