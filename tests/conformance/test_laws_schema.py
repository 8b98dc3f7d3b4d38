"""Field-level promises, judged wherever an answer shows the field."""

import json
from dataclasses import replace

import pytest

import spec
from conformance.judge import Judge
from conformance.laws.schema import judge_schema, locate
from spec.model import Items, Member, When
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


def names(subject, profile):
    return judge_schema(subject, profile, lambda requirement, *_: requirement)


@pytest.mark.parametrize(
    ("subject", "part"),
    [
        (whole(), "response."),
        (streamed([chunk({"content": "a"}), chunk({}, "stop")]), "chunk."),
        (refused(400), "error."),
        (refused(500), "error."),
    ],
)
def test_only_the_part_that_came_is_judged(subject, part):
    for profile in map(spec.load_profile, ("ark", "serenity-edge")):
        found = names(subject, profile)
        assert found
        assert all(requirement.startswith(part) for requirement in found)


def test_what_is_not_promised_is_not_judged():
    profile = spec.load_profile("ark")
    fewer = {key: value for key, value in profile.promises.items() if key != "response.id.required"}
    assert "response.id.required" in names(whole(), profile)
    assert names(whole(), replace(profile, promises=fewer)) == [
        one for one in names(whole(), profile) if one != "response.id.required"
    ]


@pytest.mark.parametrize(
    "subject",
    [
        whole(end="timeout"),
        replace(whole(), received=None, end="reset"),
        replace(whole(), sent=replace(whole().sent, url="http://127.0.0.1:9/v1/models")),
        exchange({}, 199, b"{}"),
        refused(399),
        streamed([]),
    ],
)
def test_what_is_no_whole_answer_of_chat_is_not_judged(subject):
    assert names(subject, spec.load_profile("ark")) == []


def test_places_in_words():
    body = {"choices": [{"kind": "a", "text": 1}, {"kind": "b", "text": 2}, {"kind": "c", "text": 3}, 5]}
    path = (Member("choices"), Items(), When("kind", "b"), Member("text"))
    assert list(locate(body, path)) == [("choices[1].text", 2)]
    assert list(locate(body, ())) == [("", body)]
    assert list(locate([{"kind": "b"}], path)) == []


def messages(judge, subject, requirement):
    return [f.violation.message for f in judge.exchange(subject) if f.requirement == requirement and f.violation]


def test_the_place_at_fault_is_named(judge):
    assert messages(judge, whole(body={}), "response.id.required") == ["the body lacks 'id'"]
    bodiless = exchange({"model": "m"}, 200, b"hello")
    assert messages(judge, bodiless, "response.id.required") == ["the body is not JSON"]
    assert messages(judge, exchange({"model": "m"}, 200, b"[1]"), "response.id.required") == [
        "the body is not an object"
    ]
    nameless = streamed([chunk({}), {"choices": []}])
    assert messages(judge, nameless, "chunk.id.required") == ["the chunk in chunk 2 lacks 'id'"]
    wrong = whole(body={**completion(), "choices": [{"index": 0}]})
    assert messages(judge, wrong, "response.choices.message.required") == ["choices[0] lacks 'message'"]


def test_a_shape_that_the_document_leaves_open_is_not_judged():
    judge = Judge(spec.load_profile("ark"))
    body = completion(None, "tool_calls", tool_calls=[{"id": "call_1", "type": "custom", "custom": {"input": "x"}}])
    name = "response.choices.message.tool_calls.function.required"
    custom = {"tools": [{"type": "custom", "custom": {"name": "x"}}]}
    assert outcome(judge, whole(body=body), name) == "violated"
    assert outcome(judge, whole(custom, body), name) is None
    assert outcome(judge, whole(custom, body), "response.usage.total_tokens.type") == "kept"
    assert json.loads(whole(custom, body).sent.body)["tools"][0]["type"] == "custom"
