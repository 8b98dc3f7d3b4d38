"""A stand-in for the engine that says what a test tells it to, token by token."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable

from tokenizers import Tokenizer

from reference_impl.chat.format import MARKUP
from reference_impl.engine.request import GenerationRequest, PromptTooLong

Script = str | Callable[[GenerationRequest], str]


class ScriptedGeneration:
    """Yields given tokens, at most `max_tokens` of them."""

    def __init__(self, request: GenerationRequest, tokens: list[int], engine: ScriptedEngine) -> None:
        limit = request.sampling.max_tokens
        self._tokens = tokens[:limit]
        self._ended = len(tokens) < limit
        self._engine = engine
        self.prompt_tokens = len(request.prompt)
        self.completion_tokens = 0
        self.cached_tokens = 0
        self.finish: str | None = None
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True

    async def __aiter__(self) -> AsyncIterator[int]:
        for token in self._tokens:
            await asyncio.sleep(self._engine.delay)
            if self.cancelled:
                self.finish = "cancelled"
                return
            self.completion_tokens += 1
            yield token
        self.completion_tokens += self._ended
        self.finish = "eos" if self._ended else "length"


class ScriptedEngine:
    """Answers every request with the script; markup in it becomes special tokens."""

    def __init__(self, tokenizer: Tokenizer, script: Script = "Hello there.", delay: float = 0.0) -> None:
        self._tokenizer = tokenizer
        self.script = script
        self.delay = delay
        self.context = 4_096
        self.requests: list[GenerationRequest] = []
        self.generations: list[ScriptedGeneration] = []

    def submit(self, request: GenerationRequest) -> ScriptedGeneration:
        if len(request.prompt) >= self.context:
            raise PromptTooLong(len(request.prompt), self.context - 1)
        text = self.script if isinstance(self.script, str) else self.script(request)
        self.requests.append(request)
        generation = ScriptedGeneration(request, self.tokens(text), self)
        self.generations.append(generation)
        return generation

    def tokens(self, text: str) -> list[int]:
        """The token ids of a text in which markup stands for its tokens."""
        ids: list[int] = []
        for piece in re.split("(" + "|".join(map(re.escape, MARKUP)) + ")", text):
            if piece in MARKUP:
                ids.append(self._tokenizer.token_to_id(piece))
            elif piece:
                ids += self._tokenizer.encode(piece, add_special_tokens=False).ids
        return ids

    def prompt(self, index: int = -1) -> str:
        """The text of a prompt that was submitted."""
        return self._tokenizer.decode(self.requests[index].prompt, skip_special_tokens=False)
