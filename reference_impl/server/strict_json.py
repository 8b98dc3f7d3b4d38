"""Request JSON, read strictly: what RFC 8259 does not allow, or leaves to chance, is refused.

Duplicate names, NaN and Infinity, numbers outside 64 bits, lone surrogates, a byte order mark and nesting
beyond `MAX_DEPTH` all end in `Malformed`, never in another exception.
"""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn, TypeAlias

Json: TypeAlias = Any
"""What a JSON text can hold; its type is only known once it has been read."""

MAX_DEPTH = 64
MAX_VALUES = 500_000
INT_RANGE = range(-(2**63), 2**64)


class Malformed(ValueError):
    """The body is not the JSON this server reads; the message is a sentence for the client."""


def parse(body: bytes) -> Json:
    """The value of a UTF-8 JSON text, or `Malformed`."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        raise Malformed("The body is not valid UTF-8.") from None
    if text.startswith("\ufeff"):
        raise Malformed("The body starts with a byte order mark.")
    try:
        value = _DECODER.decode(text)
    except Malformed:
        raise
    except RecursionError:
        raise Malformed(f"The body is nested deeper than {MAX_DEPTH} levels.") from None
    except json.JSONDecodeError as error:
        raise Malformed(f"The body is not valid JSON (line {error.lineno}, column {error.colno}).") from None
    except ValueError:
        # int() refuses digit strings beyond Python's own limit with a plain ValueError
        raise Malformed("The body has a number that is out of range.") from None
    _check(value)
    return value


def _constant(name: str) -> NoReturn:
    raise Malformed(f"The body is not valid JSON: {name} is not a JSON number.")


def _integer(digits: str) -> int:
    number = int(digits)
    if number not in INT_RANGE:
        raise Malformed("The body has a number that is out of range.")
    return number


def _float(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise Malformed("The body has a number that is out of range.")
    return number


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise Malformed("The body has an object with a repeated name.")
    return members


_DECODER = json.JSONDecoder(parse_constant=_constant, parse_int=_integer, parse_float=_float, object_pairs_hook=_object)


def _check(value: Json) -> None:
    """Refuse what is too deep or too much, and strings that no UTF-8 text can hold."""
    seen = 0
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        below: list[Any] = []
        seen += len(level)
        if seen > MAX_VALUES:
            raise Malformed("The body has too many values.")
        for item in level:
            if isinstance(item, str):
                _check_text(item)
            elif isinstance(item, dict):
                for name in item:
                    _check_text(name)
                below.extend(item.values())
            elif isinstance(item, list):
                below.extend(item)
        if not below:
            return
        level = below
    raise Malformed(f"The body is nested deeper than {MAX_DEPTH} levels.")


def _check_text(text: str) -> None:
    if text.isascii():
        return
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise Malformed("The body has a string with an unpaired surrogate.") from None
