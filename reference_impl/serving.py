"""Puts a model, its engine and one dialect behind a socket."""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import torch
from starlette.applications import Starlette

from reference_impl.dialects.ark.service import Ark
from reference_impl.dialects.serenity_edge.service import SerenityEdge
from reference_impl.engine import Engine, parallel
from reference_impl.faults.planting import Planting, no_faults
from reference_impl.model.checkpoint import load_model
from reference_impl.server.app import build_app
from reference_impl.server.backend import Backend
from reference_impl.server.contract import Dialect
from reference_impl.server.fetch import fetch_image
from reference_impl.server.process import bind, serve


class CannotServe(Exception):
    """The model cannot be loaded or the address is not free."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the command line decides. `token_delay` is in seconds."""

    dialect: str
    host: str = "127.0.0.1"
    port: int = 0
    api_key: str | None = None
    model_path: str = "tiny-chat"
    device: str = "auto"
    allow_induce: bool = False
    allow_fetch: bool = False
    planted: Planting = no_faults
    token_delay: float = 0.0
    tokens_per_chunk: int = 1
    threads: int = 1
    shared: bool = False
    """Whether torchrun has started several processes that share the model."""


def build(settings: Settings) -> tuple[Starlette, Dialect]:
    """The application, whose lifespan starts and stops the engine. Raises CannotServe."""
    device, dtype = _placement(settings.device)
    try:
        model = load_model(settings.model_path, device, dtype)
        if settings.shared:
            parallel.split(model)
    except (ValueError, OSError, RuntimeError) as problem:
        raise CannotServe(f"the model {settings.model_path!r} cannot be loaded: {problem}") from problem
    engine = Engine(model, threads=settings.threads)
    backend = Backend(model, engine, settings.token_delay, settings.tokens_per_chunk)
    dialect: Dialect
    if settings.dialect == "ark":
        dialect = Ark(backend, fetch_image if settings.allow_fetch else None)
    else:
        dialect = SerenityEdge(backend)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with engine:
            yield

    app = build_app(
        dialect,
        api_key=settings.api_key,
        allow_induce=settings.allow_induce,
        planted=settings.planted,
        lifespan=lifespan,
    )
    app.state.engine = engine
    return app, dialect


def run(settings: Settings) -> None:
    """Serve until a signal ends it. Raises CannotServe."""
    if settings.shared:
        _run_shared(settings)
        return
    with _listening(settings) as listener:
        app, dialect = build(settings)
        serve(app, listener, dialect.base_path, dialect.errors)


def _listening(settings: Settings) -> socket.socket:
    try:
        return bind(settings.host, settings.port)
    except (OSError, OverflowError) as problem:
        raise CannotServe(f"cannot listen on {settings.host}:{settings.port}: {problem}") from problem


def _run_shared(settings: Settings) -> None:
    """The first process serves; the others compute their shares until it stops."""
    parallel.join(_placement(settings.device)[0])
    try:
        if parallel.is_leader():
            with _listening(settings) as listener:
                app, dialect = build(settings)
                serve(app, listener, dialect.base_path, dialect.errors)
        else:
            app, _ = build(settings)
            app.state.engine.follow()
    except BaseException:
        parallel.leave()
        raise
    parallel.end()


def _placement(device: str) -> tuple[str, torch.dtype]:
    """Where the model lives and in which precision: bf16 on CUDA, fp32 on a CPU."""
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda" and "LOCAL_RANK" in os.environ:
        device = f"cuda:{os.environ['LOCAL_RANK']}"
    return device, torch.bfloat16 if device.startswith("cuda") else torch.float32
