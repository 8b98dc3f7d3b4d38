"""Derives the field-level requirements of a vendor from its OpenAPI document.

Ids are `part.path.constraint` (grammar in README.md). Besides JSON Schema these annotations are read, the first
four of which are inherited by everything below them:

- `x-place`: the place of `document.yaml` a property comes from, where that is not the field's own path;
- `x-level`: basis (and level, reading, because) of every constraint here, weaker than the vendor's default;
- `x-needs`: the capability a field belongs to;
- `x-unless`: `tools[type=custom]`, a part of the request that leaves this place of the reply open;
- `x-levels`: the same as `x-level` for single keywords (`required` stands at the property, not at its object);
- `x-expected`: members that an object should have, where the document does not quite say that it must;
- `x-tolerates-null`: null is not among the types, but finding it breaks only a `should`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from spec.keywords import ID_WORD, type_names
from spec.model import Constraint, Part
from spec.paths import Items, Member, Step, When

#: The component that is the root of each part.
ROOTS: dict[Part, str] = {
    "request": "ChatCompletionRequest",
    "response": "ChatCompletion",
    "chunk": "ChatCompletionChunk",
    "error": "ErrorResponse",
}
_LIMITS = ("enum", "const", "minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength", "pattern")

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Derived:
    """One derived requirement: its constraint, and what the OpenAPI document says about its promise."""

    id: str
    constraint: Constraint
    places: tuple[str, ...]
    #: level, basis, reading and because, as far as the document overrides the vendor's default
    annotation: Mapping[str, str]
    #: for a union's tag: which of its values comes from which place
    tags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def stated(self) -> Iterator[tuple[str, str, Any]]:
        """(place, keyword, value) of every list of values and every limit; a union's tags by place as `tags`."""
        keyword = self.constraint.keyword
        if self.tags and keyword == "enum":
            for place, values in self.tags.items():
                yield place, "tags", list(values)
        elif keyword in _LIMITS:
            for place in self.places:
                yield place, keyword, self.constraint.value


