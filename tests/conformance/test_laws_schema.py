"""Field-level promises, judged wherever an answer shows the field."""

import json

import pytest

import spec
from conformance.judge import Judge
from tests.conformance.made import call, chunk, completion, exchange, refused, streamed, whole


@pytest.fixture(scope="module")
def judge():
    return Judge(spec.load_profile("serenity-edge"))


def outcome(judge, subject, requirement):
    """kept, violated, or None where the requirement was not seen."""
    found = [f for f in judge.exchange(subject) if f.requirement == requirement]
    return found[0].outcome if found else None


@pytest.mark.parametrize(
    ("requirement", "body", "expected"),
    [
        ("response.id.required", {}, "violated"),
        ("response.id.type", {"id": 7}, "violated"),
        ("response.id.type", {"id": "x"}, "kept"),
        ("response.id.type", {}, None),
        ("response.object.const", {"object": "chat.completions"}, "violated"),
        ("response.choices.message.required", {"choices": [{"index": 0}]}, "violated"),
        ("response.choices.message.content.type", completion(None), "kept"),
        ("response.choices.message.content.type", completion(["a"]), "violated"),
        ("response.choices.finish_reason.enum", completion(finish="end_turn"), "violated"),
        ("response.choices.message.tool_calls.function.arguments.type", completion(), None),
        (
            "response.choices.message.tool_calls.function.arguments.type",
            completion(None, tool_calls=[call(), call(arguments={"a": 1})]),
            "violated",
        ),
        ("response.usage.prompt_tokens.type", {"usage": {"prompt_tokens": 1.5}}, "violated"),
        ("response.usage.prompt_tokens.required", {"usage": {}}, "violated"),
        ("response.usage.prompt_tokens.required", {}, None),
    ],
)
def test_each_constraint_is_judged_where_its_place_exists(judge, requirement, body, expected):
    assert outcome(judge, whole(body=body), requirement) == expected


def test_extra_members_are_never_a_violation(judge):
    body = completion(annotations=[], refusal=None, extra={"a": 1}) | {"service_tier": "x", "more": [1]}
    assert all(f.outcome == "kept" for f in judge.exchange(whole(body=body)) if f.requirement.startswith("response."))


def test_a_body_that_is_not_an_object_fails_what_must_be_there(judge):
    for body in (b"hello", b"[1]", b"null"):
        assert outcome(judge, exchange({"model": "m"}, 200, body), "response.id.required") == "violated"


def test_the_chunk_at_fault_is_named(judge):
    stream = streamed([chunk({"role": "assistant"}), chunk({"content": 7}), chunk({}, "stop")])
    (found,) = [f for f in judge.exchange(stream) if f.requirement == "chunk.choices.delta.content.type"]
    assert found.violation.message == "choices[0].delta.content in chunk 2 breaks type"
    assert found.violation.observed == "7"


def test_an_error_event_is_not_judged_as_a_chunk(judge):
    stream = streamed([chunk({"role": "assistant"}), {"error": {"message": "x"}}], ending=b"")
    assert outcome(judge, stream, "chunk.choices.required") == "kept"


@pytest.mark.parametrize(
    ("status", "error", "requirement", "expected"),
    [
        (400, {"type": "server_error"}, "error.error.message.required", "violated"),
        (400, "text", "error.error.type", "violated"),
        (400, {"message": "m", "type": "NotFoundError"}, "error.error.type.enum", "violated"),
        (400, {"message": "m", "type": "server_error", "code": None}, "error.error.code.type", "kept"),
        (418, {"nothing": 1}, "error.error.message.required", None),
    ],
)
def test_errors_are_judged_under_documented_statuses(judge, status, error, requirement, expected):
    assert outcome(judge, refused(status, error), requirement) == expected


def test_a_shape_that_the_document_leaves_open_is_not_judged():
    judge = Judge(spec.load_profile("ark"))
    body = completion(None, "tool_calls", tool_calls=[{"id": "call_1", "type": "custom", "custom": {"input": "x"}}])
    name = "response.choices.message.tool_calls.function.required"
    custom = {"tools": [{"type": "custom", "custom": {"name": "x"}}]}
    assert outcome(judge, whole(body=body), name) == "violated"
    assert outcome(judge, whole(custom, body), name) is None
    assert json.loads(whole(custom, body).sent.body)["tools"][0]["type"] == "custom"
