"""A reply that takes too long."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from reference_impl.server.pieces import Finished, Piece


async def ended_at(pieces: AsyncIterator[Piece], seconds: float, reason: str) -> AsyncIterator[Piece]:
    """The pieces of the next `seconds`; what is not over then ends for the given reason."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while True:
        try:
            async with asyncio.timeout_at(deadline):
                piece = await anext(pieces)
        except StopAsyncIteration:
            return
        except TimeoutError:
            yield Finished(reason)
            return
        yield piece
