"""What stop strings do to a text, compared with what the endpoint says without them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from conformance.cases import Case
from conformance.laws.conditions import readable
from conformance.laws.registry import Undecided, Violation, case_law, law
from conformance.laws.relations import reply_in, settled, shortened, steady_outcome, steady_text
from conformance.reply import reply_of
from conformance.wire.exchange import Exchange
from spec.model import Promise

#: Roles control (the request without stop, at least twice) and stopped (the same with stop).
STOPPED = "stopped"
#: As STOPPED, where every stop string stands in the control's reasoning and not in its content.
STOP_IN_REASONING = "stop-in-reasoning"


def stops_of(x: Exchange) -> list[str]:
    """The stop strings of a request that are not empty."""
    stop = x.asks("stop")
    given = [stop] if isinstance(stop, str) else stop if isinstance(stop, list) else []
    return [text for text in given if isinstance(text, str) and text]


def ends_at(text: str, stops: Sequence[str]) -> dict[int, str]:
    """Where a text may be cut, and by which stop string.

    That is where the match that starts first starts, and where the match that is complete first starts: with
    overlapping stop strings the two differ, and "first" can mean either.
    """
    found = [(text.find(stop), stop) for stop in stops if stop in text]
    if not found:
        return {}
    starts_first = min(found, key=lambda match: (match[0], len(match[1])))
    complete_first = min(found, key=lambda match: (match[0] + len(match[1]), match[0]))
    return dict((starts_first, complete_first))


def matches(case: Case) -> list[tuple[Exchange, dict[int, str]]]:
    """Each stopped exchange with where it may cut the control's text; none where the control cannot be read."""
    control = reply_of(case.all("control")[0])
    return [(x, ends_at(control.first.content, stops_of(x))) for x in case.all("stopped")] if control else []


def matched(case: Case) -> bool:
    """A stop string of the case stands in the control's text."""
    return any(ends for _, ends in matches(case))


def _unmatched(case: Case) -> bool:
    found = matches(case)
    return not found or any(not ends for _, ends in found)


@law("stop.absent-from-output", applies=lambda x: readable(x) and bool(stops_of(x)))
def absent_from_output(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """The content of no choice contains one of the stop strings."""
    reply = reply_of(x)
    assert reply is not None
    for choice in reply.choices.values():
        for stop in stops_of(x):
            if stop in choice.content:
                yield Violation("a stop string stands in the output", f"no {stop!r}", shortened(choice.content[-120:]))
                return


@case_law("stop.cut-at-first-match", kind=STOPPED, applies=matched)
def cut_at_first_match(case: Case, promise: Promise) -> Iterator[Violation]:
    """The text is the control's text up to the first match, without it."""
    settled(case.exchanges)
    text = steady_text(case.all("control"))
    for x, ends in matches(case):
        yield from _cut_elsewhere(x, [text[:at] for at in ends])


@case_law("stop.ends-generation", kind=STOPPED, applies=matched)
def ends_generation(case: Case, promise: Promise) -> Iterator[Violation]:
    """The text ends at the first match, with the stop string only where the promise leaves that open."""
    settled(case.exchanges)
    text = steady_text(case.all("control"))
    for x, ends in matches(case):
        allowed = [text[:at] for at in ends]
        if promise.params.get("may_include"):
            allowed += [text[: at + len(stop)] for at, stop in ends.items()]
        yield from _cut_elsewhere(x, allowed)


def _cut_elsewhere(x: Exchange, allowed: list[str]) -> Iterator[Violation]:
    observed = reply_in(x).first.content
    if allowed and observed not in allowed:
        yield Violation(
            f"with stop {shortened(x.asks('stop'), 60)} the text does not end where it should",
            f"…{allowed[0][-60:]!r}",
            f"…{observed[-60:]!r}",
            (x.id,),
        )


@case_law("stop.unmatched-changes-nothing", kind=STOPPED, applies=_unmatched)
def unmatched_changes_nothing(case: Case, promise: Promise) -> Iterator[Violation]:
    """Where no stop string stands in the control's text, the stopped reply is the control's."""
    settled(case.exchanges)
    text, _, finish, _ = steady_outcome(case.all("control"))
    for x in (x for x, ends in matches(case) if not ends):
        first = reply_in(x).first
        if (first.content, first.finish_reason) != (text, finish):
            yield Violation(
                "stop strings that do not occur change the reply",
                shortened((text[-80:], finish)),
                shortened((first.content[-80:], first.finish_reason)),
                (x.id,),
            )


@case_law("stop.ignores-reasoning", kind=STOP_IN_REASONING)
def ignores_reasoning(case: Case, promise: Promise) -> Iterator[Violation]:
    """A stop string that the model only thinks of leaves the answer as it was."""
    settled(case.exchanges)
    text, reasoning, finish, _ = steady_outcome(case.all("control"))
    for x in case.all("stopped"):
        if not any(stop in reasoning for stop in stops_of(x)):
            raise Undecided("no reasoning was shown that a stop string could be taken from")
        first = reply_in(x).first
        if (first.content, first.finish_reason) != (text, finish):
            yield Violation(
                "a stop string in the reasoning changes the answer",
                shortened((text[-80:], finish)),
                shortened((first.content[-80:], first.finish_reason)),
                (x.id,),
            )
