"""A relay before the reference that says the same in every legal way: other line ends, spelling, order and pieces."""

from __future__ import annotations

import http.client
import itertools
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

HOP_BY_HOP = frozenset({"connection", "transfer-encoding", "content-length", "host", "keep-alive"})
OPEN_MAPS = frozenset({"metadata"})


def other_spelling(value: Any) -> Any:
    """The same JSON with members in the opposite order and one more in every object."""
    if isinstance(value, dict):
        turned = {name: other_spelling(value[name]) for name in reversed(value)}
        return {"x_extra": {"since": 1}, **turned}
    return [other_spelling(item) for item in value] if isinstance(value, list) else value


def other_words(value: Any) -> Any:
    """An error with a message of its own wording."""
    if isinstance(value, dict) and isinstance(value.get("error"), dict):
        value["error"]["message"] = f"Sorry, that did not work ({len(value['error']['message'])})."
    return value


def _text_of(chunk: dict[str, Any]) -> str | None:
    """The text of a chunk that has one choice with nothing but content; None for any other chunk."""
    choices = chunk.get("choices") or []
    if len(choices) != 1 or choices[0].get("finish_reason") is not None:
        return None
    delta = choices[0]["delta"]
    return delta.get("content") or None if not delta.get("reasoning") and not delta.get("tool_calls") else None


def _with_text(chunk: dict[str, Any], text: str, role: bool) -> dict[str, Any]:
    copy = json.loads(json.dumps(chunk))
    delta = copy["choices"][0]["delta"]
    delta["content"] = text
    if not role:
        delta.pop("role", None)
    return copy


def one_character_each(chunks: Iterator[dict[str, Any]], role_once: bool) -> Iterator[dict[str, Any]]:
    """Every character of the content in a chunk of its own."""
    for chunk in chunks:
        text = _text_of(chunk)
        if text is None:
            yield chunk
            continue
        for position, character in enumerate(text):
            yield _with_text(chunk, character, role=position == 0 or not role_once)


def finish_with_the_last_text(chunks: Iterator[dict[str, Any]], _: bool) -> Iterator[dict[str, Any]]:
    """The finish reason on the last chunk of text, and no chunk of its own."""
    held: dict[str, Any] | None = None
    for chunk in chunks:
        choices = chunk.get("choices") or []
        reason = choices[0].get("finish_reason") if len(choices) == 1 else None
        if held is not None and reason is not None and not choices[0]["delta"].get("tool_calls"):
            held["choices"][0]["finish_reason"] = reason
            yield held
            held = None
            continue
        if held is not None:
            yield held
        held = chunk if _text_of(chunk) else None
        if held is None:
            yield chunk
    if held is not None:
        yield held


def all_text_at_once(chunks: Iterator[dict[str, Any]], _: bool) -> Iterator[dict[str, Any]]:
    """The content of a stream in one chunk."""
    held: dict[str, Any] | None = None
    for chunk in chunks:
        text = _text_of(chunk)
        if text is not None and held is not None:
            held["choices"][0]["delta"]["content"] += text
            if chunk.get("usage"):
                held["usage"] = chunk["usage"]
            continue
        if text is not None:
            held = chunk
            continue
        if held is not None:
            yield held
            held = None
        yield chunk
    if held is not None:
        yield held


def as_it_came(chunks: Iterator[dict[str, Any]], _: bool) -> Iterator[dict[str, Any]]:
    """The pieces of the reference itself."""
    yield from chunks


PIECES = (as_it_came, one_character_each, finish_with_the_last_text, all_text_at_once)


def frame(text: str, number: int) -> bytes:
    """One event in one of the ways that server-sent events allow."""
    match number % 4:
        case 0:
            return f"data: {text}\r\n\r\n".encode()
        case 1:
            return f": still here\n\ndata:{text}\n\n".encode()
        case 2 if text.startswith("{"):
            return f"data: {text[0]}\ndata: {text[1:]}\n\n".encode()
    return f": a comment\r\ndata: {text}\n\n".encode()


class _Relay(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    target = ""
    role_once = False
    numbers = itertools.count()

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._relay()

    def do_POST(self) -> None:
        self._relay()

    def _relay(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        connection = http.client.HTTPConnection(self.target, timeout=60)
        headers = {name: value for name, value in self.headers.items() if name.lower() not in HOP_BY_HOP}
        connection.request(self.command, self.path, body, headers)
        answer = connection.getresponse()
        with suppress(OSError):  # the client may have hung up
            if "text/event-stream" in answer.headers.get("content-type", ""):
                self._stream(answer)
            else:
                self._whole(answer)
        connection.close()

    def _head(self, answer: http.client.HTTPResponse) -> None:
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            if name.lower() not in HOP_BY_HOP:
                self.send_header(name, value)

    def _whole(self, answer: http.client.HTTPResponse) -> None:
        body = answer.read()
        if self.path.endswith("/chat/completions"):
            body = json.dumps(other_spelling(other_words(json.loads(body))), indent=2).encode()
        self._head(answer)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, answer: http.client.HTTPResponse) -> None:
        number = next(self.numbers)
        self._head(answer)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for count, text in enumerate(self._texts(answer, PIECES[number % len(PIECES)])):
            event = frame(text, count)
            self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
            if count % 5 == 0:
                self.wfile.flush()
                time.sleep(0.002)
        self.wfile.write(b"0\r\n\r\n")

    def _texts(self, answer: http.client.HTTPResponse, pieces: Any) -> Iterator[str]:
        rest: list[str] = []

        def chunks() -> Iterator[dict[str, Any]]:
            for line in answer:
                text = line.decode().removeprefix("data: ").strip()
                if text and not text.startswith('{"error"') and text != "[DONE]":
                    yield json.loads(text)
                elif text:
                    rest.append(text)

        for chunk in pieces(chunks(), self.role_once):
            yield json.dumps(other_spelling(chunk), ensure_ascii=False)
        yield from rest


@contextmanager
def relay(base_url: str, *, role_once: bool) -> Iterator[str]:
    """Relay to a running endpoint; yields the base URL to ask instead."""
    parts = urlsplit(base_url)
    handler = type("Relay", (_Relay,), {"target": parts.netloc, "role_once": role_once, "numbers": itertools.count()})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}{parts.path}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
