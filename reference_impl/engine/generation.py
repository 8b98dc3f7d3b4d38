"""What a caller holds while the engine works for it: the stream of one request's tokens."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from reference_impl.engine.request import EngineFailure
from reference_impl.engine.scheduler import Sequence


class Generation:
    """The tokens of one request: an async iterator that ends when `finish` is known.

    prompt_tokens is known at once; cached_tokens (prompt tokens taken from the prefix cache, a multiple
    of BLOCK) when the first token arrives; finish ("eos", "length" or "cancelled") after the end.
    completion_tokens counts every token that was chosen so far, the end token included.
    """

    def __init__(self, sequence: Sequence, wake: Callable[[], None]) -> None:
        self.prompt_tokens = len(sequence.request.prompt)
        self.completion_tokens = 0
        self.finish: str | None = None
        self.sequence = sequence
        self._wake = wake
        self._tokens: deque[int] = deque()
        self._changed = asyncio.Event()

    @property
    def cached_tokens(self) -> int:
        """Prompt tokens that were not computed again."""
        return self.sequence.cached

    def cancel(self) -> None:
        """Stop; the blocks are free within one step. Harmless after the end, and from any thread."""
        self.sequence.cancelled = True
        self._wake()

    def __aiter__(self) -> Generation:
        return self

    async def __anext__(self) -> int:
        while not self._tokens:
            if self.finish == "failed":
                raise EngineFailure("the engine failed while generating")
            if self.finish is not None:
                raise StopAsyncIteration
            self._changed.clear()
            await self._changed.wait()
        return self._tokens.popleft()

    def receive(self, tokens: list[int], completion: int, finish: str | None) -> None:
        """Take what a step brought; called by the engine, in the event loop's thread."""
        self._tokens.extend(tokens)
        self.completion_tokens = completion
        self.finish = finish
        self._changed.set()
