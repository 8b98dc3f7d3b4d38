"""Requests generated from the documents, the laws over them, and the generator's checks beside our own."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import Any

import jsonschema_rs
import pytest

import spec
from conformance.judge import Judge
from conformance.traffic.contract import Generated, broken_by, complaints, coverage, jsonable
from tests.conformance.judging import KEPT, UNDECIDED, UNSEEN, case_verdict
from tests.conformance.made import chunk, completion, exchange, refused, streamed, whole

PROFILES = ("ark", "serenity-edge", "portable")
BROKEN = {"place": "/properties/n/type", "scenario": "incorrect_type", "broken": ["request.n.type"]}
ALLOWED = {"place": "/properties/n", "scenario": "valid_object", "broken": []}
MISTAKES, ODD = "errors.client-mistakes-are-not-5xx", "errors.odd-input-is-survived"
STATUSES, TYPES = "errors.documented-statuses-only", "wire.json-content-type"


def judged(requirement: str, asked: Any, data: dict[str, Any], **more: Any) -> str:
    return case_verdict("generated", requirement, {**data, **more}, asked=asked)


def test_a_forbidden_request() -> None:
    accepted = judged("request.n.type", whole(), BROKEN)
    assert accepted == "a request that breaks /properties/n/type (incorrect_type) was accepted"
    assert (
        judged("request.n.type", whole(), {"broken": [1]}) == "a request that breaks the body (generated) was accepted"
    )
    for status in (199, 400):
        assert judged("request.n.type", refused(status), BROKEN) == UNSEEN
    assert judged("request.n.type", whole(), ALLOWED) == UNSEEN


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (refused(400), KEPT),
        (refused(499), KEPT),
        (refused(500), "made the server fail"),
        (refused(501), "made the server fail"),
        (whole(), UNDECIDED),
        (refused(503), UNDECIDED),
    ],
)
def test_forbidden_requests_are_mistakes_of_the_client(asked: Any, found: str) -> None:
    assert found in judged(MISTAKES, asked, BROKEN)
    assert judged(MISTAKES, asked, ALLOWED) == UNSEEN


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (whole(), KEPT),
        (refused(400), KEPT),
        (refused(499), KEPT),
        (refused(500), "made the server fail"),
        (refused(501), "made the server fail"),
        (refused(429), UNDECIDED),
        (replace(refused(), received=None, end="timeout"), UNDECIDED),
        (replace(refused(), received=None, end="reset"), "got no answer"),
    ],
)
def test_allowed_requests_are_survived(asked: Any, found: str) -> None:
    assert found in judged(ODD, asked, ALLOWED)
    assert judged(ODD, asked, BROKEN) == UNSEEN


def test_complaints_become_findings_under_the_right_name() -> None:
    status = [{"check": "status_code_conformance", "says": "Undocumented status code"}]
    content = [{"check": "content_type_conformance", "says": "Undocumented Content-Type"}]
    assert "status_code_conformance" in judged(STATUSES, refused(418), ALLOWED, complaints=status)
    assert judged(TYPES, refused(418), ALLOWED, complaints=status) == KEPT
    assert judged(STATUSES, refused(418), ALLOWED, complaints=content) == KEPT
    assert "content_type_conformance" in judged(TYPES, refused(400), ALLOWED, complaints=content)
    assert judged(STATUSES, refused(400), ALLOWED) == KEPT
    assert judged(STATUSES, refused(503), ALLOWED, complaints=status) == KEPT
    assert judged(STATUSES, replace(refused(), received=None), ALLOWED, complaints=status) == KEPT


@cache
def cases(name: str) -> tuple[Generated, ...]:
    return coverage(spec.load_profile(name), "m")


@pytest.mark.parametrize("name", PROFILES)
def test_coverage_reaches_the_constraints(name: str) -> None:
    profile = spec.load_profile(name)
    broken = {requirement for one in cases(name) for requirement in one.broken}
    offered = {
        key
        for key, value in profile.constraints.items()
        if value.part == "request" and value.keyword in ("type", "enum", "required") and not value.needs
    }
    # What the bounded document fixes, such as the root itself and the tags of unions, is broken by our own probes.
    assert len(broken & offered) >= 0.7 * len(offered)
    assert sum(len(one.broken) == 1 for one in cases(name)) > 100
    assert sum(not one.broken for one in cases(name)) > 100


@pytest.mark.parametrize("name", PROFILES)
def test_what_is_called_broken_is_refused_by_the_document(name: str) -> None:
    openapi = spec.load_profile(name).openapi
    root = {"$ref": "#/components/schemas/ChatCompletionRequest", "components": openapi["components"]}
    validator = jsonschema_rs.validator_for(json.loads(json.dumps(root)))
    assert not [one.place for one in cases(name) if one.broken and validator.is_valid(one.body)]


def test_cases_are_distinct_and_in_order() -> None:
    bodies = [json.dumps(one.body, sort_keys=True) for one in cases("ark")]
    assert len(bodies) == len(set(bodies))
    flags = [bool(one.broken) for one in cases("ark")]
    assert flags == sorted(flags)
    assert coverage(spec.load_profile("ark"), "m") is cases("ark")


def test_null_for_an_optional_field_breaks_nothing() -> None:
    profile = spec.load_profile("serenity-edge")
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    assert broken_by(profile, {**body, "temperature": None}) == ()
    assert broken_by(profile, {**body, "temperature": 3}) == ("request.temperature.maximum",)
    assert broken_by(profile, []) == ("request.type",)


@pytest.mark.parametrize(
    ("body", "answer"), [({"a": 1}, True), (0, True), (b"x", False), ("\ud800", False), ({1, 2}, False)]
)
def test_what_can_be_sent_as_json(body: Any, answer: bool) -> None:
    assert jsonable(body) is answer


def checks(x: Any, name: str = "serenity-edge") -> set[str]:
    return {complaint["check"] for complaint in complaints(cases(name)[0], x)}


def test_the_generators_checks_read_our_exchanges() -> None:
    assert checks(whole()) == set()
    assert checks(refused(400)) == set()
    assert checks(refused(418)) == {"status_code_conformance"}
    assert "not_a_server_error" in checks(refused(500))
    assert "content_type_conformance" in checks(exchange({}, 400, b'{"error": {}}', "text/html"))
    assert complaints(cases("serenity-edge")[0], replace(refused(), received=None)) == []


@pytest.mark.parametrize(
    "bad",
    [
        whole(body={**completion(), "object": "chat.completions"}),
        whole(body={**completion(), "choices": {}}),
        whole(body=completion(finish="eos")),
        whole(body=completion(5)),
        refused(400, "a string"),
        refused(400, {"message": 5, "type": "invalid_request_error"}),
        refused(400, {"message": "no", "type": "NotFoundError"}),
        streamed([{**chunk({"content": "x"}), "object": "chunk"}]),
    ],
)
def test_our_constraints_find_what_the_generators_schema_check_finds(bad: Any) -> None:
    profile = spec.load_profile("serenity-edge")
    ours = [f for f in Judge(profile).exchange(bad) if f.outcome == "violated" and f.requirement in profile.constraints]
    assert ours
    if not bad.is_event_stream:
        assert "response_schema_conformance" in checks(bad)
