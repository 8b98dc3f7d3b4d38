"""How many choices a reply has, and how they are numbered."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.cases import Case
from conformance.laws.conditions import in_one_piece, readable
from conformance.laws.registry import Violation, case_law, law
from conformance.laws.relations import refused, reply_in, settled
from conformance.laws.texts import objects
from conformance.reply import reply_of
from conformance.wire.exchange import Exchange
from spec.model import Promise


def wanted(x: Exchange) -> int:
    """How many choices the request asks for."""
    count = x.asks("n")
    return max(1, count) if isinstance(count, int) else 1


def _indices(x: Exchange) -> list[int]:
    """The index of each choice of a whole reply; of each distinct index of a stream, in order of appearance."""
    if x.is_event_stream:
        reply = reply_of(x)
        return list(reply.choices) if reply else []
    found = objects(x.json.value.get("choices") if isinstance(x.json.value, dict) else None)
    return [choice.get("index", position) for position, choice in enumerate(found)]


def _unbroken(x: Exchange) -> bool:
    return readable(x) and not (x.is_event_stream and x.error_events)


@law("choices.count-is-n", applies=_unbroken)
def count_is_n(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """There are as many choices as `n` asks for, and one where `n` is left out."""
    count = len(_indices(x))
    if count != wanted(x):
        yield Violation("the number of choices is not what n asks for", f"{wanted(x)}", f"{count}")


@law("choices.indices-are-distinct", applies=in_one_piece)
def indices_are_distinct(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """No two choices of a reply have the same index."""
    indices = _indices(x)
    if len(set(map(repr, indices))) != len(indices):
        yield Violation("two choices have the same index", "distinct indices", repr(indices))


@law("choices.indices-run-from-zero", applies=_unbroken)
def indices_run_from_zero(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """The indices of the choices are 0, 1, 2 and so on, in whatever order they come."""
    indices = _indices(x)
    if sorted(map(repr, indices)) != sorted(map(repr, range(len(indices)))):
        yield Violation("the choices are not numbered from 0", f"0 to {len(indices) - 1}", repr(indices[:20]))


@case_law("choices.several-are-accepted", kind="several-choices")
def several_are_accepted(case: Case, promise: Promise) -> Iterator[Violation]:
    """A request for several choices is accepted, and each choice comes with an end of its own."""
    settled(case.exchanges)
    for x in case.exchanges:
        refusal = refused(x)
        if refusal:
            yield refusal
            continue
        ended = [choice.index for choice in reply_in(x).choices.values() if choice.finish_reason is not None]
        if len(ended) != wanted(x):
            yield Violation(
                "not every choice that was asked for came to an end", f"{wanted(x)}", f"{len(ended)}", (x.id,)
            )


@case_law("choices.each-keeps-the-form", kind="several-choices-with-calls")
def each_keeps_the_form(case: Case, promise: Promise) -> Iterator[Violation]:
    """Where a call is forced, each of several choices has it as a call and not as text."""
    settled(case.exchanges)
    for x in case.exchanges:
        reply = reply_in(x)
        for choice in reply.choices.values():
            if not choice.calls and choice.finish_reason != "length":
                yield Violation(
                    f"choice {choice.index} has no call although one is forced",
                    "a tool call in each choice",
                    repr(choice.content)[:200],
                    (x.id,),
                )
        if len(reply.choices) != wanted(x):
            yield Violation(
                "there are not as many choices as n asks for", f"{wanted(x)}", f"{len(reply.choices)}", (x.id,)
            )
