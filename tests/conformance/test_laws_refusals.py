"""The laws of refusals and of limits that are just kept, on cases made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from conformance.laws.refusals import error_of, is_refusal, statuses_of
from conformance.laws.registry import Undecided
from tests.conformance.judging import KEPT, UNDECIDED, UNSEEN, case_found, case_verdict, promise
from tests.conformance.made import exchange, refused, streamed, whole

ID = "request.temperature.maximum"
BROKEN = {"broken": "temperature is 2.1 (above 2)"}


def judged(defect: Any, control: Any = None, /, **params: Any) -> str:
    return case_verdict("refused", ID, BROKEN, control=control or whole(), defect=defect, params=params)


def unanswered(end: str = "reset") -> Any:
    return replace(refused(), received=None, end=end)


def test_a_refused_defect_next_to_an_accepted_control() -> None:
    assert judged(refused(400)) == KEPT
    assert judged(refused(422)) == KEPT
    assert judged(refused(499)) == KEPT


def test_an_accepted_defect_is_named() -> None:
    assert judged(whole()) == "temperature is 2.1 (above 2), and the request was accepted"
    assert "accepted" in judged(streamed([]))


@pytest.mark.parametrize("status", [500, 501, 302, 204, 199])
def test_a_status_that_is_neither(status: int) -> None:
    assert f"answered with {status}" in judged(refused(status))


@pytest.mark.parametrize("status", [408, 425, 429, 502, 503, 504])
def test_passing_trouble_decides_nothing(status: int) -> None:
    assert judged(refused(status)) == UNDECIDED
    assert judged(refused(400), refused(status)) == UNDECIDED


def test_silence_decides_nothing() -> None:
    assert judged(unanswered()) == UNDECIDED
    assert judged(refused(400), unanswered("timeout")) == UNDECIDED


@pytest.mark.parametrize("status", [199, 201, 400])
def test_a_control_that_was_not_accepted_decides_nothing(status: int) -> None:
    assert judged(refused(400), refused(status)) == UNDECIDED


def test_why_nothing_is_decided() -> None:
    with pytest.raises(Undecided, match="got no answer: reset"):
        case_found("refused", ID, BROKEN, control=whole(), defect=unanswered())
    with pytest.raises(Undecided, match="got no answer: cut by a proxy"):
        case_found("refused", ID, BROKEN, control=whole(), defect=replace(unanswered(), problem="cut by a proxy"))


def test_the_promise_may_name_the_status() -> None:
    assert judged(refused(400), statuses=[400]) == KEPT
    assert "answered with 422" in judged(refused(422), statuses=[400])
    assert judged(refused(404), statuses=[400, 404]) == KEPT


def test_the_promise_may_name_code_and_param() -> None:
    error = {"message": "no", "code": "too_many_images", "param": "messages"}
    assert judged(refused(400, error), code="too_many_images", param="messages") == KEPT
    assert "error.code" in judged(refused(400, error), code="other")
    assert "error.param" in judged(refused(400, error), param="stop")
    assert "error.code" in judged(exchange({}, 400, b"nothing"), code="too_many_images")


def test_every_defect_counts() -> None:
    for first in (refused(400), refused(500)):
        found = case_verdict("refused", ID, BROKEN, control=whole(), defect=[first, whole()])
        assert "accepted" in found


def test_the_violation_points_at_the_defect_alone() -> None:
    from conformance.laws.refusals import refused as law
    from tests.conformance.made import case

    bad = whole()
    (violation,) = law(case("refused", BROKEN, control=whole(), defect=bad), promise(ID))
    assert violation.exchanges == (bad.id,)
    assert (violation.expected, violation.observed) == ("a client error (4xx)", "HTTP 200")


def test_reading_errors_and_statuses() -> None:
    assert error_of(refused(400, {"message": "m"})) == {"message": "m"}
    assert error_of(refused(400, "text")) is None
    assert error_of(exchange({}, 400, b"[1]")) is None
    assert error_of(exchange({}, 400, b"")) is None
    assert statuses_of(promise(ID, statuses=[400])) == [400]
    assert statuses_of(promise(ID, statuses="400")) == []
    assert statuses_of(promise(ID)) == []
    assert [is_refusal(refused(status)) for status in (399, 400, 429, 499, 500)] == [False, True, False, True, False]


@pytest.mark.parametrize(
    ("asked", "verdict"),
    [
        (whole(), KEPT),
        (exchange({"stream": True}, 200, b"data: {", "text/event-stream", end="hung-up"), KEPT),
        (refused(400), "temperature is 2, and the request was refused"),
        (refused(500), "temperature is 2, and the request was refused"),
        (refused(400, {"message": "more than the Context window"}), UNDECIDED),
        (refused(500, {"message": "context"}), "temperature is 2, and the request was refused"),
        (refused(429), UNDECIDED),
        (unanswered(), UNDECIDED),
    ],
)
def test_a_value_on_the_limit(asked: Any, verdict: str) -> None:
    assert case_verdict("within", ID, {"met": "temperature is 2"}, asked=asked) == verdict


def test_every_value_on_the_limit_counts_and_the_refusal_is_quoted() -> None:
    (found,) = case_found("within", ID, asked=[whole(), refused(400, {"message": "too hot"})])
    assert found.observed == "HTTP 400 'too hot'"
    assert case_verdict("within", ID, asked=refused(199)) == "a value stands on its limit, and the request was refused"


CLIENT = "errors.client-mistakes-are-not-5xx"
INVALID = "errors.invalid-parameter-is-400"
PARAM = "errors.param-names-the-parameter"


def error_law(requirement: str, defect: Any, data: dict[str, Any] | None = None, /, **params: Any) -> str:
    return case_verdict("refused", requirement, data or BROKEN, control=whole(), defect=defect, params=params)


@pytest.mark.parametrize(
    ("defect", "found"),
    [
        (refused(400), KEPT),
        (refused(422), KEPT),
        (refused(499), KEPT),
        (refused(500), "failure"),
        (refused(501), "failure"),
        (whole(), UNDECIDED),
        (refused(503), UNDECIDED),
    ],
)
def test_client_mistakes(defect: Any, found: str) -> None:
    assert found in error_law(CLIENT, defect)


def test_invalid_parameters_have_one_status() -> None:
    assert error_law(INVALID, refused(400), statuses=[400]) == KEPT
    assert "another one" in error_law(INVALID, refused(422), statuses=[400])
    assert error_law(INVALID, refused(404), {"own_status": True}, statuses=[400]) == UNSEEN
    assert error_law(INVALID, whole(), statuses=[400]) == UNSEEN
    for end in ("reset", "budget"):
        assert error_law(INVALID, replace(refused(400), end=end), statuses=[400]) == UNSEEN
    for control in (refused(), refused(199)):
        found = case_verdict(
            "refused", INVALID, BROKEN, control=control, defect=refused(422), params={"statuses": [400]}
        )
        assert found == UNSEEN


@pytest.mark.parametrize("param", ["stop", "stop[0]", "stop.0", "body.stop", "/stop/0"])
def test_a_param_may_be_a_path(param: str) -> None:
    assert error_law(PARAM, refused(400, {"message": "m", "param": param}), {"field": "stop"}) == KEPT


@pytest.mark.parametrize("param", [None, 5, "", "temperature", "stops"])
def test_a_param_that_names_something_else(param: Any) -> None:
    error = {"message": "m", "param": param}
    assert "does not name" in error_law(PARAM, refused(400, error), {"field": "stop"})


def test_param_is_not_asked_for_without_a_field() -> None:
    assert error_law(PARAM, refused(400)) == UNSEEN
    assert "does not name" in error_law(PARAM, exchange({}, 400, b""), {"field": "stop"})


UNKNOWN = {"unknown": "max_tokenz", "broken": "a field is unknown"}


@pytest.mark.parametrize(
    ("error", "named", "in_code", "names"),
    [
        ({"code": "unknown_parameter", "param": "max_tokenz"}, True, True, True),
        ({"type": "unknown_parameter", "param": "max_token"}, True, False, False),
        ({"code": "bad", "type": "invalid_request_error"}, False, False, False),
    ],
)
def test_unknown_fields(error: dict[str, Any], named: bool, in_code: bool, names: bool) -> None:
    laws = {
        "errors.unknown-parameter-is-named": named,
        "errors.unknown-parameter-in-code": in_code,
        "errors.unknown-parameter-names-the-field": names,
    }
    for requirement, kept in laws.items():
        found = error_law(requirement, refused(400, error), UNKNOWN, code="unknown_parameter")
        assert (found == KEPT) is kept, requirement
        assert error_law(requirement, refused(400, error), code="unknown_parameter") == UNSEEN
        assert error_law(requirement, whole(), UNKNOWN, code="unknown_parameter") == UNSEEN
        assert error_law(requirement, exchange({}, 400, b"text"), UNKNOWN, code="unknown_parameter") != KEPT
