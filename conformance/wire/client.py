"""Sends one request and records everything about the answer, within `Limits`."""

from __future__ import annotations

import ssl
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import httpcore
import httpx

from conformance.wire.deadline import Deadline, DeadlineBackend
from conformance.wire.exchange import End, Exchange, Received, Sent
from conformance.wire.limits import Limits
from conformance.wire.redaction import Redactor


@dataclass(frozen=True, slots=True)
class Call:
    """A request to send: `path` is appended to the base URL; `headers` are exactly those beside Host and length."""

    body: bytes
    path: str = "/chat/completions"
    method: str = "POST"
    headers: tuple[tuple[str, str], ...] = ()
    hang_up_after: int | None = None  # close the connection once so many bytes of the body have come


@dataclass(frozen=True, slots=True)
class Stamp:
    """What the record says about an exchange beside its bytes."""

    id: str
    probe: str
    topic: str
    worker: str = "main"
    repeat_of: str | None = None
    facts: Mapping[str, Any] | None = None


def _transport(
    deadline: Deadline, idle_s: float, verify: ssl.SSLContext | bool, proxy: str | None
) -> httpx.HTTPTransport:
    transport = httpx.HTTPTransport(verify=verify, proxy=proxy, trust_env=False, retries=0)
    # httpx offers no door for a network backend; its pool is httpcore's own, which does.
    common: dict[str, Any] = {
        "ssl_context": verify if isinstance(verify, ssl.SSLContext) else httpx.create_ssl_context(verify=verify),
        "max_connections": 100,
        "max_keepalive_connections": 20,
        "keepalive_expiry": 15.0,
        "network_backend": DeadlineBackend(deadline, idle_s),
    }
    if proxy is None:
        transport._pool = httpcore.ConnectionPool(**common)
    else:
        through = httpx.Proxy(proxy)
        if through.url.scheme in ("http", "https"):
            url = httpcore.URL(str(through.url))
            transport._pool = httpcore.HTTPProxy(url, proxy_auth=through.raw_auth, **common)
    return transport


