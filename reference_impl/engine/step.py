"""One step of the engine: drop, admit, read prompts, write one token for everything that runs."""

from __future__ import annotations

import torch

from reference_impl.engine.blocks import BLOCK
from reference_impl.engine.runner import Chunk, Row, Runner
from reference_impl.engine.sampling import choose
from reference_impl.engine.scheduler import Scheduler, Sequence


class Stepper:
    """Joins the scheduler's decisions, the model's work and the samplers' choices."""

    def __init__(self, runner: Runner, scheduler: Scheduler) -> None:
        self.runner = runner
        self.scheduler = scheduler
        self._image_token = runner.model.image_token_id

    def step(self) -> list[Sequence]:
        """Take one step; returns the sequences that have fresh tokens or ended."""
        changed: dict[int, Sequence] = {}
        for sequence in self.scheduler.drop_cancelled():
            sequence.finish = "cancelled"
            changed[id(sequence)] = sequence
        for sequence in self.scheduler.admit():
            if sequence.request.images:
                encoded = [self.runner.encode_image(pixels) for pixels in sequence.request.images]
                sequence.features = torch.cat(encoded)
        self._read_prompts(changed)
        self._write_tokens(changed)
        return list(changed.values())

    def fail(self) -> list[Sequence]:
        """After an exception: end everything that runs and trust no cached block; returns what ended."""
        failed = list(self.scheduler.running)
        for sequence in failed:
            self.scheduler.finish(sequence)
            sequence.finish = "failed"
        self.scheduler.pool.forget()
        return failed

    def _read_prompts(self, changed: dict[int, Sequence]) -> None:
        planned = self.scheduler.next_chunks()
        if not planned:
            return
        chunks = []
        ending: list[Sequence] = []
        wanted: list[tuple[int, int]] = []
        for index, (sequence, start) in enumerate(planned):
            chunks.append(self._chunk(sequence, start))
            last = len(sequence.request.prompt) - 1
            if start <= last < start + BLOCK:
                ending.append(sequence)
                wanted.append((index, last - start))
        logits = self.runner.prefill(chunks, wanted)
        for sequence, start in planned:
            self.scheduler.advance(sequence, start)
        if ending:
            self._choose(logits, ending, changed)

    def _chunk(self, sequence: Sequence, start: int) -> Chunk:
        prompt = sequence.request.prompt
        tokens = prompt[start : start + BLOCK]
        chunk = Chunk(tokens, start, sequence.blocks, id(sequence))
        if sequence.features is not None and self._image_token in tokens:
            chunk.feature_at = [offset for offset, token in enumerate(tokens) if token == self._image_token]
            before = prompt[:start].count(self._image_token) if self._image_token is not None else 0
            chunk.features = sequence.features[before : before + len(chunk.feature_at)]
        return chunk

    def _write_tokens(self, changed: dict[int, Sequence]) -> None:
        writing = [sequence for sequence in self.scheduler.running if sequence.prompt_done]
        if not writing:
            return
        rows = [
            Row(sequence.last, len(sequence.request.prompt) + sequence.generated - 1, sequence.blocks)
            for sequence in writing
        ]
        self._choose(self.runner.decode(rows), writing, changed)

    def _choose(self, logits: torch.Tensor, sequences: list[Sequence], changed: dict[int, Sequence]) -> None:
        for sequence in sequences:
            floor = sequence.request.min_tokens
            held = sequence.generated < floor and sequence.sampler.matcher is None
            sequence.sampler.forbidden = sorted(sequence.request.eos_ids) if held else []
        tokens = choose(logits, [sequence.sampler for sequence in sequences])
        for sequence, token in zip(sequences, tokens, strict=True):
            sequence.generated += 1
            sequence.last = token
            sequence.finish = self._consequence(sequence, token)
            if sequence.finish is not None:
                self.scheduler.finish(sequence)
            changed[id(sequence)] = sequence

    @staticmethod
    def _consequence(sequence: Sequence, token: int) -> str | None:
        """Record `token`; why the sequence ends with it, or None."""
        if token in sequence.request.eos_ids:
            return "eos"
        sequence.fresh.append(token)
        sequence.sampler.accept(token)
        matcher = sequence.sampler.matcher
        if matcher is not None and matcher.is_error():
            return "failed"
        if matcher is not None and matcher.is_stopped():
            return "eos"
        return "length" if sequence.generated >= sequence.longest else None
