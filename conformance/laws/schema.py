"""Field-level promises: each constraint derived from the vendor's OpenAPI document, at each place it governs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, TypeVar

import jsonschema_rs

from conformance.laws.registry import Violation
from conformance.laws.relations import shortened
from conformance.wire.exchange import Exchange
from conformance.wire.strict_json import parse
from spec.model import Constraint, Items, Member, Part, Profile, Step, When

F = TypeVar("F")
_NO_JSON = object()  # stands for a body that is not JSON: it fails what must be an object


def judge_schema(exchange: Exchange, profile: Profile, finding: Callable[[str, str, Violation | None], F]) -> list[F]:
    """One finding per constraint that governs something in this answer (the first violation, or kept)."""
    part, instances = _instances(exchange, profile)
    if part is None:
        return []
    findings = []
    for requirement, constraint in profile.constraints.items():
        if constraint.part != part or requirement not in profile.promises:
            continue
        if constraint.unless and any(locate(exchange.asked, constraint.unless)):
            continue  # the request asks for something whose shape the document leaves open
        seen, violation = False, None
        for position, instance in enumerate(instances):
            for place, value in locate(instance, constraint.path):
                seen = True
                violation = violation or _check(constraint, place, value, part, position)
        if seen:
            findings.append(finding(requirement, exchange.id, violation))
    return findings


def _instances(exchange: Exchange, profile: Profile) -> tuple[Part | None, Sequence[Any]]:
    if not exchange.answered or not exchange.sent.url.endswith("/chat/completions"):
        return None, ()
    if exchange.status == 200:
        if exchange.asks_stream:
            chunks = _chunks(exchange)
            return ("chunk", chunks) if chunks else (None, ())
        return "response", [exchange.json.value if exchange.json.ok else _NO_JSON]
    documented = _documented_statuses(profile)
    if exchange.status >= 400 and (str(exchange.status) in documented or "default" in documented):
        return "error", [exchange.json.value if exchange.json.ok else _NO_JSON]
    return None, ()


def _chunks(exchange: Exchange) -> list[Any]:
    """The JSON values of a stream's data events, objects or not, without error events; the terminator is no JSON."""
    values = (parse(event.data.encode()) for event in exchange.stream.events if event.data)
    return [v.value for v in values if v.ok and not (isinstance(v.value, dict) and "error" in v.value)]


def _documented_statuses(profile: Profile) -> frozenset[str]:
    operations = (path["post"] for path in profile.openapi["paths"].values() if "post" in path)
    return frozenset(status for operation in operations for status in operation["responses"])


def locate(value: Any, path: Sequence[Step], place: str = "") -> Iterator[tuple[str, Any]]:
    """The values a path leads to in an instance, each with its place in words (`choices[0].message`)."""
    if not path:
        yield place, value
        return
    step, rest = path[0], path[1:]
    match step:
        case Member(name):
            if isinstance(value, dict) and name in value:
                yield from locate(value[name], rest, f"{place}.{name}" if place else name)
        case Items():
            if isinstance(value, list):
                for index, item in enumerate(value):
                    yield from locate(item, rest, f"{place}[{index}]")
        case When(member, wanted):
            if isinstance(value, dict) and value.get(member) == wanted:
                yield from locate(value, rest, place)


def _check(constraint: Constraint, place: str, value: Any, part: Part, position: int) -> Violation | None:
    where = place or "the body"
    if part == "chunk":
        where = f"{place or 'the chunk'} in chunk {position + 1}"
    if constraint.keyword == "required":
        if value is _NO_JSON:
            return Violation(f"{where} is not JSON", f"an object with {constraint.value!r}", "no JSON")
        if not isinstance(value, dict):
            # Below the root a wrong type is the finding of the constraint on the type.
            return None if place else Violation(f"{where} is not an object", "an object", _short(value))
        if constraint.value in value:
            return None
        return Violation(f"{where} lacks {constraint.value!r}", f"member {constraint.value!r}", _short(value))
    if value is _NO_JSON:
        return Violation(f"{where} is not JSON", f"{constraint.keyword} {_short(constraint.value)}", "no JSON")
    if _validator(constraint.keyword, json.dumps(constraint.value)).is_valid(value):
        return None
    return Violation(
        f"{where} breaks {constraint.keyword}", f"{constraint.keyword} {_short(constraint.value)}", _short(value)
    )


@lru_cache(maxsize=4096)
def _validator(keyword: str, value: str) -> Any:
    return jsonschema_rs.validator_for({keyword: json.loads(value)})


def _short(value: Any) -> str:
    return shortened(value, 300)
