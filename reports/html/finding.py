"""Views of a requirement's violations: what was expected, what came, and the exchange that shows it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from reports.differences import Piece, marked
from reports.exchange import Exchange, StreamEvent
from reports.html import charts
from reports.reproduction import as_curl, as_python
from reports.text_safety import shortened

MOST_VIOLATIONS = 5
MOST_EXCHANGES = 3
_LONGEST_BODY = 4_000
_LONGEST_EVENT = 600
_LONGEST_CURL = 8_000

_NAMED_EVENT = re.compile(r"\b(event|chunk) (\d{1,7})\b")
_ISSUE = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100}#\d{1,9}")
_ADDRESS = re.compile(r"https://[A-Za-z0-9.-]+(/[A-Za-z0-9._~/%#?=&+-]*)?")


@dataclass
class EvidenceBudget:
    """Characters of answers that the page may still show at once, and where each exchange is shown."""

    left: int = 1_200_000
    shown_under: dict[str, str] = field(default_factory=dict)


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


class Elsewhere(NamedTuple):
    """An exchange that another requirement already shows."""

    id: str
    requirement: str


@dataclass
class ViolationView:
    """One violation with its evidence."""

    message: str
    expected: str
    observed: str
    expected_pieces: list[Piece]
    observed_pieces: list[Piece]
    reproduced: str
    exchanges: list[str]
    more_exchanges: int
    breaks_clients: list[str]
    diagnosis: list[Mapping[str, Any]]
    answers: list[AnswerView]
    elsewhere: list[Elsewhere]
    curl: str | None
    python: str | None
    open: bool


class RequirementView(NamedTuple):
    """A requirement row with the views of its first violations; `hidden` counts the rest."""

    row: Mapping[str, Any]
    violations: list[ViolationView]
    hidden: int
    open: bool


def citation_address(citation: str) -> str | None:
    """Where a citation leads: `owner/repository#12` or an https address; None for anything else."""
    if _ISSUE.fullmatch(citation):
        repository, _, number = citation.partition("#")
        return f"https://github.com/{repository}/issues/{number}"
    return citation if _ADDRESS.fullmatch(citation) else None


def requirement_view(
    row: Mapping[str, Any], kept: Mapping[str, Exchange], budget: EvidenceBudget, *, open_: bool
) -> RequirementView:
    """The view of one requirement; takes what it shows from the budget."""
    shown = row["violations"][:MOST_VIOLATIONS]
    views = [_violation(row["id"], violation, kept, budget, open_) for violation in shown]
    return RequirementView(row, views, len(row["violations"]) - len(views), open_)


def _violation(
    requirement: str,
    violation: Mapping[str, Any],
    kept: Mapping[str, Exchange],
    budget: EvidenceBudget,
    open_: bool,
) -> ViolationView:
    expected, observed = (shortened(violation.get(side) or "", _LONGEST_BODY) for side in ("expected", "observed"))
    before, after = marked(expected, observed)
    named = violation["exchanges"]
    answers: list[AnswerView] = []
    elsewhere: list[Elsewhere] = []
    for number, id_ in enumerate(named[:MOST_EXCHANGES], 1):
        exchange = kept.get(id_)
        if exchange is None:
            continue
        place = budget.shown_under.setdefault(id_, requirement)
        if place != requirement:
            elsewhere.append(Elsewhere(id_, place))
        elif budget.left > 0 and not any(answer.id == id_ for answer in answers):
            answer = _answer(exchange, violation if number == len(named) else {})
            budget.left -= _size(answer)
            answers.append(answer)
    # The last exchange named is the one that shows it; the ones before it are what it is compared with.
    first = next((kept[id_] for id_ in reversed(named[:MOST_EXCHANGES]) if id_ in kept), None)
    given = violation.get("curl")
    return ViolationView(
        message=shortened(violation["message"], 1_000),
        expected=expected,
        observed=observed,
        expected_pieces=before,
        observed_pieces=after,
        reproduced=violation.get("reproduced") or "",
        exchanges=named[:MOST_EXCHANGES],
        more_exchanges=max(len(named) - MOST_EXCHANGES, 0),
        breaks_clients=[_client(client) for client in violation.get("breaks_clients") or ()],
        diagnosis=list(violation.get("diagnosis") or ()),
        answers=answers,
        elsewhere=elsewhere,
        curl=given if given and len(given) <= _LONGEST_CURL else as_curl(first) if first else None,
        python=as_python(first) if first else None,
        open=open_,
    )


def _client(client: str | Mapping[str, Any]) -> str:
    if isinstance(client, str):
        return client
    name = f"{client['client']} {client.get('version') or ''}".rstrip()
    uses = f" in {', '.join(client['uses'])}" if client.get("uses") else ""
    return f"{name}{uses}{': ' + client['effect'] if client.get('effect') else ''}"


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


def _answer(exchange: Exchange, violation: Mapping[str, Any]) -> AnswerView:
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


def _size(answer: AnswerView) -> int:
    text = len(answer.body or "") + sum(len(event.raw) + 160 for event in answer.events)
    return text + sum(len(name) + len(value) + 30 for name, value in answer.headers)
