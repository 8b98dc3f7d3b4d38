"""JSON as RFC 8259 means it: what Python's own parser would let pass is noted, not repaired."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

MAX_DEPTH = 200
_OPENERS = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', re.DOTALL)
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Parsed:
    """A JSON text: its `value` where it has one, and what is wrong with it in words.

    `ok` is False when there is no value at all; a value with `problems` was readable but not clean JSON.
    """

    value: Any
    ok: bool
    problems: tuple[str, ...] = ()


def _depth(text: bytes) -> int:
    deepest = depth = 0
    for token in _OPENERS.finditer(text):
        first = text[token.start()]
        if first in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif first in b"]}":
            depth -= 1
    return deepest


def parse(data: bytes) -> Parsed:
    """Parse bytes as strict JSON: UTF-8 without BOM, no NaN or Infinity, no duplicate member, bounded depth."""
    problems: list[str] = []
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return Parsed(None, False, (f"not UTF-8: byte {data[error.start]:#04x} at offset {error.start}",))
    if text.startswith("\ufeff"):
        problems.append("starts with a byte order mark")
        text = text[1:]
    if data.count(b"[") + data.count(b"{") > MAX_DEPTH and _depth(data) > MAX_DEPTH:
        return Parsed(None, False, (f"nested more than {MAX_DEPTH} levels deep",))

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) != len(pairs):
            names = [name for name, _ in pairs]
            twice = sorted({name for name in names if names.count(name) > 1})
            problems.append(f"member {twice[0]!r} stands twice in one object")
        return value

    def constant(name: str) -> float:
        problems.append(f"{name} is not JSON")
        return float("nan")

    try:
        value = json.loads(text, object_pairs_hook=members, parse_constant=constant)
    except json.JSONDecodeError as error:
        return Parsed(None, False, (f"not JSON: {error.msg} at offset {error.pos}",))
    except (ValueError, RecursionError) as error:  # huge integers, depth beyond the interpreter's own limit
        return Parsed(None, False, (f"not readable as JSON: {error}",))
    if _LONE_SURROGATE.search(json.dumps(value, ensure_ascii=False)):
        problems.append("a string holds half of a surrogate pair")
    return Parsed(value, True, tuple(dict.fromkeys(problems)))
