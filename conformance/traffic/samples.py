"""Small values grown from an OpenAPI document, for fields that no hand-written request knows."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from spec.model import Items, Member, Step, When

Schema = Mapping[str, Any]
_MISSING: Any = object()


def resolved(openapi: Schema, schema: Schema) -> Schema:
    """A schema with its `$ref` followed; what stands beside the reference wins."""
    while "$ref" in schema:
        target: Any = openapi
        for step in schema["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        schema = {**target, **{key: value for key, value in schema.items() if key != "$ref"}}
    return schema


def sample(openapi: Schema, schema: Schema) -> Any:
    """One small value that a schema allows (patterns are not read)."""
    schema = resolved(openapi, schema)
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    if "enum" in schema:
        return schema["enum"][0]
    if "oneOf" in schema:
        return sample(openapi, schema["oneOf"][0])
    kind = schema.get("type", "object")
    match kind if isinstance(kind, str) else kind[0]:
        case "string":
            return "x" * max(1, schema.get("minLength", 1))
        case "integer" | "number":
            return schema.get("minimum", min(1, schema.get("maximum", 1)))
        case "boolean":
            return False
        case "array":
            return [sample(openapi, schema["items"])] * schema.get("minItems", 1) if "items" in schema else []
        case "null":
            return None
    members = schema.get("properties", {})
    return {name: sample(openapi, members[name]) for name in schema.get("required", ()) if name in members}


def grown(body: Mapping[str, Any], openapi: Schema, path: Sequence[Step]) -> dict[str, Any]:
    """A copy of a request in which `path` reaches a value."""
    root = openapi["components"]["schemas"]["ChatCompletionRequest"]
    value = _grow(copy.deepcopy(dict(body)), root, tuple(path), openapi)
    assert isinstance(value, dict)
    return value


def _grow(value: Any, schema: Schema, path: tuple[Step, ...], openapi: Schema) -> Any:
    schema = resolved(openapi, schema)
    if not path:
        return sample(openapi, schema) if value is _MISSING else value
    if "oneOf" in schema:
        branch = next(one for one in schema["oneOf"] if _fits(resolved(openapi, one), path[0], openapi))
        return _grow(value, branch, path, openapi)
    step, rest = path[0], path[1:]
    match step:
        case Items():
            items = value if isinstance(value, list) and value else [_MISSING]
            return [_grow(items[0], schema["items"], rest, openapi), *items[1:]]
        case When(member, wanted):
            keeps = isinstance(value, dict) and value.get(member) == wanted
            return _grow(value if keeps else sample(openapi, schema), schema, rest, openapi)
        case Member(name):
            members = value if isinstance(value, dict) else sample(openapi, schema)
            grown_member = _grow(members.get(name, _MISSING), schema["properties"][name], rest, openapi)
            return {**members, name: grown_member}


def _fits(branch: Schema, step: Step, openapi: Schema) -> bool:
    match step:
        case Items():
            return branch.get("type") == "array"
        case When(member, wanted):
            tag = branch.get("properties", {}).get(member)
            return tag is not None and resolved(openapi, tag).get("const") == wanted
        case Member(name):
            return name in branch.get("properties", {})
