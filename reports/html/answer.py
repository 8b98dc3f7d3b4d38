"""Views of one recorded answer: its head, its body or events, and the timeline of a stream."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from reports.exchange import Exchange, StreamEvent
from reports.html import charts
from reports.text_safety import shortened

_LONGEST_BODY = 4_000
_LONGEST_EVENT = 600
_NAMED_EVENT = re.compile(r"\b(event|chunk) (\d{1,7})\b")


class EventView(NamedTuple):
    """A row of the events table; `skipped` counts events left out between two rows."""

    number: int | None
    at: float
    gap: float | None
    raw: str
    offending: bool
    skipped: int = 0


class AnswerView(NamedTuple):
    """One exchange's answer."""

    id: str
    status_line: str
    headers: list[tuple[str, str]]
    body: str | None
    left_out: str
    problem: str
    timeline: charts.Timeline | None
    events: list[EventView]


def offending_event(violation: Mapping[str, Any], events: Sequence[StreamEvent]) -> int | None:
    """The index of the event that a violation is about: the one it names, or that its message names.

    Messages count events and chunks from 1 (`event 3`, `chunk 12`); chunks are the JSON objects among the
    events that are no error.
    """
    named = _NAMED_EVENT.search(violation.get("message") or "")
    kind, number = named.groups() if named else ("event", "0")
    wanted = violation.get("event") or int(number)
    if kind == "chunk" and not violation.get("event"):
        numbers = [index for index, event in enumerate(events) if event.chunk]
    else:
        numbers = [index for index, event in enumerate(events) if event.number is not None]
    return numbers[wanted - 1] if 1 <= wanted <= len(numbers) else None


def answer_view(exchange: Exchange, violation: Mapping[str, Any]) -> AnswerView:
    """The view of an exchange's answer, with the event marked that the violation is about."""
    response = exchange.response
    events = exchange.events()
    offending = offending_event(violation, events)
    body = None if events else exchange.received[:_LONGEST_BODY].decode("utf-8", "replace")
    beyond = 0 if events else max(len(exchange.received) - _LONGEST_BODY, 0)
    return AnswerView(
        id=exchange.id,
        status_line=exchange.status_line,
        headers=[(name, shortened(value, 300)) for name, value in (response["headers"] if response else [])[:40]],
        body=body or None,
        left_out=f"{beyond:,} more bytes are in exchanges.jsonl, line with id {exchange.id}." if beyond else "",
        problem=exchange.record.get("problem") or "",
        timeline=charts.timeline(events, offending),
        events=_event_rows(events, offending),
    )


def _event_rows(events: Sequence[StreamEvent], offending: int | None) -> list[EventView]:
    """The first two events, the last three, and the neighbourhood of the offending one."""
    around = range(offending - 2, offending + 3) if offending is not None else ()
    rows: list[EventView] = []
    expected = 0
    for index, event in enumerate(events):
        if not (index < 2 or index >= len(events) - 3 or index in around):
            continue
        if index > expected:
            rows.append(EventView(None, 0.0, None, "", False, skipped=index - expected))
        gap = event.at - events[index - 1].at if index else None
        raw = shortened(event.raw.rstrip("\r\n"), _LONGEST_EVENT)
        rows.append(EventView(event.number, event.at, gap, raw, index == offending))
        expected = index + 1
    return rows


def size(answer: AnswerView) -> int:
    """About how many characters it takes in the page."""
    text = len(answer.body or "") + sum(len(event.raw) + 160 for event in answer.events)
    return text + sum(len(name) + len(value) + 30 for name, value in answer.headers)
