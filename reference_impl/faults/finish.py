"""Faults of finish_reason, and of what comes before and after it."""

from __future__ import annotations

import copy

from reference_impl.faults.edits import Chunks, Pieces, choices, edited, finishes, refinished
from reference_impl.faults.hooks import Exchange
from reference_impl.faults.registry import also, fault
from reference_impl.server.pieces import Finished


@fault("content-after-finish", "chunks", both=["stream.nothing-after-finish"])
async def content_after_finish(chunks: Chunks, exchange: Exchange) -> Chunks:
    """Text follows the chunk that carried finish_reason."""
    async for chunk in chunks:
        yield chunk
        if finishes(chunk):
            late = copy.deepcopy(chunk)
            for choice in choices(late):
                choice["delta"]["content"] = " more"
                choice["finish_reason"] = None
            yield late


@fault("finish-twice", "chunks", both=["stream.finish-once"])
async def finish_twice(chunks: Chunks, exchange: Exchange) -> Chunks:
    """The finish reason comes with the last text and again in a chunk of its own."""
    async for chunk in chunks:
        if finishes(chunk):
            yield copy.deepcopy(chunk)
        yield chunk


@fault("finish-never", "chunks", both=["stream.finish-once"])
async def finish_never(chunks: Chunks, exchange: Exchange) -> Chunks:
    """One stream in five ends without a finish reason."""
    exchange.memory["streams"] = number = exchange.memory.get("streams", 0) + 1
    async for chunk in chunks:
        if not (finishes(chunk) and number % 5 == 0):
            yield chunk


@fault(
    "finish-stop-on-tool-calls",
    "pieces",
    both=["finish.tool-calls-with-calls", "finish.tool-calls-for-named-choice"],
)
def finish_stop_on_tool_calls(pieces: Pieces, exchange: Exchange) -> Pieces:
    """A turn with tool calls says stop."""
    return refinished(pieces, lambda reason, _: "stop" if reason == "tool_calls" else reason)


@fault("finish-stop-on-named-choice", "pieces", both=["finish.tool-calls-for-named-choice"])
def finish_stop_on_named_choice(pieces: Pieces, exchange: Exchange) -> Pieces:
    """A call of a function forced by name says stop."""
    named = isinstance(exchange.data.get("tool_choice"), dict)
    return refinished(pieces, lambda reason, _: "stop" if named and reason == "tool_calls" else reason)


@fault("finish-tool-calls-without-calls", "pieces", both=["finish.no-tool-calls-without-calls"])
def finish_tool_calls_without_calls(pieces: Pieces, exchange: Exchange) -> Pieces:
    """finish_reason says tool_calls where tools were offered and none was called."""
    offered = bool(exchange.data.get("tools"))
    return refinished(pieces, lambda reason, _: "tool_calls" if offered and reason == "stop" else reason)


@fault("finish-stop-hides-length", "pieces", both=["finish.length-when-cut"])
def finish_stop_hides_length(pieces: Pieces, exchange: Exchange) -> Pieces:
    """An answer cut by the limit is reported as a natural stop."""
    return refinished(pieces, lambda reason, _: "stop" if reason == "length" else reason)


@fault("finish-length-on-natural-end", "pieces", both=["finish.length-means-limit"])
def finish_length_on_natural_end(pieces: Pieces, exchange: Exchange) -> Pieces:
    """An answer that ended by itself is reported as cut."""
    return refinished(pieces, lambda reason, _: "length" if reason == "stop" else reason)


@fault("finish-length-on-stop-string", "pieces", both=["finish.stop-on-stop-string"])
def finish_length_on_stop_string(pieces: Pieces, exchange: Exchange) -> Pieces:
    """Where stop strings were given, the end is reported as cut."""
    stops = bool(exchange.data.get("stop"))
    return refinished(pieces, lambda reason, _: "length" if stops and reason == "stop" else reason)


@fault(
    "finish-nonstandard-value",
    "pieces",
    both=["response.choices.finish_reason.enum", "chunk.choices.finish_reason.enum"],
)
def finish_nonstandard_value(pieces: Pieces, exchange: Exchange) -> Pieces:
    """A reason of the engine's own is passed through."""
    return refinished(pieces, lambda reason, _: "end_turn" if reason == "stop" else reason)


@fault("finish-null-in-whole-reply", "completion", serenity_edge=["finish.not-null-in-whole-reply"])
def finish_null_in_whole_reply(body: dict[str, object], exchange: Exchange) -> dict[str, object]:
    """A reply in one piece has null as its finish reason."""
    for choice in choices(body):
        choice["finish_reason"] = None
    return body


@fault("finish-length-with-zero-output", "pieces", both=["finish.length-has-output"])
async def finish_length_with_zero_output(pieces: Pieces, exchange: Exchange) -> Pieces:
    """A reply that the limit cut is thrown away, and only its finish reason stays."""
    kept = [piece async for piece in pieces]
    if kept[-1] == Finished("length"):
        kept = kept[-1:]
    for piece in kept:
        yield piece


@fault("inference-timeout-is-stop", "completion", ark=["finish.inference-timeout"])
def inference_timeout_is_stop(body: dict[str, object], exchange: Exchange) -> dict[str, object]:
    """A reply that ran out of time is reported as a natural stop."""
    if exchange.induce == "inference_timeout":
        _says_stop(body)
    return body


@also("inference-timeout-is-stop", "chunks")
def _inference_timeout_in_chunks(chunks: Chunks, exchange: Exchange) -> Chunks:
    return edited(chunks, _says_stop) if exchange.induce == "inference_timeout" else chunks


@fault("content-filter-is-stop", "completion", serenity_edge=["finish.content-filter"])
def content_filter_is_stop(body: dict[str, object], exchange: Exchange) -> dict[str, object]:
    """A reply whose output was withheld is reported as a natural stop."""
    if exchange.induce == "content_filter":
        _says_stop(body)
    return body


@also("content-filter-is-stop", "chunks")
def _content_filter_in_chunks(chunks: Chunks, exchange: Exchange) -> Chunks:
    return edited(chunks, _says_stop) if exchange.induce == "content_filter" else chunks


def _says_stop(value: dict[str, object]) -> None:
    for choice in choices(value):
        if choice["finish_reason"] is not None:
            choice["finish_reason"] = "stop"