@dataclass(frozen=True, slots=True)
class _Spot:
    """Where the walk is: what a place inherits from those above it."""

    part: Part
    name: str
    path: tuple[Step, ...] = ()
    place: str = ""
    level: Mapping[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    unless: tuple[Step, ...] = ()
    optional: bool = False

    def inherit(self, schema: Schema) -> _Spot:
        unless = schema.get("x-unless")
        return replace(
            self,
            place=schema.get("x-place", self.place),
            level=schema.get("x-level", self.level),
            needs=(schema["x-needs"],) if "x-needs" in schema else self.needs,
            unless=parse_unless(unless) if unless else self.unless,
        )

    def places(self) -> tuple[str, ...]:
        return (self.place or self.name,)


def derive(openapi: Schema) -> list[Derived]:
    """Every field-level requirement of a document, in the order of its schemas."""
    return [
        row
        for part, root in ROOTS.items()
        for row in _walk(openapi, openapi["components"]["schemas"][root], _Spot(part, part))
    ]


def request_fields(openapi: Schema) -> frozenset[str]:
    """The dotted paths of all request fields the document lists (`messages.content`, `stream_options`, …)."""
    found: set[str] = set()

    def visit(node: Schema, prefix: str) -> None:
        node = resolve(openapi, node)
        for branch in node.get("oneOf", ()):
            visit(branch, prefix)
        if "items" in node:
            visit(node["items"], prefix)
        for name, child in node.get("properties", {}).items():
            found.add(prefix + name)
            visit(child, prefix + name + ".")

    visit(openapi["components"]["schemas"][ROOTS["request"]], "")
    return frozenset(found)


def resolve(openapi: Schema, node: Schema) -> Schema:
    """A schema with `$ref` followed; keywords beside the reference win."""
    while "$ref" in node:
        target: Any = openapi
        for step in node["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        node = {**target, **{key: value for key, value in node.items() if key != "$ref"}}
    return node


def parse_unless(text: str) -> tuple[Step, ...]:
    """`tools[type=custom]` as a path: some item of `tools` whose `type` is `custom`."""
    match = re.fullmatch(r"(\w+)\[(\w+)=(\w+)\]", text)
    if match is None:
        raise ValueError(f"x-unless must look like tools[type=custom], not {text!r}")
    return (Member(match[1]), Items(), When(match[2], match[3]))


def tag_of(openapi: Schema, branch: Schema) -> str | None:
    """The member that tells a union's object branch from the others: a required one with a constant value."""
    for name in branch.get("required", ()):
        if "const" in resolve(openapi, branch["properties"].get(name, {})):
            return str(name)
    return None


def _walk(openapi: Schema, node: Schema, spot: _Spot) -> Iterator[Derived]:
    node = resolve(openapi, node)
    spot = spot.inherit(node)
    if "oneOf" in node:
        yield from _union(openapi, node, spot)
        return
    if "type" in node:
        yield from _type(node, type_names(node["type"]), spot)
    yield from _limits(node, spot)
    yield from _inside(openapi, node, spot)


def _type(node: Schema, types: list[str], spot: _Spot) -> Iterator[Derived]:
    tolerated = node.get("x-tolerates-null")
    if spot.part == "request" and spot.optional and "null" not in types:
        types = [*types, "null"]  # AMB-59: null for an optional field is asserted neither way
    elif tolerated:
        types = [*types, "null"]
        yield _row(spot, "not", {"type": "null"}, node, {"level": "should", **tolerated})
    yield _row(spot, "type", types, node)


def _limits(node: Schema, spot: _Spot, skip: tuple[str, ...] = ()) -> Iterator[Derived]:
    for keyword in _LIMITS:
        if keyword in node and keyword not in skip:
            yield _row(spot, keyword, node[keyword], node)
    if node.get("additionalProperties") is False:
        yield _row(spot, "additionalProperties", False, node)


def _inside(openapi: Schema, node: Schema, spot: _Spot, tag: str | None = None) -> Iterator[Derived]:
    required, expected = node.get("required", ()), node.get("x-expected", ())
    for name, child in node.get("properties", {}).items():
        if name == tag:
            continue
        child = resolve(openapi, child)
        below = replace(spot, name=f"{spot.name}.{name}", path=(*spot.path, Member(name))).inherit(child)
        below = replace(below, optional=name not in required)
        if name in required or name in expected:
            row = _row(replace(below, path=spot.path), "required", name, node, _own(child, "required"))
            if name in expected and "level" not in row.annotation:
                row = replace(row, annotation={"level": "should", **row.annotation})
            yield row
        yield from _walk(openapi, child, below)
    if "items" in node:
        item = resolve(openapi, node["items"])
        below = replace(spot, path=(*spot.path, Items()), optional=False)
        yield from _walk_item(openapi, item, below)


def _walk_item(openapi: Schema, item: Schema, spot: _Spot) -> Iterator[Derived]:
    """An array's items: what is said of the item itself ends in `item.…`, its members need no extra word."""
    own = replace(spot.inherit(item), name=f"{spot.name}.item", place=item.get("x-place") or spot.places()[0])
    if "oneOf" in item:
        yield from _union(openapi, item, spot.inherit(item), own)
        return
    if "type" in item:
        yield from _type(item, type_names(item["type"]), own)
    yield from _limits(item, own)
    yield from _inside(openapi, item, spot.inherit(item))


def _union(openapi: Schema, node: Schema, spot: _Spot, own: _Spot | None = None) -> Iterator[Derived]:
    """A `oneOf`: the types together, the keywords of the plain branches, and the object branches by their tag."""
    own = own or spot
    branches = [resolve(openapi, branch) for branch in node["oneOf"]]
    types = list(dict.fromkeys(name for branch in branches for name in type_names(branch["type"])))
    yield from _type(node, types, own)
    tagged: dict[str, list[tuple[Schema, Any]]] = {}
    for branch in branches:
        tag = tag_of(openapi, branch) if branch["type"] == "object" else None
        if tag:
            tagged.setdefault(tag, []).append((branch, resolve(openapi, branch["properties"][tag])))
        else:
            yield from _limits(branch, own.inherit(branch))
            yield from _inside(openapi, branch, spot.inherit(branch))
    for tag, pairs in tagged.items():
        yield from _tag(tag, pairs, spot)
        for branch, constant in pairs:
            value = constant["const"]
            below = replace(spot, name=f"{spot.name}.{value}", path=(*spot.path, When(tag, value)))
            yield from _limits(branch, below.inherit(branch))
            yield from _inside(openapi, branch, below.inherit(branch), tag)


def _tag(tag: str, pairs: list[tuple[Schema, Any]], spot: _Spot) -> Iterator[Derived]:
    values = [constant["const"] for _, constant in pairs]
    spots = [
        replace(spot, name=f"{spot.name}.{constant['const']}.{tag}").inherit(branch).inherit(constant)
        for branch, constant in pairs
    ]
    by_place: dict[str, tuple[str, ...]] = {}
    for value, place in zip(values, (place for one in spots for place in one.places()), strict=True):
        by_place[place] = (*by_place.get(place, ()), value)
    # one branch that is stated in full makes the tag as strong as that branch
    level = min((one.level for one in spots), key=len)
    below = replace(spot, name=f"{spot.name}.{tag}", level=level)
    schema = {"type": "string", "enum": values}
    for row in (
        _row(replace(below, path=spot.path), "required", tag, {"type": "object"}),
        _row(replace(below, path=(*spot.path, Member(tag))), "enum", values, schema),
    ):
        yield replace(row, places=tuple(by_place), tags=by_place)


def _own(node: Schema, keyword: str) -> Mapping[str, str]:
    found: Mapping[str, str] = node.get("x-levels", {}).get(keyword, {})
    return found


def _row(spot: _Spot, keyword: str, value: Any, schema: Schema, annotation: Mapping[str, str] | None = None) -> Derived:
    own = _own(schema, keyword) if annotation is None else annotation
    constraint = Constraint(spot.part, spot.path, keyword, value, schema, spot.unless, spot.needs)
    return Derived(f"{spot.name}.{ID_WORD[keyword]}", constraint, spot.places(), own or spot.level)
