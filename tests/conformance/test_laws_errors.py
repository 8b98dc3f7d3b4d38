"""The laws of error bodies, of repeated refusals and of induced conditions, on exchanges made by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.conformance.judging import KEPT, UNDECIDED, UNSEEN, case_found, case_verdict, verdict
from tests.conformance.made import ASKED, chunk, exchange, refused, streamed, whole

JSON, OBJECT, TEXT = "errors.body-is-json", "errors.body-is-an-error-object", "errors.message-is-text"


@pytest.mark.parametrize("body", [b"", b"<html>", b"[1]", b'"no"', b"null"])
def test_a_refusal_that_is_no_json_object(body: bytes) -> None:
    assert "no JSON object" in verdict(JSON, exchange(ASKED, 400, body))


@pytest.mark.parametrize(
    "body", [{"detail": "no"}, {"error": "no"}, {"message": "no", "type": "x"}, {"error": {"type": "x"}}, {"error": []}]
)
def test_an_object_without_an_error_object(body: Any) -> None:
    x = exchange(ASKED, 422, json.dumps(body).encode())
    assert verdict(JSON, x) == KEPT
    assert "no error object" in verdict(OBJECT, x)
    assert verdict(TEXT, x) == UNSEEN


@pytest.mark.parametrize("message", ["", "  ", None, 5, ["no"], {"text": "no"}])
def test_a_message_that_is_no_text(message: Any) -> None:
    x = refused(400, {"message": message})
    assert verdict(OBJECT, x) == KEPT
    assert "not a text" in verdict(TEXT, x)


def test_a_good_refusal() -> None:
    assert [verdict(one, refused(400, {"message": "no"})) for one in (JSON, OBJECT, TEXT)] == [KEPT] * 3


@pytest.mark.parametrize("status", [408, 425, 502, 504])
def test_gateways_answer_for_themselves(status: int) -> None:
    assert [verdict(one, exchange(ASKED, status, b"<html>")) for one in (JSON, OBJECT, TEXT)] == [UNSEEN] * 3


def test_answers_are_no_refusals() -> None:
    assert [verdict(one, whole()) for one in (JSON, OBJECT, TEXT, "errors.no-internals")] == [UNSEEN] * 4
    cut = replace(exchange(ASKED, 500, b"{"), end="reset")
    assert verdict(JSON, cut) == UNSEEN
    elsewhere = refused()
    elsewhere = replace(elsewhere, sent=replace(elsewhere.sent, url="http://127.0.0.1:9/v1/models"))
    assert verdict(JSON, elsewhere) == UNSEEN


def test_a_body_that_is_no_object_is_not_judged_twice() -> None:
    assert verdict(OBJECT, exchange(ASKED, 400, b"[1]")) == UNSEEN


TYPES = {"types": {"400": ["invalid_request_error"], "429": ["rate_limit_error", "capacity"]}}


@pytest.mark.parametrize(
    ("status", "kind", "kept"),
    [
        (400, "invalid_request_error", True),
        (400, "BadRequestError", False),
        (400, None, False),
        (429, "capacity", True),
        (418, "teapot", True),
    ],
)
def test_types_fit_statuses(status: int, kind: Any, kept: bool) -> None:
    found = verdict("errors.type-fits-the-status", refused(status, {"message": "no", "type": kind}), **TYPES)
    assert (found == KEPT) is kept
    assert verdict("errors.type-fits-the-status", exchange(ASKED, 400, b"no"), **TYPES) == UNSEEN


def test_statuses_that_are_not_listed() -> None:
    listed = {"statuses": [200, 400]}
    assert verdict("errors.documented-statuses-only", whole(), **listed) == KEPT
    assert verdict("errors.documented-statuses-only", refused(400), **listed) == KEPT
    assert "not documented" in verdict("errors.documented-statuses-only", refused(422), **listed)
    assert verdict("errors.documented-statuses-only", refused(422)) == KEPT
    assert verdict("errors.documented-statuses-only", replace(refused(422), end="reset"), **listed) == UNSEEN
    text = refused(415)
    text = replace(text, sent=replace(text.sent, headers=(("Content-Type", "text/plain"),)))
    assert verdict("errors.documented-statuses-only", text, **listed) == UNSEEN


@pytest.mark.parametrize(
    ("headers", "found"),
    [
        ((("content-type", "application/json"), ("x-request-id", "1"), ("accept", "*/*")), "not documented"),
        ((("content-type", "application/a"),), UNSEEN),
        ((), UNSEEN),
    ],
)
def test_only_requests_of_the_documented_kind_are_judged(headers: Any, found: str) -> None:
    x = refused(422)
    x = replace(x, sent=replace(x.sent, headers=headers))
    assert found in verdict("errors.documented-statuses-only", x, statuses=[200, 400])


@pytest.mark.parametrize(
    "message",
    [
        'Traceback (most recent call last):\n  File "server.py", line 1',
        'File "/srv/app/main.py", line 10, in handle',
        "boom at handler (server.js:10:5)",
        "goroutine 12 [running]",
        "thread 'main' panicked",
        "cannot open src/router/chat.py or /code/router/chat.py",
        "no such file: /opt/models/weights.bin",
        "C:\\models\\weights",
        "upstream llm-7.default.svc did not answer",
        "connect to 10.0.3.17:8000 failed",
        "connect to 192.168.1.4 failed",
        "pydantic_core._pydantic_core.ValidationError",
        "got <class 'int'>",
        "<Request object at 0x7f3a2b1c>",
        "[{'type': 'missing', 'loc': ('body',)}]",
    ],
)
def test_a_refusal_that_shows_the_inside(message: str) -> None:
    assert "shows" in verdict("errors.no-internals", refused(400, {"message": message}))


@pytest.mark.parametrize(
    "message",
    [
        "'temperature' must be at most 2 (got 2.1)",
        "messages[0].content: expected a string or an array",
        "See https://example.com/docs/home/errors for help.",
        "use version 10.1.2 or newer at 3:15",
        "Unknown model 'no/such-model'. POST /v1/chat/completions lists none.",
        "Invalid type for 'messages/0/role'",
        "Rate limit reached (error.type rate_limit_error)",
    ],
)
def test_a_refusal_for_people(message: str) -> None:
    assert verdict("errors.no-internals", refused(400, {"message": message})) == KEPT


def test_what_the_request_said_may_come_back() -> None:
    asked = {"model": "/opt/models/mine"}
    x = refused(404, {"message": "no model /opt/models/mine"}, asked)
    assert verdict("errors.no-internals", x) == KEPT


BOTH, AGAIN = "errors.same-streamed-and-whole", "errors.repeat"
ERROR = {"message": "one wording", "type": "invalid_request_error", "code": "c"}


def both(whole_one: Any, streamed_one: Any) -> str:
    return case_verdict("refused-both-ways", BOTH, None, whole=whole_one, streamed=streamed_one)


def test_a_refusal_is_the_same_with_stream() -> None:
    assert both(refused(400, ERROR), refused(400, {**ERROR, "message": "another"})) == KEPT
    assert "another one" in both(refused(400, ERROR), refused(422, ERROR))
    assert "another one" in both(refused(400, ERROR), refused(400, {**ERROR, "code": "d"}))
    assert "another one" in both(refused(400, ERROR), refused(400, {**ERROR, "type": "d"}))
    assert "another one" in both(refused(400, ERROR), exchange(ASKED, 200, b"{}"))


def test_a_refusal_is_no_stream() -> None:
    assert "as a stream" in both(refused(400, ERROR), streamed([{"error": ERROR}]))
    event = b"data: " + json.dumps({"error": ERROR}).encode() + b"\n\n"
    assert "as a stream" in both(refused(400, ERROR), exchange(ASKED, 400, event, "text/event-stream"))


def test_a_refusal_that_only_a_stream_carries() -> None:
    def told(whole_one: Any, streamed_one: Any) -> str:
        requirement = "stream.refusals-are-not-streams"
        return case_verdict("refused-both-ways", requirement, None, whole=whole_one, streamed=streamed_one)

    assert told(refused(400, ERROR), refused(400, ERROR)) == KEPT
    assert "as a stream" in told(refused(400, ERROR), streamed([{"error": ERROR}]))
    assert told(whole(), streamed([chunk({"content": "a"})])) == KEPT
    assert told(refused(429), streamed([])) == UNDECIDED
    assert told(refused(400), replace(refused(), received=None)) == UNDECIDED


def test_every_pair_is_compared() -> None:
    stream = streamed([{"error": ERROR}])
    assert "as a stream; the refusal is another one" in both(
        [refused(400, ERROR), refused(400, ERROR)], [stream, refused(422, ERROR)]
    )
    for requirement in (BOTH, "stream.refusals-are-not-streams"):
        with pytest.raises(ValueError, match="shorter than"):
            case_verdict("refused-both-ways", requirement, None, whole=[refused(), refused()], streamed=refused())


def test_refusals_that_cannot_be_compared() -> None:
    assert both(whole(), whole()) == UNDECIDED
    assert both(refused(503), refused(400)) == UNDECIDED
    assert both(refused(400), refused(429)) == UNDECIDED
    assert both(refused(400), replace(refused(), received=None)) == UNDECIDED


def again(*asked: Any) -> str:
    return case_verdict("refused-again", AGAIN, None, asked=asked)


def test_a_refusal_repeats_itself() -> None:
    assert again(refused(400, ERROR), refused(400, {**ERROR, "message": "other", "type": "t"})) == KEPT
    assert "differently" in again(refused(400, ERROR), refused(400, ERROR), refused(422, ERROR))
    assert "differently" in again(refused(400, ERROR), refused(400, {**ERROR, "code": None}))
    assert "differently" in again(refused(400, ERROR), whole())
    assert again(whole(), refused(400)) == UNDECIDED
    assert again(refused(400), refused(429)) == UNDECIDED


INDUCED = {
    "errors.rate-limit-is-429": ("rate_limit", {"statuses": [429]}, 429),
    "errors.overload-is-429-or-503": ("overload", {"statuses": [429, 503]}, 503),
    "errors.upstream-error-is-500": ("upstream_error", {"statuses": [500], "code": "c"}, 500),
    "errors.timeout-is-500": ("timeout", {"statuses": [500], "code": "c"}, 500),
}


@pytest.mark.parametrize("requirement", INDUCED)
def test_induced_conditions(requirement: str) -> None:
    condition, params, status = INDUCED[requirement]
    facts = {"induce": condition}
    assert verdict(requirement, refused(status, ERROR, facts=facts), **params) == KEPT
    for other in (199, 418):
        assert "status" in verdict(requirement, refused(other, ERROR, facts=facts), **params)
    assert verdict(requirement, whole(facts=facts), **params) == UNDECIDED
    assert verdict(requirement, refused(status, ERROR), **params) == UNSEEN
    assert verdict(requirement, refused(status, ERROR, facts={"induce": "other"}), **params) == UNSEEN
    assert verdict(requirement, replace(refused(facts=facts), received=None), **params) == UNSEEN
    for code in ("a", "other"):
        wrong_code = refused(status, {"message": "no", "code": code}, facts=facts)
        assert (verdict(requirement, wrong_code, **params) == KEPT) is ("code" not in params)


@pytest.mark.parametrize(
    ("headers", "found"),
    [
        ((("Retry-After", "30"),), KEPT),
        ((("retry-after", "0"),), KEPT),
        ((), "no Retry-After"),
        ((("retry-after", "Wed, 21 Oct 2026 07:28:00 GMT"),), "not a number"),
        ((("retry-after", "1.5"),), "not a number"),
        ((("retry-after", "-1"),), "not a number"),
        ((("retry-after", ""),), "not a number"),
        ((("retry-after", "٣"),), "not a number"),
    ],
)
def test_retry_after(headers: Any, found: str) -> None:
    assert found in verdict("errors.retry-after-on-429", refused(429, headers=headers), header="retry-after")
    for other in (400, 503):
        assert verdict("errors.retry-after-on-429", refused(other, headers=headers), header="retry-after") == UNSEEN


def test_a_stream_that_breaks_off_is_not_survived() -> None:
    def survived(x: Any) -> str:
        return case_verdict("survived", "messages.lone-surrogate-is-survived", None, asked=x)

    part = chunk({"content": "a"})
    assert survived(streamed([part])) == KEPT
    assert survived(streamed([part, {"error": ERROR}], ending=b"")) == KEPT
    assert "breaks off" in survived(streamed([part], ending=b""))
    for end in ("budget", "too-large", "hung-up"):
        assert survived(streamed([part], ending=b"", end=end)) == UNDECIDED
    assert survived(whole({"stream": True})) == KEPT
    cut = streamed([part], ending=b"data: {\n\n")
    (violation,) = case_found("survived", "messages.lone-surrogate-is-survived", None, asked=cut)
    assert violation.observed == "'{'"
    assert survived(refused(400)) == KEPT
