"""Small tools that faults are made of: changing chunks, deltas and pieces one by one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, NoReturn

from reference_impl.server.fields import Invalid
from reference_impl.server.pieces import CallArguments, CallClosed, CallOpened, Content, Finished, Piece, Reply
from reference_impl.server.strict_json import Json

Chunk = dict[str, Any]
Message = dict[str, Any]
Chunks = AsyncIterator[Chunk]
Events = AsyncIterator[bytes]
Pieces = AsyncIterator[Piece]

DONE = b"data: [DONE]\n\n"


async def edited(chunks: Chunks, edit: Callable[[Chunk], None]) -> Chunks:
    """Every chunk, changed in place."""
    async for chunk in chunks:
        edit(chunk)
        yield chunk


async def replaced(events: Events, old: bytes, new: bytes) -> Events:
    """Every event, with `new` for each one that equals `old`."""
    async for event in events:
        yield new if event == old else event


def choices(chunk: Chunk) -> list[dict[str, Any]]:
    """The choices of a chunk or completion."""
    found: list[dict[str, Any]] = chunk["choices"]
    return found


def deltas(chunk: Chunk) -> Iterator[dict[str, Any]]:
    """The delta of every choice of a chunk."""
    return (choice["delta"] for choice in choices(chunk))


def tool_calls(value: Chunk) -> Iterator[dict[str, Any]]:
    """Every tool call of a chunk or completion."""
    for choice in choices(value):
        yield from (choice.get("message") or choice.get("delta") or {}).get("tool_calls") or ()


def finishes(chunk: Chunk) -> bool:
    """Whether a choice ends with this chunk."""
    return any(choice["finish_reason"] is not None for choice in choices(chunk))


async def refinished(pieces: Pieces, change: Callable[[str, Reply], str]) -> Pieces:
    """The pieces with another finish reason, chosen by the old one and the reply so far."""
    reply = Reply()
    async for piece in pieces:
        reply.add(piece)
        yield Finished(change(piece.reason, reply)) if isinstance(piece, Finished) else piece


async def without_calls(pieces: Pieces, written: Callable[[str, str], str], first: int = 0) -> Pieces:
    """The calls from number `first` on as text: `written` makes it of name and arguments."""
    reply = Reply()
    async for piece in pieces:
        reply.add(piece)
        match piece:
            case CallOpened(index, _) | CallArguments(index, _) if index >= first:
                continue
            case CallClosed(index) if index >= first:
                yield Content(written(reply.calls[index].name, reply.calls[index].arguments))
            case Finished("tool_calls") if first == 0:
                yield Finished("stop")
            case _:
                yield piece


async def rearranged(pieces: Pieces, change: Callable[[str], str]) -> Pieces:
    """The pieces with each call's arguments changed as a whole."""
    reply = Reply()
    async for piece in pieces:
        reply.add(piece)
        match piece:
            case CallArguments():
                continue
            case CallClosed(index):
                yield CallArguments(index, change(reply.calls[index].arguments))
                yield piece
            case _:
                yield piece


def crash(why: str) -> NoReturn:
    """A defect inside the server, which answers with 500."""
    raise RuntimeError(f"planted: {why}")


def refuse(message: str, param: str) -> NoReturn:
    """A refusal of what the document allows."""
    raise Invalid(message, param)


def parts_of(data: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The content parts of all messages of a request, as far as it has that shape."""
    for message in messages_of(data):
        content = message.get("content")
        if isinstance(content, list):
            yield from (part for part in content if isinstance(part, dict))


def messages_of(data: object) -> list[dict[str, Any]]:
    """The messages of a request, as far as it has that shape."""
    messages = data.get("messages") if isinstance(data, dict) else None
    return [message for message in messages if isinstance(message, dict)] if isinstance(messages, list) else []


def image_url(part: dict[str, Any]) -> str | None:
    """The URL of an image part, None for any other part."""
    image = part.get("image_url")
    url = image.get("url") if isinstance(image, dict) else None
    return url if isinstance(url, str) else None


def rewritten(data: Json, change: Callable[[Message], Message]) -> Json:
    """The request with every message changed."""
    messages = messages_of(data)
    return {**data, "messages": [change(message) for message in messages]} if messages else data
