"""Faults of the event stream as bytes, and of how a body reaches the client."""

from __future__ import annotations

import re
from typing import Final

from reference_impl.faults.edits import DONE, Chunks, Events, deltas, replaced
from reference_impl.faults.hooks import Exchange
from reference_impl.faults.registry import fault
from reference_impl.server.body import ClientGone

_BEYOND_ASCII: Final = re.compile(rb"([\xc2-\xf4])[\x80-\xbf]+")  # one character, its first byte as a group


@fault("done-duplicated", "events", both=["stream.done-comes-once"])
async def done_duplicated(events: Events, exchange: Exchange) -> Events:
    """[DONE] is written twice, once by the engine and once by a proxy layer."""
    async for event in replaced(events, DONE, DONE + DONE):
        yield event


@fault("done-missing", "events", both=["stream.ends-with-done"])
async def done_missing(events: Events, exchange: Exchange) -> Events:
    """A stream simply ends, without its terminator."""
    async for event in events:
        if event != DONE:
            yield event


@fault("done-before-the-usage", "events", both=["stream.ends-with-done"])
async def done_before_the_usage(events: Events, exchange: Exchange) -> Events:
    """The terminator overtakes the usage chunk, but only where usage was asked for."""
    async for event in events:
        if b'"choices":[]' in event:
            yield DONE
            yield event
            return
        yield event


@fault("done-not-blank-line-terminated", "events", both=["stream.every-event-is-closed"])
async def done_not_blank_line_terminated(events: Events, exchange: Exchange) -> Events:
    """The terminator lacks its closing blank line, so a conforming parser never dispatches it."""
    async for event in replaced(events, DONE, DONE.rstrip()):
        yield event


@fault("done-with-trailing-bytes", "events", both=["stream.done-is-exact"])
async def done_with_trailing_bytes(events: Events, exchange: Exchange) -> Events:
    """The terminator carries a space behind it."""
    async for event in replaced(events, DONE, b"data: [DONE] \n\n"):
        yield event


@fault("done-text-in-content-ends-stream", "chunks", both=["stream.done-in-text-ends-nothing"])
async def done_text_in_content_ends_stream(chunks: Chunks, exchange: Exchange) -> Chunks:
    """A relay looks for the terminator in the model's own text and cuts the stream there."""
    text = ""
    async for chunk in chunks:
        yield chunk
        for delta in deltas(chunk):
            calls = delta.get("tool_calls") or ()
            text += (delta.get("content") or "") + "".join(c.get("function", {}).get("arguments") or "" for c in calls)
        if "[DONE]" in text:
            return


@fault("keepalive-sent-as-data", "events", both=["stream.events-are-chunks"])
async def keepalive_sent_as_data(events: Events, exchange: Exchange) -> Events:
    """Keep-alive comments are wrapped again as data events whose value is no JSON."""
    yield b"data: : still working\n\n"
    async for event in events:
        yield event


@fault("keepalive-empty-event", "events", both=["stream.no-empty-events"])
async def keepalive_empty_event(events: Events, exchange: Exchange) -> Events:
    """Keep-alives arrive as events without data."""
    async for event in events:
        if event == DONE:
            yield b"event: keepalive\n\n"
        yield event


@fault("event-lines", "events", both=["stream.only-data-lines"])
async def event_lines(events: Events, exchange: Exchange) -> Events:
    """Every event has a name, as in other vendors' streams."""
    async for event in events:
        yield b"event: completion\n" + event


@fault("no-space-after-data-colon", "events", both=["stream.space-after-colon"])
async def no_space_after_data_colon(events: Events, exchange: Exchange) -> Events:
    """The data lines have no space behind the colon: legal, but not the form the documents print."""
    async for event in events:
        yield event.replace(b"data: ", b"data:", 1)


@fault("chunk-json-over-several-data-lines", "events", both=["stream.one-data-line-per-event"])
async def chunk_json_over_several_data_lines(events: Events, exchange: Exchange) -> Events:
    """The JSON of a chunk is spread over two data lines of one event."""
    async for event in events:
        yield event.replace(b',"choices":', b',\ndata: "choices":', 1)


@fault("stream-wrong-content-type", "headers", both=["wire.event-stream-content-type"])
def stream_wrong_content_type(headers: dict[str, str], exchange: Exchange) -> dict[str, str]:
    """A streamed reply is labelled application/json."""
    return {**headers, "content-type": "application/json"}


