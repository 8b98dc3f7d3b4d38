"""The routes of one dialect, and the vendor's error object for everything else."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager

import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from reference_impl.faults.hooks import Exchange
from reference_impl.faults.planting import Planting, no_faults
from reference_impl.server.access import Keys
from reference_impl.server.chat import ChatEndpoint
from reference_impl.server.contract import Dialect, Refused
from reference_impl.server.metrics import Metrics

Lifespan = Callable[[Starlette], AbstractAsyncContextManager[None]]


class _Resource:
    """A path with the methods it allows; every other method is refused in the vendor's words."""

    def __init__(self, app: ASGIApp, methods: Sequence[str], dialect: Dialect) -> None:
        self._app = app
        self._methods = tuple(methods)
        self._dialect = dialect

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] in self._methods:
            await self._app(scope, receive, send)
        else:
            refused = self._dialect.errors.wrong_method(scope["method"], self._methods)
            await _error(refused)(scope, receive, send)


def build_app(
    dialect: Dialect,
    *,
    api_key: str | None = None,
    allow_induce: bool = False,
    planted: Planting = no_faults,
    lifespan: Lifespan | None = None,
) -> Starlette:
    """The application that serves one dialect."""
    keys = Keys(api_key, dialect.errors.unauthorized)
    metrics = Metrics()
    chat = ChatEndpoint(dialect, keys, allow_induce=allow_induce, planted=planted, metrics=metrics)

    async def models(scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        try:
            keys.check(request.headers)
            wanted = scope.get("path_params", {}).get("model_id")
            body = dialect.model_list() if wanted is None else dialect.model(wanted)
        except Refused as refused:
            response = _error(refused)
        else:
            exchange = Exchange(dialect.name, planted=planted(scope).faults)
            response = _json(200, exchange.models(body))
        await response(scope, receive, send)

    async def health(scope: Scope, receive: Receive, send: Send) -> None:
        await _json(200, {"status": "ok"})(scope, receive, send)

    async def exposition(scope: Scope, receive: Receive, send: Send) -> None:
        text = metrics.exposition()
        if text is None:
            response = _error(dialect.errors.no_such_route())
        else:
            response = Response(text, media_type="text/plain; version=0.0.4")
        await response(scope, receive, send)

    async def no_route(request: Request, error: Exception) -> Response:
        return _error(dialect.errors.no_such_route())

    async def failed(request: Request, error: Exception) -> Response:
        return _error(dialect.errors.internal())

    base = dialect.base_path
    app = Starlette(
        routes=[
            Route(f"{base}/chat/completions", _Resource(chat, ["POST"], dialect)),
            Route(f"{base}/models", _Resource(models, ["GET", "HEAD"], dialect)),
            Route(f"{base}/models/{{model_id:path}}", _Resource(models, ["GET", "HEAD"], dialect)),
            Route("/healthz", _Resource(health, ["GET", "HEAD"], dialect)),
            Route("/metrics", _Resource(exposition, ["GET", "HEAD"], dialect)),
        ],
        exception_handlers={404: no_route, Exception: failed},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    return app


def _json(status: int, body: object) -> Response:
    headers = {"x-request-id": f"req_{secrets.token_hex(12)}"}
    return Response(orjson.dumps(body), status, headers, media_type="application/json")


def _error(refused: Refused) -> Response:
    response = _json(refused.status, refused.body)
    response.headers.update(refused.headers)
    return response
