"""The packed evidence: exchanges compressed into the page, to be opened on demand."""

from __future__ import annotations

import base64
import gzip
import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from reports.exchange import Exchange
from reports.text_safety import visible

# Of one body, in a packed exchange. Enough for an ordinary answer; a report is not an archive.
_PACKED_BODY = 6_000
_BLOCK = 100
# Uncompressed bytes held while sampling, and base64 characters in the page. What does not fit stays in
# exchanges.jsonl, and the page says how many that are.
_HELD = 96_000_000
_EMBEDDED = 2_600_000
_FIRST_OF_EACH_PROBE = 3


@dataclass(frozen=True)
class Block:
    """A gzip-compressed JSON array of exchanges, as base64."""

    number: int
    data: str


@dataclass(frozen=True)
class Pack:
    """The packed evidence: an index row per exchange of the run, and the blocks that hold the sample."""

    index: str
    blocks: list[Block]
    total: int
    embedded: int


@dataclass
class Packer:
    """Takes every exchange of a run, once and in order, and keeps a sample that is fair to every probe."""

    _index: list[list[Any]] = field(default_factory=list)
    _held: list[tuple[int, int, str, bytes]] = field(default_factory=list)
    _size: int = 0
    _seen: Counter[str] = field(default_factory=Counter)

    def add(self, exchange: Exchange) -> None:
        """Take in one exchange."""
        record = exchange.record
        position = len(self._index)
        self._index.append(
            [
                exchange.id,
                exchange.topic,
                exchange.probe,
                exchange.status or record["end"],
                exchange.total_s,
                -1,
            ]
        )
        nth = self._seen[exchange.probe]
        self._seen[exchange.probe] += 1
        if self._size > _HELD and nth >= _FIRST_OF_EACH_PROBE:
            return
        packed = json.dumps(_trimmed(exchange), separators=(",", ":")).encode()
        self._held.append((nth, position, exchange.id, packed))
        self._size += len(packed)

    def pack(self) -> Pack:
        """Compress: first the first exchange of every probe, then the second, until the page is full."""
        blocks: list[Block] = []
        size = embedded = 0
        order = sorted(self._held)
        for start in range(0, len(order), _BLOCK):
            part = order[start : start + _BLOCK]
            data = _packed(b"[" + b",".join(packed for _, _, _, packed in part) + b"]")
            if blocks and size + len(data) > _EMBEDDED:
                break
            size += len(data)
            for _, position, _, _ in part:
                self._index[position][5] = len(blocks)
            embedded += len(part)
            blocks.append(Block(len(blocks), data))
        index = _packed(json.dumps(self._index, separators=(",", ":")).encode())
        return Pack(index, blocks, len(self._index), embedded)


def _packed(raw: bytes) -> str:
    return base64.b64encode(gzip.compress(raw, 6, mtime=0)).decode()


def _trimmed(exchange: Exchange) -> dict[str, Any]:
    """What the page shows of an exchange: its bodies cut, arrivals left out, event times kept."""
    record, response = exchange.record, exchange.response
    return {
        "id": exchange.id,
        "at": record["at"],
        "end": record["end"],
        "problem": record.get("problem") or "",
        "repeat_of": record.get("repeat_of"),
        "first": f"{exchange.request['method']} {exchange.request['url']}",
        "sent_headers": exchange.request["headers"],
        "sent": _start(exchange.sent),
        "sent_cut": max(len(exchange.sent) - _PACKED_BODY, 0),
        "status": exchange.status_line,
        "headers": response["headers"] if response else [],
        "body": _start(exchange.received),
        "cut": max(len(exchange.received) - _PACKED_BODY, 0),
        "events": [round(at, 4) for at, _, _ in exchange.spans[:400]],
    }


def _start(body: bytes) -> str:
    return visible(body[:_PACKED_BODY].decode("utf-8", "replace"))
