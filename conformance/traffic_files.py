"""Recorded traffic in files of several kinds: a run's folder, `exchanges.jsonl`, `cases.jsonl`, HAR archives.

A HAR that this suite wrote holds, beside what the format asks for, what a HAR cannot say (how an exchange ended,
arrival times, bytes that are no text), so that it is judged as the run was. A HAR of a browser or a proxy is judged
by what it has; relations between exchanges are only known where a `cases.jsonl` is given too.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from conformance.wire.exchange import Exchange, Received, Sent, body_bytes
from conformance.wire.journal import CASES, EXCHANGES, Journal, read_lines
from conformance.wire.redaction import Redactor

CHAT = "/chat/completions"
PROBLEMS = "problems.jsonl"


class TrafficError(ValueError):
    """A file that holds no recorded traffic that can be read; the message says which and why."""


def gather(paths: Iterable[Path], folder: Path) -> int:
    """Copy the exchanges and cases of all files into a run's folder; returns how many exchanges there are.

    Raises TrafficError for a file that cannot be read.
    """
    exchanges: list[Mapping[str, Any]] = []
    cases: list[Mapping[str, Any]] = []
    problems: list[Mapping[str, Any]] = []
    for path in paths:
        if path.is_dir():
            exchanges += _lines(path / EXCHANGES)
            cases += read_lines(path / CASES)
            problems += read_lines(path / PROBLEMS)
        elif path.suffix == ".har":
            exchanges += [exchange.to_json() for exchange in read_har(path)]
        elif path.suffix == ".jsonl":
            lines = _lines(path)
            exchanges += [line for line in lines if "request" in line]
            cases += [line for line in lines if "request" not in line]
        else:
            raise TrafficError(f"{path} is neither a run's folder nor a .jsonl or .har file")
    _check(exchanges, cases)
    folder.mkdir(parents=True, exist_ok=True)
    for name, found in ((EXCHANGES, exchanges), (CASES, cases), (PROBLEMS, problems)):
        (folder / name).unlink(missing_ok=True)
        journal = Journal(folder / name)
        for line in found:
            journal.append(line)
        journal.close()
    return len(exchanges)


def _lines(path: Path) -> list[dict[str, Any]]:
    try:
        return list(read_lines(path))
    except ValueError as error:
        raise TrafficError(f"{path}: a line is not JSON: {error}") from error


def _check(exchanges: Iterable[Mapping[str, Any]], cases: Iterable[Mapping[str, Any]]) -> None:
    names: set[str] = set()
    for line in exchanges:
        try:
            name = Exchange.from_json(line).id
        except (KeyError, TypeError, ValueError) as error:
            raise TrafficError(f"not a recorded exchange ({type(error).__name__}: {error})") from error
        if name in names:
            raise TrafficError(f"the exchange {name} stands in the files twice")
        names.add(name)
    for case in cases:
        if not isinstance(case.get("roles"), dict):
            raise TrafficError("a line is neither an exchange nor a case")
        unknown = [name for given in case["roles"].values() for name in given if name not in names]
        if unknown:
            raise TrafficError(f"the case {case.get('id')} speaks of {unknown[0]}, which is in no file")


def read_har(path: Path) -> list[Exchange]:
    """The chat exchanges (and lists of models) of a HAR 1.2 archive, in its order. Raises TrafficError."""
    try:
        entries = json.loads(path.read_text(encoding="utf-8-sig"))["log"]["entries"]
        found = [_exchange(number, entry) for number, entry in enumerate(entries, 1)]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise TrafficError(f"{path} is not a HAR archive ({type(error).__name__}: {error})") from error
    return [exchange for exchange in found if exchange is not None]


def _exchange(number: int, entry: Mapping[str, Any]) -> Exchange | None:
    request, response = entry["request"], entry["response"]
    own = request.get("_conformance")
    if own is None and not _is_ours(request):
        return None
    known: Mapping[str, Any] = own or {}
    if "body" in known:
        sent = body_bytes(known["body"], known.get("encoding", "base64"))
    else:
        sent = _text(request.get("postData") or {}, "text")
    redactor = Redactor(())  # blanks keys in headers; a browser's archive holds them in the open
    received = None
    if response["status"]:
        content = response["content"]
        body = _text(content, "text")
        total = entry["time"] / 1000
        received = Received(
            status=int(response["status"]),
            http_version=response.get("httpVersion", "").upper(),
            reason=response.get("statusText", ""),
            headers=redactor.headers(_pairs(response["headers"])),
            body=body,
            arrivals=tuple((at, count) for at, count in known.get("arrivals", [[total, len(body)]])),
            truncated=known.get("truncated", False),
        )
    timings = entry.get("timings") or {}
    return Exchange(
        id=known.get("id", f"x{number:04d}"),
        at=entry["startedDateTime"],
        probe=known.get("probe", "recorded"),
        topic=known.get("topic", "recorded"),
        sent=Sent(request["method"], request["url"], redactor.headers(_pairs(request["headers"])), sent),
        received=received,
        end=known.get("end", "complete" if received else "refused"),
        problem=known.get("problem", "" if received else "the archive holds no answer"),
        worker=known.get("worker", "main"),
        repeat_of=known.get("repeat_of"),
        first_byte_s=known.get("first_byte_s", max(0.0, timings.get("wait", 0)) / 1000),
        total_s=entry["time"] / 1000,
        facts=known.get("facts", {}),
    )


def _is_ours(request: Mapping[str, Any]) -> bool:
    """Whether a foreign archive's request is one that the documents speak of."""
    path = str(request["url"]).partition("?")[0].rstrip("/")
    return (request["method"] == "POST" and path.endswith(CHAT)) or (
        request["method"] == "GET" and path.endswith("/models")
    )


def _pairs(headers: Iterable[Mapping[str, str]]) -> list[tuple[str, str]]:
    """HTTP/2's pseudo-headers, which browsers list too, are left out."""
    return [(pair["name"], pair["value"]) for pair in headers if not pair["name"].startswith(":")]


def _text(content: Mapping[str, Any], name: str) -> bytes:
    text = content.get(name) or ""
    return base64.b64decode(text) if content.get("encoding") == "base64" else text.encode("utf-8", "surrogatepass")
