"""One recorded exchange as a report reads it: the bytes, headers, events and times of its record."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

_MOST_BYTES = 64 * 1024 * 1024


def _bytes(body: str, encoding: str) -> bytes:
    if encoding == "utf-8":
        return body.encode("utf-8", "surrogatepass")
    data = base64.b64decode(body)
    return zlib.decompressobj().decompress(data, _MOST_BYTES) if encoding == "zlib+base64" else data


@dataclass(frozen=True)
class StreamEvent:
    """One server-sent event: seconds since the request was sent, and its raw text.

    `number` counts from 1, as people and messages do; a block of comments alone has none.
    """

    number: int | None
    at: float
    raw: str

    @property
    def chunk(self) -> bool:
        """Whether its data is a chunk: a JSON object that is not an error."""
        lines = [line[5:].removeprefix(" ") for line in self.raw.splitlines() if line.startswith("data:")]
        try:
            value = json.loads("\n".join(lines))
        except (ValueError, RecursionError):
            return False
        return isinstance(value, dict) and "error" not in value


@dataclass(frozen=True)
class Exchange:
    """A view of one validated exchange record; `offset` is where its line begins in the file."""

    record: Mapping[str, Any]
    offset: int = 0

    @property
    def id(self) -> str:
        """The exchange's id in its run."""
        return str(self.record["id"])

    @property
    def topic(self) -> str:
        """The topic of the probe that sent it."""
        return self.record.get("topic") or "other"

    @property
    def probe(self) -> str:
        """The probe that sent it."""
        return self.record.get("probe") or ""

    @property
    def request(self) -> Mapping[str, Any]:
        """The request part of the record."""
        part: Mapping[str, Any] = self.record["request"]
        return part

    @property
    def response(self) -> Mapping[str, Any] | None:
        """The response part of the record, or None where nothing came back."""
        part: Mapping[str, Any] | None = self.record["response"]
        return part

    @cached_property
    def sent(self) -> bytes:
        """The request body."""
        return _bytes(self.request["body"], self.request["encoding"])

    @cached_property
    def received(self) -> bytes:
        """The response body as far as it was kept; empty where nothing came back."""
        return _bytes(self.response["body"], self.response["encoding"]) if self.response else b""

    @property
    def status(self) -> int | None:
        """The HTTP status, or None where nothing came back."""
        return int(self.response["status"]) if self.response else None

    @property
    def status_line(self) -> str:
        """The first line of the answer, or how the exchange ended without one."""
        if self.response is None:
            return f"no answer ({self.record['end']})"
        version = self.response.get("http_version") or "HTTP"
        return f"{version} {self.response['status']} {self.response.get('reason') or ''}".rstrip()

    @property
    def total_s(self) -> float | None:
        """Seconds from the request to the end."""
        value = self.record["timing"].get("total_s")
        return float(value) if value is not None else None

    @property
    def spans(self) -> list[tuple[float, int, int]]:
        """Time and byte span of every event of a stream; empty for anything else."""
        events = (self.response or {}).get("events") or ()
        return [(float(at), int(start), int(end)) for at, start, end in events]

    def events(self) -> list[StreamEvent]:
        """Every event of a stream with its raw text."""
        body, made, count = self.received, [], 0
        for at, start, end in self.spans:
            raw = body[start:end].decode("utf-8", "replace")
            says = any(line and not line.startswith(":") for line in raw.splitlines())
            count += says
            made.append(StreamEvent(count if says else None, at, raw))
        return made
