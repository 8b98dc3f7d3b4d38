"""Runs an application under uvicorn, and says on standard output when it serves."""

from __future__ import annotations

import socket
from collections.abc import Sequence

import orjson
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from reference_impl.server.contract import Errors

_GRACE_S = 5


def bind(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes a free one. Raises OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError:
        listener.close()
        raise
    return listener


def base_url(listener: socket.socket, base_path: str) -> str:
    """The base URL under which the socket is reached."""
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}{base_path}"


def serve(app: ASGIApp, listener: socket.socket, base_path: str, errors: Errors) -> None:
    """Serve until SIGINT or SIGTERM; running replies get a few seconds to end."""
    config = uvicorn.Config(
        app,
        http=protocol(errors),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_GRACE_S,
    )
    _Server(config, base_url(listener, base_path)).run(sockets=[listener])


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, url: str) -> None:
        super().__init__(config)
        self._url = url

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            print(f"listening {self._url}", flush=True)


def protocol(errors: Errors) -> type[HttpToolsProtocol]:
    """Uvicorn's protocol, which answers what is no HTTP in the vendor's words instead of plain text."""

    class Protocol(HttpToolsProtocol):
        def send_400_response(self, msg: str) -> None:
            body = orjson.dumps(errors.malformed("The request is not valid HTTP/1.1.").body)
            head: Sequence[bytes] = (
                b"HTTP/1.1 400 Bad Request",
                b"content-type: application/json",
                b"content-length: %d" % len(body),
                b"connection: close",
            )
            self.transport.write(b"\r\n".join(head) + b"\r\n\r\n" + body)
            self.transport.close()

    return Protocol
