"""Runs one law over exchanges made by hand, and says what it found."""

from __future__ import annotations

from typing import Any

from conformance.laws import CASE_LAWS, EXCHANGE_LAWS, RUN_LAWS, Law, Undecided, Violation
from conformance.wire.exchange import Exchange
from spec.model import Promise
from tests.conformance.made import case

KEPT, UNSEEN, UNDECIDED = "kept", "unseen", "undecided"


def promise(requirement: str, **params: Any) -> Promise:
    """A promise of this requirement with these parameters."""
    return Promise(requirement, "must", "stated", ("place",), "somewhere", params)


def _found(law: Law, subject: object, requirement: str, params: dict[str, Any]) -> str:
    if not law.applies(subject):
        return UNSEEN
    try:
        violations: list[Violation] = list(law.check(subject, promise(requirement, **params)))
    except Undecided as undecided:
        if not str(undecided):
            raise AssertionError("an undecided law must say why") from undecided
        return UNDECIDED
    return "; ".join(violation.message for violation in violations) or KEPT


def verdict(requirement: str, exchange: Exchange, **params: Any) -> str:
    """What the law over single exchanges says: kept, unseen, undecided, or the violations' messages."""
    return _found(EXCHANGE_LAWS[requirement], exchange, requirement, params)


def found(requirement: str, exchange: Exchange, **params: Any) -> list[Violation]:
    """The violations themselves, with what was expected and what was seen."""
    return list(EXCHANGE_LAWS[requirement].check(exchange, promise(requirement, **params)))


def case_found(kind: str, requirement: str, data: dict[str, Any] | None = None, /, **roles: Any) -> list[Violation]:
    """The violations that the law over cases of a kind finds; `params` are the promise's."""
    params = roles.pop("params", {})
    subject = case(kind, data, (requirement,), **roles)
    return list(_case_law(kind, requirement).check(subject, promise(requirement, **params)))


def _case_law(kind: str, requirement: str) -> Law:
    laws = [law for law in CASE_LAWS[kind] if law.requirement in (requirement, "")]
    return max(laws, key=lambda law: len(law.requirement))  # a law of its own before the one for any id


def case_verdict(kind: str, requirement: str, data: dict[str, Any] | None = None, /, **roles: Any) -> str:
    """What the law over cases of a kind says about a case with these roles; `params` are the promise's."""
    params = roles.pop("params", {})
    return _found(_case_law(kind, requirement), case(kind, data, (requirement,), **roles), requirement, params)


def run_verdict(requirement: str, *exchanges: Exchange, **params: Any) -> str:
    """What the law over a whole run says."""
    return _found(RUN_LAWS[requirement], exchanges, requirement, params)
