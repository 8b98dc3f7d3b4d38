"""The laws of JSON output, on exchanges made by hand."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.judging import KEPT, UNDECIDED, UNSEEN, verdict
from tests.conformance.made import call, chunk, completion, streamed, whole

OBJECT = {"response_format": {"type": "json_object"}}
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def schema_asked(strict: Any = None, schema: Any = SCHEMA) -> dict[str, Any]:
    inner = {"name": "place", "schema": schema, **({} if strict is None else {"strict": strict})}
    return {"response_format": {"type": "json_schema", "json_schema": inner}}


@pytest.mark.parametrize("text", ['{"a": 1}', " [1, 2]\n", '"text"', "null", '{"größe": "12 m"}'])
def test_any_json_will_do(text: str) -> None:
    assert verdict("json.object-mode-yields-json", whole(OBJECT, completion(text))) == KEPT


@pytest.mark.parametrize("text", ["", "Here: {}", "{'a': 1}", '{"a": NaN}', '{"a": 1', "{} {}"])
def test_what_is_not_json(text: str) -> None:
    assert "not JSON" in verdict("json.object-mode-yields-json", whole(OBJECT, completion(text)))


def test_a_fence_is_named() -> None:
    assert "fence" in verdict("json.object-mode-yields-json", whole(OBJECT, completion('```json\n{"a": 1}\n```')))


def test_the_text_of_a_stream_is_joined_first() -> None:
    chunks = [chunk({"content": '{"a"'}), chunk({"content": ": 1}"}), chunk({}, "stop")]
    assert verdict("json.object-mode-yields-json", streamed(chunks, OBJECT)) == KEPT


@pytest.mark.parametrize("finish", ["length", "content_filter", "tool_calls", None])
def test_an_unfinished_text_does_not_decide(finish: Any) -> None:
    assert verdict("json.object-mode-yields-json", whole(OBJECT, completion('{"a"', finish))) == UNDECIDED


def test_neither_do_calls_and_stop_strings() -> None:
    reply = completion("I call", "stop", tool_calls=[call()])
    assert verdict("json.object-mode-yields-json", whole(OBJECT, reply)) == UNDECIDED
    assert verdict("json.object-mode-yields-json", whole({**OBJECT, "stop": ["}"]}, completion('{"a": 1'))) == UNDECIDED


def test_neither_does_a_stream_that_failed() -> None:
    failed = streamed([chunk({"content": '{"a"'}, "stop"), {"error": {"message": "gone"}}], OBJECT, ending=b"")
    assert verdict("json.object-mode-yields-json", failed) == UNDECIDED


def test_other_formats_are_free() -> None:
    assert verdict("json.object-mode-yields-json", whole()) == UNSEEN
    assert verdict("json.object-mode-yields-json", whole({"response_format": {"type": "text"}})) == UNSEEN


@pytest.mark.parametrize(("name", "strict"), [("json.schema-is-met", None), ("json.strict-schema-is-met", True)])
def test_schema(name: str, strict: bool | None) -> None:
    request = schema_asked(strict)
    assert verdict(name, whole(request, completion('{"city": "Oslo"}'))) == KEPT
    assert "breaks the schema" in verdict(name, whole(request, completion('{"town": "Oslo"}')))
    assert "breaks the schema" in verdict(name, whole(request, completion('{"city": 5}')))
    assert "not JSON" in verdict(name, whole(request, completion("Oslo")))
    assert verdict(name, whole(request, completion('{"city', "length"))) == UNDECIDED


def test_strict_and_loose_schemas_are_told_apart() -> None:
    good = completion('{"city": "Oslo"}')
    assert verdict("json.schema-is-met", whole(schema_asked(True), good)) == UNSEEN
    assert verdict("json.strict-schema-is-met", whole(schema_asked(False), good)) == UNSEEN
    for loose in (False, None, 1):
        assert verdict("json.schema-is-met", whole(schema_asked(loose), good)) == KEPT
        assert verdict("json.strict-schema-is-met", whole(schema_asked(loose), good)) == UNSEEN


@pytest.mark.parametrize("schema", [{"type": "nothing"}, {"$ref": "https://example.com/s"}])
def test_an_unusable_schema_does_not_decide(schema: Any) -> None:
    request = schema_asked(True, schema)
    assert verdict("json.strict-schema-is-met", whole(request, completion("{}"))) == UNDECIDED


def test_every_choice_has_to_meet_the_schema() -> None:
    body = completion("Oslo")
    body["choices"].append({**completion('{"city": 5}')["choices"][0], "index": 1})
    found = verdict("json.strict-schema-is-met", whole({**schema_asked(True), "n": 2}, body))
    assert "not JSON" in found
    assert "breaks the schema" in found


@pytest.mark.parametrize("kind", ["json_object", "text", "json_schemas"])
def test_a_schema_beside_another_type_means_nothing(kind: str) -> None:
    request = schema_asked()
    request["response_format"]["type"] = kind
    assert verdict("json.schema-is-met", whole(request, completion('{"city": 5}'))) == UNSEEN


def test_no_schema_no_verdict() -> None:
    assert verdict("json.schema-is-met", whole(schema_asked(None, [1]), completion("{}"))) == UNSEEN
