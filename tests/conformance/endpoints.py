"""Endpoints as bad as they come, on raw sockets, on free loopback ports."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

Handler = Callable[[socket.socket, bytes], None]


def read_request(connection: socket.socket) -> bytes:
    """One request: head and body as Content-Length says. Empty where the client is gone."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            return data
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    length = next(
        (int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")), 0
    )
    while len(body) < length:
        piece = connection.recv(65536)
        if not piece:
            break
        body += piece
    return head + b"\r\n\r\n" + body


@contextmanager
def serving(handler: Handler) -> Iterator[str]:
    """Serve `handler(connection, request)` for every request; yields the base URL."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(0.1)
    stop = threading.Event()
    threads: list[threading.Thread] = []

    def talk(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            while not stop.is_set():
                request = read_request(connection)
                if not request:
                    return
                handler(connection, request)

    def accept() -> None:
        while not stop.is_set():
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                continue
            connection.settimeout(5)
            threads.append(threading.Thread(target=talk, args=(connection,), daemon=True))
            threads[-1].start()

    acceptor = threading.Thread(target=accept, daemon=True)
    acceptor.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    finally:
        stop.set()
        acceptor.join()
        listener.close()
        for thread in threads:
            thread.join(timeout=6)


def answer(body: bytes, status: str = "200 OK", media_type: str = "application/json", extra: bytes = b"") -> bytes:
    """A plain HTTP/1.1 answer."""
    head = f"HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {len(body)}\r\n".encode()
    return head + extra + b"\r\n" + body
