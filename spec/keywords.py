"""What the JSON Schema keywords used by the vendors' documents mean for one value (JSON Schema 2020-12).

Only the keywords that a derived requirement may rest on; whole instances are validated by jsonschema-rs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

#: keyword of JSON Schema, and the word for it at the end of a requirement id
ID_WORD = {
    "type": "type",
    "required": "required",
    "enum": "enum",
    "const": "const",
    "minimum": "minimum",
    "maximum": "maximum",
    "minItems": "min-items",
    "maxItems": "max-items",
    "minLength": "min-length",
    "maxLength": "max-length",
    "pattern": "pattern",
    "additionalProperties": "closed",
    "not": "not-null",
}


def json_type(value: Any) -> str:
    """The JSON Schema type of a decoded JSON value; 4.0 is an integer, true is not."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def of_type(value: Any, types: list[str]) -> bool:
    """Whether a value has one of these types; an integer is a number."""
    actual = json_type(value)
    return actual in types or (actual == "integer" and "number" in types)


def same(left: Any, right: Any) -> bool:
    """JSON equality: 1 equals 1.0, but neither equals true."""
    return json_type(left) == json_type(right) and bool(left == right)


def _number(test: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    return lambda limit, value: not of_type(value, ["number"]) or test(limit, value)


def _sized(kind: str, test: Callable[[int, int], bool]) -> Callable[[Any, Any], bool]:
    return lambda limit, value: json_type(value) != kind or test(limit, len(value))


_HOLDS: dict[str, Callable[[Any, Any], bool]] = {
    "type": lambda types, value: of_type(value, types),
    "required": lambda name, value: not isinstance(value, dict) or name in value,
    "enum": lambda members, value: any(same(member, value) for member in members),
    "const": same,
    "minimum": _number(lambda limit, value: value >= limit),
    "maximum": _number(lambda limit, value: value <= limit),
    "minItems": _sized("array", lambda limit, size: size >= limit),
    "maxItems": _sized("array", lambda limit, size: size <= limit),
    "minLength": _sized("string", lambda limit, size: size >= limit),
    "maxLength": _sized("string", lambda limit, size: size <= limit),
    "pattern": lambda pattern, value: not isinstance(value, str) or bool(re.search(pattern, value)),
    "not": lambda denied, value: not of_type(value, type_names(denied["type"])),
}


def keyword_holds(keyword: str, demand: Any, value: Any, schema: Mapping[str, Any]) -> bool:
    """Whether `value` keeps `keyword: demand` of `schema`.

    As in JSON Schema a keyword says nothing about values of other types; `enum` and `const` are read the same
    way where the schema names a type, so that one defect breaks one constraint. `type` is always a list here.
    """
    if keyword == "additionalProperties":
        return not isinstance(value, dict) or set(value) <= set(schema["properties"])
    if keyword in ("enum", "const") and "type" in schema and not of_type(value, type_names(schema["type"])):
        return True
    return _HOLDS[keyword](demand, value)


def type_names(types: str | list[str]) -> list[str]:
    """The `type` keyword as a list."""
    return [types] if isinstance(types, str) else list(types)
