"""The engine's front: submit a request from the event loop, iterate over its tokens, cancel it.

All torch work happens in one worker thread, which takes a step at a time for everything that runs and
hands the step's tokens to the event loop in one call. The engine knows token ids only.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import threading
from collections import deque
from dataclasses import dataclass
from types import TracebackType

import torch

from reference_impl.engine import parallel
from reference_impl.engine.blocks import BLOCK, BlockPool, prefix_keys
from reference_impl.engine.generation import Generation
from reference_impl.engine.grammar import GrammarCompiler
from reference_impl.engine.packed import pack, packing_available
from reference_impl.engine.request import GenerationRequest, PromptTooLong, QueueFull
from reference_impl.engine.runner import Runner
from reference_impl.engine.sampling import Sampler
from reference_impl.engine.scheduler import Scheduler, Sequence
from reference_impl.engine.step import Stepper
from reference_impl.model.checkpoint import LoadedModel
from reference_impl.model.vision import IMAGE_TOKENS

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class EngineStats:
    """A moment's view: blocks of BLOCK positions each, and sequences running and waiting."""

    blocks_free: int
    blocks_total: int
    running: int
    waiting: int
    steps: int
    """Steps taken since the engine started."""


class Engine:
    """Generates for many requests at once with one model, which it takes over (its linears are packed).

    max_batch: sequences that run at once. max_queue: requests that may wait beyond those.
    cache_blocks: blocks of BLOCK positions; by default enough for max_batch full contexts, within
    `cache_bytes`. prefill_chunks: chunks of BLOCK prompt tokens in one pass. threads: torch's threads.
    deterministic: rows never depend on their company (see `runner.py`); False skips that check.
    """

    def __init__(
        self,
        model: LoadedModel,
        *,
        max_batch: int = 16,
        cache_blocks: int | None = None,
        cache_bytes: int = 1 << 30,
        max_queue: int = 256,
        prefill_chunks: int = 16,
        context: int | None = None,
        threads: int = 1,
        deterministic: bool = True,
    ) -> None:
        config = model.config
        weight = model.transformer.embed_tokens.weight
        limit = min(context or config.max_positions, config.max_positions) // BLOCK
        bytes_per_block = 2 * config.layers * BLOCK * config.kv_heads * config.head_dim * weight.element_size()
        affordable = max(cache_bytes // bytes_per_block, max_batch, prefill_chunks)
        self._blocks = cache_blocks or min(max_batch * limit, affordable)
        self.context = min(limit, self._blocks) * BLOCK
        """Most positions of one sequence, prompt and generated tokens together."""
        self.model = model
        self.max_batch = max_batch
        self.max_queue = max_queue
        self._prefill_chunks = prefill_chunks
        self._threads = threads
        self._deterministic = deterministic
        self._grammars = GrammarCompiler(model.tokenizer, model.eos_ids, config.vocab_size)
        self._scheduler = Scheduler(BlockPool(self._blocks), max_batch=max_batch, max_chunks=prefill_chunks)
        self._inbox: deque[Generation] = deque()
        self._generations: dict[Sequence, Generation] = {}
        self._condition = threading.Condition()
        self._stopping = False
        self._steps = 0
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def start(self) -> None:
        """Prepare the model in the worker thread and begin to serve; returns when ready."""
        self._loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = self._loop.create_future()
        self._stopping = False
        self._thread = threading.Thread(target=self._work, args=(self._loop, ready), name="engine", daemon=True)
        self._thread.start()
        await ready

    async def stop(self) -> None:
        """End the worker after its current step; unfinished generations end as cancelled."""
        with self._condition:
            self._stopping = True
            self._condition.notify()
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join)
            self._thread = None

    async def __aenter__(self) -> Engine:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    def submit(self, request: GenerationRequest) -> Generation:
        """Queue a request, from the event loop's thread.

        Raises PromptTooLong, QueueFull, or ValueError for an empty prompt, max_tokens below 1, a token
        outside the vocabulary, or images that do not fit the placeholder tokens.
        """
        self._check(request)
        room = self.context - len(request.prompt)
        sequence = Sequence(
            request=request,
            sampler=Sampler(request.sampling, None),
            keys=self._prefix_keys(request),
            longest=min(request.sampling.max_tokens, room),
        )
        generation = Generation(sequence, self._notify)
        with self._condition:
            if self._thread is None or self._stopping:
                raise RuntimeError("the engine does not run")
            if len(self._generations) >= self.max_batch + self.max_queue:
                raise QueueFull(f"{self.max_queue} requests already wait")
            self._generations[sequence] = generation
            self._inbox.append(generation)
            self._condition.notify()
        return generation

    def stats(self) -> EngineStats:
        """Counters of this moment."""
        with self._condition:
            running = len(self._scheduler.running)
            return EngineStats(
                blocks_free=self._scheduler.pool.free,
                blocks_total=self._scheduler.pool.total,
                running=running,
                waiting=len(self._generations) - running,
                steps=self._steps,
            )

    def _check(self, request: GenerationRequest) -> None:
        if not request.prompt:
            raise ValueError("the prompt is empty")
        if len(request.prompt) > self.context - 1:
            raise PromptTooLong(len(request.prompt), self.context - 1)
        if request.sampling.max_tokens < 1:
            raise ValueError("max_tokens must be at least 1")
        if not all(0 <= token < self.model.config.vocab_size for token in request.prompt):
            raise ValueError("the prompt holds a token outside the vocabulary")
        image_token = self.model.image_token_id
        placeholders = 0 if image_token is None else request.prompt.count(image_token)
        if request.images and placeholders != len(request.images) * IMAGE_TOKENS:
            raise ValueError(f"{len(request.images)} images need {IMAGE_TOKENS} placeholders each")

    def _prefix_keys(self, request: GenerationRequest) -> list[bytes]:
        digests = [
            hashlib.sha256(bytes(image.contiguous().view(torch.uint8).flatten().tolist())).digest()
            for image in request.images
        ]
        return prefix_keys(request.prompt, self.model.image_token_id, digests, IMAGE_TOKENS)

    def _notify(self) -> None:
        with self._condition:
            self._condition.notify()

    def _work(self, loop: asyncio.AbstractEventLoop, ready: asyncio.Future[None]) -> None:
        """The worker thread: prepare, then step while there is anything to do."""
        try:
            stepper = self._prepare()
        except Exception as error:  # handed to whoever awaits start()
            loop.call_soon_threadsafe(ready.set_exception, error)
            return
        loop.call_soon_threadsafe(ready.set_result, None)
        while True:
            with self._condition:
                while not (self._stopping or self._inbox or self._scheduler.running or self._scheduler.waiting):
                    self._condition.wait()
                arrived, self._inbox = self._inbox, deque()
                stopping = self._stopping
            changed = self._enrol(arrived)
            if stopping:
                for sequence in (*self._scheduler.running, *self._scheduler.waiting):
                    sequence.cancelled = True
            try:
                changed += stepper.step()
            except Exception:
                _LOG.exception("an engine step failed; its requests are ended")
                changed += stepper.fail()
            self._steps += 1
            self._deliver(loop, changed)
            if stopping:
                if isinstance(stepper.runner, parallel.LeadingRunner):
                    stepper.runner.close()
                return

    def follow(self) -> None:
        """Serve as a follower of tensor parallelism (see `parallel.py`) until the leader stops; blocks."""
        parallel.follow(self._runner(Runner))

    def _prepare(self) -> Stepper:
        self._scheduler.pool.forget()  # after a restart the cache starts empty
        kind = Runner if parallel.world_size() == 1 else parallel.LeadingRunner
        return Stepper(self._runner(kind), self._scheduler)

    def _runner(self, kind: type[Runner]) -> Runner:
        torch.set_num_threads(self._threads)
        shares = parallel.world_size()
        transformer = self.model.transformer
        if shares == 1 and transformer.embed_tokens.weight.device.type == "cpu" and packing_available():
            pack(transformer)
        return kind(
            self.model,
            max_rows=self.max_batch,
            max_chunks=self._prefill_chunks,
            blocks=self._blocks,
            context=self.context,
            deterministic=self._deterministic,
            shares=shares,
        )

    def _enrol(self, arrived: deque[Generation]) -> list[Sequence]:
        """Compile grammars and queue new sequences; returns those whose grammar does not compile."""
        failed = []
        for generation in arrived:
            sequence = generation.sequence
            if sequence.request.grammar is not None:
                sequence.sampler.matcher = self._grammars.matcher(sequence.request.grammar)
                if sequence.sampler.matcher.is_error():
                    _LOG.error("a grammar does not compile: %s", sequence.sampler.matcher.get_error())
                    sequence.finish = "failed"
                    failed.append(sequence)
                    continue
            self._scheduler.waiting.append(sequence)
        return failed

    def _deliver(self, loop: asyncio.AbstractEventLoop, changed: list[Sequence]) -> None:
        if not changed:
            return
        news = []
        with self._condition:
            for sequence in changed:
                generation = self._generations[sequence]
                if sequence.finish is not None:
                    del self._generations[sequence]
                news.append((generation, sequence.fresh, sequence.generated, sequence.finish))
                sequence.fresh = []

        def tell() -> None:
            for generation, tokens, completion, finish in news:
                generation.receive(tokens, completion, finish)

        try:
            loop.call_soon_threadsafe(tell)
        except RuntimeError:  # the loop is closed: nobody listens any more
            _LOG.debug("tokens without a listener")
