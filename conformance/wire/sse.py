"""One strict decoder for server-sent events (WHATWG HTML, section 9.2), which also keeps what it forgives.

Lines end with LF, CR or CRLF, are split as bytes and decoded one by one. Raw spans, comments, field order and
arrival times stay visible, since a conformance judge needs what a client may throw away.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate

DONE = "[DONE]"
_LINE_END = re.compile(rb"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class Event:
    """One dispatched block: `start`/`end` are byte offsets of the block in the body, `at` seconds of arrival.

    `data` is None for a block without any data field (which a browser would not dispatch).
    """

    at: float
    start: int
    end: int
    data: str | None
    fields: tuple[tuple[str, str], ...]
    comments: int = 0

    @property
    def is_done(self) -> bool:
        """Whether this is the terminator both documents print: exactly `[DONE]`."""
        return self.data == DONE


@dataclass(frozen=True, slots=True)
class EventStream:
    """Every block of a body in order; `tail` holds bytes after the last blank line, `problems` oddities."""

    events: tuple[Event, ...]
    tail: bytes = b""
    problems: tuple[str, ...] = ()
    comments: int = 0


@dataclass(slots=True)
class _Block:
    start: int
    fields: list[tuple[str, str]] = field(default_factory=list)
    comments: int = 0


def _lines(body: bytes) -> list[tuple[int, int, int]]:
    """(start, end of text, start of the next line) for each terminated line."""
    lines: list[tuple[int, int, int]] = []
    start = 0
    for ending in _LINE_END.finditer(body):
        lines.append((start, ending.start(), ending.end()))
        start = ending.end()
    return lines


def decode(body: bytes, arrivals: Sequence[tuple[float, int]] = ()) -> EventStream:
    """Split a whole body into events. `arrivals` are (seconds, bytes) of each piece as it was received."""
    problems: list[str] = []
    ends = list(accumulate(count for _, count in arrivals))

    def arrived(offset: int) -> float:
        if not ends:
            return 0.0
        return arrivals[min(bisect_left(ends, offset), len(ends) - 1)][0]

    events: list[Event] = []
    block: _Block | None = None
    comments = 0
    offset = 3 if body.startswith(b"\xef\xbb\xbf") else 0
    if offset:
        problems.append("the stream starts with a byte order mark")
    consumed = offset
    for start, end, after in _lines(body[offset:]):
        start, end, after = start + offset, end + offset, after + offset
        raw = body[start:end]
        if not raw:
            if block is not None:
                events.append(_dispatch(block, after, arrived(after)))
                block = None
            consumed = after
            continue
        block = block or _Block(start)
        try:
            line = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            problems.append(f"byte {raw[error.start]:#04x} at offset {start + error.start} is not UTF-8")
            line = raw.decode("utf-8", "replace")
        if line.startswith(":"):
            block.comments += 1
            comments += 1
            continue
        name, colon, value = line.partition(":")
        block.fields.append((name, value.removeprefix(" ") if colon else ""))
    return EventStream(tuple(events), body[consumed:], tuple(problems), comments)


def _dispatch(block: _Block, end: int, at: float) -> Event:
    data = [value for name, value in block.fields if name == "data"]
    return Event(
        at=at,
        start=block.start,
        end=end,
        data="\n".join(data) if data else None,
        fields=tuple(block.fields),
        comments=block.comments,
    )
