"""ARK, put together: a request becomes a prompt, its pieces a completion or chunks, and is paid for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from reference_impl.dialects.ark import reply as shapes
from reference_impl.dialects.ark.credits import Accounts, price
from reference_impl.dialects.ark.errors import ArkErrors
from reference_impl.dialects.ark.messages import Fetch, image_parts, load_images
from reference_impl.dialects.ark.models import ArkModel, Catalogue
from reference_impl.dialects.ark.request import DEFAULT_MAX_TOKENS, ArkRequest, read_request
from reference_impl.dialects.ark.sessions import Session, Sessions
from reference_impl.engine.grammar import CallableTool, grammar_for_calls
from reference_impl.faults.hooks import Exchange
from reference_impl.server import induce
from reference_impl.server.backend import Backend, Prompt, Turn, Wish
from reference_impl.server.contract import Chunk, Streamed, Whole
from reference_impl.server.deadline import ended_at
from reference_impl.server.fields import Invalid
from reference_impl.server.json_wish import wishing_for_json
from reference_impl.server.pieces import Finished, Piece, Reply
from reference_impl.server.strict_json import Json


class Ark:
    """The dialect; holds the sessions and the credit accounts."""

    name = "ark"
    base_path = "/api/v1"
    body_limit = 8 * 1024 * 1024
    time_limit = 660.0
    inference_limit = 600.0
    """Seconds after which a reply ends with finish_reason inference_timeout."""

    def __init__(self, backend: Backend, fetch: Fetch | None = None) -> None:
        self.errors = ArkErrors()
        self.sessions = Sessions()
        self.accounts = Accounts()
        self._backend = backend
        self._fetch = fetch
        self._catalogue = Catalogue(backend)

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
        self._check(request, model)
        self._induce(exchange.induce)
        await load_images(request.messages, self._fetch)
        async with AsyncExitStack() as stack:
            session = None
            if request.session is not None:
                turn = self.sessions.turn(exchange.api_key, request.session)
                session = await stack.enter_async_context(turn)
            thinking = request.thinking and model.thinks
            prompt = await self._prompt(request, session, thinking)
            grammar = await asyncio.to_thread(self._grammar, request, thinking)
            reply = self._backend.start(prompt, self._wish(request, prompt, grammar), exchange)
            stack.callback(reply.cancel)
            answer = _Answer(self, request, session, reply, exchange, thinking)
            yield Streamed(answer.chunks()) if request.stream else Whole(await answer.whole())

    def _check(self, request: ArkRequest, model: ArkModel) -> None:
        if request.max_tokens is not None and request.max_tokens > self._backend.context:
            limit = self._backend.context
            raise Invalid(f"'max_tokens' must not exceed the model's context of {limit}.", "max_tokens")
        if image_parts(request.messages) and not model.sees:
            raise Invalid(f"The model {model.id} does not read images.", "messages", "unsupported_content")

    def _induce(self, condition: str | None) -> None:
        match condition:
            case "rate_limit":
                raise self.errors.rate_limited()
            case "overload":
                raise self.errors.overloaded()
            case "upstream_error":
                raise self.errors.upstream_failed()
            case "timeout":
                raise self.errors.timed_out()

    async def _prompt(self, request: ArkRequest, session: Session | None, thinking: bool) -> Prompt:
        messages = [*(session.messages if session else ()), *request.messages]
        if request.json_format is not None:
            messages = wishing_for_json(messages, request.json_format.schema)
        tools = [{"type": "function", "function": function} for function in request.tool_use.shown]
        prompt = await self._backend.prompt(messages, tools, thinking)
        if session is not None and len(prompt.ids) >= request.session_cap:
            raise self.errors.session_full(len(prompt.ids) + 1, request.session_cap)
        return prompt

    def _grammar(self, request: ArkRequest, thinking: bool) -> str | None:
        """Calls name what may be called and are well-formed; JSON is only wished for (response_format)."""
        use = request.tool_use
        if use.mode == "none":
            return None
        tools = [
            CallableTool(function["name"], function["parameters"])
            for function in use.shown
            if function["name"] in use.allowed
        ]
        return grammar_for_calls(
            tools,
            required=use.mode == "required",
            parallel=use.parallel,
            thinking=thinking,
            markup=self._backend.grammar_markup,
        )

    def _wish(self, request: ArkRequest, prompt: Prompt, grammar: str | None) -> Wish:
        limit = DEFAULT_MAX_TOKENS if request.max_tokens is None else request.max_tokens
        if request.session is not None:
            limit = min(limit, request.session_cap - len(prompt.ids))
        return Wish(
            max_tokens=limit,
            temperature=request.temperature,
            top_p=request.top_p,
            stops=request.stops,
            grammar=grammar,
        )


class _Answer:
    """One reply of the dialect, whole or streamed."""

    def __init__(
        self,
        ark: Ark,
        request: ArkRequest,
        session: Session | None,
        turn: Turn,
        exchange: Exchange,
        thinking: bool,
    ) -> None:
        self._ark = ark
        self._request = request
        self._session = session
        self._turn = turn
        self._exchange = exchange
        self._shape = shapes.ReplyShape(request.model, thinking=thinking, legacy=request.tool_use.legacy)

    async def whole(self) -> dict[str, Any]:
        reply = Reply()
        try:
            async for piece in self._pieces():
                reply.add(piece)
        except induce.Broken:
            raise self._ark.errors.upstream_failed() from None
        return self._shape.completion(reply, self._settle(reply))

    async def chunks(self) -> AsyncIterator[Chunk]:
        with_usage = self._request.include_usage
        async for piece in self._pieces():
            chunk = self._shape.chunk(piece)
            if chunk is None:
                continue
            if with_usage:
                chunk["usage"] = self._running_usage() if self._counts_run(piece) else None
            yield chunk
        usage = self._settle(self._shape.reply)
        if with_usage:
            yield self._shape.usage_chunk(usage)

    def _pieces(self) -> AsyncIterator[Piece]:
        limited = ended_at(self._turn.pieces(), self._ark.inference_limit, "inference_timeout")
        pieces = self._exchange.pieces(limited)
        match self._exchange.induce:
            case "midstream_error":
                return induce.broken_off(pieces)
            case "inference_timeout":
                return induce.ended_early(pieces, "inference_timeout")
        return pieces

    def _counts_run(self, piece: Piece) -> bool:
        return self._request.continuous_usage and not isinstance(piece, Finished)

    def _running_usage(self) -> dict[str, Any]:
        return self._exchange.usage(self._counts())

    def _counts(self) -> dict[str, Any]:
        turn = self._turn
        return shapes.usage(turn.prompt_tokens, turn.completion_tokens, turn.cached_tokens, turn.reasoning_tokens)

    def _settle(self, reply: Reply) -> dict[str, Any]:
        """Charge the finished reply and keep it in its session; returns the full usage."""
        cost = price(self._turn.prompt_tokens, self._turn.completion_tokens)
        left = self._ark.accounts.charge(self._exchange.api_key, cost)
        if self._session is not None:
            self._session.messages += [*self._request.messages, self._shape.message(reply)]
        return self._exchange.usage({**self._counts(), "credits_used": cost, "credit_balance": left})
