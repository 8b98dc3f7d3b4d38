"""Appends what was seen as it is seen, so that a killed run loses nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from conformance.wire.exchange import Exchange

EXCHANGES = "exchanges.jsonl"
CASES = "cases.jsonl"


class JournalFull(OSError):
    """The disk took no more: what was written before stays readable."""


class Journal:
    """An append-only file of JSON lines, shared by worker processes: each line is one write."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)

    def append(self, line: Mapping[str, Any]) -> None:
        """Append one object and hand it to the operating system."""
        data = json.dumps(line, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError as error:
            raise JournalFull(error.errno, f"cannot write {self.path}: {error.strerror}") from error

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a journal; a last line cut short by a kill is left out."""
    if not path.exists():
        return
    with path.open("rb") as lines:
        for line in lines:
            if not line.endswith(b"\n"):
                return
            yield json.loads(line)


def read_exchanges(folder: Path) -> list[Exchange]:
    """All exchanges recorded in a run's folder."""
    return [Exchange.from_json(line) for line in read_lines(folder / EXCHANGES)]
