"""Faults of stop strings: missed, included, misplaced, lost."""

from __future__ import annotations

from reference_impl.faults.edits import Pieces, crash, refuse
from reference_impl.faults.hooks import Exchange
from reference_impl.faults.registry import also, fault
from reference_impl.server.pieces import Content, Finished
from reference_impl.server.strict_json import Json


def _stops(exchange: Exchange) -> list[str]:
    stop = exchange.data.get("stop")
    stops = [stop] if isinstance(stop, str) else stop if isinstance(stop, list) else []
    return [text for text in stops if isinstance(text, str) and text]


def _without_stop(data: Json) -> Json:
    return {name: value for name, value in data.items() if name != "stop"} if isinstance(data, dict) else data


def _valid(exchange: Exchange) -> bool:
    return 0 < len(_stops(exchange)) <= 4 and "ark_stateful" not in exchange.data


@fault("stop-ignored", "request", both=["stop.absent-from-output", "stop.ends-generation"])
def stop_ignored(data: Json, exchange: Exchange) -> Json:
    """`stop` is accepted and never used."""
    return _without_stop(data) if _valid(exchange) else data


@fault("stop-multi-token-missed", "request", both=["stop.absent-from-output"])
def stop_multi_token_missed(data: Json, exchange: Exchange) -> Json:
    """A stop string of several tokens never matches in a stream."""
    if not (_valid(exchange) and exchange.streamed):
        return data
    short = [text for text in _stops(exchange) if len(text) < 3]
    return {**data, "stop": short} if short else _without_stop(data)


@fault("stop-only-first-honoured", "request", both=["stop.order-is-irrelevant"])
def stop_only_first_honoured(data: Json, exchange: Exchange) -> Json:
    """Of several stop strings the first alone is looked for."""
    return {**data, "stop": _stops(exchange)[:1]} if _valid(exchange) else data


@fault("stop-string-as-characters", "request", both=["stop.string-equals-list-of-one"])
def stop_string_as_characters(data: Json, exchange: Exchange) -> Json:
    """A bare string is taken for a list of its characters."""
    if isinstance(data, dict) and isinstance(data.get("stop"), str) and _valid(exchange):
        return {**data, "stop": list(data["stop"])[:4]}
    return data


@fault("stop-string-included", "request", both=["stop.cut-at-first-match"])
def stop_string_included(data: Json, exchange: Exchange) -> Json:
    """The stop string is part of the output."""
    return _without_stop(data) if _valid(exchange) else data


@also("stop-string-included", "pieces")
async def _included(pieces: Pieces, exchange: Exchange) -> Pieces:
    text = ""
    async for piece in pieces:
        if not isinstance(piece, Content) or not _valid(exchange):
            yield piece
            continue
        text += piece.text
        ends = [text.index(stop) + len(stop) for stop in _stops(exchange) if stop in text]
        if ends:
            surplus = len(text) - min(ends)
            yield Content(piece.text[: len(piece.text) - surplus])
            yield Finished("stop")
            return
        yield piece


@fault("stop-cuts-too-early", "pieces", both=["stop.cut-at-first-match"])
async def stop_cuts_too_early(pieces: Pieces, exchange: Exchange) -> Pieces:
    """The text loses the piece before the stop string too."""
    held: Content | None = None
    async for piece in pieces:
        if held is not None and not (isinstance(piece, Finished) and piece.reason == "stop" and _valid(exchange)):
            yield held
        held = piece if isinstance(piece, Content) else None
        if held is None:
            yield piece


@fault("stop-heldback-tail-lost", "pieces", both=["stop.unmatched-changes-nothing"])
async def stop_heldback_tail_lost(pieces: Pieces, exchange: Exchange) -> Pieces:
    """Text held back as a possible beginning of a stop string is never released."""
    held: Content | None = None
    async for piece in pieces:
        if held is not None and not (isinstance(piece, Finished) and _valid(exchange)):
            yield held
        held = piece if isinstance(piece, Content) else None
        if held is None:
            yield piece


@fault("stop-flush-bypasses-parsers", "pieces", both=["wire.no-control-tokens"])
async def stop_flush_bypasses_parsers(pieces: Pieces, exchange: Exchange) -> Pieces:
    """The held-back tail is flushed raw, so that the token that ends a turn leaks where stop strings are given."""
    async for piece in pieces:
        if isinstance(piece, Finished) and _valid(exchange):
            yield Content("<|im_end|>")
        yield piece


@fault("stop-over-four-500", "request", both=["request.stop.max-items"])
def stop_over_four_500(data: Json, exchange: Exchange) -> Json:
    """More than four stop strings raise 500."""
    if len(_stops(exchange)) > 4:
        crash("too many stop strings")
    return data


@fault("stop-three-refused", "request", both=["stop.up-to-four-are-accepted"])
def stop_three_refused(data: Json, exchange: Exchange) -> Json:
    """More than two stop strings are refused."""
    if 2 < len(_stops(exchange)) <= 4:
        refuse("'stop' must have at most 2 items.", "stop")
    return data


@fault("stop-empty-list-refused", "request", ark=["stop.empty-means-unset"])
def stop_empty_list_refused(data: Json, exchange: Exchange) -> Json:
    """An empty list of stop strings is refused."""
    if isinstance(data, dict) and data.get("stop") == []:
        refuse("'stop' must have at least 1 item.", "stop")
    return data


@fault("stop-text-goes-on", "pieces", both=["stop.ends-generation"])
async def stop_text_goes_on(pieces: Pieces, exchange: Exchange) -> Pieces:
    """The stop string is cut out, and the text goes on behind it."""
    stops = _stops(exchange) if _valid(exchange) else []
    text = ""
    async for piece in pieces:
        if isinstance(piece, Content) and stops:
            text += piece.text
            continue
        if stops and isinstance(piece, Finished):
            for stop in stops:
                text = text.replace(stop, "")
            if text:
                yield Content(text)
        yield piece


@also("stop-text-goes-on", "request")
def _goes_on(data: Json, exchange: Exchange) -> Json:
    return _without_stop(data) if _valid(exchange) else data
