"""Tool definitions as signatures: short, and complete."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference_impl.chat.signatures import json_request, tool_signature


def signature(properties, required=(), **more):
    parameters = {"type": "object", "properties": properties, "required": list(required), **more}
    return tool_signature({"name": "f", "parameters": parameters})


@pytest.mark.parametrize(
    ("schema", "shown"),
    [
        ({"type": "string"}, "string"),
        ({"type": "string", "enum": ["a", "b"]}, "a|b"),
        ({"enum": [1, None, "x"]}, "1|null|x"),
        ({"type": "string", "description": "The city"}, "string (The city)"),
        ({"type": "integer", "minimum": 1, "maximum": 9}, 'integer {"minimum":1,"maximum":9}'),
        ({"type": "array", "items": {"type": "number"}}, "[number]"),
        ({"type": "array", "items": {"type": "string"}, "minItems": 2}, '[string] {"minItems":2}'),
        ({"type": "array"}, "array"),
        ({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}, "{a: string}"),
        ({"properties": {"a": {"type": "string"}}}, "{a?: string}"),
        ({"type": "object"}, "object"),
        ({"type": ["string", "null"]}, '{"type":["string","null"]}'),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, '{"anyOf":[{"type":"string"},{"type":"null"}]}'),
        ({"$ref": "#/$defs/a"}, '{"$ref":"#/$defs/a"}'),
        (True, "true"),
        ({}, "{}"),
    ],
)
def test_a_parameter(schema, shown):
    assert signature({"x": schema}, ["x"]) == f"f(x: {shown})"


def test_optional_names_carry_a_question_mark():
    assert signature({"a": {"type": "string"}, "b": {"type": "string"}}, ["b"]) == "f(a?: string, b: string)"


def test_description_follows():
    assert tool_signature({"name": "f", "description": "Does it."}) == "f() // Does it."


def test_definitions_beside_the_properties_are_shown():
    assert signature({}, **{"$defs": {"a": {"type": "string"}}}) == 'f() {"$defs":{"a":{"type":"string"}}}'


def test_required_names_without_a_property_are_shown():
    assert signature({"a": {"type": "string"}}, ["a", "ghost"]) == 'f(a: string) {"required":["ghost"]}'


@pytest.mark.parametrize(
    "odd", [[], "text", 7, {"type": "object", "properties": []}, {"type": "object", "required": "a"}]
)
def test_odd_parameters_do_not_fail(odd):
    assert tool_signature({"name": "f", "parameters": odd}).startswith("f(")


leaves = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5))
anything = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["type", "enum", "items", "properties", "required", "description", "anyOf", "x"]),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=12,
)


@given(anything)
@settings(max_examples=300, deadline=None)
def test_any_json_value_as_a_schema_gives_one_signature(schema):
    assert signature({"x": schema}).startswith("f(x?: ")


@given(st.dictionaries(st.text(min_size=1, max_size=8), st.text(min_size=1, max_size=8), min_size=1, max_size=4))
@settings(max_examples=100, deadline=None)
def test_every_description_is_visible(described):
    text = signature({name: {"type": "string", "description": note} for name, note in described.items()})
    for name, note in described.items():
        assert f"{name}?: string ({note})" in text


def test_request_for_json():
    assert json_request() == "Answer only with a JSON object."
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    assert json_request(schema) == "Answer only with JSON of this form: {a: integer}"
    assert json.dumps("é", ensure_ascii=False) in json_request({"const": "é"})
