"""The conditions that no client can provoke, on request: header `X-Conformance-Induce`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

from reference_impl.server.pieces import Finished, Piece

HEADER: Final = "x-conformance-induce"

BEFORE_THE_REPLY: Final = ("rate_limit", "overload", "upstream_error", "timeout")
DURING_THE_REPLY: Final = ("midstream_error", "inference_timeout", "content_filter")
CONDITIONS: Final = BEFORE_THE_REPLY + DURING_THE_REPLY

_PIECES_BEFORE = 2


class Broken(Exception):
    """The reply broke off, as `midstream_error` asks."""


async def broken_off(pieces: AsyncIterator[Piece]) -> AsyncIterator[Piece]:
    """The first pieces, then `Broken`."""
    async for piece in _first(pieces):
        yield piece
    raise Broken


async def ended_early(pieces: AsyncIterator[Piece], reason: str) -> AsyncIterator[Piece]:
    """The first pieces, then an end for the given reason."""
    async for piece in _first(pieces):
        yield piece
    yield Finished(reason)


async def _first(pieces: AsyncIterator[Piece]) -> AsyncIterator[Piece]:
    count = 0
    async for piece in pieces:
        if count >= _PIECES_BEFORE or isinstance(piece, Finished):
            return
        count += 1
        yield piece
