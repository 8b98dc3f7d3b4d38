"""What a gate makes of a run: the verdict's status, changed by waivers, a baseline and a policy."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance.verdict import CONFORMANT, INTERRUPTED, NON_CONFORMANT, NOT_ENOUGH, SUITE_FAILED


@dataclass(frozen=True, slots=True)
class Policy:
    """What is asked beyond the verdict. `max_inconclusive_musts` None means: none may be inconclusive."""

    required_topics: tuple[str, ...] = ()
    max_inconclusive_musts: int | None = None


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
) -> Gate:
    """The status of a run at a gate. An interrupted or broken run keeps its own status.

    `unprovokable` are the requirements whose conditions no client can provoke.
    """
    gate = Gate(record["exit_status"])
    if gate.status in (INTERRUPTED, SUITE_FAILED):
        return gate
    rows = record["requirements"]
    if baseline is not None and gate.status == NON_CONFORMANT:
        known = {row["id"] for row in baseline["requirements"] if row["verdict"] == "fail"}
        fresh = [row["id"] for row in rows if row["verdict"] == "fail" and row["id"] not in known]
        if fresh:
            gate.reasons.append(f"new since the baseline: {', '.join(fresh)}")
        else:
            gate.status = CONFORMANT
            gate.reasons.append("every failure was already in the baseline")
    if policy is not None:
        _apply_policy(gate, rows, policy, unprovokable)
    if stale:
        gate.status = NON_CONFORMANT
        gate.reasons += stale
    return gate


def _apply_policy(
    gate: Gate, rows: Sequence[Mapping[str, Any]], policy: Policy, unprovokable: Collection[str]
) -> None:
    musts = [row for row in rows if row["level"] == "must"]
    for topic in policy.required_topics:
        if not any(row["topic"] == topic and row["verdict"] == "pass" for row in musts):
            gate.status = gate.status or NOT_ENOUGH
            gate.reasons.append(f"nothing of the required topic {topic} passed")
    if policy.max_inconclusive_musts is None or gate.status not in (CONFORMANT, NOT_ENOUGH):
        return
    open_ends = sum(row["verdict"] == "inconclusive" for row in musts)
    others = any(row["verdict"] == "error" for row in musts)
    if open_ends > policy.max_inconclusive_musts:
        gate.status = NOT_ENOUGH
        gate.reasons.append(f"{open_ends} inconclusive musts, {policy.max_inconclusive_musts} allowed")
    elif gate.status == NOT_ENOUGH and open_ends and not others and _only_inconclusive(musts, unprovokable):
        gate.status = CONFORMANT
        gate.reasons.append(f"{open_ends} inconclusive musts are within the {policy.max_inconclusive_musts} allowed")


def _only_inconclusive(musts: Sequence[Mapping[str, Any]], unprovokable: Collection[str]) -> bool:
    """Whether inconclusive verdicts alone keep the run from being conformant."""
    return all(
        row["verdict"] in ("pass", "not_applicable", "inconclusive")
        or (row["verdict"] == "not_exercised" and row["id"] in unprovokable)
        for row in musts
    )
