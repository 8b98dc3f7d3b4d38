"""How laws are written down: short pure functions under the id of the requirement they judge.

A law yields `Violation`s; yielding none means the requirement was kept. Where the exchange does not call for a
verdict at all, `applies` says so; where it was exercised but does not decide, the law raises `Undecided`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.cases import Case
from conformance.wire.exchange import Exchange
from spec.model import Promise


@dataclass(frozen=True, slots=True)
class Violation:
    """What is wrong, in a sentence, with what was expected and what was seen (both shortened by the report).

    `exchanges` names the exchanges at fault where a law looks at several; empty means all it was shown.
    """

    message: str
    expected: str = ""
    observed: str = ""
    exchanges: tuple[str, ...] = ()


class Undecided(Exception):
    """The requirement was exercised, but what came back does not decide it."""


ExchangeLaw = Callable[[Exchange, Promise], Iterable[Violation]]
CaseLaw = Callable[[Case, Promise], Iterable[Violation]]
RunLaw = Callable[[Sequence[Exchange], Promise], Iterable[Violation]]


@dataclass(frozen=True, slots=True)
class Law:
    """A registered law. `requirement` is '' for a case law that speaks for the requirements its case names."""

    requirement: str
    check: Callable[..., Iterable[Violation]]
    applies: Callable[..., bool]
    kind: str = ""

    @property
    def text(self) -> str:
        """The published text: the docstring."""
        return " ".join((self.check.__doc__ or "").split())


EXCHANGE_LAWS: dict[str, Law] = {}
CASE_LAWS: dict[str, list[Law]] = {}
RUN_LAWS: dict[str, Law] = {}


def _always(*_: Any) -> bool:
    return True


def law(requirement: str, applies: Callable[[Exchange], bool]) -> Callable[[ExchangeLaw], ExchangeLaw]:
    """Register a law over every single exchange of the run that it applies to."""

    def register(check: ExchangeLaw) -> ExchangeLaw:
        if requirement in EXCHANGE_LAWS:
            raise ValueError(f"two laws for {requirement}")
        EXCHANGE_LAWS[requirement] = Law(requirement, check, applies)
        return check

    return register


def case_law(requirement: str, kind: str, applies: Callable[[Case], bool] = _always) -> Callable[[CaseLaw], CaseLaw]:
    """Register a law over cases of a kind; an empty requirement means those that the case names."""

    def register(check: CaseLaw) -> CaseLaw:
        known = CASE_LAWS.setdefault(kind, [])
        if any(other.requirement == requirement for other in known):
            raise ValueError(f"two laws for {requirement or 'the named requirements'} over {kind} cases")
        known.append(Law(requirement, check, applies, kind))
        return check

    return register


def run_law(requirement: str) -> Callable[[RunLaw], RunLaw]:
    """Register a law over all exchanges of a run together."""

    def register(check: RunLaw) -> RunLaw:
        if requirement in RUN_LAWS:
            raise ValueError(f"two laws over the run for {requirement}")
        RUN_LAWS[requirement] = Law(requirement, check, _always)
        return check

    return register


def judged_ids() -> frozenset[str]:
    """Every requirement id that some law is registered under."""
    cases = {law.requirement for laws in CASE_LAWS.values() for law in laws if law.requirement}
    return frozenset(EXCHANGE_LAWS) | frozenset(RUN_LAWS) | cases
