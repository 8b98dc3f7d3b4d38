"""When a law applies: small predicates over an exchange, shared by the laws of all topics."""

from __future__ import annotations

from conformance.reply import reply_of
from conformance.wire.exchange import Exchange


def chat(x: Exchange) -> bool:
    """The exchange is about chat completions (and not, say, about the list of models)."""
    return x.sent.method == "POST" and x.sent.url.endswith("/chat/completions")


def completed(x: Exchange) -> bool:
    """A whole 200 answer to a chat request, streamed or not."""
    return chat(x) and x.ok


def whole(x: Exchange) -> bool:
    """A 200 answer to a request that did not ask for a stream."""
    return completed(x) and not x.asks_stream


def streamed(x: Exchange) -> bool:
    """A 200 answer to a request that asked for a stream."""
    return completed(x) and x.asks_stream


def undisturbed(x: Exchange) -> bool:
    """A streamed answer with chunks and without an error event."""
    return streamed(x) and bool(x.chunks) and not x.error_events


def refusal(x: Exchange) -> bool:
    """A whole answer with a status of 400 or more to a chat request."""
    return chat(x) and x.answered and x.status >= 400


def readable(x: Exchange) -> bool:
    """A 200 answer from which a reply can be read."""
    return chat(x) and reply_of(x) is not None


def in_one_piece(x: Exchange) -> bool:
    """A reply as one JSON body, asked for as such, from which choices can be read."""
    return whole(x) and not x.is_event_stream and reply_of(x) is not None
