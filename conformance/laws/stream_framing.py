"""How a stream is framed: events, lines, terminator, and nothing besides."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.laws.conditions import chat, refusal, streamed
from conformance.laws.registry import Violation, law
from conformance.laws.relations import shortened
from conformance.wire.exchange import Exchange
from conformance.wire.sse import DONE, Event
from conformance.wire.strict_json import parse
from spec.model import Promise


def framed(x: Exchange) -> bool:
    """A streamed 200 answer with at least one event."""
    return streamed(x) and any(event.fields for event in x.stream.events)


def ended_well(x: Exchange) -> bool:
    """A framed stream without an error event."""
    return framed(x) and not x.error_events


def events_of(x: Exchange) -> list[Event]:
    """The events, without blocks that are nothing but comments."""
    return [event for event in x.stream.events if event.fields]


def terminators_of(x: Exchange) -> list[Event]:
    """The events meant as terminators, bytes around the word or not."""
    return [event for event in events_of(x) if event.data is not None and event.data.strip() == DONE]


@law("stream.true-yields-events", applies=streamed)
def true_yields_events(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """A request with `stream: true` is answered by server-sent events."""
    if not any(event.data is not None for event in x.stream.events) and b"data:" not in x.stream.tail:
        body = x.received.body if x.received else b""
        yield Violation("the request for a stream got no event", "data: events", shortened(body[:200]))


def _in_one_body(x: Exchange) -> Iterator[Violation]:
    body = x.received.body if x.received else b""
    if x.is_event_stream:
        yield Violation("a stream came unasked", "one JSON body", shortened(body[:200]))


@law("stream.false-yields-one-body", applies=lambda x: chat(x) and x.ok and x.asks("stream") is False)
def false_yields_one_body(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """A request with `stream: false` is answered by one JSON body."""
    yield from _in_one_body(x)


@law("stream.default-is-one-body", applies=lambda x: chat(x) and x.ok and x.asks("stream", ...) is ...)
def default_is_one_body(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """A request without `stream` is answered by one JSON body."""
    yield from _in_one_body(x)


@law("stream.ends-with-done", applies=ended_well)
def ends_with_done(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """A stream that ran to its end closes with the [DONE] event, and nothing follows it."""
    events = events_of(x)
    if not terminators_of(x):
        if DONE.encode() not in x.stream.tail:  # an unclosed terminator is another promise
            yield Violation("the stream ends without [DONE]", "data: [DONE]", shortened(events[-1].data))
    elif events[-1] not in terminators_of(x):
        yield Violation("something follows [DONE]", "[DONE] as the last event", shortened(events[-1].data))


@law("stream.done-comes-once", applies=lambda x: ended_well(x) and bool(terminators_of(x)))
def done_comes_once(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """The terminator comes no second time."""
    count = len(terminators_of(x)) + x.stream.tail.count(DONE.encode())
    if count > 1:
        yield Violation(f"[DONE] came {count} times", "one [DONE]", f"{count}")


@law("stream.done-is-exact", applies=lambda x: ended_well(x) and bool(terminators_of(x)))
def done_is_exact(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """The terminator's data is the six characters [DONE] and nothing more."""
    for event in terminators_of(x):
        if not event.is_done:
            yield Violation("the terminator has other characters around it", repr(DONE), shortened(event.data))


