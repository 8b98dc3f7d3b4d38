"""What a document says of each field, in a few words: the rows that `diff` compares."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from spec.derive import ROOTS, resolve, tag_of
from spec.keywords import type_names
from spec.model import Part

_LIMITS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "pattern": "matches {}",
    "default": "default {}",
}

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Fact:
    """One field: where it is, in which branch of a union (`""` outside of one), and what is said of it."""

    part: Part
    field: str
    branch: str
    says: str


def facts(openapi: Schema) -> list[Fact]:
    """Every field of a document, in its order; a field in several branches of a union comes once for each."""
    return [
        fact
        for part, root in ROOTS.items()
        for fact in _members(openapi, resolve(openapi, openapi["components"]["schemas"][root]), part, "", "")
    ]


def by_field(openapi: Schema) -> dict[tuple[Part, str], str]:
    """(part, field) to what is said of it; where branches differ, each is named with what it says."""
    grouped: dict[tuple[Part, str], dict[str, list[str]]] = {}
    for fact in facts(openapi):
        branches = grouped.setdefault((fact.part, fact.field), {}).setdefault(fact.says, [])
        if fact.branch not in branches:
            branches.append(fact.branch)
    return {
        key: next(iter(said))
        if len(said) == 1
        else "; ".join(f"{' and '.join(filter(None, branches))}: {says}" for says, branches in said.items())
        for key, said in grouped.items()
    }


def _members(openapi: Schema, node: Schema, part: Part, prefix: str, branch: str) -> Iterator[Fact]:
    needed = node.get("required", ())
    for name, child in node.get("properties", {}).items():
        child = resolve(openapi, child)
        field = f"{prefix}{name}"
        need = "required" if name in needed else "expected" if name in node.get("x-expected", ()) else "optional"
        yield Fact(part, field, branch, f"{_says(openapi, child)}; {need}")
        yield from _below(openapi, child, part, field + ".", branch)


def _below(openapi: Schema, node: Schema, part: Part, prefix: str, branch: str) -> Iterator[Fact]:
    node = resolve(openapi, node)
    yield from _members(openapi, node, part, prefix, branch)
    if "items" in node:
        yield from _below(openapi, node["items"], part, prefix, branch)
    for option in node.get("oneOf", ()):
        option = resolve(openapi, option)
        tag = tag_of(openapi, option) if option.get("type") == "object" else None
        name = str(resolve(openapi, option["properties"][tag])["const"]) if tag else branch
        yield from _below(openapi, option, part, prefix, name)


def _says(openapi: Schema, node: Schema) -> str:
    node = resolve(openapi, node)
    if "oneOf" in node:
        return " or ".join(dict.fromkeys(_says(openapi, option) for option in node["oneOf"]))
    if "const" in node:
        return f"always {json.dumps(node['const'])}"
    words = []
    if "enum" in node:
        words.append("one of " + ", ".join(json.dumps(value) for value in node["enum"]))
    else:
        words.append(" or ".join(type_names(node.get("type", "any value"))))
    if "items" in node:
        words[0] += f" of {_says(openapi, node['items'])}"
    words += [text.format(json.dumps(node[word])) for word, text in _LIMITS.items() if word in node]
    if node.get("additionalProperties") is False:
        words.append("nothing else allowed")
    return ", ".join(words)
