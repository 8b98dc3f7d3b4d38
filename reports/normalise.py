"""Replaces what differs between two equal runs (times, ports, ids, keys of hosts) by fixed values.

For samples that are kept under version control: the same suite against the same reference gives the same
bytes, so that a change in a sample is a change in what the suite says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from reports.record import CASES, EXCHANGES, load_run, write_results

INSTANT = "2026-01-01T00:00:00Z"

_VOLATILE_HEADERS = {"date", "content-length", "retry-after", "x-request-id", "x-process-time"}
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)")
_HTTP_DATE = re.compile(r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT")
_PORT = re.compile(r"(https?://(?:127\.0\.0\.1|localhost|\[::1\])):\d+")
_EPOCH = re.compile(r'("created(?:_at)?"\s*:\s*)\d{9,13}')
# Identifiers that a server makes: a short lower-case prefix, a dash or underscore, then random characters.
_MADE_ID = re.compile(
    r"\b([a-z]{2,12}[-_])([0-9a-f]{16,}|[0-9A-Za-z]{20,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b"
)
_OUT = re.compile(r"(--out[ =])\S+")
_UUID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")


class _Names:
    """Gives each made-up identifier the same stand-in wherever it appears, numbered as they come."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def stand_in(self, match: re.Match[str]) -> str:
        prefix = match.group(1) if match.lastindex else "uuid-"
        return self._known.setdefault(match.group(), f"{prefix}{len(self._known) + 1:08d}")


def normaliser() -> Callable[[str], str]:
    """A function that normalises texts; identifiers keep their stand-ins from one call to the next."""
    names = _Names()

    def normalised(text: str) -> str:
        text = _INSTANT.sub(INSTANT, text)
        text = _HTTP_DATE.sub("Thu, 01 Jan 2026 00:00:00 GMT", text)
        text = _PORT.sub(r"\1:8000", text)
        text = _EPOCH.sub(r"\g<1>1767225600", text)
        text = _MADE_ID.sub(names.stand_in, text)
        return _UUID.sub(names.stand_in, text)

    return normalised


def normalise_run(source: str | Path, target: str | Path) -> Path:
    """Copy a run's record with everything volatile replaced; returns the directory written.

    Event offsets follow the replaced bodies. Raises RecordError where the record cannot be read.
    """
    run, folder = load_run(source), Path(target)
    folder.mkdir(parents=True, exist_ok=True)
    text = normaliser()
    with (folder / EXCHANGES).open("w", encoding="utf-8", newline="\n") as file:
        for exchange in run.exchanges():
            file.write(json.dumps(_exchange(dict(exchange.record), text)) + "\n")
    cases = list(run.cases())
    if cases:
        lines = (json.dumps(_texts(case, text)) + "\n" for case in cases)
        (folder / CASES).write_text("".join(lines), "utf-8", newline="\n")
    results = _texts(dict(run.results), text)
    if "command" in results:
        results["command"] = _OUT.sub(r"\1report", results["command"])
    results["cost"] = {**results["cost"], "wall_s": 60.0, "waiting_s": 0.0}
    write_results(folder, results)
    return folder


def _texts(value: Any, text: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return text(value)
    if isinstance(value, list):
        return [_texts(item, text) for item in value]
    if isinstance(value, dict):
        return {name: _texts(item, text) for name, item in value.items()}
    return value


def _exchange(record: dict[str, Any], text: Callable[[str], str]) -> dict[str, Any]:
    response = record["response"]
    record["at"] = INSTANT
    record["request"] = _texts(record["request"], text)
    record["timing"] = {"first_byte_s": 0.01, "total_s": 0.1}
    if response is None:
        return record
    response = dict(response)
    if response["encoding"] == "utf-8":
        response["body"], events = _body(response["body"], response.get("events") or [], text)
        if response.get("events") is not None:
            response["events"] = events
    response["length"] = len(response["body"].encode("utf-8", "surrogatepass"))
    response["arrivals"] = [[0.1, response["length"]]]
    response["headers"] = [
        [name, "0" if name.lower() in _VOLATILE_HEADERS else text(value)] for name, value in response["headers"]
    ]
    record["response"] = response
    return record


def _body(body: str, events: list[list[float]], text: Callable[[str], str]) -> tuple[str, list[list[float]]]:
    """The body with every event replaced on its own, and where the events then stand."""
    raw = body.encode("utf-8", "surrogatepass")
    made, moved, done = b"", [], 0

    def replaced(start: int, end: int) -> bytes:
        return text(raw[start:end].decode("utf-8", "surrogatepass")).encode("utf-8", "surrogatepass")

    for index, (_, start, end) in enumerate(events):
        made += replaced(done, int(start))
        begins = len(made)
        made += replaced(int(start), int(end))
        moved.append([round(0.01 + index * 0.01, 6), begins, len(made)])
        done = int(end)
    made += replaced(done, len(raw))
    return made.decode("utf-8", "surrogatepass"), moved
