"""Decides which requests run and whose prompt advances next. Pure bookkeeping over the block pool.

Fairness: requests are admitted strictly in order of arrival; every running sequence gets a token in every
step; and the chunks of a prefill pass go round the sequences that still read their prompt, so a long
prompt delays a short one by at most its share. A request is admitted only when all blocks it may ever
need are free, so nothing that runs is ever evicted or computed twice.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from torch import Tensor

from reference_impl.engine.blocks import BLOCK, BlockPool
from reference_impl.engine.request import GenerationRequest
from reference_impl.engine.sampling import Sampler


@dataclass(slots=True, eq=False)
class Sequence:
    """One generation inside the engine: its blocks, how much of its prompt is computed, what it made."""

    request: GenerationRequest
    sampler: Sampler
    keys: list[bytes]
    """A key for each full block of the prompt, for the prefix cache."""
    longest: int
    """Most tokens it may generate: `max_tokens`, or less where the context ends first."""
    blocks: list[int] = field(default_factory=list)
    computed: int = 0
    cached: int = 0
    generated: int = 0
    last: int = 0
    features: Tensor | None = None
    """The vectors [n, D] of all its images, in the order of the placeholder tokens."""
    cancelled: bool = False
    fresh: list[int] = field(default_factory=list)
    """Tokens that the caller has not received yet."""
    finish: str | None = None

    @property
    def prompt_done(self) -> bool:
        """Whether every prompt position is in the cache."""
        return self.computed >= len(self.request.prompt)


class Scheduler:
    """Waiting and running sequences over one block pool."""

    def __init__(self, pool: BlockPool, *, max_batch: int, max_chunks: int) -> None:
        self.pool = pool
        self.waiting: deque[Sequence] = deque()
        self.running: list[Sequence] = []
        self._max_batch = max_batch
        self._max_chunks = max_chunks
        self._turn = 0

    def drop_cancelled(self) -> list[Sequence]:
        """Remove every cancelled sequence, running or waiting, and free its blocks; returns them."""
        dropped = [sequence for sequence in (*self.running, *self.waiting) if sequence.cancelled]
        if dropped:
            for sequence in dropped:
                self.pool.release(sequence.blocks)
            self.running = [sequence for sequence in self.running if not sequence.cancelled]
            self.waiting = deque(sequence for sequence in self.waiting if not sequence.cancelled)
        return dropped

    def admit(self) -> list[Sequence]:
        """Start waiting sequences, oldest first, while there is a row and blocks for the oldest."""
        admitted = []
        while self.waiting and len(self.running) < self._max_batch:
            sequence = self.waiting[0]
            prompt = len(sequence.request.prompt)
            # At least the last prompt token is computed: its logits choose the first token.
            shared = self.pool.match(sequence.keys[: (prompt - 1) // BLOCK])
            total = -(-(prompt + sequence.longest) // BLOCK)
            blocks = self.pool.acquire(shared, total - len(shared))
            if blocks is None:
                break
            sequence.blocks = blocks
            sequence.cached = sequence.computed = len(shared) * BLOCK
            self.running.append(self.waiting.popleft())
            admitted.append(sequence)
        return admitted

    def next_chunks(self) -> list[tuple[Sequence, int]]:
        """(sequence, start) of the chunks of the next prefill pass, those of one sequence side by side."""
        reading = [sequence for sequence in self.running if not sequence.prompt_done]
        if not reading:
            return []
        self._turn += 1
        first = self._turn % len(reading)
        shares = {id(sequence): 0 for sequence in reading}
        left = self._max_chunks
        while left > 0:
            before = left
            for sequence in reading[first:] + reading[:first]:
                missing = -(-(len(sequence.request.prompt) - sequence.computed) // BLOCK)
                if left > 0 and shares[id(sequence)] < missing:
                    shares[id(sequence)] += 1
                    left -= 1
            if left == before:
                break
        return [(s, s.computed + index * BLOCK) for s in reading for index in range(shares[id(s)])]

    def advance(self, sequence: Sequence, start: int) -> None:
        """Note that the chunk at `start` is computed; a whole block enters the prefix cache."""
        index = start // BLOCK
        sequence.computed = min(start + BLOCK, len(sequence.request.prompt))
        if index < len(sequence.keys):
            self.pool.remember(sequence.blocks[index], sequence.keys[index])

    def finish(self, sequence: Sequence) -> None:
        """Free a sequence that ended."""
        self.running.remove(sequence)
        self.pool.release(sequence.blocks)
