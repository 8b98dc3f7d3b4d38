"""What a run's exchanges say about speed: time to first token, gaps, tokens per second, latency by topic.

These are observations of one client on one day, shown for orientation; no verdict rests on them.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from reports.exchange import Exchange

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95, 0.99)


@dataclass(frozen=True)
class Series:
    """A named set of measurements in one unit, sorted."""

    name: str
    unit: str
    values: array[float]

    def quantile(self, share: float) -> float:
        """The value below which that share of the measurements lies (linear between neighbours)."""
        place = share * (len(self.values) - 1)
        below = int(place)
        above = min(below + 1, len(self.values) - 1)
        return self.values[below] + (self.values[above] - self.values[below]) * (place - below)


@dataclass
class Measurements:
    """Collects measurements exchange by exchange; only complete answers with status 200 count."""

    first_token: array[float] = field(default_factory=lambda: array("d"))
    gaps: array[float] = field(default_factory=lambda: array("d"))
    rates: array[float] = field(default_factory=lambda: array("d"))
    latency: dict[str, array[float]] = field(default_factory=dict)

    def add(self, exchange: Exchange) -> None:
        """Take in one exchange."""
        if exchange.status != 200 or exchange.record["end"] != "complete" or exchange.total_s is None:
            return
        self.latency.setdefault(exchange.topic, array("d")).append(exchange.total_s)
        spans = exchange.spans
        if len(spans) < 2:
            return
        self.gaps.extend(max(later[0] - earlier[0], 0.0) for earlier, later in pairwise(spans))
        started = _first_token(exchange)
        if started is None:
            return
        self.first_token.append(started)
        tokens = _completion_tokens(exchange)
        generating = spans[-1][0] - started
        if tokens and tokens > 1 and generating > 0:
            self.rates.append((tokens - 1) / generating)

    def series(self) -> list[Series]:
        """The measurements of streams that there are any of."""
        every = [
            Series("Time to first token", "s", _sorted(self.first_token)),
            Series("Gap between events", "s", _sorted(self.gaps)),
            Series("Tokens per second of a stream", "/s", _sorted(self.rates)),
        ]
        return [series for series in every if series.values]

    def latency_by_topic(self) -> list[Series]:
        """Seconds from request to end, by topic, the slowest median first."""
        every = [Series(topic, "s", _sorted(values)) for topic, values in self.latency.items()]
        return sorted(every, key=lambda series: -series.quantile(0.5))


def _sorted(values: array[float]) -> array[float]:
    return array("d", sorted(values))


def _event_json(exchange: Exchange, start: int, end: int) -> Mapping[str, Any] | None:
    text = exchange.received[start:end].strip()
    if not text.startswith(b"data:"):
        return None
    try:
        value = json.loads(text[5:])
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _first_token(exchange: Exchange) -> float | None:
    """When the first event arrived that carries text, reasoning or a tool call."""
    for at, start, end in exchange.spans:
        chunk = _event_json(exchange, start, end)
        choices = chunk.get("choices") if chunk else None
        if not isinstance(choices, list):
            continue
        for choice in choices:
            delta = choice.get("delta") if isinstance(choice, dict) else None
            if isinstance(delta, dict) and any(value for name, value in delta.items() if name != "role"):
                return at
    return None


def _completion_tokens(exchange: Exchange) -> int | None:
    """The completion tokens that the last event with usage reports."""
    body = exchange.received
    for _, start, end in reversed(exchange.spans):
        if body.find(b'"usage"', start, end) < 0:
            continue
        usage = (_event_json(exchange, start, end) or {}).get("usage")
        tokens = usage.get("completion_tokens") if isinstance(usage, dict) else None
        if isinstance(tokens, int):
            return tokens
    return None
