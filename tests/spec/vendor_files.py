"""The vendors' files in memory, to take something away from them and see who notices."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import spec
from spec.catalogue import load_readings, load_requirements
from spec.derive import ROOTS
from spec.files import SPEC_DIR, read_yaml
from spec.problems import Problem, SpecError
from spec.vendor import assemble

VENDORS = [name for name in spec.profile_names() if name != "portable"]
LIMITS = ("minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength", "pattern", "const")
FILES = {
    name: {
        part: read_yaml(SPEC_DIR / "vendors" / name.replace("-", "_") / f"{part}.yaml")
        for part in ("openapi", "document", "promises")
    }
    for name in VENDORS
}
REQUIREMENTS, READINGS = load_requirements(SPEC_DIR), load_readings(SPEC_DIR)


def problems_of(name: str, **files: Any) -> list[Problem]:
    """What the loader says of a vendor with some of its files replaced; nothing if it loads."""
    folder = SPEC_DIR / "vendors" / name.replace("-", "_")
    try:
        assemble(folder, {**FILES[name], **files}, REQUIREMENTS, READINGS)
    except SpecError as error:
        return list(error.problems)
    return []


def nodes(openapi: Any) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Every schema that requirements are derived from, with its path in the document."""
    seen: set[str] = set()
    waiting = list(ROOTS.values())
    while waiting:
        component = waiting.pop()
        if component in seen:
            continue
        seen.add(component)
        for path, node in _below(("components", "schemas", component), openapi["components"]["schemas"][component]):
            yield path, node
            if "$ref" in node:
                waiting.append(node["$ref"].rsplit("/", 1)[-1])


def _below(path: tuple[str | int, ...], node: Any) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    yield path, node
    for name, child in node.get("properties", {}).items():
        yield from _below((*path, "properties", name), child)
    if "items" in node:
        yield from _below((*path, "items"), node["items"])
    for number, branch in enumerate(node.get("oneOf", ())):
        yield from _below((*path, "oneOf", number), branch)


def without(openapi: Any, path: tuple[str | int, ...]) -> Any:
    """A copy of a document without the member or item at a path."""
    result = copy.deepcopy(openapi)
    target = result
    for step in path[:-1]:
        target = target[step]
    del target[path[-1]]
    return result


def cuts(openapi: Any) -> Iterator[tuple[str | int, ...]]:
    """The path of every enum member, branch of a tagged union, limit, required member and property of a document."""
    for path, node in nodes(openapi):
        yield from ((*path, "enum", number) for number in range(len(node.get("enum", ()))))
        yield from ((*path, "oneOf", n) for n, branch in enumerate(node.get("oneOf", ())) if "$ref" in branch)
        yield from ((*path, keyword) for keyword in LIMITS if keyword in node)
        for key in ("required", "x-expected"):
            yield from ((*path, key, number) for number in range(len(node.get(key, ()))))
        yield from ((*path, "properties", name) for name in node.get("properties", {}))
