"""The immutable record of one request and what came back, and its JSON form (one line of `exchanges.jsonl`)."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from conformance.wire.sse import EventStream, decode
from conformance.wire.strict_json import Parsed, parse

End = Literal["complete", "refused", "timeout", "reset", "protocol-error", "too-large", "hung-up", "budget"]
Headers = tuple[tuple[str, str], ...]

LARGE_BYTES = 256 * 1024
"""Bodies from this size on keep no decoded views once they are judged."""

PACKED_BYTES = 64 * 1024
"""Requests from this size on are written down compressed: one that is padded with white space takes kilobytes then."""

_MOST_BYTES = 64 * 1024 * 1024


def _header(headers: Headers, name: str) -> str | None:
    return next((value for key, value in headers if key.lower() == name), None)


@dataclass(frozen=True, slots=True)
class Sent:
    """What was sent: method, URL, headers (secrets already redacted) and the exact body bytes."""

    method: str
    url: str
    headers: Headers
    body: bytes


@dataclass(frozen=True, slots=True)
class Received:
    """What came back. `arrivals` are (seconds since the request was sent, bytes received), in order."""

    status: int
    http_version: str
    reason: str
    headers: Headers
    body: bytes
    arrivals: tuple[tuple[float, int], ...] = ()
    truncated: bool = False

    def header(self, name: str) -> str | None:
        """The first header of that lower-case name."""
        return _header(self.headers, name)


@dataclass(frozen=True, eq=False)
class Exchange:
    """One request and its answer, or how it failed to be answered (`end`, `problem`).

    Compared and hashed by identity, so that views of it can be cached.
    """

    id: str
    at: str
    probe: str
    topic: str
    sent: Sent
    received: Received | None
    end: End
    problem: str = ""
    worker: str = "main"
    repeat_of: str | None = None
    first_byte_s: float | None = None
    total_s: float = 0.0
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def status(self) -> int:
        """The HTTP status, or 0 where no answer came."""
        return self.received.status if self.received else 0

    @property
    def ok(self) -> bool:
        """A whole answer with status 200 arrived."""
        return self.status == 200 and self.end == "complete"

    @property
    def answered(self) -> bool:
        """A whole answer arrived, whatever its status."""
        return self.received is not None and self.end == "complete"

    @cached_property
    def asked(self) -> Any:
        """The request body as JSON, or None where it is not JSON."""
        return parse(self.sent.body).value

    def asks(self, name: str, default: Any = None) -> Any:
        """A top-level request field."""
        return self.asked.get(name, default) if isinstance(self.asked, dict) else default

    @property
    def asks_stream(self) -> bool:
        """Whether the request asked for a stream."""
        return self.asks("stream") is True

    @property
    def media_type(self) -> str:
        """The media type of the answer without parameters, lower case; empty where there is none."""
        value = self.received.header("content-type") if self.received else None
        return (value or "").partition(";")[0].strip().lower()

    @property
    def is_event_stream(self) -> bool:
        """Whether the answer is labelled, or at least shaped, as server-sent events."""
        if self.received is None:
            return False
        return self.media_type == "text/event-stream" or self.received.body.lstrip().startswith(b"data:")

    @cached_property
    def json(self) -> Parsed:
        """The answer's body as one JSON text."""
        return parse(self.received.body if self.received else b"")

    @cached_property
    def stream(self) -> EventStream:
        """The answer's body as server-sent events."""
        return decode(self.received.body, self.received.arrivals) if self.received else EventStream(())

    @cached_property
    def chunks(self) -> tuple[dict[str, Any], ...]:
        """The JSON objects of the stream's data events, without terminator and error events."""
        values = (parse(event.data.encode()).value for event in self.stream.events if event.data and not event.is_done)
        return tuple(value for value in values if isinstance(value, dict) and "error" not in value)

    @cached_property
    def error_events(self) -> tuple[dict[str, Any], ...]:
        """The JSON objects of the stream that carry an `error` member."""
        values = (parse(event.data.encode()).value for event in self.stream.events if event.data and not event.is_done)
        return tuple(value for value in values if isinstance(value, dict) and "error" in value)

    def release(self) -> None:
        """Forget the decoded views of a large answer, which are many times its size; they are made again when asked."""
        if self.received is not None and len(self.received.body) > LARGE_BYTES:
            for view in ("json", "stream", "chunks", "error_events"):
                self.__dict__.pop(view, None)

    def to_json(self) -> dict[str, Any]:
        """The record's form: bodies as text where they are UTF-8, base64 otherwise; large requests compressed."""
        received = None
        if self.received:
            body, encoding = _text(self.received.body)
            received = {
                "status": self.received.status,
                "http_version": self.received.http_version,
                "reason": self.received.reason,
                "headers": [list(pair) for pair in self.received.headers],
                "body": body,
                "encoding": encoding,
                "length": len(self.received.body),
                "truncated": self.received.truncated,
                "arrivals": [[round(at, 6), count] for at, count in self.received.arrivals],
            }
            if self.is_event_stream:
                received["events"] = [[round(e.at, 6), e.start, e.end] for e in self.stream.events]
        body, encoding = _packed(self.sent.body)
        return {
            "id": self.id,
            "at": self.at,
            "worker": self.worker,
            "probe": self.probe,
            "topic": self.topic,
            "repeat_of": self.repeat_of,
            "request": {
                "method": self.sent.method,
                "url": self.sent.url,
                "headers": [list(pair) for pair in self.sent.headers],
                "body": body,
                "encoding": encoding,
                "length": len(self.sent.body),
            },
            "response": received,
            "end": self.end,
            "problem": self.problem,
            "timing": {"first_byte_s": self.first_byte_s, "total_s": round(self.total_s, 6)},
            "facts": dict(self.facts),
        }

    @classmethod
    def from_json(cls, line: Mapping[str, Any]) -> Exchange:
        """The exchange of one recorded line."""
        request, response = line["request"], line["response"]
        received = None
        if response:
            received = Received(
                status=response["status"],
                http_version=response["http_version"],
                reason=response["reason"],
                headers=tuple((name, value) for name, value in response["headers"]),
                body=body_bytes(response["body"], response["encoding"]),
                arrivals=tuple((at, count) for at, count in response["arrivals"]),
                truncated=response["truncated"],
            )
        return cls(
            id=line["id"],
            at=line["at"],
            probe=line["probe"],
            topic=line["topic"],
            sent=Sent(
                request["method"],
                request["url"],
                tuple((name, value) for name, value in request["headers"]),
                body_bytes(request["body"], request["encoding"]),
            ),
            received=received,
            end=line["end"],
            problem=line["problem"],
            worker=line["worker"],
            repeat_of=line["repeat_of"],
            first_byte_s=line["timing"]["first_byte_s"],
            total_s=line["timing"]["total_s"],
            facts=line.get("facts", {}),
        )


def _text(body: bytes) -> tuple[str, str]:
    try:
        return body.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        return base64.b64encode(body).decode("ascii"), "base64"


def _packed(body: bytes) -> tuple[str, str]:
    if len(body) < PACKED_BYTES:
        return _text(body)
    return base64.b64encode(zlib.compress(body)).decode("ascii"), "zlib+base64"


def body_bytes(body: str, encoding: str) -> bytes:
    """The bytes of a recorded body. Raises ValueError where it is not what its encoding says."""
    if encoding == "utf-8":
        return body.encode("utf-8")
    data = base64.b64decode(body)
    if encoding == "base64":
        return data
    reader = zlib.decompressobj()
    try:
        data = reader.decompress(data, _MOST_BYTES)
    except zlib.error as error:
        raise ValueError(f"a body is not {encoding}: {error}") from error
    if not reader.eof:
        raise ValueError(f"a body in {encoding} is cut short, or larger than {_MOST_BYTES} bytes")
    return data
