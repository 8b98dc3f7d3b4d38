"""Schemas that are no schemas: shown to the model, never fatal."""

from __future__ import annotations

import pytest

from tests.reference.dialects.endpoint import TEXT, Endpoint

ODD = [
    {"type": "object", "properties": {"city": {"type": "string", "maxLength": "🐢" * 50}}},
    {"type": "object", "properties": {"city": {"type": ["🐢" * 40]}}, "required": [["city"]]},
    {"properties": [], "required": {}},
    {"type": 7, "enum": [], "items": "x"},
    {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}},
]


@pytest.mark.parametrize("schema", ODD, ids=range(len(ODD)))
@pytest.mark.parametrize("choice", ["auto", "required"])
def test_parameters(either: Endpoint, schema: dict, choice: str) -> None:
    tools = [{"type": "function", "function": {"name": "f", "parameters": schema}}]

    response = either.post(messages=TEXT, tools=tools, tool_choice=choice)

    assert response.status_code == 200, response.text


@pytest.mark.parametrize("schema", ODD, ids=range(len(ODD)))
@pytest.mark.parametrize("strict", [False, True])
def test_formats(either: Endpoint, schema: dict, strict: bool) -> None:
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema, "strict": strict}}

    response = either.post(response_format=form)

    guaranteed = strict and "/api/" not in either.url
    assert response.status_code == (400 if guaranteed else 200), response.text
