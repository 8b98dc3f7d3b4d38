"""The engine behind a dialect: conversations become prompts, and prompts become pieces of a reply."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from torch import Tensor

from reference_impl.chat.format import THINK_CLOSE, THINK_OPEN, Image, Special, Text, encode, opens_thinking
from reference_impl.chat.template import prompt_for
from reference_impl.engine.grammar import Markup
from reference_impl.engine.request import GenerationRequest, PromptTooLong, SamplingParams
from reference_impl.engine.text import Vocabulary
from reference_impl.model.checkpoint import LoadedModel
from reference_impl.server.markup import Markers, ReplyParser
from reference_impl.server.pieces import Finished, Piece, merged
from reference_impl.server.strict_json import Json

Message = Mapping[str, Any]

_OFF_THE_LOOP = 4_096
"""Prompts of more characters than this are encoded in a worker thread."""

_NEVER = -1e9


class Generation(Protocol):
    """What is used of the engine's `Generation`."""

    prompt_tokens: int
    completion_tokens: int
    finish: str | None

    @property
    def cached_tokens(self) -> int:
        """Prompt tokens taken from the prefix cache."""
        ...

    def cancel(self) -> None:
        """Stop and free what it holds."""
        ...

    def __aiter__(self) -> AsyncIterator[int]:
        """The token ids."""
        ...


class Engine(Protocol):
    """What is used of the engine; a scripted stand-in serves the tests."""

    @property
    def context(self) -> int:
        """The most tokens that prompt and reply may have together."""
        ...

    def submit(self, request: GenerationRequest) -> Generation:
        """Queue a request; raises QueueFull or PromptTooLong."""
        ...


@dataclass(frozen=True, slots=True)
class Prompt:
    """Token ids, and the pictures of their placeholder runs in order."""

    ids: list[int]
    images: list[Tensor]
    thinking: bool


@dataclass(slots=True)
class Wish:
    """How a prompt is to be continued."""

    max_tokens: int
    temperature: float
    top_p: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    seed: int | None = None
    stops: list[str] = field(default_factory=list)
    grammar: str | None = None


class Backend:
    """One model and its engine."""

    def __init__(self, model: LoadedModel, engine: Engine, token_delay: float = 0.0, tokens_per_chunk: int = 1) -> None:
        self.model = model
        self.engine = engine
        self.vocabulary = Vocabulary(model.tokenizer)
        self.markers = Markers.of(model.tokenizer)
        self.grammar_markup = Markup.of(model.tokenizer)
        self._pace = (token_delay, tokens_per_chunk)
        self._longest_token = max(map(len, model.tokenizer.get_vocab()))

    @property
    def context(self) -> int:
        """The model's context in tokens."""
        return self.engine.context

    @property
    def can_see(self) -> bool:
        """Whether the model takes pictures."""
        return self.model.vision is not None

    @property
    def can_think(self) -> bool:
        """Whether the vocabulary has thinking markup."""
        return {THINK_OPEN, THINK_CLOSE} <= set(self.markers.by_id.values())

    async def prompt(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], thinking: bool) -> Prompt:
        """Encode a conversation whose image parts carry `pixels`; raises PromptTooLong, ChatTemplateError.

        No token is longer than the longest of the vocabulary, so a text that cannot fit is refused unread.
        """
        size = sum(_characters(message) for message in (*messages, *tools))
        if size > self.context * self._longest_token:
            raise PromptTooLong(size // self._longest_token, self.context - 1)
        if size > _OFF_THE_LOOP:
            return await asyncio.to_thread(self._prompt, messages, tools, thinking)
        return self._prompt(messages, tools, thinking)

    def _prompt(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], thinking: bool) -> Prompt:
        segments = prompt_for(self.model, messages, tools, thinking)
        if thinking and not opens_thinking(segments):
            segments += [Special(THINK_OPEN), Text("\n")]
        ids = encode(segments, self.model.tokenizer).ids
        if len(ids) >= self.context:
            raise PromptTooLong(len(ids), self.context - 1)
        images = [
            part["pixels"]
            for message in messages
            if isinstance(message.get("content"), list)
            for part in message["content"]
            if part["type"] == "image_url"
        ]
        assert len(images) == sum(isinstance(segment, Image) for segment in segments)
        return Prompt(ids, images, thinking)

    def start(self, prompt: Prompt, wish: Wish, hooks: Hooks) -> Turn:
        """Queue one reply; raises QueueFull."""
        request = GenerationRequest(
            prompt=prompt.ids,
            sampling=SamplingParams(
                max_tokens=min(wish.max_tokens, self.context - len(prompt.ids)),
                temperature=wish.temperature,
                top_p=wish.top_p,
                presence_penalty=wish.presence_penalty,
                frequency_penalty=wish.frequency_penalty,
                logit_bias={} if wish.grammar else self._unwanted_markup(prompt.thinking),
                seed=wish.seed,
            ),
            eos_ids=self.model.eos_ids,
            images=prompt.images,
            grammar=wish.grammar,
            min_tokens=1,
        )
        generation = self.engine.submit(hooks.generation(request))
        parser = ReplyParser(self.vocabulary, self.markers, thinking=prompt.thinking, stops=wish.stops)
        return Turn(generation, parser, *self._pace)

    def _unwanted_markup(self, thinking: bool) -> dict[int, float]:
        """Tokens that free text must not contain: a reply without a grammar has no calls."""
        kept = {THINK_CLOSE} if thinking else set()
        return {
            token: _NEVER
            for token, mark in self.markers.by_id.items()
            if mark not in kept and token not in self.model.eos_ids
        }


