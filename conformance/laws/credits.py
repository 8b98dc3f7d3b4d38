"""Credits: what a request cost and what is left. Other traffic of the account must not raise an alarm."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeGuard

from conformance.cases import Case
from conformance.laws.conditions import readable
from conformance.laws.refusals import is_refusal
from conformance.laws.registry import Undecided, Violation, case_law, law
from conformance.laws.relations import reply_in, settled, shortened
from conformance.reply import reply_of
from conformance.wire.exchange import Exchange
from spec.model import Promise

REGULAR = 3  # so many steps that are off in the same way are no coincidence


def _has_usage(x: Exchange) -> bool:
    reply = reply_of(x)
    return readable(x) and reply is not None and reply.usage is not None


def _fields(promise: Promise) -> tuple[str, str]:
    return str(promise.params["used"]), str(promise.params["balance"])


def _whole_number(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


@law("credits.are-reported", applies=_has_usage)
def credits_are_reported(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """The usage of a reply has the cost of the request and the balance left, both whole numbers."""
    usage = reply_in(x).usage or {}
    for name in _fields(promise):
        if not _whole_number(usage.get(name)):
            found = shortened(usage[name]) if name in usage else "absent"
            yield Violation(f"usage.{name} is not reported", "a whole number", found)
    used = usage.get(_fields(promise)[0])
    if _whole_number(used) and used < 0:
        yield Violation("a request has a negative cost", "0 or more", str(used))


def _account(x: Exchange, promise: Promise) -> tuple[int, int]:
    """(cost, balance) of a reply; undecided where it has none."""
    usage = reply_in(x).usage or {}
    used, balance = (usage.get(name) for name in _fields(promise))
    if not _whole_number(used) or not _whole_number(balance):
        raise Undecided(f"{x.id} reports no credits")
    return used, balance


def _missing(serial: Sequence[Exchange], promise: Promise) -> list[tuple[int, int]]:
    """For each request after the first: its cost, and how much more than that the balance fell."""
    accounts = [_account(x, promise) for x in serial]
    return [(used, before - used - after) for (_, before), (used, after) in pairwise(accounts)]


def _judge(serial: Sequence[Exchange], promise: Promise, what: str) -> Iterator[Violation]:
    steps = _missing(serial, promise)
    if all(extra == 0 for _, extra in steps):
        return
    numbers = ", ".join(f"cost {used}, balance fell by {used + extra}" for used, extra in steps)
    extras = {extra for _, extra in steps}
    ratios = {extra / used for used, extra in steps if used}
    undercharged = all(extra < 0 for _, extra in steps)
    regular = len(steps) >= REGULAR and 0 not in extras and (len(extras) == 1 or len(ratios) == 1)
    if undercharged or regular:
        yield Violation(what, "each balance is the last one less the cost", numbers)
    else:
        raise Undecided(f"something else may have used the account meanwhile ({numbers})")


@case_law("credits.balance-falls-by-the-cost", kind="serial-credits")
def balance_falls_by_the_cost(case: Case, promise: Promise) -> Iterator[Violation]:
    """Of requests one after the other each leaves the balance of the one before less its own cost."""
    serial = case.all("serial")
    settled(serial)
    yield from _judge(serial, promise, "the balance does not fall by the cost")


@case_law("credits.refusals-are-free", kind="credits-refused")
def refusals_are_free(case: Case, promise: Promise) -> Iterator[Violation]:
    """Refused requests between answered ones are not paid for.

    `before` are requests one after the other without any between, then `refused` and `after` take turns.
    """
    calm, after, refusals = case.all("before"), case.all("after"), case.all("refused")
    answered = (*calm[-1:], *after)
    settled((*calm, *after, *refusals))
    if not all(map(is_refusal, refusals)):
        raise Undecided("the requests between were not refused")
    if any(extra for _, extra in _missing(calm, promise)):
        raise Undecided("the balance does not add up without refusals either")
    yield from _judge(answered, promise, "the balance fell by more than the answered requests cost")
