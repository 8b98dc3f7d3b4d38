"""A network backend whose every read and write ends by the exchange's deadline.

httpx bounds each single read; an endpoint that sends one byte of a header a second would never pass such a
bound. The deadline is set per thread just before an exchange and also counts the bytes of the response head.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from typing import Any

import httpcore


class Deadline(threading.local):
    """When the exchange of this thread must be over, on the monotonic clock."""

    at: float = float("inf")
    first_byte_at: float = float("inf")
    heard: bool = True

    def start(self, seconds: float, first_byte_s: float = float("inf")) -> None:
        """Begin an exchange that may take so many seconds, and its first byte so many."""
        now = time.monotonic()
        self.at, self.first_byte_at, self.heard = now + seconds, now + first_byte_s, False

    def left(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self.at - time.monotonic())

    def left_to_read(self, idle_s: float) -> float:
        """Seconds that the next byte may take."""
        patience = idle_s if self.heard else max(0.0, self.first_byte_at - time.monotonic())
        return min(patience, self.left())


class _Stream(httpcore.NetworkStream):
    def __init__(self, inner: httpcore.NetworkStream, deadline: Deadline, idle_s: float) -> None:
        self._inner = inner
        self._deadline = deadline
        self._idle_s = idle_s

    def _bounded(self, timeout: float | None) -> float:
        left = self._deadline.left()
        return left if timeout is None else min(timeout, left)

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        bound = self._deadline.left_to_read(self._idle_s)
        if bound <= 0:
            raise httpcore.ReadTimeout("the exchange took longer than allowed")
        data = self._inner.read(max_bytes, timeout=bound)
        self._deadline.heard = True
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        bound = self._bounded(timeout)
        if bound <= 0:
            raise httpcore.WriteTimeout("the exchange took longer than allowed")
        self._inner.write(buffer, timeout=bound)

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        inner = self._inner.start_tls(ssl_context, server_hostname, timeout=self._bounded(timeout))
        return _Stream(inner, self._deadline, self._idle_s)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


class DeadlineBackend(httpcore.NetworkBackend):
    """Plain sockets, bounded by a `Deadline`, and by `idle_s` between bytes."""

    def __init__(self, deadline: Deadline, idle_s: float) -> None:
        self._inner = httpcore.SyncBackend()
        self._deadline = deadline
        self._idle_s = idle_s

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect, and wrap the connection."""
        stream = self._inner.connect_tcp(
            host, port, timeout=timeout, local_address=local_address, socket_options=socket_options
        )
        return _Stream(stream, self._deadline, self._idle_s)

    def sleep(self, seconds: float) -> None:
        """Wait before a connection retry (none is configured)."""
        time.sleep(seconds)
