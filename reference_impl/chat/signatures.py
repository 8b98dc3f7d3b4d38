"""Writes tool definitions as short signatures, about a quarter of the tokens of their JSON Schemas.

``get_weather(city: string, unit?: celsius|fahrenheit) // Current weather in a city.`` Whatever a signature
cannot say in its own notation is appended as compact JSON, so that no part of a definition is invisible to
the model: a longer description, name, enumeration or bound always makes a longer prompt.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeGuard

Schema = Mapping[str, Any]

_STRUCTURAL = frozenset({"type", "enum", "properties", "required", "items", "description"})


def tool_signature(function: Schema) -> str:
    """One line for a function: name, parameters and description."""
    line = f"{function['name']}{_parameters(function.get('parameters'))}"
    description = function.get("description")
    return f"{line} // {description}" if description else line


def json_request(schema: Schema | None = None) -> str:
    """The sentence that asks for JSON, as the built-in model was trained on it; for a system message."""
    if schema is None:
        return "Answer only with a JSON object."
    return f"Answer only with JSON of this form: {_type(schema)}"


def _parameters(schema: object) -> str:
    if not schema:
        return "()"
    if not _is_object(schema):
        return f"({_compact(schema)})"
    return f"({_members(schema)})" + _remarks(schema)


def _members(schema: Schema) -> str:
    """The properties of an object, in their own order; a question mark follows an optional name."""
    required = schema.get("required", ())
    return ", ".join(
        f"{name}{'' if name in required else '?'}: {_type(member)}" for name, member in schema["properties"].items()
    )


def _type(schema: object) -> str:
    if not isinstance(schema, Mapping):
        return _compact(schema)
    enum = schema.get("enum")
    kind = schema.get("type")
    if isinstance(enum, list) and enum:
        text = "|".join(value if isinstance(value, str) else _compact(value) for value in enum)
    elif _is_object(schema):
        text = f"{{{_members(schema)}}}"
    elif kind == "array" and isinstance(schema.get("items"), Mapping):
        text = f"[{_type(schema['items'])}]"
    elif isinstance(kind, str):
        text = kind
    else:
        return _compact(schema)
    return text + _remarks(schema)


def _remarks(schema: Schema) -> str:
    """Description in brackets, then every keyword that the notation has no place for."""
    rest = {key: value for key, value in schema.items() if key not in _STRUCTURAL}
    # Structure that the chosen notation did not show, such as the properties of something that is no object.
    if not _is_object(schema):
        rest |= {key: schema[key] for key in ("properties", "required") if key in schema}
    elif surplus := [name for name in schema.get("required", ()) if name not in schema["properties"]]:
        rest["required"] = surplus
    if "items" in schema and not (schema.get("type") == "array" and isinstance(schema["items"], Mapping)):
        rest["items"] = schema["items"]
    description = schema.get("description")
    shown = f" ({description})" if description else ""
    if rest.get("additionalProperties") is False:  # the usual strict form says nothing that the names do not
        del rest["additionalProperties"]
    return f"{shown} {_compact(rest)}" if rest else shown


def _is_object(schema: object) -> TypeGuard[Schema]:
    return (
        isinstance(schema, Mapping)
        and schema.get("type", "object") == "object"
        and isinstance(schema.get("properties"), Mapping)
        and isinstance(schema.get("required", []), list)
        and all(isinstance(name, str) for name in schema.get("required", []))
    )


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