class Client:
    """Talks to one base URL. Thread-safe: concurrent exchanges use their own connections."""

    def __init__(
        self,
        base_url: str,
        limits: Limits | None = None,
        redactor: Redactor | None = None,
        verify: ssl.SSLContext | bool = True,
        proxy: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self.limits = limits or Limits()
        self.redactor = redactor or Redactor(())
        self._clock = clock
        self._deadline = Deadline()
        self._read = 0
        self._http = httpx.Client(
            transport=_transport(self._deadline, self.limits.idle_s, verify, proxy),
            timeout=httpx.Timeout(
                max(self.limits.idle_s, self.limits.first_byte_s),
                connect=self.limits.connect_s,
                pool=self.limits.exchange_s,
            ),
            follow_redirects=False,
            trust_env=False,
        )

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def send(self, call: Call, stamp: Stamp) -> Exchange:
        """Send and record; never raises for what the endpoint or the network does."""
        url = self.base_url + call.path
        headers = [("accept-encoding", "identity"), *call.headers]
        request = self._http.build_request(call.method, url, content=call.body)
        request.headers = httpx.Headers(
            [("host", request.headers["host"]), *headers, ("content-length", str(len(call.body)))]
            if call.method != "GET"
            else [("host", request.headers["host"]), *headers]
        )
        at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        reading = _Reading(self._limits_left(), self._clock, call.hang_up_after)
        self._deadline.start(self.limits.exchange_s, self.limits.first_byte_s)
        end, problem = reading.run(self._http, request)
        self._read += reading.size
        received = reading.received(self.redactor, end)
        return Exchange(
            id=stamp.id,
            at=at,
            probe=stamp.probe,
            topic=stamp.topic,
            worker=stamp.worker,
            repeat_of=stamp.repeat_of,
            sent=Sent(call.method, url, self.redactor.headers(headers), self.redactor.body(call.body)),
            received=received,
            end=end,
            problem=self.redactor.text(problem),
            first_byte_s=reading.first_byte,
            total_s=self._clock() - reading.started,
            facts={**(stamp.facts or {}), **reading.facts},
        )

    def _limits_left(self) -> Limits:
        """The limits of the next exchange: small ones once the answers so far fill what a run may hold in memory."""
        if self._read < self.limits.run_bytes:
            return self.limits
        return replace(self.limits, body_bytes=min(self.limits.body_bytes, self.limits.kept_bytes))


class _Reading:
    """One answer as it comes in."""

    def __init__(self, limits: Limits, clock: Callable[[], float], hang_up_after: int | None) -> None:
        self.limits = limits
        self.clock = clock
        self.hang_up_after = hang_up_after
        self.started = clock()
        self.first_byte: float | None = None
        self.response: httpx.Response | None = None
        self.pieces: list[bytes] = []
        self.arrivals: list[tuple[float, int]] = []
        self.size = 0
        self.events = 0
        self.event_bytes = 0
        self.truncated = False
        self.facts: dict[str, Any] = {}

    def run(self, http: httpx.Client, request: httpx.Request) -> tuple[End, str]:
        try:
            self.response = http.send(request, stream=True)
            try:
                return self._body()
            finally:
                self.response.close()
        except httpx.ConnectTimeout:
            return "refused", f"no connection within {self.limits.connect_s:g} s"
        except httpx.ConnectError as error:
            return "refused", f"no connection: {error}"
        except httpx.TimeoutException:
            return "timeout", self._silence()
        except (httpx.RemoteProtocolError, httpx.LocalProtocolError) as error:
            return "protocol-error", f"not valid HTTP: {error}"
        except (httpx.TransportError, httpcore.NetworkError, OSError) as error:
            return "reset", f"the connection broke: {error or type(error).__name__}"
        except (httpx.InvalidURL, UnicodeError, ValueError) as error:
            return "protocol-error", f"unusable answer: {error}"

    def _silence(self) -> str:
        passed = self.clock() - self.started
        if passed >= self.limits.exchange_s:
            return f"the exchange took longer than {self.limits.exchange_s:g} s"
        if self.first_byte is None and passed >= self.limits.first_byte_s:
            return f"no answer within {self.limits.first_byte_s:g} s"
        return f"silent for {self.limits.idle_s:g} s after {self.size} bytes"

    def _body(self) -> tuple[End, str]:
        assert self.response is not None
        self.first_byte = self.clock() - self.started
        if sum(len(n) + len(v) for n, v in self.response.headers.raw) > self.limits.header_bytes:
            return "too-large", f"more than {self.limits.header_bytes} bytes of headers"
        is_stream = self.response.headers.get("content-type", "").lower().startswith("text/event-stream")
        for piece in self.response.iter_raw():
            now = self.clock() - self.started
            room = self.limits.body_bytes - self.size
            if len(piece) > room:
                piece, self.truncated = piece[:room], True
            self.pieces.append(piece)
            self.size += len(piece)
            if len(self.arrivals) < self.limits.arrivals:
                self.arrivals.append((now, len(piece)))
            if self.truncated:
                return "too-large", f"more than {self.limits.body_bytes} bytes of body"
            if is_stream and (problem := self._too_many(piece)):
                self.truncated = True
                return "too-large", problem
            if now > self.limits.exchange_s:
                self.truncated = True
                return "timeout", f"the exchange took longer than {self.limits.exchange_s:g} s"
            if self.hang_up_after is not None and self.size >= self.hang_up_after:
                self.truncated = True
                return "hung-up", f"we closed the connection after {self.size} bytes, as the probe asks"
        return "complete", ""

    def _too_many(self, piece: bytes) -> str:
        """What of a stream is over the limits, in words. A blank line ends an event, whatever ends its lines."""
        ends = max(piece.count(b"\n\n"), piece.count(b"\r\n\r\n"), piece.count(b"\r\r"))
        self.events += ends
        self.event_bytes = 0 if ends else self.event_bytes + len(piece)
        if self.events > self.limits.events:
            return f"more than {self.limits.events} events"
        if self.event_bytes > self.limits.event_bytes:
            return f"an event of more than {self.limits.event_bytes} bytes"
        return ""

    def received(self, redactor: Redactor, end: End) -> Received | None:
        if self.response is None:
            return None
        body = redactor.body(self._decoded(b"".join(self.pieces)))  # before the cut, which might halve a secret
        if end != "complete" and len(body) > self.limits.kept_bytes:
            body, self.truncated = body[: self.limits.kept_bytes], True
            self.arrivals = _until(self.arrivals, len(body))
        return Received(
            status=self.response.status_code,
            http_version=self.response.http_version,
            reason=redactor.text(self.response.reason_phrase),
            headers=redactor.headers(
                (name.decode("latin-1"), value.decode("latin-1")) for name, value in self.response.headers.raw
            ),
            body=body,
            arrivals=tuple(self.arrivals),
            truncated=self.truncated,
        )

    def _decoded(self, body: bytes) -> bytes:
        """Undo a content coding we did not ask for, within bounds: what it says still deserves judging."""
        assert self.response is not None
        coding = self.response.headers.get("content-encoding", "identity").strip().lower()
        if coding not in ("gzip", "x-gzip", "deflate"):
            return body
        self.facts["content_encoding"] = coding
        try:
            decoder = zlib.decompressobj(wbits=47)
            decoded = decoder.decompress(body, self.limits.decoded_bytes)
        except zlib.error:
            return body
        if decoder.unconsumed_tail:
            self.truncated = True
            self.facts["decompression_cut"] = self.limits.decoded_bytes
        self.arrivals = [(self.arrivals[-1][0], len(decoded))] if self.arrivals else []
        return decoded


def _until(arrivals: list[tuple[float, int]], size: int) -> list[tuple[float, int]]:
    """The arrivals of the first `size` bytes."""
    kept: list[tuple[float, int]] = []
    for at, count in arrivals:
        if size <= 0:
            break
        kept.append((at, min(count, size)))
        size -= count
    return kept
