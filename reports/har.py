"""HAR 1.2 of every exchange, for browsers' network panels and proxies; a stream's events are under `_sse`.

What a HAR cannot say is under `_conformance` of each request, so that the archive can be judged again like the run.

Secrets were redacted when the exchanges were recorded. Source: the HAR 1.2 specification (W3C Web
Performance draft); both are custom fields, which section "Custom fields" allows under an underscore.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from reports.exchange import Exchange
from reports.optional import needed
from reports.record import Run

_SHOWN = 1024  # bytes of a large request; whoever judges the archive again finds all of them beside it

if TYPE_CHECKING:
    from harfile import Content, Request, Response


def write(run: Run, path: Path) -> None:
    """Write the HAR to `path`, one exchange in memory at a time.

    Raises MissingDependency without `harfile`, RecordError where an exchange is not what its schema says.
    """
    harfile = needed("harfile", "HAR")
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    suite = run.results["suite"]
    try:
        with partial.open("w", encoding="utf-8", errors="backslashreplace") as file:
            creator = harfile.Creator(name=suite["name"], version=suite["version"])
            with harfile.HarFile.open(file, creator=creator) as archive:
                for exchange in run.exchanges():
                    archive.add_entry(**_entry(harfile, exchange))
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


@dataclass(frozen=True)
class _WithEvents:
    """A HAR content object with the stream's events added."""

    content: Content
    events: list[dict[str, Any]]

    def asdict(self) -> dict[str, Any]:
        """The JSON form, as harfile asks for it."""
        return {**self.content.asdict(), "_sse": self.events}


@dataclass(frozen=True)
class _Request:
    """A HAR request with what a HAR has no place for."""

    request: Request
    more: dict[str, Any]

    def asdict(self) -> dict[str, Any]:
        """The JSON form, as harfile asks for it."""
        return {**self.request.asdict(), "_conformance": self.more}


@dataclass(frozen=True)
class _Response:
    """A HAR response whose content may carry events."""

    response: Response
    content: _WithEvents

    def asdict(self) -> dict[str, Any]:
        """The JSON form, as harfile asks for it."""
        return {**self.response.asdict(), "content": self.content.asdict()}


def _entry(harfile: ModuleType, exchange: Exchange) -> dict[str, Any]:
    total = (exchange.total_s or 0.0) * 1000
    first = (exchange.record["timing"].get("first_byte_s") or 0.0) * 1000
    return {
        "startedDateTime": exchange.record["at"],
        "time": round(total, 3),
        "request": _request(harfile, exchange),
        "response": _response(harfile, exchange),
        "timings": harfile.Timings(send=0, wait=round(first, 3), receive=round(max(total - first, 0.0), 3)),
        "comment": f"{exchange.id} {exchange.probe}".strip(),
    }


def _request(harfile: ModuleType, exchange: Exchange) -> _Request:
    request = exchange.request
    post = None
    if exchange.sent:
        packed = request["encoding"] == "zlib+base64"
        post = harfile.PostData(
            mimeType=_header(request["headers"], "content-type"),
            text=_text(exchange.sent[:_SHOWN] if packed else exchange.sent),
            comment=f"the first {_SHOWN} of {len(exchange.sent)} bytes; all are in _conformance" if packed else None,
        )
    made: Request = harfile.Request(
        method=request["method"],
        url=request["url"],
        httpVersion="HTTP/1.1",
        headers=[harfile.Record(name, value) for name, value in request["headers"]],
        queryString=[harfile.Record(*pair) for pair in parse_qsl(urlsplit(request["url"]).query, True)],
        postData=post,
        bodySize=request.get("length", len(exchange.sent)),
    )
    return _Request(made, _more(exchange))


def _more(exchange: Exchange) -> dict[str, Any]:
    record, response = exchange.record, exchange.response or {}
    more = {name: record[name] for name in ("id", "probe", "topic", "worker", "repeat_of", "end", "problem")}
    more |= {"first_byte_s": record["timing"].get("first_byte_s"), "facts": record.get("facts", {})}
    more |= {name: response[name] for name in ("truncated", "arrivals") if name in response}
    if exchange.request["encoding"] != "utf-8":
        more |= {"body": exchange.request["body"], "encoding": exchange.request["encoding"]}
    return more


def _response(harfile: ModuleType, exchange: Exchange) -> Response | _Response:
    response = exchange.response
    if response is None:
        # What browsers write for a request that got no answer.
        nothing: Response = harfile.Response(status=0, statusText=exchange.record["end"], httpVersion="", bodySize=-1)
        return nothing
    binary = response["encoding"] == "base64"
    content = harfile.Content(
        size=response.get("length", len(exchange.received)),
        mimeType=_header(response["headers"], "content-type"),
        text=base64.b64encode(exchange.received).decode() if binary else response["body"],
        encoding="base64" if binary else None,
    )
    made: Response = harfile.Response(
        status=response["status"],
        statusText=response.get("reason") or "",
        httpVersion=response.get("http_version") or "",
        headers=[harfile.Record(name, value) for name, value in response["headers"]],
        content=content,
        redirectURL=_header(response["headers"], "location"),
        bodySize=response.get("length", -1),
    )
    events = [{"time": round(event.at * 1000, 3), "data": event.raw} for event in exchange.events()]
    return _Response(made, _WithEvents(content, events)) if events else made


def _header(headers: list[list[str]], name: str) -> str:
    return next((value for key, value in headers if key.lower() == name), "")


def _text(body: bytes) -> str:
    """A request body as text: HAR knows no encoding for it, so bytes that are not UTF-8 become escapes."""
    return body.decode("utf-8", "backslashreplace")
