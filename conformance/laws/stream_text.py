"""What the deltas of a stream add up to, and that it is what the same request gets in one piece."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from conformance.cases import Case
from conformance.laws.conditions import undisturbed
from conformance.laws.registry import Undecided, Violation, case_law, law
from conformance.laws.relations import outcome_of, reply_in, settled, shortened, steady_outcome
from conformance.laws.stream_chunks import deltas_of
from conformance.reply import reply_of
from conformance.wire.exchange import Exchange
from conformance.wire.sse import DONE
from spec.model import Promise

STREAMED_AND_WHOLE = "streamed-and-whole"
DONE_IN_TEXT = "done-in-text"


def _pieces(x: Exchange, name: str) -> Iterator[list[str]]:
    for deltas in deltas_of(x).values():
        yield [text for _, delta in deltas if isinstance(text := delta.get(name), str) and text]


def _cumulative(pieces: list[str]) -> bool:
    """Each piece begins with the whole piece before it and goes on, too long a chain for chance."""
    return len(pieces) >= 3 and all(b != a and b.startswith(a) for a, b in pairwise(pieces))


def _has_pieces(x: Exchange) -> bool:
    return undisturbed(x) and any(len(pieces) >= 3 for name in ("content", "reasoning") for pieces in _pieces(x, name))


@law("stream.deltas-are-increments", applies=_has_pieces)
def deltas_are_increments(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """A delta does not begin with all the text that came before it."""
    for name in ("content", "reasoning"):
        for pieces in _pieces(x, name):
            if _cumulative(pieces):
                yield Violation(f"deltas repeat the {name} so far", "new text only", shortened(pieces[:3]))
                return


@law("stream.folds-to-a-valid-message", applies=undisturbed)
def folds_to_a_valid_message(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """Joined, the deltas of each choice make a message: content, reasoning or calls of the right types."""
    reply = reply_of(x)
    assert reply is not None
    for choice in reply.choices.values():
        wrong = _malformed(x, choice.index)
        if wrong:
            yield Violation(f"choice {choice.index} does not fold: {wrong[0]}", wrong[1], wrong[2])
            continue
        if choice.finish_reason in ("length", "content_filter", "inference_timeout"):
            continue  # what was cut need not be complete
        for call in choice.calls:
            parts = {"id": call.id, "type": call.type, "name": call.name, "arguments": call.arguments}
            missing = [name for name, value in parts.items() if not isinstance(value, str)]
            if missing:
                yield Violation(
                    f"call {call.index} of choice {choice.index} folds without {' and '.join(missing)}",
                    "id, type, name and arguments as in a whole reply",
                    shortened(parts),
                )
                break


def _malformed(x: Exchange, index: int) -> tuple[str, str, str] | None:
    for number, delta in deltas_of(x).get(index, ()):
        for name in ("content", "reasoning"):
            value: Any = delta.get(name)
            if value is not None and not isinstance(value, str):
                return f"{name} of chunk {number} is no text", "a string", shortened(value)
        calls = delta.get("tool_calls")
        if calls is not None and not (isinstance(calls, list) and all(isinstance(call, dict) for call in calls)):
            return f"tool_calls of chunk {number} is no list of objects", "a list of calls", shortened(calls)
    return None


def _same_request(case: Case) -> bool:
    return bool(case.all("whole")) and bool(case.all("streamed"))


@case_law("stream.equals-whole", kind=STREAMED_AND_WHOLE, applies=_same_request)
def equals_whole(case: Case, promise: Promise) -> Iterator[Violation]:
    """Joined, the deltas give the content, reasoning, calls and finish reason of the reply in one piece."""
    settled(case.exchanges)
    expected = steady_outcome(case.all("whole"))
    for x in case.all("streamed"):
        observed = outcome_of(x)
        if observed != expected:
            yield Violation(
                "the stream does not add up to the reply in one piece",
                shortened(expected),
                shortened(observed),
                (case.all("whole")[0].id, x.id),
            )


@case_law("stream.done-in-text-ends-nothing", kind=DONE_IN_TEXT)
def done_in_text_ends_nothing(case: Case, promise: Promise) -> Iterator[Violation]:
    """Where the whole reply contains [DONE] in its text, the stream has the same text and runs to its finish."""
    settled(case.exchanges)
    decided = False
    for whole, stream in zip(case.all("whole"), case.all("streamed"), strict=True):
        asked, received = written(whole), written(stream)
        if DONE in received and reply_in(stream).first.finish_reason is not None:
            decided = True
        elif DONE in asked and reply_in(stream).first.finish_reason is None:
            yield Violation("the stream stops where its text says [DONE]", shortened(asked), shortened(received))
            decided = True
    if not decided:
        raise Undecided("the model did not write [DONE] when asked to")


def written(x: Exchange) -> str:
    """The content and the arguments of the first choice."""
    first = reply_in(x).first
    return first.content + "".join(call.arguments for call in first.calls if isinstance(call.arguments, str))