class Hooks(Protocol):
    """Where a fault may change what goes into the engine."""

    def generation(self, request: GenerationRequest) -> GenerationRequest:
        """The request that is submitted instead."""
        ...


class Turn:
    """One reply on its way. The counts are those of the pieces that have been taken."""

    def __init__(self, generation: Generation, parser: ReplyParser, delay: float, tokens_per_chunk: int) -> None:
        self._generation = generation
        self._parser = parser
        self._delay = delay
        self._tokens_per_chunk = tokens_per_chunk
        self.prompt_tokens = generation.prompt_tokens
        self.completion_tokens = 0

    @property
    def cached_tokens(self) -> int:
        """Prompt tokens that came from the prefix cache; known from the first piece on."""
        return self._generation.cached_tokens

    @property
    def reasoning_tokens(self) -> int:
        """Tokens spent thinking."""
        return self._parser.reasoning_tokens

    def cancel(self) -> None:
        """Give up the reply; harmless after its end."""
        self._generation.cancel()

    async def pieces(self) -> AsyncIterator[Piece]:
        """The pieces as they come, those of a few tokens together if it is so wished, `Finished` last."""
        ready: list[Piece] = []
        async for token in self._generation:
            self.completion_tokens += 1
            if self._delay:
                await asyncio.sleep(self._delay)
            ready += self._parser.push(token)
            if self._parser.stopped:
                self._generation.cancel()
                for piece in merged(ready):
                    yield piece
                yield Finished("stop")
                return
            if self.completion_tokens % self._tokens_per_chunk == 0:
                for piece in merged(ready):
                    yield piece
                ready = []
        # the end token was chosen, so it counts, although it is not shown
        self.completion_tokens = self._generation.completion_tokens
        for piece in merged([*ready, *self._parser.finish()]):
            yield piece
        if self._generation.finish == "length":
            yield Finished("length")
        else:
            yield Finished("tool_calls" if self._parser.completed_calls else "stop")


def _characters(value: Json) -> int:
    """The length of all text in a JSON value."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        return sum(len(name) + _characters(member) for name, member in value.items())
    if isinstance(value, list):
        return sum(map(_characters, value))
    return 0
