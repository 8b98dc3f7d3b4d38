"""JSON output: the documented formats, the guarantee of a schema, and schemas that are hard to follow."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.ask import Asker
from conformance.probe import probe
from conformance.traffic.bodies import Bodies, Body
from conformance.traffic.ledger import explore
from conformance.traffic.tools import chain, endless, objects, parameters, recursive

DRAWN = 10
ASK = "Extract the person as JSON: Anna is 31 years old and lives in Oslo."
PROSE = "What is the moon? (JSON)"
PERSON = objects(name={"type": "string"}, age={"type": "integer"})
STRICT_SCHEMAS: dict[str, dict[str, Any]] = {
    "enumeration": objects(city={"enum": ["Oslo", "Rome"]}, adult={"type": "boolean"}),
    "nested": objects(person=PERSON),
    "array": objects(people={"type": "array", "items": PERSON}),
    "reference": {**objects(person={"$ref": "#/$defs/person"}), "$defs": {"person": PERSON}},
    "choice": objects(age={"anyOf": [{"type": "integer"}, {"type": "null"}]}),
    "unicode": objects(größe={"type": "integer"}, 名前={"type": "string"}),
}


def _schema_format(schema: dict[str, Any], strict: bool | None = None) -> dict[str, Any]:
    inner = {"name": "person", "schema": schema, **({} if strict is None else {"strict": strict})}
    return {"type": "json_schema", "json_schema": inner}


def _asking(bodies: Bodies, form: dict[str, Any], **fields: Any) -> Body:
    return bodies.chat(ASK, max_tokens=96, response_format=form, **fields)


@probe("json.every-format-is-accepted", "json.object-mode-yields-json", "json.schema-is-met", cost=3)
def test_every_format(ask: Asker, bodies: Bodies) -> None:
    """Ask in each documented format: text, any JSON object, and JSON by a schema.

    The object is asked for by a question whose natural answer is a sentence, so that only the format makes it JSON
    (some endpoints refuse the format where the prompt does not name JSON).
    """
    prose = bodies.chat(PROSE, max_tokens=96, response_format={"type": "json_object"})
    exchanges = [ask(_asking(bodies, {"type": "text"})), ask(prose), ask(_asking(bodies, _schema_format(PERSON)))]
    ask.case("accepted", ["json.every-format-is-accepted"], asked=exchanges)


@probe("json.strict-schema-is-met", effort="smoke", cost=1)
def test_a_strict_schema(ask: Asker, bodies: Bodies) -> None:
    """Ask by a strict schema: the guarantee that clients build their types on."""
    ask(_asking(bodies, _schema_format(PERSON, strict=True)))


@probe("json.object-mode-yields-json", effort="smoke", cost=1)
def test_object_mode_streamed(ask: Asker, bodies: Bodies) -> None:
    """Ask for a JSON object in a stream: the pieces together must be JSON, without a fence around it."""
    ask(_asking(bodies, {"type": "json_object"}, stream=True))


@pytest.mark.parametrize("trait", STRICT_SCHEMAS)
@probe("json.strict-schema-is-met", effort="exhaustive", cost=2)
def test_unusual_strict_schemas(ask: Asker, bodies: Bodies, trait: str) -> None:
    """Ask by strict schemas of other kinds, whole and streamed."""
    for stream in (False, True):
        ask(_asking(bodies, _schema_format(STRICT_SCHEMAS[trait], strict=True), stream=stream))


@probe("json.strict-schema-is-met", effort="exhaustive", cost=DRAWN)
def test_drawn_strict_schemas(ask: Asker, bodies: Bodies) -> None:
    """Ask by strict schemas that nobody thought of; one that is broken is made smaller before it is reported."""

    def send(schema: dict[str, Any]) -> None:
        ask(
            bodies.chat(
                "Make up an object as JSON.", max_tokens=96, response_format=_schema_format(schema, strict=True)
            )
        )

    explore(ask, parameters(), send, examples=DRAWN)


@probe("json.strict-schema-is-met", "json.object-mode-yields-json", effort="exhaustive", cost=2)
def test_a_question_that_wants_prose(ask: Asker, bodies: Bodies) -> None:
    """Ask for a poem in a JSON format: the format must hold against the wish of the prompt (which names JSON)."""
    for form in (_schema_format(PERSON, strict=True), {"type": "json_object"}):
        ask(bodies.chat("Write a poem about the sea, and no JSON.", max_tokens=256, response_format=form))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("endless", marks=probe("json.difficult-schema-is-survived", cost=1)),
        pytest.param("recursive", marks=probe("json.difficult-schema-is-survived", effort="exhaustive", cost=1)),
        pytest.param("deep", marks=probe("json.difficult-schema-is-survived", cost=1)),
    ],
)
def test_difficult_schemas(ask: Asker, bodies: Bodies, name: str) -> None:
    """Ask by a schema that refers to itself, or nests very deep; refusing it is fine, dying of it is not."""
    schema = {"endless": endless(), "recursive": recursive(), "deep": chain(80)}[name]
    limit = 1 if name == "endless" else 32  # nothing satisfies it, so that no finished text could be held against it
    exchange = ask(bodies.chat("Answer in JSON.", max_tokens=limit, response_format=_schema_format(schema)))
    ask.case("survived", ["json.difficult-schema-is-survived"], {"schema": name}, asked=exchange)
