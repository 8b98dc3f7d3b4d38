"""When laws apply: only to the right method, place, status and form."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.laws import conditions
from tests.conformance.made import ASKED, chunk, exchange, refused, streamed, whole

GOOD, STREAM = whole(), streamed([chunk({"content": "a"}), chunk({}, "stop")])
NAMES = ("chat", "completed", "whole", "streamed", "undisturbed", "refusal", "readable", "in_one_piece")


def holding(x):
    return {name for name in NAMES if getattr(conditions, name)(x)}


def test_a_reply_in_one_piece():
    assert holding(GOOD) == {"chat", "completed", "whole", "readable", "in_one_piece"}


def test_a_stream():
    assert holding(STREAM) == {"chat", "completed", "streamed", "undisturbed", "readable"}


def test_a_stream_that_failed():
    failed = streamed([chunk({"content": "a"}), {"error": {}}], ending=b"")
    assert holding(failed) == {"chat", "completed", "streamed", "readable"}
    assert holding(streamed([])) == {"chat", "completed", "streamed"}


@pytest.mark.parametrize("status", [400, 500])
def test_a_refusal(status):
    assert holding(refused(status)) == {"chat", "refusal"}
    assert holding(replace(refused(status), end="reset")) == {"chat"}
    assert holding(replace(refused(status), received=None)) == {"chat"}


@pytest.mark.parametrize("status", [199, 201, 399])
def test_neither_reply_nor_refusal(status):
    assert holding(exchange(ASKED, status, GOOD.received.body)) == {"chat"}


def test_a_reply_that_was_not_read_to_its_end():
    assert holding(whole(end="timeout")) == {"chat"}
    assert holding(whole(body={"choices": 5})) == {"chat", "completed", "whole"}


@pytest.mark.parametrize("one", [GOOD, STREAM, refused()])
@pytest.mark.parametrize(
    "sent", [{"method": "GET"}, {"method": "PUT"}, {"url": "http://127.0.0.1:9/v1/chat/completions/x1"}]
)
def test_requests_of_another_kind(one, sent):
    assert holding(replace(one, sent=replace(one.sent, **sent))) == set()
