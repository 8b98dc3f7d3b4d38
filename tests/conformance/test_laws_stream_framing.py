"""The laws of framing, on streams made byte by byte."""

from __future__ import annotations

import json

import pytest

from tests.conformance.judging import KEPT, UNSEEN, found, verdict
from tests.conformance.made import ASKED, chunk, exchange, refused, streamed, whole

DONE = b"data: [DONE]\n\n"
FIRST = b"data: " + json.dumps(chunk({"role": "assistant", "content": "Hi"})).encode() + b"\n\n"
LAST = b"data: " + json.dumps(chunk({}, "stop")).encode() + b"\n\n"
ERROR = b'data: {"error": {"message": "gone"}}\n\n'
FRAMING = (
    "stream.true-yields-events",
    "stream.ends-with-done",
    "stream.done-comes-once",
    "stream.done-is-exact",
    "stream.every-event-is-closed",
    "stream.events-are-chunks",
    "stream.one-data-line-per-event",
    "stream.no-empty-events",
    "stream.only-data-lines",
    "stream.space-after-colon",
)


def stream(*blocks: bytes, facts=None):
    return exchange({**ASKED, "stream": True}, 200, b"".join(blocks), "text/event-stream", facts=facts)


def broken(answer) -> set[str]:
    return {rule for rule in FRAMING if verdict(rule, answer) not in (KEPT, UNSEEN)}


@pytest.mark.parametrize(
    "answer",
    [
        stream(FIRST, LAST, DONE),
        stream(*(block.replace(b"\n", b"\r\n") for block in (FIRST, LAST, DONE))),
        stream(*(block.replace(b"\n", b"\r") for block in (FIRST, LAST, DONE))),
        stream(b": comment\n\n", FIRST, b": ping\n", LAST, DONE, b": bye\n\n"),
        stream(FIRST, LAST, DONE, b": bye"),
        stream(FIRST, LAST, DONE, b"\n\n"),
    ],
    ids=["LF", "CRLF", "CR", "comments", "unclosed comment", "blank lines"],
)
def test_legal_variety_breaks_nothing(answer):
    assert broken(answer) == set()


@pytest.mark.parametrize(
    ("rule", "answer"),
    [
        ("stream.ends-with-done", stream(FIRST, LAST)),
        ("stream.ends-with-done", stream(FIRST, DONE, LAST)),
        ("stream.done-comes-once", stream(FIRST, LAST, DONE, DONE)),
        ("stream.done-comes-once", stream(FIRST, LAST, DONE, b"data: [DONE]\n")),
        ("stream.done-is-exact", stream(FIRST, LAST, b"data: [DONE] \n\n")),
        ("stream.every-event-is-closed", stream(FIRST, LAST, DONE[:-1])),
        ("stream.events-are-chunks", stream(FIRST, b"data: : still working\n\n", LAST, DONE)),
        ("stream.events-are-chunks", stream(FIRST, b"data: [1]\n\n", LAST, DONE)),
        ("stream.one-data-line-per-event", stream(FIRST, b'data: {"a":\ndata: 1}\n\n', LAST, DONE)),
        ("stream.no-empty-events", stream(FIRST, b"data:\n\n", LAST, DONE)),
        ("stream.space-after-colon", stream(b"data:" + FIRST[6:], LAST, DONE)),
    ],
)
def test_one_breach(rule, answer):
    assert rule in broken(answer)
    assert broken(answer) <= {rule, "stream.every-event-is-closed"}


def test_fields_beside_data():
    named = stream(b"event: message\n" + FIRST, LAST, DONE)
    assert broken(named) == {"stream.only-data-lines"}
    assert verdict("stream.only-data-lines", named, allowed_fields=["data", "event"]) == KEPT
    assert broken(stream(b"event: keepalive\n\n", FIRST, LAST, DONE)) == {
        "stream.only-data-lines",
        "stream.no-empty-events",
    }
    assert verdict("stream.no-empty-events", stream(b"retry: 3000\n\n", FIRST, LAST, DONE)) == KEPT


def test_a_stream_asked_for_and_not_sent():
    one_body = exchange({**ASKED, "stream": True}, 200, b'{"id": "a"}')
    assert "got no event" in verdict("stream.true-yields-events", one_body)
    assert verdict("stream.ends-with-done", one_body) == UNSEEN
    assert verdict("stream.true-yields-events", stream(b"data: [DONE]")) == KEPT
    assert "no blank line" in verdict("stream.every-event-is-closed", stream(b"data: [DONE]"))


@pytest.mark.parametrize("asked", [{"stream": False}, {}])
def test_a_stream_that_nobody_asked_for(asked):
    rule = "stream.false-yields-one-body" if asked else "stream.default-is-one-body"
    other = "stream.default-is-one-body" if asked else "stream.false-yields-one-body"
    unasked = exchange({**ASKED, **asked}, 200, FIRST + DONE, "text/event-stream")
    assert "came unasked" in verdict(rule, unasked)
    assert verdict(rule, whole(asked)) == KEPT
    assert verdict(other, whole(asked)) == UNSEEN


