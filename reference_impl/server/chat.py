"""The chat endpoint: one request in, one JSON body or one event stream out, in the vendor's words.

Whatever happens, the client gets the vendor's error object or a stream that ends by the rules; what a
request holds (engine blocks, a session's turn) is freed when it is over or its client has gone.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import AsyncIterator
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from reference_impl.chat.template import ChatTemplateError
from reference_impl.engine.request import PromptTooLong, QueueFull
from reference_impl.faults.hooks import Exchange
from reference_impl.faults.planting import Planting, no_faults
from reference_impl.server import induce, strict_json
from reference_impl.server.access import Keys
from reference_impl.server.body import ClientGone, TooLarge, read_body, unless_gone
from reference_impl.server.contract import Chunk, Dialect, Refused, Streamed, Whole
from reference_impl.server.fields import Invalid
from reference_impl.server.metrics import Metrics
from reference_impl.server.strict_json import Json

_LOG = logging.getLogger("reference_impl.requests")

DONE = b"data: [DONE]\n\n"

_BODY_SECONDS = 120.0
_OFF_THE_LOOP = 65_536
"""Bodies of more bytes than this are parsed in a worker thread."""


def event(value: Json) -> bytes:
    """One server-sent event that holds a JSON value."""
    return b"data: " + orjson.dumps(value) + b"\n\n"


class ChatEndpoint:
    """The ASGI application under `chat/completions`."""

    def __init__(
        self,
        dialect: Dialect,
        keys: Keys,
        *,
        allow_induce: bool = False,
        planted: Planting = no_faults,
        metrics: Metrics | None = None,
    ) -> None:
        self._dialect = dialect
        self._keys = keys
        self._allow_induce = allow_induce
        self._planted = planted
        self._metrics = metrics or Metrics()
        self._in_flight = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        plot = self._planted(scope)
        exchange = Exchange(
            dialect=self._dialect.name,
            request_id=f"req_{secrets.token_hex(12)}",
            number=next(plot.numbers),
            in_flight=self._in_flight,
            authorization=Request(scope).headers.get("authorization", ""),
            default_model=self._dialect.model_list()["data"][0]["id"],
            memory=plot.memory,
            planted=plot.faults,
        )
        self._in_flight += 1
        started = time.monotonic()
        outcome = "gone"
        try:
            outcome = await self._serve(Request(scope, receive), receive, send, exchange)
        except (ClientGone, OSError):
            pass
        finally:
            self._in_flight -= 1
            seconds = time.monotonic() - started
            self._metrics.count(outcome, seconds)
            _LOG.info("%s chat %s %.3fs", exchange.request_id, outcome, seconds)

    async def _serve(self, request: Request, receive: Receive, send: Send, exchange: Exchange) -> str:
        sender = _Sender(request.scope, receive, send, exchange)
        try:
            exchange.api_key = self._key(request, exchange)
            data = await self._read(request, receive, exchange)
            work = asyncio.wait_for(self._answer(data, exchange, sender), self._dialect.time_limit)
            await unless_gone(work, receive, lambda: sender.answered)
        except (ClientGone, ConnectionError):
            raise
        except Exception as error:
            refused = self._refusal(error, exchange)
            if sender.begun:
                await sender.fail(refused.body)
                return "broken"
            await sender.refuse(refused)
            return str(refused.status)
        return "200"

    def _key(self, request: Request, exchange: Exchange) -> str:
        try:
            return self._keys.check(request.headers)
        except Refused as refused:
            if exchange.let_in(refused):
                return ""
            raise

    async def _read(self, request: Request, receive: Receive, exchange: Exchange) -> Json:
        media_type = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
        length = request.headers.get("content-length", "")
        try:
            async with asyncio.timeout(_BODY_SECONDS):
                limit = self._dialect.body_limit
                body = await read_body(receive, limit, int(length) if length.isdigit() else None)
        except TimeoutError:
            raise ClientGone from None
        if media_type != "application/json":
            raise self._dialect.errors.malformed("The Content-Type must be application/json.")
        if request.headers.get("content-encoding", "identity").lower() != "identity":
            raise self._dialect.errors.malformed("An encoded body is not accepted.")
        if self._allow_induce:
            exchange.induce = request.headers.get(induce.HEADER)
            if exchange.induce is not None and exchange.induce not in induce.CONDITIONS:
                raise self._dialect.errors.malformed(f"{induce.HEADER}: {', '.join(induce.CONDITIONS)}.")
        body = exchange.raw(body)
        small = len(body) < _OFF_THE_LOOP
        data = strict_json.parse(body) if small else await asyncio.to_thread(strict_json.parse, body)
        exchange.data = data if isinstance(data, dict) else {}
        return exchange.request(data)

    async def _answer(self, data: Json, exchange: Exchange, sender: _Sender) -> None:
        try:
            async with self._dialect.answer(data, exchange) as answer:
                match answer:
                    case Whole(body):
                        await sender.whole(exchange.completion(body))
                    case Streamed(chunks):
                        await sender.stream(exchange.events(_events(exchange.chunks(chunks))))
        except Invalid as problem:
            repaired = exchange.repaired(data, problem)
            if repaired is None:
                raise
            await self._answer(repaired, exchange, sender)

    def _refusal(self, error: Exception, exchange: Exchange) -> Refused:
        errors = self._dialect.errors
        match error:
            case Refused():
                refused = error
            case strict_json.Malformed():
                refused = errors.malformed(str(error))
            case Invalid():
                refused = errors.invalid(error)
            case ChatTemplateError():
                refused = errors.invalid(Invalid(str(error)[:500], "messages"))
            case TooLarge():
                refused = errors.too_large(self._dialect.body_limit)
            case PromptTooLong():
                refused = errors.prompt_too_long(error.tokens, error.limit)
            case QueueFull():
                refused = errors.at_capacity()
            case TimeoutError():
                refused = errors.timed_out()
            case induce.Broken():
                refused = errors.stream_broken()
            case _:
                _LOG.exception("%s failed", exchange.request_id)
                refused = errors.internal()
        changed: Refused = exchange.refusal(refused)
        return changed


async def _events(chunks: AsyncIterator[Chunk]) -> AsyncIterator[bytes]:
    async for chunk in chunks:
        yield event(chunk)
    yield DONE


class _Sender:
    """Writes the answer; `begun` once the status line is out, `answered` once the last byte is."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, exchange: Exchange) -> None:
        self._scope = scope
        self._receive = receive
        self._send = send
        self._exchange = exchange
        self.begun = False
        self.answered = False

    async def whole(self, body: dict[str, Any]) -> None:
        headers = self._exchange.headers(self._headers("application/json"))
        await self._respond(200, headers, self._exchange.body(orjson.dumps(body)))

    async def refuse(self, refused: Refused) -> None:
        headers = {**self._headers("application/json"), **refused.headers}
        await self._respond(refused.status, headers, self._exchange.error_body(orjson.dumps(refused.body)))

    async def stream(self, events: AsyncIterator[bytes]) -> None:
        """Send events as they come; the status waits for the first, so that an early failure has its own."""
        headers = self._exchange.headers({**self._headers("text/event-stream"), "cache-control": "no-cache"})
        async for data in events:
            if not self.begun:
                self.begun = True
                raw = [(name.encode(), value.encode()) for name, value in headers.items()]
                await self._send({"type": "http.response.start", "status": 200, "headers": raw})
            await self._send({"type": "http.response.body", "body": data, "more_body": True})
        self.answered = True
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def fail(self, body: dict[str, Any]) -> None:
        """End a stream that has begun with one error event, and no terminator."""

        async def last() -> AsyncIterator[bytes]:
            yield event(body)

        await self.stream(self._exchange.broken(last()))

    async def _respond(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.begun = self.answered = True
        response = Response(body, status, headers)
        await response(self._scope, self._receive, self._send)

    def _headers(self, media_type: str) -> dict[str, str]:
        return {"content-type": media_type, "x-request-id": self._exchange.request_id}
