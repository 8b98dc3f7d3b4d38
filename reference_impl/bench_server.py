"""What the server adds to each streamed token: CPU time between the engine and the socket.

The application is called in this process without a socket, so the kernel and the HTTP parser are left out:
validation, chat format, detokenizing, stop strings, chunk building and JSON are in.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any

from reference_impl.engine import Engine, GenerationRequest, SamplingParams
from reference_impl.serving import Settings, build

_MESSAGES = [{"role": "user", "content": "Count from 1 to 40."}]
_STREAMS = 12


async def stream(app: Callable[..., Any], path: str, body: bytes) -> tuple[int, int]:
    """POST `body` to an ASGI application: the status, and how many events of its stream carry a choice."""
    status, events = 0, 0
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 2),
    }
    sent = False
    never = asyncio.Event()

    async def receive() -> dict[str, Any]:
        nonlocal sent
        if not sent:
            sent = True
            return {"type": "http.request", "body": body, "more_body": False}
        await never.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        nonlocal status, events
        if message["type"] == "http.response.start":
            status = message["status"]
        else:
            events += message.get("body", b"").count(b'"delta"')

    await app(scope, receive, send)
    return status, events


async def bare(engine: Engine, tokens: int) -> None:
    """The same number of tokens from the engine alone."""
    params = SamplingParams(max_tokens=tokens, temperature=0.0)
    async for _ in engine.submit(GenerationRequest(list(range(50, 80)), params, frozenset())):
        pass


async def cost_per_event(model: str) -> tuple[float, float]:
    """CPU seconds per streamed event through the server, and per token of the engine alone: best of a few.

    Raises RuntimeError if the server refuses.
    """
    app, dialect = build(Settings(dialect="ark", model_path=model, device="cpu"))
    served = next(entry["id"] for entry in dialect.model_list()["data"] if entry["id"].endswith(model))
    request = {"model": served, "messages": _MESSAGES, "stream": True, "max_tokens": 64, "temperature": 0}
    body = json.dumps(request).encode()
    served_costs, bare_costs = [], []
    async with app.router.lifespan_context(app):
        for _ in range(_STREAMS):
            began = time.process_time()
            status, events = await stream(app, "/api/v1/chat/completions", body)
            if status != 200:
                raise RuntimeError(f"the server answered {status}")
            middle = time.process_time()
            await bare(app.state.engine, events)
            served_costs.append((middle - began) / events)
            bare_costs.append((time.process_time() - middle) / events)
    return min(served_costs), min(bare_costs)
