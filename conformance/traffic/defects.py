"""For a constraint and a valid request: the same request with that one thing wrong, and the limit just kept."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from conformance.traffic.carriers import place_of
from spec.keywords import of_type
from spec.model import Constraint
from spec.paths import dotted

UNKNOWN_WORD = "conformance_unknown"
UNKNOWN_FIELD = "conformance_unknown_field"
STEP = 0.1  # how far beyond a limit of a number the nearest defect lies

#: Wrong values by the type that is expected, the least likely to be coerced first.
_WRONG: dict[str, tuple[Any, ...]] = {
    "string": (7, ["x"], {"x": "y"}, True, 1.5, None),
    "integer": ("seven", 1.5, "7", [7], {}, True, None),
    "number": ("warm", "0.5", [1], {}, True, None),
    "boolean": ("perhaps", 1, "true", [], {}, None),
    "array": (7, "x", {}, True, None),
    "object": ("x", [], 7, True, None),
    "null": ("x", 7, []),
}
#: Strings that patterns of names and addresses usually refuse.
_STRANGE = ("https://example.com/picture.png", "not allowed!", "dots.are.not", "", "a/b", "ftp://example.com/x")


@dataclass(frozen=True, slots=True)
class Variant:
    """A changed request (any JSON value) and what the change is, in words."""

    words: str
    body: Any


def defects(constraint: Constraint, body: Any) -> list[Variant]:
    """Requests that break exactly this constraint, the clearest first; empty where `body` has no place for it."""
    found = place_of(constraint, body)
    if found is None:
        return []
    pointer, value = found
    where = name_of(constraint)
    return [
        Variant(f"{where} {words}" if where else f"the body {words}", replaced(body, pointer, wrong))
        for words, wrong in _broken(constraint, value)
    ]


def boundaries(constraint: Constraint, body: Any) -> list[Variant]:
    """Requests that are just within this constraint; empty where it has no limit to stand on."""
    found = place_of(constraint, body)
    if found is None:
        return []
    pointer, value = found
    where = name_of(constraint)
    return [
        Variant(f"{where} {words}", replaced(body, pointer, right)) for words, right in _just_allowed(constraint, value)
    ]


def encoded(body: Any) -> Any:
    """A body as it can be sent: objects as they are, any other JSON value as its bytes."""
    return body if isinstance(body, dict) else json.dumps(body, ensure_ascii=False).encode()


def at_limits(
    constraints: Mapping[str, Constraint], body: Any, keywords: Collection[str]
) -> tuple[Any, dict[str, Variant]]:
    """A request that stands on all limits of these keywords at once, and each of them by itself, by id."""
    together, apart = body, {}
    for requirement, constraint in constraints.items():
        if constraint.keyword not in keywords:
            continue
        for variant in boundaries(constraint, body):
            apart[requirement] = variant
            pointer, _ = place_of(constraint, body) or ("", None)
            together = replaced(together, pointer, at(variant.body, pointer))
    return together, apart


def name_of(constraint: Constraint) -> str:
    """The dotted name of the request field that a constraint is about; '' for the body itself."""
    name = dotted(constraint.path)
    if constraint.keyword == "required":
        return f"{name}.{constraint.value}" if name else str(constraint.value)
    return name


def field_of(constraint: Constraint) -> str:
    """The top-level request field that a constraint is about; '' for the body itself."""
    return name_of(constraint).partition(".")[0]


def _broken(constraint: Constraint, value: Any) -> Iterator[tuple[str, Any]]:
    limit = constraint.value
    match constraint.keyword:
        case "required":
            yield "is missing", {key: member for key, member in value.items() if key != limit}
        case "type":
            for wrong in _WRONG[limit[0]]:
                if not of_type(wrong, limit):
                    yield f"is {_kind(wrong)}", wrong
        case "enum" | "const":
            for wrong in _outside([limit] if constraint.keyword == "const" else limit):
                yield f"is {wrong!r}", wrong
        case "minimum":
            for wrong in (_beyond(constraint, -1), limit - 1000):
                yield f"is {wrong} (below {limit})", wrong
        case "maximum":
            for wrong in (_beyond(constraint, 1), limit + 1_000_000):
                yield f"is {wrong} (above {limit})", wrong
        case "minItems":
            yield f"has {limit - 1} items (fewer than {limit})", _as_long(value, limit - 1)
        case "maxItems":
            yield f"has {limit + 1} items (more than {limit})", _as_long(value, limit + 1)
        case "minLength":
            yield f"has {limit - 1} characters (fewer than {limit})", "x" * (limit - 1)
        case "maxLength":
            yield f"has {limit + 1} characters (more than {limit})", "x" * (limit + 1)
            yield f"has {limit * 4} characters (more than {limit})", "x" * (limit * 4)
        case "pattern":
            for wrong in _STRANGE:
                if not constraint.holds(wrong):
                    yield f"is {wrong!r}", wrong
        case "additionalProperties":
            yield "has a field that is not listed", {**value, UNKNOWN_FIELD: 1}


def _just_allowed(constraint: Constraint, value: Any) -> Iterator[tuple[str, Any]]:
    limit = constraint.value
    match constraint.keyword:
        case "minimum" | "maximum":
            yield f"is {limit}", limit
        case "minItems" | "maxItems":
            yield f"has {limit} items", _as_long(value, limit)
        case "minLength" | "maxLength":
            yield f"has {limit} characters", "x" * limit


def _beyond(constraint: Constraint, direction: int) -> Any:
    limit = constraint.value
    if of_type(0.5, [constraint.schema["type"]]):
        return round(limit + direction * STEP, 6)
    return math.floor(limit) + direction


def _outside(allowed: list[Any]) -> Iterator[Any]:
    """Values of the same kind that are not among the allowed ones."""
    if all(isinstance(value, str) for value in allowed):
        yield UNKNOWN_WORD
        yield from (word for word in (allowed[0].upper(), "") if word not in allowed)
    else:
        numbers = [value for value in allowed if isinstance(value, int)]
        yield max(numbers, default=0) + 1
        yield min(numbers, default=0) - 1


def _as_long(items: list[Any], count: int) -> list[Any]:
    """The items, cut or repeated (strings made distinct) to that many."""
    longer = [*items[:count]]
    while len(longer) < count:
        last = items[-1] if items else "x"
        longer.append(f"{last}{len(longer)}" if isinstance(last, str) else copy.deepcopy(last))
    return longer


def _kind(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"the number {value}"
        case str():
            return f"the string {value!r}"
        case list():
            return "an array" if value else "an empty array"
    return "an object"


def _steps(pointer: str) -> list[str]:
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def at(body: Any, pointer: str) -> Any:
    """The value at a JSON pointer (RFC 6901)."""
    for step in _steps(pointer):
        body = body[int(step)] if isinstance(body, list) else body[step]
    return body


def replaced(body: Any, pointer: str, value: Any) -> Any:
    """A copy of a JSON value with the place of a JSON pointer (RFC 6901) replaced."""
    if not pointer:
        return value
    whole = copy.deepcopy(body)
    above, _, _ = pointer.rpartition("/")
    holder, last = at(whole, above), _steps(pointer)[-1]
    if isinstance(holder, list):
        holder[int(last)] = value
    else:
        holder[last] = value
    return whole
