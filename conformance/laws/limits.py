"""Token limits: never passed, and a higher one only adds to the end."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.cases import Case
from conformance.laws.choices import wanted
from conformance.laws.conditions import readable
from conformance.laws.registry import Undecided, Violation, case_law, law
from conformance.laws.relations import outcome_of, settled, shortened, steady_outcome
from conformance.reply import reply_of
from conformance.wire.exchange import Exchange
from spec.model import Promise

#: Roles long (a request, at least twice) and short (the same under lower limits).
CUT_SHORT = "cut-short"


def _limit(x: Exchange, name: str) -> int | None:
    value = x.asks(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 1 else None


def limit_of(x: Exchange) -> int | None:
    """The token limit that a request sets by whichever of its two names counts, or None."""
    synonym = _limit(x, "max_completion_tokens")
    return synonym if synonym is not None else _limit(x, "max_tokens")


def _counted(x: Exchange) -> bool:
    reply = reply_of(x) if readable(x) else None
    return bool(reply and reply.completion_tokens is not None)


def _over(x: Exchange, limit: int | None) -> Iterator[Violation]:
    reply = reply_of(x)
    assert reply is not None
    assert reply.completion_tokens is not None
    assert limit is not None
    most = limit * wanted(x)
    if reply.completion_tokens > most:
        yield Violation("more tokens were generated than allowed", f"at most {most}", f"{reply.completion_tokens}")


@law(
    "limits.max-tokens-bounds-output",
    applies=lambda x: _counted(x) and _limit(x, "max_tokens") is not None and not _limit(x, "max_completion_tokens"),
)
def max_tokens_bounds_output(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """completion_tokens are at most max_tokens (for each choice)."""
    yield from _over(x, _limit(x, "max_tokens"))


@law(
    "limits.max-completion-tokens-bounds-output",
    applies=lambda x: _counted(x) and _limit(x, "max_completion_tokens") is not None and not _limit(x, "max_tokens"),
)
def max_completion_tokens_bounds_output(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """completion_tokens are at most max_completion_tokens where that alone is set."""
    yield from _over(x, _limit(x, "max_completion_tokens"))


def _both_limits(x: Exchange) -> bool:
    both = _limit(x, "max_completion_tokens"), _limit(x, "max_tokens")
    return _counted(x) and None not in both and both[0] != both[1]


@law("limits.max-completion-tokens-wins", applies=_both_limits)
def max_completion_tokens_wins(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """With both limits the output keeps to max_completion_tokens, and is not cut where max_tokens would cut it."""
    limit, other = _limit(x, "max_completion_tokens"), _limit(x, "max_tokens")
    assert limit is not None
    assert other is not None
    broken = list(_over(x, limit))
    if broken:
        yield from broken
        return
    reply = reply_of(x)
    assert reply is not None
    count = reply.completion_tokens
    assert count is not None
    if count < min(limit, other) - 1:
        raise Undecided("the reply was shorter than either limit")
    if limit > other and reply.first.finish_reason == "length" and count <= other:
        yield Violation("max_tokens cut the output although max_completion_tokens is higher", f"{limit}", f"{count}")


def _reasoned(x: Exchange) -> bool:
    reply = reply_of(x) if _counted(x) and limit_of(x) is not None else None
    return bool(reply and (reply.reasoning_tokens or any(choice.reasoning for choice in reply.choices.values())))


@law("limits.bound-includes-reasoning", applies=_reasoned)
def bound_includes_reasoning(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """Where the model reasons, reasoning and answer together keep to the limit."""
    yield from _over(x, limit_of(x))
    reply = reply_of(x)
    limit = limit_of(x)
    reasoning = reply.reasoning_tokens if reply else None
    if reasoning is not None and limit is not None and reasoning > limit * wanted(x):
        yield Violation("the reasoning alone passes the limit", f"at most {limit}", f"{reasoning}")


@case_law("limits.longer-limit-extends", kind=CUT_SHORT)
def longer_limit_extends(case: Case, promise: Promise) -> Iterator[Violation]:
    """The text under the higher limit begins with the text under the lower; both agree where that one ended."""
    settled(case.exchanges)
    text, _, longer_finish, _ = steady_outcome(case.all("long"))
    for x in case.all("short"):
        short, _, finish, _ = outcome_of(x)
        if not text.startswith(short):
            yield Violation(
                "with a higher limit the text begins differently", shortened(text[: len(short)]), shortened(short)
            )
        elif finish == "stop" and (text, longer_finish) != (short, finish):
            yield Violation(
                "a text that ended by itself goes on under a higher limit",
                shortened(short[-80:]),
                shortened(text[-80:]),
            )
