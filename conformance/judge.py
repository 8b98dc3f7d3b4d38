"""Applies the laws to exchanges and cases. Pure: the same record gives the same findings, run or replayed."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from conformance.cases import Case
from conformance.laws import CASE_LAWS, EXCHANGE_LAWS, RUN_LAWS, Law, Undecided, Violation
from conformance.laws.schema import judge_schema
from conformance.wire.exchange import Exchange
from spec.model import Profile, Promise

Outcome = Literal["kept", "violated", "undecided", "error"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What one law saw in one exchange or case."""

    requirement: str
    outcome: Outcome
    exchanges: tuple[str, ...]
    violation: Violation | None = None
    why: str = ""
    case: str | None = None


class Judge:
    """The laws, bound to one profile."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile

    def exchange(self, exchange: Exchange) -> list[Finding]:
        """Everything the laws over single exchanges find in this one."""
        findings = judge_schema(exchange, self.profile, _finding)
        for law in EXCHANGE_LAWS.values():
            promise = self.profile.promised(law.requirement)
            if promise:
                findings += _apply(law, promise, exchange, (exchange.id,), None)
        exchange.release()
        return findings

    def case(self, case: Case) -> list[Finding]:
        """Everything the laws over cases of this kind find in this one."""
        findings: list[Finding] = []
        ids = tuple(exchange.id for exchange in case.exchanges)
        for law in CASE_LAWS.get(case.kind, ()):
            for requirement in (law.requirement,) if law.requirement else case.requirements:
                promise = self.profile.promised(requirement)
                if promise:
                    findings += _apply(law, promise, case, ids, case.id)
        for exchange in case.exchanges:
            exchange.release()
        return findings

    def run(self, exchanges: Sequence[Exchange]) -> list[Finding]:
        """Everything the laws over a whole run find."""
        findings: list[Finding] = []
        for law in RUN_LAWS.values():
            promise = self.profile.promised(law.requirement)
            if promise and exchanges:
                findings += _apply(law, promise, exchanges, (), None)
                for exchange in exchanges:
                    exchange.release()
        return findings


def _finding(requirement: str, exchange: str, violation: Violation | None) -> Finding:
    return Finding(requirement, "violated" if violation else "kept", (exchange,), violation)


def _apply(law: Law, promise: Promise, subject: object, ids: tuple[str, ...], case: str | None) -> Iterable[Finding]:
    requirement = promise.requirement
    try:
        if not law.applies(subject):
            return []
        check: Callable[..., Iterable[Violation]] = law.check
        violations = list(check(subject, promise))
    except Undecided as undecided:
        return [Finding(requirement, "undecided", ids, why=str(undecided), case=case)]
    except Exception:  # a law that crashes is our fault, and must not end the run
        return [Finding(requirement, "error", ids, why=traceback.format_exc(limit=-3), case=case)]
    if not violations:
        return [Finding(requirement, "kept", ids, case=case)]
    return [Finding(requirement, "violated", v.exchanges or ids, v, case=case) for v in violations]
