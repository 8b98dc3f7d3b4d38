"""Bounds on how often a promise may be broken, for endpoints that break it only now and then.

The rate behind `violated` of `violated + kept` observations is not known, only bounded: by the exact interval of
Clopper and Pearson, each side with the stated confidence. What an observed rate alone would say is never used.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from math import ceil, log, log1p
from typing import Any

from conformance.laws.sampled import interval

Row = Mapping[str, Any]
_STEADY = "within, but nothing shows that it comes and goes, so no rate excuses it"


@dataclass(frozen=True, slots=True)
class RateBound:
    """One `[[policy.rates]]`: the highest rate of violations allowed to requirements of an id or glob."""

    requirements: str
    max_violation_rate: float
    confidence: float = 0.95
    min_observations: int = 1

    def rate(self, row: Row) -> tuple[float, float]:
        """Between which rates a requirement is violated; each end holds with the bound's confidence."""
        seen = row["observations"]
        count = seen["kept"] + seen["violated"]
        return interval(seen["violated"], count, 2 * self.confidence - 1) if count else (0.0, 1.0)

    def is_exceeded(self, row: Row) -> bool:
        """Whether the observations show a rate above the allowed one."""
        return self.rate(row)[0] > self.max_violation_rate

    def is_kept(self, row: Row) -> bool:
        """Whether there are enough observations, and they show a rate that is allowed."""
        return _count(row) >= self.min_observations and self.rate(row)[1] <= self.max_violation_rate

    @property
    def needed(self) -> int:
        """How many observations without a violation show that the rate is allowed."""
        return max(self.min_observations, ceil(log(1 - self.confidence) / log1p(-self.max_violation_rate)))

    @property
    def words(self) -> str:
        """The bound as reasons name it."""
        return f"{_percent(self.max_violation_rate)} allowed, with {_percent(self.confidence)} confidence"

    def about(self, row: Row) -> str:
        """What was seen of a requirement beside what is allowed."""
        low, high = self.rate(row)
        seen = f"violated {row['observations']['violated']} of {_count(row)} times"
        return f"{row['id']} {seen}, between {_percent(low)} and {_percent(high)}; {self.words}"


@dataclass(slots=True)
class RateFindings:
    """What the bounds of a policy say of a run, in ids and sentences.

    `allowed` are failures within their bounds; `exceeded` fails the gate; `open` is not enough; `notes` explain.
    """

    allowed: set[str] = field(default_factory=set)
    exceeded: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def judge_rates(bounds: Sequence[RateBound], rows: Sequence[Row], unprovokable: Collection[str]) -> RateFindings:
    """Hold every requirement that a bound names against it; a failure is allowed where all its bounds allow it."""
    found = RateFindings()
    refused: set[str] = set()
    for bound in bounds:
        named = [row for row in rows if fnmatchcase(row["id"], bound.requirements) and _counts(row, unprovokable)]
        exceeding = [row for row in named if bound.is_exceeded(row)]
        unsettled = [row for row in named if not bound.is_exceeded(row) and not bound.is_kept(row)]
        found.exceeded += [f"{bound.about(row)}: above what is allowed" for row in exceeding]
        found.open += _open(bound, unsettled, bool(named))
        refused |= {row["id"] for row in (*exceeding, *unsettled)}
        for row in named:
            if row["verdict"] == "fail" and bound.is_kept(row):
                found.notes.append(f"{bound.about(row)}: {'within' if is_sporadic(row) else _STEADY}")
                (found.allowed if is_sporadic(row) else refused).add(row["id"])
    found.allowed -= refused
    return found


def is_sporadic(row: Row) -> bool:
    """Whether violations went away when the same thing was sent again, and none came back each time.

    What always breaks for one kind of request is no matter of chance, however seldom such a request is sent.
    """
    times = [tuple(map(int, violation["reproduced"].split("/"))) for violation in row["violations"]]
    return any(came < sent for came, sent in times) and not any(came == sent > 1 for came, sent in times)


def _open(bound: RateBound, rows: Sequence[Row], named: bool) -> Iterator[str]:
    if not named:
        yield f"the rate bound of {bound.requirements} is about nothing that was judged"
    elif rows:
        shown = ", ".join(f"{row['id']} ({row['observations']['violated']} of {_count(row)})" for row in rows[:3])
        more = " …" if len(rows) > 3 else ""
        wanted = f"{bound.words} takes {bound.needed} without violation"
        yield f"too little seen to bound the rate of {shown}{more}: {wanted}"


def _counts(row: Row, unprovokable: Collection[str]) -> bool:
    """Whether a bound is about it: not what is waived, what does not apply, and what no client can provoke."""
    unseen = row["verdict"] == "not_exercised" and row["id"] in unprovokable
    return row["verdict"] not in ("waived", "not_applicable") and not unseen


def _count(row: Row) -> int:
    return int(row["observations"]["kept"] + row["observations"]["violated"])


def _percent(rate: float) -> str:
    return f"{100 * rate:.3g} %"
