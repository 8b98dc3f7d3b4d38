"""Narrows a JSON Schema so that every value it allows is short, without ever leaving the schema.

A weak model, left inside an unbounded string, array, number or recursion, may never come out again. The
narrowed schema allows a subset of the values of the original (JSON Schema 2020-12, validation vocabulary):
absent limits are filled in, members nobody declared are left out, and recursion is cut where it is optional.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Schema = dict[str, Any] | bool

_ANNOTATIONS = {"$comment", "$defs", "$id", "$schema", "default", "definitions", "deprecated", "description"}
_ANNOTATIONS |= {"examples", "readOnly", "title", "writeOnly", "x-guidance"}
_APPLIED = ("$ref", "anyOf", "oneOf", "allOf", "enum", "const")
_KEYWORDS_OF_TYPE = {
    "object": ("properties", "required", "additionalProperties", "patternProperties", "minProperties"),
    "array": ("items", "prefixItems", "minItems", "maxItems"),
    "string": ("minLength", "maxLength", "pattern", "format"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}
_FAR = 10**12


class EndlessSchema(ValueError):
    """No finite value satisfies the schema: its recursion never ends."""


class Unguaranteed(ValueError):
    """A keyword that the grammar would seem to honour and does not; `keyword` names it."""

    def __init__(self, keyword: str, message: str) -> None:
        super().__init__(message)
        self.keyword = keyword


class TooLarge(ValueError):
    """The schema, with its references written out, is larger than is worth narrowing."""


@dataclass(frozen=True, slots=True)
class Caps:
    """The limits for what the schema itself leaves unlimited."""

    string: int = 120
    items: int = 16
    properties: int = 12
    property_name: int = 32
    recursion: int = 3
    nesting: int = 2
    """How deep a value of no declared type may nest."""
    thought: int = 1200
    """Characters of thinking before a constrained answer."""
    calls: int = 8
    nodes: int = 4000


class Narrower:
    """Narrows one root schema; see `narrow`."""

    def __init__(self, root: Schema, caps: Caps) -> None:
        self._root = root
        self._caps = caps
        self._nodes = 0
        self._visits: dict[str, int] = {}

    def narrow(self) -> Schema:
        """The narrowed schema, without references. Raises EndlessSchema or TooLarge."""
        narrowed = self._any_schema(self._root, joined=False)
        if narrowed is False and self._root is not False:
            raise EndlessSchema("the recursion of $ref never ends")
        return narrowed

    def _any_schema(self, schema: object, *, joined: bool) -> Schema:
        """`joined`: another schema applies to the same value, so undeclared members may be declared there."""
        self._nodes += 1
        if self._nodes > self._caps.nodes:
            raise TooLarge("the schema is too large")
        if schema is True or schema == {}:
            return True if joined else self._anything(self._caps.nesting)
        if not isinstance(schema, dict):
            return False
        plain = {key: value for key, value in schema.items() if key not in _ANNOTATIONS}
        if "$ref" in plain:
            return self._reference(plain, joined)
        for key in ("anyOf", "oneOf", "allOf"):
            if isinstance(plain.get(key), list):
                together = joined or key == "allOf" or len(plain) > 1
                branches = [self._any_schema(branch, joined=together) for branch in plain[key]]
                if key == "allOf" and False in branches:
                    return False
                plain[key] = [branch for branch in branches if branch is not False]
                if not plain[key]:
                    return False
                joined = True
        return self._typed(plain, joined)

    def _reference(self, plain: dict[str, Any], joined: bool) -> Schema:
        pointer = plain.pop("$ref")
        target = resolve(self._root, pointer)
        if self._visits.get(pointer, 0) >= self._caps.recursion:
            return False
        self._visits[pointer] = self._visits.get(pointer, 0) + 1
        try:
            narrowed = self._any_schema(target, joined=joined or bool(plain))
        finally:
            self._visits[pointer] -= 1
        if narrowed is False or not plain:
            return narrowed
        beside = self._any_schema(plain, joined=True)
        return False if beside is False else {"allOf": [narrowed, beside]}

    def _typed(self, plain: dict[str, Any], joined: bool) -> Schema:
        if "enum" in plain or "const" in plain:
            return plain
        kinds = plain.get("type")
        if kinds is None and not joined and not any(key in plain for key in _APPLIED):
            # Of all the types that no keyword forbids, the one that the keywords are about.
            meant = [kind for kind, keys in _KEYWORDS_OF_TYPE.items() if any(key in plain for key in keys)]
            if not meant:
                return plain or self._anything(self._caps.nesting)
            kinds = plain["type"] = meant[0]
        kinds = [kinds] if isinstance(kinds, str) else kinds if isinstance(kinds, list) else []
        if "string" in kinds:
            plain.setdefault("maxLength", max(self._caps.string, _number(plain, "minLength", 0)))
        if "number" in kinds or "integer" in kinds:
            self._limit_number(plain, whole="number" not in kinds)
        if "array" in kinds and not self._limit_array(plain):
            kinds = [kind for kind in kinds if kind != "array"]
        if "object" in kinds and not self._limit_object(plain, joined):
            kinds = [kind for kind in kinds if kind != "object"]
        if "type" in plain:
            if not kinds:
                return False
            plain["type"] = kinds[0] if len(kinds) == 1 else kinds
        return plain

    def _limit_number(self, plain: dict[str, Any], *, whole: bool) -> None:
        low = plain.get("minimum", plain.get("exclusiveMinimum"))
        high = plain.get("maximum", plain.get("exclusiveMaximum"))
        if low is None:
            plain["minimum"] = min(-_FAR, high - _FAR) if isinstance(high, int | float) else -_FAR
        if high is None:
            plain["maximum"] = max(_FAR, low + _FAR) if isinstance(low, int | float) else _FAR
        if not whole:
            plain.setdefault("multipleOf", 0.0001)  # otherwise the digits after the point never end

    def _limit_array(self, plain: dict[str, Any]) -> bool:
        """Limit an array's length; False if no array is finite."""
        least = _number(plain, "minItems", 0)
        prefix = plain.get("prefixItems")
        known = len(prefix) if isinstance(prefix, list) else 0
        most = _number(plain, "maxItems", max(self._caps.items, least, known))
        if isinstance(prefix, list):
            plain["prefixItems"] = [self._any_schema(item, joined=False) for item in prefix]
            if False in plain["prefixItems"]:
                known = plain["prefixItems"].index(False)
                plain["prefixItems"] = plain["prefixItems"][:known]
                most = min(most, known)
        if most > known:
            items = plain.get("items", True)
            plain["items"] = items if isinstance(items, list) else self._any_schema(items, joined=False)
            if plain["items"] is False:
                most = known
        else:
            plain["items"] = False
        plain["maxItems"] = most
        return least <= most

    def _limit_object(self, plain: dict[str, Any], joined: bool) -> bool:
        """Limit an object's members; False if a required one is never finite."""
        declared = plain.get("properties", {})
        required = plain.get("required", [])
        if not isinstance(declared, dict) or not isinstance(required, list):
            return True  # malformed: the compiler says so
        members = {name: self._any_schema(member, joined=False) for name, member in declared.items()}
        if any(members.get(name, True) is False for name in required):
            return False
        patterns = plain.get("patternProperties")
        if isinstance(patterns, dict):
            plain["patternProperties"] = {
                pattern: self._any_schema(member, joined=False) for pattern, member in patterns.items()
            }
        others = plain.get("additionalProperties", True)
        if joined or isinstance(patterns, dict):
            if isinstance(others, dict):
                plain["additionalProperties"] = self._any_schema(others, joined=False)
        elif members or required:
            for name in required:
                if name not in members:
                    members[name] = self._any_schema(others, joined=False)
                    if members[name] is False:
                        return False
            if set(required) >= set(members) or "minProperties" not in plain:
                plain["additionalProperties"] = False
        elif others is not False:
            self._open_object(plain, self._any_schema(others, joined=False))
        if members:
            plain["properties"] = members
        return True

    def _open_object(self, plain: dict[str, Any], member: Schema) -> None:
        """An object whose member names are free: few members with short names."""
        least = _number(plain, "minProperties", 0)
        if least > 1:  # a grammar cannot tell that a name came before, and a name that comes twice counts once
            raise Unguaranteed("minProperties", "minProperties above 1 needs declared, required members")
        if member is not False:
            plain["patternProperties"] = {f"^.{{1,{self._caps.property_name}}}$": member}
            plain.setdefault("maxProperties", max(self._caps.properties, least))
        plain["additionalProperties"] = False

    def _anything(self, depth: int) -> Schema:
        """Any JSON value of bounded size."""
        number: dict[str, Any] = {"type": "number"}
        self._limit_number(number, whole=False)
        kinds: list[Schema] = [
            {"type": "string", "maxLength": self._caps.string},
            number,
            {"type": "boolean"},
            {"type": "null"},
        ]
        if depth > 0:
            inner = self._anything(depth - 1)
            open_object: dict[str, Any] = {"type": "object"}
            self._open_object(open_object, inner)
            kinds += [{"type": "array", "items": inner, "maxItems": self._caps.items}, open_object]
        return {"anyOf": kinds}


def _number(plain: Mapping[str, Any], key: str, default: int) -> int:
    value = plain.get(key)
    return int(value) if isinstance(value, int | float) and value >= 0 else default


def resolve(root: Schema, pointer: object) -> object:
    """What a local reference (RFC 6901 pointer in a fragment) points to. Raises LookupError."""
    if not isinstance(pointer, str) or not (pointer == "#" or pointer.startswith("#/")):
        raise LookupError(f"the reference {pointer!r} does not point into the schema")
    place: Any = root
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        try:
            place = place[int(key)] if isinstance(place, list) else place[key]
        except (KeyError, IndexError, ValueError, TypeError) as error:
            raise LookupError(f"the reference {pointer!r} points to nothing") from error
    return place
