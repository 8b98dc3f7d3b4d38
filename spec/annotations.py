"""Checks that an OpenAPI document is written in the part of the language that requirements are derived from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from spec.derive import ROOTS, parse_unless
from spec.keywords import ID_WORD
from spec.problems import Problem

_PLAIN = frozenset(
    {"$ref", "type", "const", "enum", "default", "title", "description", "examples", "format", "properties", "items"}
    | {"oneOf", "required", "additionalProperties"}
    | {word for word in ID_WORD if word != "not"}
)
_ANNOTATIONS = frozenset({"x-place", "x-level", "x-levels", "x-needs", "x-unless", "x-expected", "x-tolerates-null"})
_LEVEL_KEYS = frozenset({"level", "basis", "reading", "because"})


def openapi_problems(path: Path, openapi: Any, capabilities: frozenset[str]) -> list[Problem]:
    """What keeps requirements from being derived from a document, or would be overlooked silently."""
    file = str(path)
    if not isinstance(openapi, dict) or not isinstance(openapi.get("components"), dict):
        return [Problem(file, "components", "must be a mapping that holds `schemas`")]
    problems = []
    if not str(openapi.get("openapi", "")).startswith("3.2"):
        problems.append(Problem(file, "openapi", "must be 3.2.0, which has `itemSchema` for event streams"))
    if not any("post" in item for item in (openapi.get("paths") or {}).values()):
        problems.append(Problem(file, "paths", "must have the POST operation of the endpoint"))
    schemas = openapi["components"].get("schemas") or {}
    for part, root in ROOTS.items():
        if root not in schemas:
            problems.append(Problem(file, f"components/schemas/{root}", f"is missing; it is the root of every {part}"))
    for name in _reachable(schemas):
        for place, node in _walk(f"components/schemas/{name}", schemas[name]):
            problems += _node_problems(file, place, node, capabilities)
    return problems


def _reachable(schemas: Mapping[str, Any]) -> list[str]:
    """The components that the roots lead to; others, such as the schema of an event, are not derived from."""
    found: list[str] = []
    waiting = [root for root in ROOTS.values() if root in schemas]
    while waiting:
        name = waiting.pop()
        if name in found or name not in schemas:
            continue
        found.append(name)
        for _, node in _walk("", schemas[name]):
            if "$ref" in node:
                waiting.append(str(node["$ref"]).rsplit("/", 1)[-1])
    return found


def _walk(place: str, node: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if not isinstance(node, dict):
        return
    yield place, node
    for name, child in (node.get("properties") or {}).items():
        yield from _walk(f"{place}/{name}", child)
    if "items" in node:
        yield from _walk(f"{place}/items", node["items"])
    for number, branch in enumerate(node.get("oneOf") or ()):
        yield from _walk(f"{place}/oneOf/{number}", branch)


def _node_problems(file: str, place: str, node: Mapping[str, Any], capabilities: frozenset[str]) -> Iterator[Problem]:
    for key in node:
        if key.startswith("x-") and key not in _ANNOTATIONS:
            yield Problem(file, place, f"unknown annotation `{key}`; known: {', '.join(sorted(_ANNOTATIONS))}")
        elif not key.startswith("x-") and key not in _PLAIN:
            yield Problem(
                file, place, f"no requirement can be derived from `{key}`; say it with {', '.join(sorted(_PLAIN))}"
            )
    levels = {"x-level": node.get("x-level", {}), "x-tolerates-null": node.get("x-tolerates-null", {})}
    levels |= {f"x-levels {keyword}": row for keyword, row in node.get("x-levels", {}).items()}
    for name, row in levels.items():
        for key in row:
            if key not in _LEVEL_KEYS:
                yield Problem(file, place, f"unknown key `{key}` in {name}; known: {', '.join(sorted(_LEVEL_KEYS))}")
    for keyword in node.get("x-levels", {}):
        if keyword != "required" and keyword not in node:
            yield Problem(file, place, f"x-levels speaks of `{keyword}`, which the schema does not have; remove it")
    if node.get("x-needs", "tools") not in capabilities:
        yield Problem(file, place, f"unknown capability in x-needs; known: {', '.join(sorted(capabilities))}")
    for key in ("required", "x-expected"):
        for name in node.get(key, ()):
            if name not in node.get("properties", {}):
                yield Problem(file, place, f"{key} names `{name}`, which is not among the properties; add it there")
    if "x-unless" in node:
        try:
            parse_unless(node["x-unless"])
        except ValueError as error:
            yield Problem(file, place, str(error))
