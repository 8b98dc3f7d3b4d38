"""JSON output: a finished text in a JSON format is JSON, and satisfies the schema where one is given."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from conformance.laws.calls import member_of
from conformance.laws.conditions import readable
from conformance.laws.registry import Undecided, Violation, law
from conformance.laws.relations import shortened
from conformance.laws.tool_arguments import schema_problem
from conformance.reply import reply_of
from conformance.wire.exchange import Exchange
from spec.model import Promise


def format_kind(x: Exchange) -> Any:
    """The `type` of the request's `response_format`, None where it has none."""
    return member_of(x.asks("response_format"), "type")


def _schema(x: Exchange) -> Any:
    return member_of(member_of(x.asks("response_format"), "json_schema"), "schema")


def _strict(x: Exchange) -> bool:
    return member_of(member_of(x.asks("response_format"), "json_schema"), "strict") is True


def _asks_schema(x: Exchange, strict: bool) -> bool:
    return readable(x) and format_kind(x) == "json_schema" and isinstance(_schema(x), dict) and _strict(x) is strict


def _finished_texts(x: Exchange) -> list[str]:
    """The texts that the model ended by itself; undecided where there is none (cut, stopped, or a call)."""
    reply = reply_of(x)
    choices = reply.choices.values() if reply and not x.error_events else ()
    texts = [one.content for one in choices if one.finish_reason == "stop" and not one.calls]
    if not texts or x.asks("stop"):
        raise Undecided("no text that the model finished by itself")
    return texts


def _parsed(text: str) -> Any:
    """The JSON value of a text; raises ValueError where the text is not JSON and nothing else."""
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("nested too deep to be read") from None


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _not_json(text: str, problem: ValueError) -> Violation:
    if "```" in text:
        return Violation("the JSON is wrapped in a Markdown fence", "JSON and nothing else", shortened(text))
    return Violation(f"the finished text is not JSON: {problem}", "JSON and nothing else", shortened(text))


@law("json.object-mode-yields-json", applies=lambda x: readable(x) and format_kind(x) == "json_object")
def object_mode_yields_json(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """With `json_object` the joined text of a finished choice is one JSON text, without fence or remark."""
    for text in _finished_texts(x):
        try:
            _parsed(text)
        except ValueError as problem:
            yield _not_json(text, problem)


def _meets_schema(x: Exchange) -> Iterator[Violation]:
    schema = _schema(x)
    for text in _finished_texts(x):
        try:
            value = _parsed(text)
        except ValueError as problem:
            yield _not_json(text, problem)
            continue
        broken = schema_problem(schema, value)
        if broken:
            yield Violation(f"the finished text breaks the schema: {broken}", shortened(schema), shortened(text))


@law("json.schema-is-met", applies=lambda x: _asks_schema(x, strict=False))
def schema_is_met(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """With a `json_schema` that is not strict a finished text is JSON that satisfies it."""
    yield from _meets_schema(x)


@law("json.strict-schema-is-met", applies=lambda x: _asks_schema(x, strict=True))
def strict_schema_is_met(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """With a strict `json_schema` a finished text is JSON that satisfies it."""
    yield from _meets_schema(x)
