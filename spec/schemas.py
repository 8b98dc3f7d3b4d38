"""Joins and meets of JSON Schemas, as far as the vendors' documents use the language.

`meet` accepts only what both accept (a request that every vendor takes); `join` accepts what either accepts (a
reply that any vendor may give). Both take schemas without `$ref` (see `inline`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from spec.derive import resolve
from spec.keywords import json_type, of_type, same, type_names

Schema = Mapping[str, Any]
_ALL = ("null", "boolean", "object", "array", "number", "string", "integer")
_LOWER, _UPPER = ("minimum", "minItems", "minLength"), ("maximum", "maxItems", "maxLength")


def inline(openapi: Schema, node: Schema) -> dict[str, Any]:
    """A schema with every `$ref` replaced by its target, and of the annotations only `x-needs`."""
    node = resolve(openapi, node)
    plain = {key: value for key, value in node.items() if not key.startswith("x-") or key == "x-needs"}
    if "properties" in plain:
        plain["properties"] = {name: inline(openapi, child) for name, child in plain["properties"].items()}
    if "items" in plain:
        plain["items"] = inline(openapi, plain["items"])
    for word in ("oneOf", "anyOf"):
        if word in plain:
            plain[word] = [inline(openapi, branch) for branch in plain[word]]
    return plain


def meet(left: Schema, right: Schema) -> dict[str, Any] | None:
    """What both schemas accept, closed to members that only one of them lists; None where that is nothing."""
    result = _meet(left, right)
    need = left.get("x-needs") or right.get("x-needs")
    return {**result, "x-needs": need} if result is not None and need else result


def _meet(left: Schema, right: Schema) -> dict[str, Any] | None:
    if "oneOf" in left or "oneOf" in right:
        pairs = [meet(a, b) for a in left.get("oneOf", [left]) for b in right.get("oneOf", [right])]
        branches = [branch for branch in pairs if branch is not None]
        return branches[0] if len(branches) == 1 else {"oneOf": branches} if branches else None
    types = [kind for kind in _ALL if of_kind(kind, left) and of_kind(kind, right)]
    if "number" in types and "integer" in types:
        types.remove("integer")
    if not types:
        return None
    result: dict[str, Any] = {"type": types if len(types) > 1 else types[0]}
    values = [_values(schema) for schema in (left, right) if _values(schema) is not None]
    if values:
        common = [value for value in values[0] or () if all(_among(value, other or []) for other in values)]
        if not common:
            return None
        result |= {"const": common[0]} if len(common) == 1 else {"enum": common}
    _bounds(result, left, right, max, min, both=False)
    patterns = list(dict.fromkeys(schema["pattern"] for schema in (left, right) if "pattern" in schema))
    if patterns:
        result |= {"pattern": patterns[0]} if len(patterns) == 1 else {"allOf": [{"pattern": p} for p in patterns]}
    if "items" in left or "items" in right:
        items = meet(left.get("items", {}), right.get("items", {}))
        result |= {"items": items} if items is not None else {"maxItems": 0}
    if "properties" in left or "properties" in right:
        members = _meet_members(left, right)
        if members is None:
            return None
        result |= members
    return result


def join(left: Schema, right: Schema) -> dict[str, Any]:
    """What either schema accepts; members that only one of them describes are left open."""
    if "oneOf" in left or "oneOf" in right:
        return _join_unions(left.get("oneOf", [left]), right.get("oneOf", [right]))
    types = [kind for kind in _ALL if of_kind(kind, left) or of_kind(kind, right)]
    if "number" in types and "integer" in types:
        types.remove("integer")
    result: dict[str, Any] = {}
    if len(types) < len(_ALL) - 1:
        result["type"] = types if len(types) > 1 else types[0]
    ours, theirs = _values(left), _values(right)
    if ours is not None and theirs is not None:
        values = ours + [value for value in theirs if not _among(value, ours)]
        result |= {"const": values[0]} if len(values) == 1 else {"enum": values}
    _bounds(result, left, right, min, max, both=True)
    if "pattern" in left and left["pattern"] == right.get("pattern"):
        result["pattern"] = left["pattern"]
    if "items" in left and "items" in right:
        result["items"] = join(left["items"], right["items"])
    shared = [name for name in left.get("properties", {}) if name in right.get("properties", {})]
    if shared:
        result["properties"] = {name: join(left["properties"][name], right["properties"][name]) for name in shared}
    required = [name for name in left.get("required", ()) if name in right.get("required", ())]
    if required:
        result["required"] = required
    return result


def of_kind(kind: str, schema: Schema) -> bool:
    """Whether a schema's `type`, or the values it lists, allow this JSON type."""
    if "type" in schema:
        types = type_names(schema["type"])
        return kind in types or (kind == "integer" and "number" in types)
    values = _values(schema)
    return values is None or any(of_type(value, [kind]) for value in values if json_type(value) == kind)


def _values(schema: Schema) -> list[Any] | None:
    return [schema["const"]] if "const" in schema else schema.get("enum")


def _among(value: Any, values: list[Any]) -> bool:
    return any(same(value, other) for other in values)


def _bounds(
    result: dict[str, Any],
    left: Schema,
    right: Schema,
    lower: Callable[[list[Any]], Any],
    upper: Callable[[list[Any]], Any],
    both: bool,
) -> None:
    for keywords, choose in ((_LOWER, lower), (_UPPER, upper)):
        for keyword in keywords:
            limits = [schema[keyword] for schema in (left, right) if keyword in schema]
            if len(limits) == 2 or (limits and not both):
                result[keyword] = choose(limits)


def _meet_members(left: Schema, right: Schema) -> dict[str, Any] | None:
    """The object part of a meet: members that both list, and those that one demands and the other allows."""
    ours, theirs = left.get("properties"), right.get("properties")
    if ours is None or theirs is None:  # one side says nothing about members
        described = right if ours is None else left
        return {key: described[key] for key in ("properties", "required") if key in described}
    required = list(dict.fromkeys([*left.get("required", ()), *right.get("required", ())]))
    members: dict[str, Any] = {}
    for name in dict.fromkeys([*ours, *theirs]):
        if name in ours and name in theirs:
            member = meet(ours[name], theirs[name])
        elif name in required and (right if name in ours else left).get("additionalProperties") is not False:
            member = ours.get(name) or theirs.get(name)
        else:
            member = None
        if member is not None:
            members[name] = member
        elif name in required:
            return None
    return {"properties": members, "required": required, "additionalProperties": False}


def _join_unions(left: list[Schema], right: list[Schema]) -> dict[str, Any]:
    """Joins branch by branch where both unions have one of that type, and keeps the others."""
    branches: dict[str, dict[str, Any]] = {}
    for branch in (*left, *right):
        kind = "+".join(type_names(branch.get("type", [])))
        branches[kind] = join(branches[kind], branch) if kind in branches else dict(branch)
    found = list(branches.values())
    return found[0] if len(found) == 1 else {"oneOf": found}