def test_null_is_neither_false_nor_left_out():
    assert verdict("stream.default-is-one-body", whole({"stream": None})) == UNSEEN


def test_errors_in_midstream():
    once, ends = "stream.error-is-one-event", "stream.error-event-ends-without-done"
    good = stream(FIRST, ERROR)
    assert [verdict(rule, good) for rule in (once, ends)] == [KEPT, KEPT]
    assert verdict("stream.ends-with-done", good) == UNSEEN
    assert "ends with [DONE]" in verdict(ends, stream(FIRST, ERROR, DONE))
    assert verdict(once, stream(FIRST, ERROR, DONE)) == KEPT
    assert "more than once" in verdict(once, stream(FIRST, ERROR, ERROR))
    assert "something follows" in verdict(once, stream(FIRST, ERROR, LAST))
    assert "no object" in verdict(once, stream(FIRST, b'data: {"error": "gone"}\n\n'))
    assert verdict(once, stream(FIRST, LAST, DONE)) == UNSEEN
    induced = stream(FIRST, LAST, DONE, facts={"induce": "midstream_error"})
    assert "shows no error" in verdict(once, induced)
    assert verdict(ends, induced) == UNSEEN


def test_refusals():
    rule = "stream.refusals-are-not-streams"
    assert verdict(rule, refused(asked={"stream": True})) == KEPT
    assert verdict(rule, refused()) == UNSEEN
    as_stream = exchange({**ASKED, "stream": True}, 400, ERROR, "text/event-stream")
    assert "came as an event stream" in verdict(rule, as_stream)
    assert "status 200" in verdict(rule, exchange({**ASKED, "stream": True}, 200, b'{"error": {}}'))
    assert "status 200" in verdict(rule, stream(ERROR))
    assert verdict(rule, stream(ERROR, facts={"induce": "timeout"})) == UNSEEN
    assert verdict(rule, stream(FIRST, ERROR)) == UNSEEN
    assert verdict(rule, streamed([chunk({})])) == UNSEEN


@pytest.mark.parametrize(
    ("rule", "block"),
    [
        ("stream.events-are-chunks", b"data: [1]\n\n"),
        ("stream.one-data-line-per-event", b'data: {"a":\ndata: 1}\n\n'),
        ("stream.no-empty-events", b"data:\n\n"),
        ("stream.space-after-colon", b"data:{}\n\n"),
    ],
)
def test_the_event_at_fault_is_counted_from_one(rule, block):
    assert verdict(rule, stream(FIRST, block, LAST, DONE)).startswith("event 2 ")


def test_what_came_instead_is_shown():
    asked = {**ASKED, "stream": True}
    for rule, answer, shown in (
        ("stream.true-yields-events", exchange(asked, 200, b'{"id": "a"}'), '{"id": "a"}'),
        ("stream.false-yields-one-body", stream(b'data: {"a": 1}\n\n'), "data: {"),
        ("stream.refusals-are-not-streams", stream(ERROR), "gone"),
        ("stream.refusals-are-not-streams", exchange(asked, 400, ERROR, "text/event-stream"), "gone"),
        ("stream.ends-with-done", stream(FIRST, b'data: {"a": 1}\n\n', b"data: {}\n\n"), "'{}'"),
        ("stream.ends-with-done", stream(DONE, b'data: {"a": 1}\n\n', b"data: {}\n\n"), "'{}'"),
        ("stream.space-after-colon", stream(b"id: 7\ndata:{}\n\n", DONE), "data:{}"),
    ):
        (violation,) = found(rule, answer)
        assert shown in violation.observed, rule


def test_an_unfinished_body_without_data_is_no_event():
    one_body = exchange({**ASKED, "stream": True}, 200, b'{"id": "a"}')
    assert verdict("stream.every-event-is-closed", one_body) == UNSEEN
    assert verdict("stream.refusals-are-not-streams", one_body) == UNSEEN


def test_a_terminator_is_judged_where_a_stream_ran_to_its_end():
    for rule in ("stream.done-comes-once", "stream.done-is-exact"):
        assert verdict(rule, stream(FIRST, LAST)) == UNSEEN
        assert verdict(rule, stream(FIRST, ERROR, DONE, DONE)) == UNSEEN


def test_zero_is_not_false():
    assert verdict("stream.false-yields-one-body", whole({"stream": 0})) == UNSEEN


def test_other_fields_are_no_data_lines():
    assert verdict("stream.one-data-line-per-event", stream(b"a: 1\nb: 2\n" + FIRST, LAST, DONE)) == KEPT


def test_what_follows_an_event_without_chunk_is_looked_at():
    assert "event 3" in verdict("stream.events-are-chunks", stream(DONE, b"id: 1\n\n", b"data: [1]\n\n"))


def test_an_event_without_data_may_follow_an_error():
    assert verdict("stream.error-is-one-event", stream(FIRST, ERROR, b"retry: 3000\n\n")) == KEPT
