"""Serenity Edge, put together: a request becomes n replies, whole or streamed."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from typing import Any

from reference_impl.dialects.serenity_edge import reply as shapes
from reference_impl.dialects.serenity_edge.errors import SerenityEdgeErrors
from reference_impl.dialects.serenity_edge.messages import image_parts, load_images
from reference_impl.dialects.serenity_edge.models import Catalogue, SerenityEdgeModel
from reference_impl.dialects.serenity_edge.request import SerenityEdgeRequest, read_request
from reference_impl.engine.grammar import (
    CallableTool,
    UnsupportedSchema,
    grammar_for_calls,
    grammar_for_object,
    grammar_for_schema,
)
from reference_impl.faults.hooks import Exchange
from reference_impl.server import induce
from reference_impl.server.backend import Backend, Prompt, Turn, Wish
from reference_impl.server.contract import Chunk, Streamed, Whole
from reference_impl.server.fields import Invalid
from reference_impl.server.interleave import interleave
from reference_impl.server.json_wish import wishing_for_json
from reference_impl.server.pieces import Piece, Reply
from reference_impl.server.strict_json import Json


class SerenityEdge:
    """The dialect."""

    name = "serenity-edge"
    base_path = "/v1"
    body_limit = 4 * 1024 * 1024
    time_limit = 600.0

    def __init__(self, backend: Backend) -> None:
        self.errors = SerenityEdgeErrors()
        self._backend = backend
        self._catalogue = Catalogue(backend)
        self._fingerprint = f"fp_{hashlib.sha256(backend.model.name.encode()).hexdigest()[:12]}"

    def model_list(self) -> dict[str, Any]:
        """The body of GET models."""
        return self._catalogue.listing()

    def model(self, model_id: str) -> dict[str, Any]:
        """The entry of one model; raises Refused."""
        model = self._catalogue.get(model_id)
        if model is None:
            raise self.errors.no_such_model(model_id)
        return self._catalogue.describe(model)

    @asynccontextmanager
    async def answer(self, data: Json, exchange: Exchange) -> AsyncIterator[Whole | Streamed]:
        """Answer one request; see `Dialect.answer`."""
        request = read_request(data)
        model = self._catalogue.get(request.model)
        if model is None:
            raise self.errors.no_such_model(request.model)
        self._check_images(request, model)
        self._induce(exchange.induce)
        await load_images(request.messages)
        thinking = request.thinking and model.thinks
        prompt = await self._prompt(request, thinking)
        grammar = await asyncio.to_thread(self._grammar, request, thinking)
        with ExitStack() as stack:
            turns = []
            for index in range(request.choices):
                turn = self._backend.start(prompt, _wish(request, index, grammar), exchange)
                stack.callback(turn.cancel)
                turns.append(turn)
            shape = shapes.ReplyShape(
                request.model, self._fingerprint, shows_thinking=thinking and not request.hide_thinking
            )
            answer = _Answer(self.errors, request, turns, shape, exchange)
            yield Streamed(answer.chunks()) if request.stream else Whole(await answer.whole())

    def _check_images(self, request: SerenityEdgeRequest, model: SerenityEdgeModel) -> None:
        count = len(image_parts(request.messages))
        if count and not model.images:
            raise Invalid(f"The model {model.id} does not read images.", "messages", "images_not_supported")
        if count > model.images:
            raise self.errors.too_many_images(count, model.images)

    def _induce(self, condition: str | None) -> None:
        match condition:
            case "rate_limit":
                raise self.errors.rate_limited()
            case "overload":
                raise self.errors.unavailable()
            case "upstream_error":
                raise self.errors.upstream_failed()
            case "timeout":
                raise self.errors.timed_out()

    async def _prompt(self, request: SerenityEdgeRequest, thinking: bool) -> Prompt:
        messages = request.messages
        if request.json_format is not None:
            messages = wishing_for_json(messages, request.json_format.schema)
        tools = [{"type": "function", "function": function} for function in request.tool_use.functions]
        return await self._backend.prompt(messages, tools, thinking)

    def _grammar(self, request: SerenityEdgeRequest, thinking: bool) -> str | None:
        """What constrains the reply; raises Invalid for a strict schema that cannot be guaranteed.

        A JSON format leaves no room for calls that are not forced.
        """
        use = request.tool_use
        markup = self._backend.grammar_markup
        if use.mode == "required" or (use.mode == "auto" and request.json_format is None):
            tools = [CallableTool(f["name"], f["parameters"], f["strict"]) for f in use.callable]
            try:
                return grammar_for_calls(
                    tools,
                    required=use.mode == "required",
                    parallel=use.parallel,
                    thinking=thinking,
                    markup=markup,
                )
            except UnsupportedSchema as problem:
                raise _unsupported(problem, "tools") from problem
        form = request.json_format
        if form is None:
            return None
        if form.schema is not None:
            try:
                return grammar_for_schema(form.schema, thinking=thinking, markup=markup)
            except UnsupportedSchema as problem:
                if form.strict:
                    raise _unsupported(problem, "response_format.json_schema.schema") from problem
        return grammar_for_object(thinking=thinking, markup=markup)


def _unsupported(problem: UnsupportedSchema, param: str) -> Invalid:
    message = f"The schema cannot be guaranteed ({problem.keyword}): {problem}"
    return Invalid(message[:500], param, "unsupported_schema")


def _wish(request: SerenityEdgeRequest, choice: int, grammar: str | None) -> Wish:
    return Wish(
        max_tokens=request.max_tokens,
        temperature=request.temperature,
        top_p=request.top_p,
        presence_penalty=request.presence_penalty,
        frequency_penalty=request.frequency_penalty,
        # choices of one request differ, and each is the same in every repetition
        seed=None if request.seed is None else request.seed + choice,
        stops=request.stops,
        grammar=grammar,
    )


class _Answer:
    """The replies to one request."""

    def __init__(
        self,
        errors: SerenityEdgeErrors,
        request: SerenityEdgeRequest,
        turns: Sequence[Turn],
        shape: shapes.ReplyShape,
        exchange: Exchange,
    ) -> None:
        self._errors = errors
        self._request = request
        self._turns = turns
        self._shape = shape
        self._exchange = exchange

    async def whole(self) -> dict[str, Any]:
        replies = [Reply() for _ in self._turns]
        try:
            async for choice, piece in self._pieces():
                replies[choice].add(piece)
        except induce.Broken:
            raise self._errors.upstream_failed() from None
        return self._shape.completion(replies, self._usage())

    async def chunks(self) -> AsyncIterator[Chunk]:
        async for choice, piece in self._pieces():
            chunk = self._shape.chunk(choice, piece)
            if chunk is not None:
                yield chunk
        if self._request.include_usage:
            yield self._shape.usage_chunk(self._usage())

    def _pieces(self) -> AsyncIterator[tuple[int, Piece]]:
        return interleave([self._of(turn) for turn in self._turns])

    def _of(self, turn: Turn) -> AsyncIterator[Piece]:
        pieces = self._exchange.pieces(turn.pieces())
        match self._exchange.induce:
            case "midstream_error":
                return induce.broken_off(pieces)
            case "content_filter":
                return induce.ended_early(pieces, "content_filter")
        return pieces

    def _usage(self) -> dict[str, Any]:
        """The prompt counts once, however many choices continue it."""
        first = self._turns[0]
        return self._exchange.usage(
            shapes.usage(
                prompt=first.prompt_tokens,
                completion=sum(turn.completion_tokens for turn in self._turns),
                cached=first.cached_tokens,
                reasoning=sum(turn.reasoning_tokens for turn in self._turns),
            )
        )
