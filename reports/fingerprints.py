"""Digests of a run's files, and short marks of their parts that let an alteration be named.

The digest decides; a mark (the first eight bytes of a SHA-256) only says where to look, so its length is no
weakness.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_MARK = 8
_NAMED = 5


def digest(path: Path) -> str:
    """The file's SHA-256 in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sha256_hex(value: object) -> str:
    """The SHA-256 of a JSON value, written with sorted members and no spaces."""
    return hashlib.sha256(_canonical(value)).hexdigest()


def _canonical(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def part_marks(path: Path) -> dict[str, str]:
    """Marks of the members of `results.json`: one for each member, and one for each requirement."""
    results: dict[str, Any] = json.loads(path.read_bytes())
    parts = {f"member {name}": value for name, value in results.items() if name != "requirements"}
    parts |= {f"requirement {row['id']}": row for row in results.get("requirements", ())}
    return {name: hashlib.sha256(_canonical(value)).hexdigest()[: 2 * _MARK] for name, value in parts.items()}


def line_marks(path: Path) -> str:
    """Marks of a file's lines, one after another, as base64."""
    return base64.b64encode(b"".join(mark for mark, _ in _lines(path))).decode()


def _lines(path: Path) -> Iterator[tuple[bytes, bytes]]:
    with path.open("rb") as file:
        for line in file:
            yield hashlib.sha256(line).digest()[:_MARK], line


def named_lines(path: Path, marks: str) -> list[str]:
    """Which lines of the file are not those that were marked, named by number and by the id they carry."""
    joined = base64.b64decode(marks)
    before = [joined[at : at + _MARK] for at in range(0, len(joined), _MARK)]
    found, count = [], 0
    for number, (mark, line) in enumerate(_lines(path), 1):
        count = number
        if number > len(before) or before[number - 1] != mark:
            found.append(f"line {number}{_id_of(line)}")
    if count != len(before):
        found.insert(0, f"it has {count} lines instead of {len(before)}")
    rest = [f"and {len(found) - _NAMED} more lines"] if len(found) > _NAMED else []
    return [*found[:_NAMED], *rest] or ["its content"]


def _id_of(line: bytes) -> str:
    try:
        value = json.loads(line)
    except ValueError:
        return " (no longer JSON)"
    return f" ({value['id']})" if isinstance(value, dict) and "id" in value else ""
