"""Geometry of the page's charts: numbers in, coordinates and words out. The templates draw them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from reports.exchange import StreamEvent
from reports.measurements import QUANTILES, Series
from reports.wording import seconds

WIDTH = 640.0
_NARROW = 340.0


@dataclass(frozen=True)
class Tick:
    """A labelled place on an axis, in drawing units."""

    x: float
    label: str


@dataclass(frozen=True)
class Timeline:
    """A stream on a time axis: one mark per event, the offending one apart, the longest wait named."""

    marks: list[float]
    offending: float | None
    offending_label: str
    longest: tuple[float, float] | None
    ticks: list[Tick]
    words: str


@dataclass(frozen=True)
class Histogram:
    """Bars over a logarithmic axis; heights are shares of the tallest."""

    name: str
    bars: list[tuple[float, float, float]]
    ticks: list[Tick]
    median: float
    words: str
    count: int
    quantiles: list[str]


@dataclass(frozen=True)
class Spread:
    """One row of a chart of several series on a common logarithmic axis: 5 to 95 %, 25 to 75 %, median."""

    name: str
    count: int
    low: float
    quarter: float
    median: float
    three_quarters: float
    high: float
    quantiles: list[str]


def timeline(events: Sequence[StreamEvent], offending: int | None) -> Timeline | None:
    """The timeline of a stream's events (times in seconds since the request), or None with fewer than two."""
    if len(events) < 2:
        return None
    last = max(event.at for event in events) or 1e-6
    place = [event.at / last * WIDTH for event in events]
    wait, at = max((later.at - earlier.at, index) for index, (earlier, later) in enumerate(pairwise(events)))
    marked = offending if offending is not None and offending < len(events) else None
    words = (
        f"{len(events)} events from {seconds(events[0].at)} to {seconds(last)} after the request; "
        f"longest gap {seconds(wait)}, before {_called(events[at + 1])}"
    )
    if marked is not None:
        words += f"; the offending one is {_called(events[marked])}, at {seconds(events[marked].at)}"
    return Timeline(
        marks=[round(x, 1) for index, x in enumerate(place) if index != marked],
        offending=round(place[marked], 1) if marked is not None else None,
        offending_label=_called(events[marked]) if marked is not None else "",
        longest=(round(place[at], 1), round(place[at + 1], 1)) if wait > last / 50 else None,
        ticks=[Tick(round(value / last * WIDTH, 1), seconds(value)) for value in _round_steps(last)],
        words=words,
    )


def _called(event: StreamEvent) -> str:
    return "a comment" if event.number is None else f"event {event.number}"


def _round_steps(top: float, count: int = 5) -> list[float]:
    """About `count` round values from 0 to `top`."""
    raw = top / count
    step = 10 ** math.floor(math.log10(raw))
    step *= next((factor for factor in (1, 2, 5) if factor * step >= raw), 10)
    return [index * step for index in range(int(top / step + 1e-9) + 1)]


class _LogAxis:
    """A logarithmic axis from `low` to `high` over `width` drawing units."""

    def __init__(self, low: float, high: float, unit: str, width: float) -> None:
        self.width = width
        self.low = math.log10(max(low, 1e-6))
        self.high = max(math.log10(max(high, 1e-6)), self.low + 0.3)
        self.unit = unit

    def place(self, value: float) -> float:
        share = (math.log10(max(value, 1e-6)) - self.low) / (self.high - self.low)
        return round(min(max(share, 0.0), 1.0) * self.width, 1)

    def ticks(self) -> list[Tick]:
        """Round values along the axis: the coarsest set that gives at least three."""
        inside: list[float] = []
        for factors in _FACTORS:
            powers = range(math.floor(self.low), math.ceil(self.high) + 1)
            values = [factor * 10.0**power for power in powers for factor in factors]
            inside = [value for value in values if self.low - 1e-9 <= math.log10(value) <= self.high + 1e-9]
            if len(inside) >= 3:
                break
        return [Tick(self.place(value), _label(value, self.unit)) for value in inside]


_FACTORS = (
    (1,),
    (1, 3),
    (1, 2, 5),
    (1, 1.5, 2, 3, 4, 5, 7),
    (1, 1.2, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8),
)


def _label(value: float, unit: str) -> str:
    return seconds(value) if unit == "s" else f"{value:,.3g}"


def histogram(series: Series) -> Histogram:
    """A histogram of a series between its 0.5 % and 99.5 % quantiles, with its quantiles as text."""
    low, high = series.quantile(0.005), series.quantile(0.995)
    axis = _LogAxis(low, high, series.unit, _NARROW)
    bins = min(max(round(len(series.values) ** 0.5), 6), 40)
    counts = [0] * bins
    for value in series.values:
        counts[min(int(axis.place(value) / _NARROW * bins), bins - 1)] += 1
    tallest = max(counts)
    width = _NARROW / bins
    bars = [
        (round(index * width, 1), round(width - 1.5, 1), round(count / tallest, 4))
        for index, count in enumerate(counts)
        if count
    ]
    median = series.quantile(0.5)
    words = (
        f"{series.name}: {len(series.values):,} values, median {_label(median, series.unit)}, "
        f"95 % below {_label(series.quantile(0.95), series.unit)}"
    )
    return Histogram(series.name, bars, axis.ticks(), axis.place(median), words, len(series.values), _quantiles(series))


def spreads(every: Sequence[Series]) -> tuple[list[Spread], list[Tick]]:
    """Several series on one axis, and the axis."""
    if not every:
        return [], []
    axis = _LogAxis(
        min(series.quantile(0.05) for series in every),
        max(series.quantile(0.95) for series in every),
        every[0].unit,
        WIDTH,
    )
    rows = []
    for series in every:
        low, quarter, median, three_quarters, high = (
            axis.place(series.quantile(share)) for share in (0.05, 0.25, 0.5, 0.75, 0.95)
        )
        rows.append(
            Spread(
                series.name,
                len(series.values),
                low,
                quarter,
                median,
                three_quarters,
                high,
                _quantiles(series),
            )
        )
    return rows, axis.ticks()


def _quantiles(series: Series) -> list[str]:
    return [_label(series.quantile(share), series.unit) for share in QUANTILES]
