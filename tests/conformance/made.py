"""Exchanges made by hand, as short as a sentence: what was asked, what came back."""

from __future__ import annotations

import itertools
import json
from typing import Any

from conformance.cases import Case
from conformance.wire.exchange import Exchange, Received, Sent

URL = "http://127.0.0.1:9/v1/chat/completions"
ASKED: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 16}
_numbers = itertools.count(1)


def exchange(
    asked: dict[str, Any] | bytes,
    status: int,
    body: bytes,
    media_type: str = "application/json",
    *,
    end: str = "complete",
    headers: tuple[tuple[str, str], ...] = (),
    facts: dict[str, Any] | None = None,
    arrivals: tuple[tuple[float, int], ...] = (),
    at: str = "2026-01-01T00:00:00.000000Z",
    total_s: float = 0.1,
) -> Exchange:
    """One exchange with exactly this answer."""
    sent = asked if isinstance(asked, bytes) else json.dumps(asked).encode()
    return Exchange(
        id=f"x{next(_numbers):04d}",
        at=at,
        probe="made::by_hand",
        topic="made",
        sent=Sent("POST", URL, (("authorization", "Bearer [redacted]"), ("content-type", "application/json")), sent),
        received=Received(
            status, "HTTP/1.1", "", (("content-type", media_type), *headers), body, arrivals or ((0.05, len(body)),)
        ),
        end=end,  # type: ignore[arg-type]
        first_byte_s=0.05,
        total_s=total_s,
        facts=facts or {},
    )


def whole(asked: dict[str, Any] | None = None, body: dict[str, Any] | None = None, **more: Any) -> Exchange:
    """A JSON answer with status 200; `body` defaults to a good completion."""
    data = json.dumps(completion() if body is None else body).encode()
    return exchange({**ASKED, **(asked or {})}, 200, data, **more)


def streamed(
    chunks: list[dict[str, Any]], asked: dict[str, Any] | None = None, ending: bytes = b"data: [DONE]\n\n", **more: Any
) -> Exchange:
    """An event stream of these chunks."""
    body = b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks) + ending
    return exchange({**ASKED, "stream": True, **(asked or {})}, 200, body, "text/event-stream", **more)


def refused(status: int = 400, error: Any = None, asked: dict[str, Any] | None = None, **more: Any) -> Exchange:
    """A refusal with a JSON error body."""
    error = {"message": "no", "type": "invalid_request_error"} if error is None else error
    return exchange({**ASKED, **(asked or {})}, status, json.dumps({"error": error}).encode(), **more)


def completion(content: Any = "Hello there.", finish: Any = "stop", **message: Any) -> dict[str, Any]:
    """A good whole-body completion, with changes to its message."""
    return {
        "id": f"chatcmpl-{next(_numbers)}",
        "object": "chat.completion",
        "created": 1767225600,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content, **message},
                "finish_reason": finish,
            }
        ],
        "usage": {"prompt_tokens": 5, "completion_tokens": 4, "total_tokens": 9},
    }


def chunk(delta: dict[str, Any] | None = None, finish: Any = None, **members: Any) -> dict[str, Any]:
    """One good chunk of choice 0; a delta of None makes a chunk without choices."""
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    return {
        "id": "chatcmpl-stream",
        "object": "chat.completion.chunk",
        "created": 1767225600,
        "model": "m",
        "choices": choices,
        **members,
    }


def call(name: str = "get_weather", arguments: str = '{"city": "Paris"}', **members: Any) -> dict[str, Any]:
    """One good tool call."""
    function = {"name": name, "arguments": arguments}
    return {"id": f"call_{next(_numbers)}", "type": "function", "function": function, **members}


def case(kind: str, data: dict[str, Any] | None = None, requirements: tuple[str, ...] = (), **roles: Any) -> Case:
    """A case of these exchanges."""
    return Case(
        id=f"c{next(_numbers):04d}",
        kind=kind,
        requirements=requirements,
        roles={role: tuple(given) if isinstance(given, list | tuple) else (given,) for role, given in roles.items()},
        data=data or {},
        probe="made::by_hand",
    )
