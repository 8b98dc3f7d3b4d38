"""The laws of keys, models, conversations and of changes that mean nothing, on exchanges made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.conformance.judging import KEPT, UNDECIDED, UNSEEN, case_found, case_verdict, found, verdict
from tests.conformance.made import chunk, completion, refused, streamed, whole

MISSING, WRONG, REFUSED = "auth.missing-key-is-401", "auth.wrong-key-is-401", "auth.wrong-key-is-refused"


def keys(requirement: str, missing: Any, wrong: Any, control: Any = None, declared: bool = False) -> str:
    params = {} if requirement == REFUSED else {"statuses": [401]}
    roles = {"control": control or whole(), "missing": missing, "wrong": wrong}
    return case_verdict("keys", requirement, {"declared": declared}, **roles, params=params)


def test_keys_that_are_checked() -> None:
    assert [keys(one, refused(401), [refused(401)] * 2) for one in (MISSING, WRONG, REFUSED)] == [KEPT] * 3
    assert keys(REFUSED, refused(403), refused(400)) == KEPT


def test_keys_that_get_another_status() -> None:
    assert "missing key" in keys(MISSING, refused(403), refused(401))
    assert "wrong key" in keys(WRONG, refused(401), [refused(401), refused(500)])
    assert keys(WRONG, refused(403), refused(401)) == KEPT
    assert "wrong key" in keys(REFUSED, refused(401), refused(500))
    assert "missing key" in keys(REFUSED, refused(500), refused(401))


@pytest.mark.parametrize(("requirement", "expected"), [(MISSING, "401"), (REFUSED, "4xx")])
def test_what_a_key_should_have_got(requirement: str, expected: str) -> None:
    params = {} if requirement == REFUSED else {"statuses": [401]}
    roles = {"control": whole(), "missing": refused(199), "wrong": refused(199)}
    violation = case_found("keys", requirement, None, **roles, params=params)[0]
    assert (violation.expected, violation.observed) == (expected, "HTTP 199")


def test_half_of_the_keys_is_checked() -> None:
    assert "missing key" in keys(REFUSED, whole(), refused(401))
    assert "wrong key" in keys(WRONG, refused(401), whole())


def test_an_endpoint_without_keys() -> None:
    assert [keys(one, whole(), [whole(), whole()]) for one in (MISSING, WRONG, REFUSED)] == [UNDECIDED] * 3
    assert "missing key" in keys(MISSING, whole(), whole(), declared=True)


def test_keys_that_cannot_be_judged() -> None:
    assert keys(MISSING, refused(429), refused(401)) == UNDECIDED
    assert keys(MISSING, refused(401), refused(503)) == UNDECIDED
    assert keys(MISSING, refused(401), refused(401), refused(401)) == UNDECIDED
    assert keys(MISSING, replace(refused(401), received=None), refused(401)) == UNDECIDED


def test_roles_that_nobody_plays() -> None:
    only_wrong = {"control": whole(), "wrong": refused(401)}
    assert case_verdict("keys", MISSING, None, **only_wrong, params={"statuses": [401]}) == UNSEEN
    only_missing = {"control": whole(), "missing": refused(401)}
    assert case_verdict("keys", WRONG, None, **only_missing, params={"statuses": [401]}) == UNSEEN


@pytest.mark.parametrize(("status", "found"), [(401, "refused"), (403, "refused"), (400, UNSEEN), (500, UNSEEN)])
def test_the_right_key(status: int, found: str) -> None:
    assert found in verdict("auth.bearer-key-is-accepted", refused(status, facts={"key": "right"}))
    assert verdict("auth.bearer-key-is-accepted", refused(status, facts={"key": "wrong"})) == UNSEEN
    assert verdict("auth.bearer-key-is-accepted", whole(facts={"key": "right"})) == KEPT
    assert verdict("auth.bearer-key-is-accepted", whole(facts={"key": "none"})) == UNSEEN


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ("Incorrect API key provided.", KEPT),
        ("Incorrect API key wrong-01****ef.", KEPT),
        ("Incorrect API key wrong-0123456789ab.", "repeats the key"),
        ("hash=ab12 not in KeyTable", "digest"),
        ("sha256: 12ab34cd unknown", "digest"),
        ("key " + "0a" * 32 + " unknown", "digest"),
        ("hash added", KEPT),
        ("request 0123456789abcdef0123456789abcdef", KEPT),
    ],
)
def test_refusals_of_keys_give_nothing_away(message: str, found: str) -> None:
    for key in ("missing", "wrong", "malformed"):
        x = refused(401, {"message": message}, facts={"key": key})
        assert found in verdict("auth.no-secrets-in-refusals", x)
    assert verdict("auth.no-secrets-in-refusals", refused(401, {"message": message}, facts={"key": "right"})) == UNSEEN


NAMED = "models.reply-names-the-model"


def test_the_model_in_the_reply() -> None:
    assert verdict(NAMED, whole()) == KEPT
    for other in ("a", "other"):
        (violation,) = found(NAMED, whole({"model": other}))
        assert (violation.expected, violation.observed) == (repr(other), "'m'")
    assert verdict(NAMED, whole({"model": 5})) == UNSEEN
    assert verdict(NAMED, refused()) == UNSEEN
    assert verdict(NAMED, whole(body={**completion(), "model": None})) == KEPT


def test_the_model_in_every_chunk() -> None:
    good = [chunk({"content": "a"}), chunk({}, "stop")]
    assert verdict(NAMED, streamed(good)) == KEPT
    assert "another model" in verdict(NAMED, streamed([good[0], {**good[1], "model": "n"}]))
    (violation,) = found(NAMED, streamed([{**one, "model": name} for one, name in zip(good, "no", strict=True)]))
    assert violation.observed == "'n'"
    assert verdict(NAMED, streamed([good[0], {**good[1], "model": None}])) == KEPT


def counted(tokens: int, **more: Any) -> Any:
    usage = {"prompt_tokens": tokens, "completion_tokens": 1, "total_tokens": tokens + 1}
    return whole(more or None, {**completion(), "usage": usage})


def renamed(plain: Any, changed: Any) -> str:
    roles = {"plain": plain, "changed": changed}
    return case_verdict("renamed-calls", "messages.call-ids-are-opaque", None, **roles, params={"tolerance": 8})


@pytest.mark.parametrize(("tokens", "kept"), [(50, True), (58, True), (42, True), (59, False), (41, False)])
def test_renamed_calls(tokens: int, kept: bool) -> None:
    assert (renamed(counted(50), counted(tokens)) == KEPT) is kept


def test_without_a_tolerance_the_length_stays() -> None:
    kind, requirement = "renamed-calls", "messages.call-ids-are-opaque"
    assert case_verdict(kind, requirement, None, plain=counted(50), changed=counted(50)) == KEPT
    for tokens in (49, 51):
        (violation,) = case_found(kind, requirement, None, plain=counted(50), changed=counted(tokens))
        assert (violation.expected, violation.observed) == ("50 ± 0", str(tokens))


def test_renamed_calls_that_cannot_be_compared() -> None:
    assert "refused" in renamed(counted(50), refused(400))
    for status in (199, 400):
        assert renamed(refused(status), counted(50)) == UNDECIDED
        assert renamed(refused(status), refused(400)) == UNDECIDED
    assert renamed(counted(50), refused(429)) == UNDECIDED
    assert renamed(counted(50), whole(body={**completion(), "usage": None})) == UNDECIDED


def too_long(x: Any) -> str:
    return case_verdict("over-context", "limits.over-context-prompt-is-not-cut", {"words": 1000}, asked=x)


def test_prompts_beyond_the_context() -> None:
    assert too_long(refused(400)) == KEPT
    assert too_long(refused(413)) == KEPT
    assert "not all of it" in too_long(counted(999))
    assert [too_long(counted(tokens)) for tokens in (1000, 1001)] == [UNDECIDED] * 2
    for status in (199, 302, 500):
        assert "neither refused nor answered" in too_long(refused(status))
    assert too_long(refused(503)) == UNDECIDED


LOGPROBS = "request.logprobs-are-not-returned"


def with_logprobs(value: Any) -> Any:
    body = completion()
    body["choices"][0]["logprobs"] = value
    return whole({"logprobs": True}, body)


def test_log_probabilities_that_are_not_promised() -> None:
    assert verdict(LOGPROBS, whole({"logprobs": True})) == KEPT
    assert verdict(LOGPROBS, with_logprobs(None)) == KEPT
    assert "came back" in verdict(LOGPROBS, with_logprobs({"content": []}))
    for other in (None, False, 1):
        assert verdict(LOGPROBS, whole({"logprobs": other})) == UNSEEN
    assert verdict(LOGPROBS, whole({"logprobs": True}, {"choices": "none"})) == KEPT


def test_log_probabilities_in_a_stream() -> None:
    part = chunk({"content": "a"})
    assert verdict(LOGPROBS, streamed([part], {"logprobs": True})) == KEPT
    part["choices"][0]["logprobs"] = {"content": []}
    assert "came back" in verdict(LOGPROBS, streamed([chunk({}), part], {"logprobs": True}))
