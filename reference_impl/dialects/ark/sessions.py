"""Conversations kept on the server (ark_stateful), in bounded memory and for a bounded time."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

LIFETIME_S = 3_600.0
MAX_SESSIONS = 1_024


@dataclass(slots=True)
class Session:
    """The messages of one conversation, and the turn that is being answered."""

    messages: list[dict[str, Any]] = field(default_factory=list)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    used_at: float = 0.0
    waiting: int = 0


class Sessions:
    """Sessions by API key and id: two keys never share one."""

    def __init__(
        self,
        *,
        lifetime: float = LIFETIME_S,
        most: int = MAX_SESSIONS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._lifetime = lifetime
        self._most = most
        self._clock = clock
        self._sessions: OrderedDict[tuple[str, str], Session] = OrderedDict()

    def __len__(self) -> int:
        return len(self._sessions)

    @asynccontextmanager
    async def turn(self, api_key: str, session_id: str) -> AsyncIterator[Session]:
        """The session, held alone until the turn is over; one without a message is not kept."""
        self._forget_old()
        key = (api_key, session_id)
        session = self._sessions.setdefault(key, Session())
        session.waiting += 1
        try:
            async with session.turn:
                yield session
        finally:
            session.waiting -= 1
            session.used_at = self._clock()
            if not session.messages and not session.waiting:
                self._sessions.pop(key, None)
            elif key in self._sessions:
                self._sessions.move_to_end(key)

    def _forget_old(self) -> None:
        """Drop what is over its time, and the least recently used beyond the number kept."""
        limit = self._clock() - self._lifetime
        idle = [(key, session) for key, session in self._sessions.items() if not session.waiting]
        surplus = len(self._sessions) - self._most + 1
        for position, (key, session) in enumerate(idle):
            if position < surplus or session.used_at < limit:
                del self._sessions[key]
