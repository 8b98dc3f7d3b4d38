"""What a gate makes of a run: the verdict's status, changed by waivers, a baseline and a policy."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance.rates import RateBound, judge_rates
from conformance.verdict import CONFORMANT, INTERRUPTED, NON_CONFORMANT, NOT_ENOUGH, SUITE_FAILED

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Policy:
    """What is asked beyond the verdict. `max_inconclusive_musts` None means: none may be inconclusive."""

    required_topics: tuple[str, ...] = ()
    max_inconclusive_musts: int | None = None
    rates: tuple[RateBound, ...] = ()


@dataclass(slots=True)
class Gate:
    """The exit status that a gate gives, and why it differs from the verdict's own."""

    status: int
    reasons: list[str] = field(default_factory=list)


def judge_gate(
    record: Mapping[str, Any],
    *,
    stale: Sequence[str] = (),
    baseline: Mapping[str, Any] | None = None,
    policy: Policy | None = None,
    unprovokable: Collection[str] = (),
    cut_short: bool = False,
) -> Gate:
    """The status of a run at a gate. An interrupted or broken run keeps its own status.

    `unprovokable` are the requirements whose conditions no client can provoke; a run that was `cut_short` has not
    asked all that it meant to ask. The verdict in the record stays what it is.
    """
    gate = Gate(record["exit_status"])
    if gate.status in (INTERRUPTED, SUITE_FAILED):
        return gate
    policy = policy or Policy()
    rows = record["requirements"]
    rates = judge_rates(policy.rates, rows, unprovokable)
    failed = {row["id"]: None for row in rows if row["verdict"] == "fail"}  # a dict keeps the order
    known = {row["id"] for row in baseline["requirements"] if row["verdict"] == "fail"} if baseline else set()
    fresh = [name for name in failed if name not in known | rates.allowed]
    if fresh and baseline is not None:
        gate.reasons.append(f"new since the baseline: {', '.join(fresh)}")
    elif failed and known.issuperset(failed):
        gate.reasons.append("every failure was already in the baseline")
    gate.reasons += rates.notes
    rest = _Rest([row for row in rows if row["id"] not in failed], unprovokable, cut_short)
    if failed and not fresh:
        gate.status = rest.status
    if gate.status in (CONFORMANT, NOT_ENOUGH):
        _bound_open_ends(gate, rest, policy.max_inconclusive_musts)
    for topic in policy.required_topics:
        if not any(row["topic"] == topic and row["verdict"] == "pass" for row in rest.musts):
            gate.status = gate.status or NOT_ENOUGH
            gate.reasons.append(f"nothing of the required topic {topic} passed")
    if rates.open:
        gate.status = gate.status or NOT_ENOUGH
    if rates.exceeded or stale:
        gate.status = NON_CONFORMANT
    gate.reasons += [*rates.open, *rates.exceeded, *stale]
    return gate


class _Rest:
    """A run without its failures: excusing those must not hide what was never judged."""

    def __init__(self, rows: Rows, unprovokable: Collection[str], cut_short: bool) -> None:
        self.musts = [row for row in rows if row["level"] == "must" and row.get("scored", True)]
        self.broken = any(row["verdict"] == "error" for row in rows)
        self.inconclusive = sum(row["verdict"] == "inconclusive" for row in self.musts)
        self.otherwise_whole = not cut_short and all(
            row["verdict"] in ("pass", "not_applicable", "inconclusive")
            or (row["verdict"] == "not_exercised" and row["id"] in unprovokable)
            for row in self.musts
        )

    @property
    def status(self) -> int:
        if self.broken:
            return SUITE_FAILED
        return CONFORMANT if self.otherwise_whole and not self.inconclusive else NOT_ENOUGH


def _bound_open_ends(gate: Gate, rest: _Rest, most: int | None) -> None:
    if most is None or not rest.inconclusive:
        return
    if rest.inconclusive > most:
        gate.status = NOT_ENOUGH
        gate.reasons.append(f"{rest.inconclusive} inconclusive musts, {most} allowed")
    elif rest.otherwise_whole and not rest.broken:
        gate.status = CONFORMANT
        gate.reasons.append(f"{rest.inconclusive} inconclusive musts are within the {most} allowed")