@law("stream.every-event-is-closed", applies=lambda x: framed(x) or (streamed(x) and b"data" in x.stream.tail))
def every_event_is_closed(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """No field is left over after the last blank line: a reader would drop it."""
    lines = x.stream.tail.replace(b"\r", b"\n").split(b"\n")
    if any(line and not line.startswith(b":") for line in lines):
        yield Violation("the last event has no blank line after it", "a blank line", shortened(x.stream.tail))


@law("stream.events-are-chunks", applies=framed)
def events_are_chunks(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """The data of every event but the terminator is one JSON object."""
    for number, event in enumerate(events_of(x), 1):
        if not event.data or event in terminators_of(x):  # events without data have a promise of their own
            continue
        if not isinstance(parse(event.data.encode("utf-8", "surrogatepass")).value, dict):
            yield Violation(f"event {number} holds no JSON object", "a chunk as JSON object", shortened(event.data))
            return


def _data_lines(event: Event) -> int:
    return sum(name == "data" for name, _ in event.fields)


@law("stream.one-data-line-per-event", applies=framed)
def one_data_line_per_event(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """No event spreads its data over several lines."""
    for number, event in enumerate(events_of(x), 1):
        if _data_lines(event) > 1:
            yield Violation(f"event {number} has several data lines", "one data line", f"{_data_lines(event)}")
            return


@law("stream.no-empty-events", applies=framed)
def no_empty_events(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """Every event has data; comments alone are no event, and neither is a line with `retry` alone."""
    for number, event in enumerate(events_of(x), 1):
        if not event.data and {name for name, _ in event.fields} != {"retry"}:
            yield Violation(f"event {number} has no data", "data in every event", shortened(event.fields))
            return


@law("stream.only-data-lines", applies=framed)
def only_data_lines(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """Events consist of data lines; comments aside, there is no other field."""
    allowed = promise.params.get("allowed_fields", ("data",))
    others = sorted({name for event in events_of(x) for name, _ in event.fields if name not in allowed})
    if others:
        yield Violation("events have other fields than data", "data lines only", ", ".join(map(repr, others)))


@law("stream.space-after-colon", applies=framed)
def space_after_colon(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """Data lines begin with `data: `, space included, as the documents print them."""
    body = x.received.body if x.received else b""
    for number, event in enumerate(events_of(x), 1):
        raw = body[event.start : event.end].replace(b"\r", b"\n").split(b"\n")
        for line in raw:
            if line.startswith(b"data:") and line[5:6] not in (b" ", b""):
                yield Violation(f"event {number} has no space after data:", "'data: '", shortened(line[:40]))
                return


def _failed_midway(x: Exchange) -> bool:
    return streamed(x) and (bool(x.error_events) or x.facts.get("induce") == "midstream_error")


@law("stream.error-event-ends-without-done", applies=lambda x: streamed(x) and bool(x.error_events))
def error_event_ends_without_done(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """No terminator follows an error event."""
    if terminators_of(x):
        yield Violation("a stream with an error event ends with [DONE]", "no [DONE]", "[DONE]")


@law("stream.error-is-one-event", applies=_failed_midway)
def error_is_one_event(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """An error in a stream is the one and last data event, an object with an `error` object."""
    if not x.error_events:
        yield Violation("a stream that failed midway shows no error", "one error event", "none")
        return
    error, *more = x.error_events
    last = [event.data for event in events_of(x) if event.data and event not in terminators_of(x)][-1]
    if more:
        yield Violation("the error came more than once", "one error event", f"{len(x.error_events)}")
    elif not isinstance(error["error"], dict):
        yield Violation("the error is no object", "an error object", shortened(error["error"]))
    elif parse(last.encode("utf-8", "surrogatepass")).value != error:
        yield Violation("something follows the error event", "the error as last event", shortened(last))


def _error_with_200(x: Exchange) -> bool:
    """An error and nothing else with status 200, where the suite did not ask for a failure."""
    if not streamed(x) or "induce" in x.facts or x.chunks:
        return False
    return bool(x.error_events) or (isinstance(x.json.value, dict) and "error" in x.json.value)


@law(
    "stream.refusals-are-not-streams",
    applies=lambda x: (refusal(x) and x.asks_stream) or _error_with_200(x),
)
def refusals_are_not_streams(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """A refused request for a stream is answered by a status and a JSON body, not by events or with status 200."""
    body = x.received.body if x.received else b""
    if x.ok:
        yield Violation("a refusal came with status 200", "a status from 400 on", shortened(body[:200]))
    elif x.is_event_stream:
        yield Violation("a refusal came as an event stream", "a JSON body", shortened(body[:200]))
