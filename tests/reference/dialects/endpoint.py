"""A server in a thread of the test process, and a client for it."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import uvicorn
from starlette.applications import Starlette

from reference_impl.server.contract import Dialect
from reference_impl.server.process import base_url, bind, protocol

TEXT = [{"role": "user", "content": "What is a GPU?"}]
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Current weather in a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "maxLength": 12}},
            "required": ["city"],
            "additionalProperties": False,
        },
    },
}
CLOCK = {"type": "function", "function": {"name": "get_time", "parameters": {"type": "object", "properties": {}}}}


class Endpoint:
    """A running server as a client sees it."""

    def __init__(self, url: str, model: str, app: Starlette) -> None:
        self.url = url
        self.model = model
        self.app = app
        self.client = httpx.Client(base_url=url, timeout=60, trust_env=False)

    def body(self, **members: Any) -> dict[str, Any]:
        """A small valid request with other members; `...` leaves one out."""
        body = {"model": self.model, "messages": TEXT, "max_tokens": 16, "temperature": 0, **members}
        return {name: value for name, value in body.items() if value is not ...}

    def post(self, headers: dict[str, str] | None = None, **members: Any) -> httpx.Response:
        """Send a chat request."""
        return self.client.post("/chat/completions", json=self.body(**members), headers=headers or {})

    def whole(self, **members: Any) -> dict[str, Any]:
        """The completion object of a request that succeeds."""
        response = self.post(**members)
        assert response.status_code == 200, response.text
        assert response.headers["content-type"] == "application/json"
        return response.json()

    def message(self, **members: Any) -> dict[str, Any]:
        """The message of the only choice."""
        return self.whole(**members)["choices"][0]["message"]

    def stream(self, headers: dict[str, str] | None = None, **members: Any) -> list[Any]:
        """The JSON values of a stream's events; the terminator as the string [DONE]."""
        response = self.post(headers, stream=True, **members)
        assert response.status_code == 200, response.text
        assert response.headers["content-type"] == "text/event-stream"
        return events_of(response.text)

    def error(self, status: int, **members: Any) -> dict[str, Any]:
        """The error object of a request that is refused, which a stream changes nothing about."""
        response = self.post(**members)
        assert response.status_code == status, response.text
        streamed = self.post(**{**members, "stream": True}) if "stream" not in members else response
        assert (streamed.status_code, streamed.json()) == (status, response.json())
        assert response.headers["content-type"] == "application/json"
        return response.json()["error"]

    def raw(self, body: bytes, content_type: str = "application/json") -> httpx.Response:
        """Send bytes as a chat request."""
        headers = {"content-type": content_type}
        return self.client.post("/chat/completions", content=body, headers=headers)


def events_of(text: str) -> list[Any]:
    """The values of an event stream in which every event is one data line."""
    *events, rest = text.split("\n\n")
    assert rest == ""
    assert all(event.startswith("data: ") and "\n" not in event for event in events)
    values = [event.removeprefix("data: ") for event in events]
    return [value if value == "[DONE]" else json.loads(value) for value in values]


@contextmanager
def running(app: Starlette, dialect: Dialect, model: str) -> Iterator[Endpoint]:
    """The application on a free loopback port, stopped at the end."""
    with bind("127.0.0.1", 0) as listener:
        config = uvicorn.Config(
            app, http=protocol(dialect.errors), ws="none", log_config=None, access_log=False, lifespan="on"
        )
        server = uvicorn.Server(config)
        ready = threading.Event()
        startup = server.startup

        async def started(sockets: Any = None) -> None:
            await startup(sockets)
            ready.set()

        server.startup = started  # type: ignore[method-assign]
        thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])))
        thread.start()
        try:
            assert ready.wait(60)
            endpoint = Endpoint(base_url(listener, dialect.base_path), model, app)
            yield endpoint
            endpoint.client.close()
        finally:
            server.should_exit = True
            thread.join(30)
            assert not thread.is_alive()
