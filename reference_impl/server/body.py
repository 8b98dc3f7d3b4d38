"""Reading a request body within a limit, and noticing a client that goes away."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import TypeVar

from starlette.types import Message, Receive

T = TypeVar("T")

_DRAINED = 16 * 1024 * 1024
_DRAIN_SECONDS = 5.0


class ClientGone(Exception):
    """The client closed the connection."""


class TooLarge(Exception):
    """The body has more bytes than allowed."""


async def read_body(receive: Receive, limit: int, declared: int | None) -> bytes:
    """The body, of at most `limit` bytes. `declared` is its Content-Length.

    A body that is too large is read on for a bounded while, since a client that is still sending when the
    connection closes may never see the answer.
    """
    if declared is not None and declared > limit:
        await _drain(receive, declared)
        raise TooLarge
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await _next(receive)
        chunk = message.get("body", b"")
        size += len(chunk)
        if size > limit:
            if message.get("more_body", False):
                await _drain(receive, None)
            raise TooLarge
        chunks.append(chunk)
        if not message.get("more_body", False):
            return b"".join(chunks)


async def _next(receive: Receive) -> Message:
    message = await receive()
    if message["type"] == "http.disconnect":
        raise ClientGone
    return message


async def _drain(receive: Receive, declared: int | None) -> None:
    if declared is not None and declared > _DRAINED:
        return
    left = _DRAINED
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_DRAIN_SECONDS):
            while left > 0:
                message = await _next(receive)
                left -= len(message.get("body", b""))
                if not message.get("more_body", False):
                    return


async def unless_gone(work: Awaitable[T], receive: Receive, answered: Callable[[], bool]) -> T:
    """The result of `work`, which is cancelled when the client goes away; then raises ClientGone.

    The end of the connection means nothing once the request is `answered`: then `work` only tidies up.
    """
    task = asyncio.ensure_future(work)
    watch = asyncio.create_task(_gone(receive))
    try:
        await asyncio.wait((task, watch), return_when=asyncio.FIRST_COMPLETED)
        if task.done() or answered():
            return await task
        raise ClientGone
    finally:
        for each in (task, watch):
            each.cancel()
        await asyncio.gather(task, watch, return_exceptions=True)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
