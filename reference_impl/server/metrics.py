"""Prometheus metrics, where prometheus-client is installed; otherwise nothing is counted."""

from __future__ import annotations

try:
    from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
except ImportError:  # the metrics are optional
    CollectorRegistry = None  # type: ignore[assignment,misc]


class Metrics:
    """Counters of one server, in a registry of its own."""

    def __init__(self) -> None:
        self.registry = None if CollectorRegistry is None else CollectorRegistry()
        if self.registry is not None:
            self._requests = Counter("chat_requests", "Chat requests by outcome.", ["outcome"], registry=self.registry)
            self._seconds = Histogram("chat_seconds", "Seconds until the reply ended.", registry=self.registry)

    def count(self, outcome: str, seconds: float) -> None:
        """Count one request that is over."""
        if self.registry is not None:
            self._requests.labels(outcome).inc()
            self._seconds.observe(seconds)

    def exposition(self) -> bytes | None:
        """The metrics in Prometheus' text format, or None where the package is missing."""
        return None if self.registry is None else generate_latest(self.registry)
