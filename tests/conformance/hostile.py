"""Ways in which an endpoint can be broken or hostile, each a handler for `endpoints.serving`.

Those under `PLAIN` misbehave on every request; those under `STREAMS` answer plain requests well, and misbehave
only where a stream is asked for, so that a run gets past its first request.
"""

from __future__ import annotations

import gzip
import json
import socket
import time
import zlib
from contextlib import suppress

from tests.conformance.endpoints import Handler, answer
from tests.conformance.made import chunk, completion

EVENTS = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def piece(data: bytes) -> bytes:
    """One HTTP chunk."""
    return b"%x\r\n%s\r\n" % (len(data), data)


def raw(data: bytes) -> Handler:
    """Answer with these bytes and close."""

    def handler(connection: socket.socket, _: bytes) -> None:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)

    return handler


def repeating(head: bytes, data: bytes, pause: float = 0.0, times: int = 100_000) -> Handler:
    """Answer with a head, and then the same bytes again and again."""

    def handler(connection: socket.socket, _: bytes) -> None:
        with suppress(OSError):
            connection.sendall(head)
            for _ in range(times):
                connection.sendall(data)
                if pause:
                    time.sleep(pause)

    return handler


def reset(connection: socket.socket, _: bytes) -> None:
    """Reset the connection without an answer."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    connection.close()


def silent(connection: socket.socket, _: bytes) -> None:
    """Say nothing for longer than anybody waits."""
    connection.settimeout(20)
    with suppress(OSError):
        connection.recv(1)


def event(data: str | bytes) -> bytes:
    """One data event as an HTTP chunk."""
    return piece(b"data: " + (data.encode() if isinstance(data, str) else data) + b"\n\n")


def events(*data: str | bytes, end: bytes = b"0\r\n\r\n") -> Handler:
    """A stream of these events."""
    return raw(EVENTS + b"".join(event(item) for item in data) + end)


OK = json.dumps({**completion(), "created": int(time.time())}).encode()
GOOD = json.dumps(chunk({"role": "assistant", "content": "x"}))
LAST = json.dumps(chunk({"content": ""}, "stop"))
DEEP = b'{"a":' * 5_000 + b"1" + b"}" * 5_000

PLAIN: dict[str, Handler] = {
    "plain text": raw(answer(b"Hello, this is not an API", media_type="text/plain")),
    "html error page": raw(answer(b"<html>502</html>", "502 Bad Gateway", "text/html")),
    "empty body": raw(answer(b"")),
    "garbage instead of http": raw(b"\x16\x03\x01\x02\x00\x01garbage\r\n\r\n"),
    "http/0.9": raw(b"hello\n"),
    "no answer, closed": raw(b""),
    "reset": reset,
    "silence": silent,
    "drip of headers": repeating(b"HTTP/1.1 200 OK\r\n", b"X-A: 1\r\n", 0.05),
    "drip of body": repeating(b"HTTP/1.1 200 OK\r\nContent-Length: 999999\r\n\r\n", b"x", 0.05),
    "endless headers": repeating(b"HTTP/1.1 200 OK\r\n", b"X-A: " + b"b" * 1000 + b"\r\n"),
    "endless body": repeating(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 65536),
    "content-length too long": raw(answer(OK).replace(b"Content-Length: ", b"Content-Length: 1")),
    "content-length too short": raw(answer(OK)[:-1].replace(b"Content-Length: ", b"Content-Length: 0")),
    "content-length negative": raw(b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n" + OK),
    "two content-lengths": raw(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 9\r\n\r\n{}"),
    "bad chunk size": raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n"),
    "redirect to elsewhere": raw(answer(b"", "307 Temporary Redirect", extra=b"Location: http://127.0.0.1:1/\r\n")),
    "redirect loop": raw(answer(b"", "302 Found", extra=b"Location: /v1/chat/completions\r\n")),
    "gzip bomb": raw(answer(gzip.compress(b"0" * 60_000_000), extra=b"Content-Encoding: gzip\r\n")),
    "deflate garbage": raw(answer(zlib.compress(OK)[5:], extra=b"Content-Encoding: deflate\r\n")),
    "deeply nested json": raw(answer(DEEP)),
    "huge number": raw(answer(b'{"id":' + b"9" * 20_000 + b"}")),
    "not utf-8": raw(answer(b'{"id":"\xff\xfe"}')),
    "json array": raw(answer(b"[1,2,3]")),
    "null": raw(answer(b"null")),
    "continue for ever": repeating(b"", b"HTTP/1.1 100 Continue\r\n\r\n", 0.01),
    "status 999": raw(answer(OK, "999 Odd")),
    "retry-after for ever": raw(answer(b"{}", "429 Too Many Requests", extra=b"Retry-After: 99999999999\r\n")),
}

STREAMS: dict[str, Handler] = {
    "endless stream": repeating(EVENTS, event(GOOD)),
    "endless comments": repeating(EVENTS, piece(b": ping\n"), 0.01),
    "endless empty line": repeating(EVENTS, piece(b"data: " + b"x" * 60_000)),
    "stream cut in an event": raw(EVENTS + piece(b"data: " + GOOD.encode()[:20])),
    "stream cut in a character": events(b'{"a": "\xf0\x9f'),
    "stream of garbage": events(b"\x00\xff\x00", "not json", "[]", "7", "null"),
    "stream with two ends": events(GOOD, LAST, "[DONE]", GOOD, "[DONE]"),
    "stream reset": lambda c, r: (c.sendall(EVENTS + event(GOOD)), reset(c, r))[-1],
    "desynchronised keep-alive": lambda c, _: c.sendall(answer(OK) + b"HTTP/1.1 200 OK\r\nX: smuggled\r\n\r\n"),
    "wrong types everywhere": events('{"id":7,"object":[],"choices":{"0":1},"usage":[null],"created":"x"}', "[DONE]"),
    "choices of odd things": events('{"choices":[null,7,{"index":"a","delta":[],"finish_reason":{}}]}', "[DONE]"),
    "tool calls of odd things": events('{"choices":[{"index":0,"delta":{"tool_calls":[7,{"function":9}]}}]}', "[DONE]"),
    "scripts and escapes": events('{"error":{"message":"<script>alert(1)</script>\\u001b[2J::error::x"}}'),
}


def decent(bad: Handler) -> Handler:
    """Answers plain requests well, and lets `bad` answer those that ask for a stream."""

    def handler(connection: socket.socket, request: bytes) -> None:
        if b'"stream":true' in request:
            bad(connection, request)
        else:
            connection.sendall(answer(OK))

    return handler


BEHAVIOURS: dict[str, Handler] = PLAIN | {name: decent(handler) for name, handler in STREAMS.items()}
