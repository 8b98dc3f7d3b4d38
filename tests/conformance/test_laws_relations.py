"""The relations that many promises share, at their boundaries, and what they show."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.laws.registry import Undecided
from conformance.laws.relations import refused as why_refused
from conformance.laws.relations import shortened, steady_outcome, steady_text
from tests.conformance.judging import KEPT, UNDECIDED, case_found, case_verdict
from tests.conformance.made import chunk, completion, exchange, refused, streamed, whole


def count(prompt):
    return whole(body={**completion("Hi"), "usage": {"prompt_tokens": prompt}})


def said(text):
    return whole(body=completion(text))


@pytest.mark.parametrize("length", [0, 1, 158])
def test_what_fits_is_shown_whole(length):
    assert shortened("a" * length) == repr("a" * length)


def test_what_does_not_fit_is_cut_to_size():
    assert shortened("a" * 159) == "'" + "a" * 158 + "…"
    assert len(shortened("a" * 1000)) == 160
    assert (shortened("abcde", 7), shortened("abcdef", 7)) == ("'abcde'", "'abcde…")


def test_an_outcome_is_steady_when_all_are_the_same():
    assert steady_outcome([said("a"), said("a"), said("a")])[0] == "a"
    assert steady_text([said("a"), said("a")]) == "a"
    for texts in ("ab", "ba", "aab", "baa"):
        with pytest.raises(Undecided, match="the same way twice"):
            steady_outcome([said(text) for text in texts])
    with pytest.raises(Undecided, match="often enough"):
        steady_outcome([said("a")])


@pytest.mark.parametrize("status", [199, 201, 302, 404])
def test_any_status_but_200_refuses_what_is_allowed(status):
    refusal = why_refused(exchange({}, status, b"for no reason"))
    assert refusal is not None
    assert refusal.observed == f"{status} for no reason"
    for other in (count(5), refused(400)):
        assert case_verdict("same-prompt", "any.id", plain=refused(status), changed=other) == UNDECIDED
        assert case_verdict("longer-prompt", "any.id", shorter=refused(status), longer=other) == UNDECIDED


def test_no_answer_refuses_without_words():
    refusal = why_refused(replace(refused(), received=None))
    assert refusal is not None
    assert refusal.observed == "0 "


def test_prompt_tokens_may_change_in_neither_direction():
    for other in (4, 6):
        (found,) = case_found("same-prompt", "any.id", plain=count(5), changed=count(other))
        assert (found.expected, found.observed) == ("5", str(other))


def test_a_stream_that_becomes_one_body_is_another_kind_of_reply():
    unasked = streamed([chunk({"content": "Hi"}), chunk({}, "stop", usage={"prompt_tokens": 5})], {"stream": None})
    assert case_verdict("same-prompt", "any.id", plain=unasked, changed=count(5)) == "the kind of reply changed"
    assert case_verdict("same-prompt", "any.id", plain=count(5), changed=unasked) == "the kind of reply changed"


def test_the_kind_of_reply_may_differ_where_another_was_asked_for():
    asked = streamed([chunk({"content": "Hi"}), chunk({}, "stop", usage={"prompt_tokens": 5})])
    assert case_verdict("same-prompt", "any.id", plain=asked, changed=count(5)) == KEPT
    assert case_verdict("same-prompt", "any.id", plain=count(5), changed=asked) == KEPT


def test_what_follows_a_refusal_is_looked_at():
    found = case_verdict("same-prompt", "any.id", plain=count(5), changed=[refused(), count(6)])
    assert "is refused; prompt_tokens changed" in found
    found = case_verdict("longer-prompt", "any.id", shorter=[count(5), count(5)], longer=[refused(), count(5)])
    assert "is refused; prompt_tokens did not grow" in found


def test_every_shorter_prompt_has_its_longer_one():
    with pytest.raises(ValueError, match="shorter than"):
        case_found("longer-prompt", "any.id", shorter=[count(5), count(5)], longer=count(6))


def test_the_exchanges_that_differ_are_named():
    plain, other = said("a"), said("b")
    (found,) = case_found("same-text", "any.id", plain=plain, again=said("a"), changed=[said("a"), other])
    assert found.exchanges == (plain.id, other.id)
    assert case_verdict("same-text", "any.id", plain=plain, again=said("a"), changed=said("a")) == KEPT
