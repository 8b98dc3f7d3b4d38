"""The arguments of calls: JSON, an object, and with `strict` what the schema says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import jsonschema_rs

from conformance.laws.calls import (
    function_calls,
    names_one_of,
    offered,
    with_finished_calls,
)
from conformance.laws.registry import Undecided, Violation, law
from conformance.laws.relations import shortened
from conformance.reply import ToolCall
from conformance.wire.exchange import Exchange
from spec.model import Promise


def parse_arguments(text: Any) -> Any:
    """The JSON value of a call's arguments; raises ValueError where it is none (NaN is none either)."""
    if not isinstance(text, str):
        raise ValueError(f"a JSON {type(text).__name__} and not a string")
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("nested too deep to be read") from None


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


@law("tools.arguments-are-json", applies=with_finished_calls)
def arguments_are_json(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """The `arguments` of a finished call, joined from its fragments, are one JSON text."""
    for call in function_calls(x, finished=True):
        try:
            parse_arguments(call.arguments)
        except ValueError as problem:
            yield Violation(f"the arguments are not a JSON text: {problem}", "JSON", shortened(call.arguments))


@law("tools.arguments-are-an-object", applies=with_finished_calls)
def arguments_are_an_object(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """The `arguments` of a finished call decode to an object, and not to a string or anything else."""
    decoded = list(_decoded(x))
    if not decoded:
        raise Undecided("no arguments that could be decoded")
    for _, value in decoded:
        if not isinstance(value, dict):
            kind = "a string (encoded twice)" if isinstance(value, str) else "no object"
            yield Violation(f"the arguments decode to {kind}", "an object", shortened(value))


def _decoded(x: Exchange) -> Iterator[tuple[ToolCall, Any]]:
    for call in function_calls(x, finished=True):
        try:
            yield call, parse_arguments(call.arguments)
        except ValueError:
            continue  # that is the finding of the law on JSON


def _strict_schemas(x: Exchange) -> dict[str, Any]:
    return {name: one.get("parameters", {}) for name, one in offered(x).items() if one.get("strict") is True}


@law(
    "tools.strict-arguments-match-schema",
    applies=lambda x: (
        with_finished_calls(x)
        and any(names_one_of(call, _strict_schemas(x)) for call in function_calls(x, finished=True))
    ),
)
def strict_arguments_match_schema(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """The arguments of a finished call of a `strict` function satisfy its `parameters`."""
    schemas = _strict_schemas(x)
    decoded = [(call, value) for call, value in _decoded(x) if names_one_of(call, schemas) and isinstance(value, dict)]
    if not decoded:
        raise Undecided("no strict arguments that decode to an object")
    for call, value in decoded:
        problem = schema_problem(schemas[str(call.name)], value)
        if problem:
            yield Violation(
                f"the arguments break the schema: {problem}", shortened(schemas[str(call.name)]), shortened(value)
            )


def schema_problem(schema: Any, value: Any) -> str | None:
    """What of a JSON Schema an instance breaks, or None; Undecided where the schema itself cannot be used."""
    try:
        validator = _validator(json.dumps(schema))
    except (ValueError, TypeError, RecursionError) as problem:
        raise Undecided(f"the schema cannot be used: {str(problem)[:200]}") from None
    error = next(iter(validator.iter_errors(value)), None)
    if error is None:
        return None
    where = "/".join(map(str, error.instance_path))
    return f"{shortened(error.message, 200)} at /{where}"


@lru_cache(maxsize=512)
def _validator(schema: str) -> Any:
    return jsonschema_rs.validator_for(json.loads(schema), retriever=_no_retrieval)


def _no_retrieval(uri: str) -> Any:
    raise ValueError(f"{uri} is not fetched")
