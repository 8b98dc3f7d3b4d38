"""What happened, and what that means at a level: one pure function and the table it prints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from spec.model import Level

Verdict = Literal["pass", "fail", "warn", "inconclusive", "not_exercised", "not_applicable", "waived", "error"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
RunVerdict = Literal["conformant", "non-conformant", "incomplete"]

CONFORMANT, NON_CONFORMANT, INTERRUPTED, SUITE_FAILED, WRONG_USAGE, NOT_ENOUGH = range(6)


@dataclass(frozen=True, slots=True)
class Observed:
    """How often a requirement was seen kept, violated and undecided, and whether a check of ours broke."""

    kept: int = 0
    violated: int = 0
    undecided: int = 0
    broken: bool = False


def verdict(
    level: Level, observed: Observed, *, applicable: bool = True, waived: bool = False, strict: bool = False
) -> Verdict:
    """The verdict on one requirement. `strict` counts a should as a must; a may never turns red."""
    if not applicable:
        return "not_applicable"
    if observed.violated:
        if waived:
            return "waived"
        if level == "must" or (strict and level == "should"):
            return "fail"
        return "warn"
    if observed.broken:
        return "error"
    if observed.kept:
        return "pass"
    return "inconclusive" if observed.undecided else "not_exercised"


def run_verdict(musts: dict[Verdict, int], unprovokable: int) -> RunVerdict:
    """The verdict on a run, from how many musts have which verdict.

    `unprovokable` is how many of the `not_exercised` musts describe conditions that no client can provoke.
    """
    if musts.get("fail"):
        return "non-conformant"
    open_ends = musts.get("not_exercised", 0) - unprovokable
    if open_ends or musts.get("inconclusive") or musts.get("error") or musts.get("waived") or not musts.get("pass"):
        return "incomplete"
    return "conformant"


def table() -> str:
    """The verdict function as a Markdown table, for people."""
    rows = [
        ("violated at least once", Observed(kept=1, violated=1)),
        ("kept, never violated", Observed(kept=1)),
        ("exercised, never decided", Observed(undecided=1)),
        ("never exercised", Observed()),
        ("our check broke", Observed(broken=True)),
    ]
    lines = ["| what happened | must | should | may |", "| --- | --- | --- | --- |"]
    levels: tuple[Level, ...] = ("must", "should", "may")
    for words, observed in rows:
        lines.append("| " + " | ".join([words, *(verdict(level, observed) for level in levels)]) + " |")
    lines.append("| violated, and waived | waived | waived | waived |")
    lines.append("| not promised, or the capability is lacking | " + " | ".join(["not_applicable"] * 3) + " |")
    return "\n".join(lines)