@fault("whole-wrong-content-type", "headers", both=["wire.json-content-type"])
def whole_wrong_content_type(headers: dict[str, str], exchange: Exchange) -> dict[str, str]:
    """A reply in one piece is labelled text/plain."""
    return headers if exchange.streamed else {**headers, "content-type": "text/plain"}


@fault("nonstream-body-padded-with-heartbeats", "body", both=["wire.no-padding-before-body"])
def nonstream_body_padded_with_heartbeats(body: bytes, exchange: Exchange) -> bytes:
    """A reply in one piece dribbles blank bytes before its JSON to keep the connection open."""
    return b"\n\n\n\n" + body


@fault("fake-streaming-buffered", "events", both=["stream.arrives-progressively"])
async def fake_streaming_buffered(events: Events, exchange: Exchange) -> Events:
    """The whole answer is generated first and then replayed as chunks."""
    for event in [event async for event in events]:
        yield event


@fault("bytes-not-utf8", "events", both=["wire.utf8"])
async def bytes_not_utf8(events: Events, exchange: Exchange) -> Events:
    """Of a character beyond ASCII only the first byte is written."""
    async for event in events:
        yield _BEYOND_ASCII.sub(rb"\1", event)


@fault("body-not-utf8", "body", both=["wire.utf8"])
def body_not_utf8(body: bytes, exchange: Exchange) -> bytes:
    """Of a character beyond ASCII only the first byte is written, in whole bodies."""
    return _BEYOND_ASCII.sub(rb"\1", body)


@fault("body-with-nan", "body", both=["wire.strict-json"])
def body_with_nan(body: bytes, exchange: Exchange) -> bytes:
    """A number that is not finite gets into the JSON of one reply in five."""
    return body if exchange.number % 5 else body[:-1] + b',"seconds":NaN}'


@fault("body-followed-by-text", "body", both=["wire.strict-json"])
def body_followed_by_text(body: bytes, exchange: Exchange) -> bytes:
    """A log line is appended to the JSON of a whole reply."""
    return body + b"\nrequest took 12 ms"


@fault("body-member-twice", "body", both=["wire.no-duplicate-keys"])
def body_member_twice(body: bytes, exchange: Exchange) -> bytes:
    """The object of a whole reply names a member twice."""
    return body[:-1] + b',"object":"chat.completion"}'


@fault("chunk-member-twice", "events", both=["wire.no-duplicate-keys"])
async def chunk_member_twice(events: Events, exchange: Exchange) -> Events:
    """A chunk names a member twice."""
    async for event in events:
        yield event.replace(b'{"id":', b'{"object":"chat.completion.chunk","id":', 1)


@fault("stream-asked-whole-sent", "request", both=["stream.true-yields-events"])
def stream_asked_whole_sent(data: dict[str, object], exchange: Exchange) -> dict[str, object]:
    """`stream: true` is ignored: the reply comes in one piece."""
    return {**data, "stream": False} if isinstance(data, dict) else data


@fault("stream-false-still-streams", "request", both=["stream.false-yields-one-body"])
def stream_false_still_streams(data: dict[str, object], exchange: Exchange) -> dict[str, object]:
    """The mere presence of `stream` turns streaming on, even if it says false."""
    return {**data, "stream": True} if isinstance(data, dict) and data.get("stream") is False else data


@fault("stream-by-default", "request", both=["stream.default-is-one-body"])
def stream_by_default(data: dict[str, object], exchange: Exchange) -> dict[str, object]:
    """Without `stream` the reply is a stream."""
    return {"stream": True, **data} if isinstance(data, dict) else data


@fault("stream-cut-without-end", "events", both=["wire.bodies-arrive-whole"])
async def stream_cut_without_end(events: Events, exchange: Exchange) -> Events:
    """One stream in five breaks off after its third event: the connection closes in the middle."""
    count = 0
    async for event in events:
        if count == 3 and exchange.number % 5 == 0:
            raise ClientGone
        count += 1
        yield event


@fault("model-swap-cuts-streams", "events", both=["stream.ends-with-done"])
async def model_swap_cuts_streams(events: Events, exchange: Exchange) -> Events:
    """A stream ends early when another request came while it ran."""
    exchange.memory["latest"] = exchange.number
    async for event in events:
        yield event
        if exchange.memory["latest"] != exchange.number:
            return
