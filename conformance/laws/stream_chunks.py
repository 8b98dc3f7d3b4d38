"""What the chunks of a stream say: identity, role, order and finish of each choice."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from conformance.cases import Case
from conformance.laws.conditions import undisturbed
from conformance.laws.registry import Undecided, Violation, case_law, law
from conformance.laws.relations import shortened
from conformance.laws.texts import objects
from conformance.wire.exchange import Exchange
from conformance.wire.strict_json import parse
from spec.model import Promise

#: A stream with fewer pieces of text than this tells nothing about how it arrives.
PIECES_TO_TIME = 8
#: So many streams have to arrive at once before the endpoint is blamed for it.
STREAMS_TO_BLAME = 3
LONG_STREAMS = "long-streams"


def choices_of(x: Exchange) -> Iterator[tuple[int, dict[str, Any]]]:
    """(number of the chunk, choice) for every choice object of a stream, in order."""
    for number, chunk in enumerate(x.chunks, 1):
        for choice in objects(chunk.get("choices")):
            yield number, choice


def index_of(choice: dict[str, Any]) -> Any:
    """The index that a choice object gives itself, as a key; 0 where it gives none."""
    index = choice.get("index", 0)
    return index if isinstance(index, int) else repr(index)


def deltas_of(x: Exchange) -> dict[Any, list[tuple[int, dict[str, Any]]]]:
    """The deltas of each choice index, each with the number of its chunk."""
    found: dict[Any, list[tuple[int, dict[str, Any]]]] = defaultdict(list)
    for number, choice in choices_of(x):
        delta = choice.get("delta")
        found[index_of(choice)].append((number, delta if isinstance(delta, dict) else {}))
    return found


def carries_output(delta: dict[str, Any]) -> bool:
    """Whether a delta brings something that the model generated."""
    return any(delta.get(name) for name in ("content", "reasoning", "tool_calls", "function_call"))


def _constant(x: Exchange, member: str) -> Iterator[Violation]:
    values = list(dict.fromkeys(repr(chunk[member]) for chunk in x.chunks if member in chunk))
    if len(values) > 1:
        yield Violation(f"{member} changes within a stream", "one value", shortened(", ".join(values)))


@law("stream.one-id", applies=undisturbed)
def one_id(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """Every chunk of a stream has the same id."""
    yield from _constant(x, "id")


@law("stream.one-created", applies=undisturbed)
def one_created(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """Every chunk of a stream has the same created."""
    yield from _constant(x, "created")


@law("stream.one-model", applies=undisturbed)
def one_model(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """Every chunk of a stream has the same model."""
    yield from _constant(x, "model")


def _has_deltas(x: Exchange) -> bool:
    return undisturbed(x) and bool(deltas_of(x))


@law("stream.role-comes-first", applies=_has_deltas)
def role_comes_first(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """The first delta of each choice has the role assistant."""
    for index, deltas in deltas_of(x).items():
        number, delta = deltas[0]
        if delta.get("role") != "assistant":
            yield Violation(
                f"the first delta of choice {index} (chunk {number}) has no role",
                "role 'assistant'",
                shortened(delta),
            )


@law("stream.role-comes-only-first", applies=_has_deltas)
def role_comes_only_first(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """No delta of a choice but its first names a role, not even null or an empty one."""
    for index, deltas in deltas_of(x).items():
        again = next((number for number, delta in deltas[1:] if "role" in delta), None)
        if again is not None:
            yield Violation(
                f"choice {index} names its role again in chunk {again}", "role in the first delta only", "role"
            )


@law("stream.role-on-every-delta", applies=_has_deltas)
def role_on_every_delta(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """Each delta has the role assistant."""
    for index, deltas in deltas_of(x).items():
        for number, delta in deltas:
            if delta.get("role") != "assistant":
                yield Violation(
                    f"chunk {number} of choice {index} has no role", "role 'assistant'", shortened(delta.get("role"))
                )
                break


@law("stream.starts-with-the-first-token", applies=_has_deltas)
def starts_with_the_first_token(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """The first chunk has content, reasoning or a call, unless the reply ends in it."""
    _, choice = next(choices_of(x))
    delta = choice.get("delta")
    if choice.get("finish_reason") is None and not (isinstance(delta, dict) and carries_output(delta)):
        yield Violation("the first chunk carries nothing generated", "the first token", shortened(delta))


def _timed(x: Exchange) -> list[float]:
    """When each piece of output arrived, in seconds; pieces sent together share a time."""
    times = []
    for event in x.stream.events:
        chunk = parse((event.data or "").encode()).value
        choices = objects(chunk.get("choices")) if isinstance(chunk, dict) else []
        if any(isinstance(c.get("delta"), dict) and carries_output(c["delta"]) for c in choices):
            times.append(event.at)
    return times


def progressive(x: Exchange, pieces: int = PIECES_TO_TIME) -> bool | None:
    """Whether the output took more than a tenth of the time to come; None for a stream of too few pieces."""
    times = _timed(x) if undisturbed(x) else []
    return None if len(times) < pieces else times[-1] - times[0] >= 0.1 * times[-1]


@case_law("stream.arrives-progressively", kind=LONG_STREAMS)
def arrives_progressively(case: Case, promise: Promise) -> Iterator[Violation]:
    """At least one of several longer streams does not come all in the last tenth of its time.

    One alone proves nothing, since a busy reader or a network may hold back what was sent in time.
    """
    pieces = promise.params.get("min_chunks", PIECES_TO_TIME)
    seen = [(x, progressive(x, pieces)) for x in case.all("streamed")]
    if any(slowly for _, slowly in seen):
        return
    buffered = [x for x, slowly in seen if slowly is not None]
    if len(buffered) < STREAMS_TO_BLAME:
        raise Undecided(f"only {len(buffered)} streams were long enough to tell")
    times = _timed(buffered[0])
    yield Violation(
        f"each of {len(buffered)} long streams arrives all at once at its end",
        "pieces spread over the time of generation",
        f"{len(times)} pieces after {times[0]:.3f} s, within {times[-1] - times[0]:.3f} s",
        tuple(x.id for x in buffered),
    )


@law("stream.finish-once", applies=_has_deltas)
def finish_once(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """Each choice has one finish reason, in one chunk."""
    reasons: dict[Any, list[Any]] = {index: [] for index in deltas_of(x)}
    for _, choice in choices_of(x):
        if choice.get("finish_reason") is not None:
            reasons[index_of(choice)].append(choice["finish_reason"])
    for index, given in reasons.items():
        if len(given) != 1:
            yield Violation(f"choice {index} ends {len(given)} times", "one finish_reason", shortened(given))


@law("stream.nothing-after-finish", applies=_has_deltas)
def nothing_after_finish(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """Once a choice has its finish reason, no delta brings it more output."""
    finished: dict[Any, int] = {}
    for number, choice in choices_of(x):
        index = index_of(choice)
        delta = choice.get("delta")
        if index in finished and isinstance(delta, dict) and carries_output(delta):
            yield Violation(
                f"choice {index} goes on in chunk {number}, after its finish in chunk {finished[index]}",
                "nothing after the finish",
                shortened(delta),
            )
            return
        if choice.get("finish_reason") is not None:
            finished.setdefault(index, number)


@law("stream.no-empty-choices", applies=undisturbed)
def no_empty_choices(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """A chunk without choices carries the usage; there is none that carries nothing."""
    for number, chunk in enumerate(x.chunks, 1):
        if not objects(chunk.get("choices")) and not isinstance(chunk.get("usage"), dict):
            yield Violation(f"chunk {number} has neither choice nor usage", "a choice in every chunk", shortened(chunk))
            return


@law("stream.no-whole-message", applies=_has_deltas)
def no_whole_message(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """No choice of a chunk has a message beside its delta."""
    for number, choice in choices_of(x):
        if "message" in choice:
            yield Violation(f"chunk {number} carries a message", "a delta alone", shortened(choice["message"]))
            return
