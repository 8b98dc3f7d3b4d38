"""The documents are valid OpenAPI, and schemathesis generates right and wrong requests from them."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import jsonschema_rs
import pytest

import spec
from spec.derive import ROOTS
from spec.generation import TOKEN_LIMITS, bounded, whole_numbers

PROFILES = spec.profile_names()
EVERYTHING = frozenset({"tools", "json", "vision", "reasoning"})


@cache
def document(profile: str, cheap: bool) -> Any:
    openapi = spec.load_profile(profile).openapi
    return bounded(openapi, ["some/model"], offers=EVERYTHING) if cheap else openapi


@cache
def request_validator(profile: str, cheap: bool) -> jsonschema_rs.Validator:
    openapi = document(profile, cheap)
    root = {"$ref": f"#/components/schemas/{ROOTS['request']}", "components": openapi["components"]}
    return jsonschema_rs.validator_for(root)


def generate(openapi: Any, positive: bool, examples: int = 15) -> list[Any]:
    """Bodies that schemathesis makes of a document, bare bytes and header mischief left out."""
    import schemathesis
    from hypothesis import HealthCheck, Phase, given, seed, settings
    from schemathesis.generation import GenerationMode

    config = schemathesis.Config.from_dict({"generation": {"with-security-parameters": False}})
    operation = schemathesis.openapi.from_dict(openapi, config=config)["/chat/completions"]["POST"]
    mode = GenerationMode.POSITIVE if positive else GenerationMode.NEGATIVE
    bodies: list[Any] = []

    @seed(1)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def collect(case: Any) -> None:
        bodies.append(case.body)

    collect()
    return [whole_numbers(body) for body in bodies if body is None or isinstance(body, dict | list | str | int | float)]


@pytest.mark.parametrize("profile", PROFILES)
def test_document_is_valid(profile: str):
    from openapi_spec_validator import validate

    validate(document(profile, cheap=False))


@pytest.mark.parametrize("profile", PROFILES)
def test_document_streams_by_item_schema(profile: str):
    operation = document(profile, cheap=False)["paths"]["/chat/completions"]["post"]
    stream = operation["responses"]["200"]["content"]["text/event-stream"]
    assert "itemSchema" in stream
    assert "schema" not in stream


@pytest.mark.parametrize("profile", [name for name in PROFILES if name != "portable"])
def test_examples_of_the_document_are_valid(profile: str):
    components = document(profile, cheap=False)["components"]
    roots = {"Conversation": "request", "Stream": "chunk"}
    for name, example in components["examples"].items():
        schema = {"$ref": f"#/components/schemas/{ROOTS[roots.get(name, 'response')]}", "components": components}
        instances = events(example["value"]) if name == "Stream" else [example["value"]]
        assert all(jsonschema_rs.validator_for(schema).is_valid(instance) for instance in instances), name


def events(stream: str) -> list[Any]:
    """The chunks of a stream written as text, whose last event is the terminator."""
    *chunks, last, rest = stream.split("\n\n")
    assert (last, rest) == ("data: [DONE]", "")
    return [json.loads(chunk.removeprefix("data: ")) for chunk in chunks]


@pytest.mark.parametrize("cheap", [False, True], ids=["whole", "bounded"])
@pytest.mark.parametrize("profile", PROFILES)
def test_positive_requests_are_valid(profile: str, cheap: bool):
    bodies = generate(document(profile, cheap), positive=True)
    assert bodies
    assert all(request_validator(profile, cheap).is_valid(body) for body in bodies)


@pytest.mark.parametrize("profile", PROFILES)
def test_negative_requests_are_invalid(profile: str):
    bodies = generate(document(profile, cheap=False), positive=False)
    wrong = [body for body in bodies if not request_validator(profile, False).is_valid(body)]
    assert len(wrong) >= len(bodies) // 2 > 0


@pytest.mark.parametrize("profile", PROFILES)
def test_bounded_requests_are_cheap_and_still_valid_for_the_vendor(profile: str):
    for body in generate(document(profile, cheap=True), positive=True, examples=30):
        assert request_validator(profile, False).is_valid(body)
        assert body["model"] == "some/model"
        assert all(1 <= body[name] <= 16 for name in TOKEN_LIMITS if name in body)
        assert "max_tokens" in body
        assert body.get("n", 1) <= 2
        assert len(body["messages"]) <= 3
        assert not {name for name in body if name.startswith("ark_")}


@pytest.mark.parametrize("profile", PROFILES)
def test_bounded_requests_use_only_what_is_offered(profile: str):
    openapi = bounded(spec.load_profile(profile).openapi, ["m"], offers=frozenset())
    request = openapi["components"]["schemas"][ROOTS["request"]]
    fields = set(request["properties"])
    assert not fields & {"tools", "tool_choice", "response_format", "reasoning", "reasoning_effort", "ark_stateful"}
    assert "image_url" not in str(request)
    assert request["additionalProperties"] is False
    assert {"temperature", "stop", "stream"} <= fields


def test_bounded_leaves_the_document_as_it_was():
    openapi = spec.load_profile("ark").openapi
    before = repr(openapi)
    bounded(openapi, ["m"])
    assert repr(openapi) == before


@pytest.mark.parametrize(
    ("value", "whole"),
    [(4.0, 4), ({"a": [1.0, 0.5]}, {"a": [1, 0.5]}), (2.0**60, 2.0**60), (True, True), ("4.0", "4.0")],
)
def test_whole_numbers(value: Any, whole: Any):
    assert repr(whole_numbers(value)) == repr(whole)
