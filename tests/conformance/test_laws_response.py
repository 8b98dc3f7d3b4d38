"""The laws of a reply as such and of its choices, on replies made by hand."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.conformance.judging import KEPT, UNDECIDED, UNSEEN, case_verdict, found, run_verdict, verdict
from tests.conformance.made import call, chunk, completion, refused, streamed, whole

NOW = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp())


def created(value, **more):
    return whole(body={**completion(), "created": value}, **more)


@pytest.mark.parametrize(("shift", "expected"), [(0, True), (-60, True), (-61, False), (70, True), (71, False)])
def test_created_is_now_give_or_take_a_minute(shift, expected):
    for params in ({}, {"tolerance_s": 60}):
        found = verdict("response.created-is-now", created(NOW + shift, total_s=10), **params)
        assert (found == KEPT) is expected


@pytest.mark.parametrize(
    ("value", "kept"), [(NOW, True), (NOW - 86400, True), (NOW + 86401, False), (NOW * 1000, False), (0, False)]
)
def test_created_is_in_seconds(value, kept):
    assert (verdict("response.created-is-unix-seconds", created(value)) == KEPT) is kept


@pytest.mark.parametrize("value", ["1767225600", None, True])
def test_a_created_of_another_type_is_for_the_schema(value):
    assert verdict("response.created-is-now", created(value)) == UNSEEN


def test_created_of_a_stream():
    assert verdict("response.created-is-now", streamed([chunk({"content": "a"})])) == KEPT
    assert "not the time" in verdict("response.created-is-now", streamed([chunk({}, created=5)]))
    assert verdict("response.created-is-now", streamed([chunk({"content": "a"}), chunk({}, created=5)])) == KEPT


def test_ids_over_a_run():
    same = completion()
    assert run_verdict("response.id-is-unique", whole(), whole(), refused()) == KEPT
    assert "2 replies have the same id" in run_verdict(
        "response.id-is-unique", whole(body=same), whole(), whole(body=same)
    )
    assert "have the same id" in run_verdict("response.id-is-unique", streamed([chunk({})]), streamed([chunk({})]))
    assert run_verdict("response.id-is-unique", whole(), refused()) == UNDECIDED


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        (completion(""), True),
        (completion(None), False),
        (completion(["Hi"]), False),
        (completion(None, "length"), False),
        (completion(None, "length", reasoning="Hm"), True),
        (completion(None, "content_filter"), True),
        (completion(None, "unknown"), True),
        (completion(None, "stop", reasoning="Hm"), False),
    ],
)
def test_text_unless_calls(body, kept):
    assert (verdict("response.text-unless-calls", whole(body=body)) == KEPT) is kept


def test_calls_need_no_text():
    assert (
        verdict("response.text-unless-calls", whole(body=completion(None, "tool_calls", tool_calls=[call()]))) == UNSEEN
    )
    legacy = completion(None, "function_call", function_call={"name": "f", "arguments": "{}"})
    assert verdict("response.text-unless-calls", whole(body=legacy)) == UNSEEN


def test_an_empty_answer():
    rule = "response.answer-is-not-empty"
    assert verdict(rule, whole()) == KEPT
    assert "says nothing" in verdict(rule, whole(body=completion("")))
    assert verdict(rule, streamed([chunk({"reasoning": "Hm"}), chunk({}, "stop")])) == UNDECIDED
    thought = [chunk({"reasoning": "Hm"}), chunk({}, "stop"), chunk(None, usage={"completion_tokens": 2})]
    assert "says nothing" in verdict(rule, streamed(thought))
    for tokens in (0, 1):
        ended_at_once = {**completion(""), "usage": {"prompt_tokens": 5, "completion_tokens": tokens}}
        assert verdict(rule, whole(body=ended_at_once)) == KEPT
    for other in ("length", "unknown"):
        assert verdict(rule, whole(body=completion("", other))) == KEPT
    assert verdict(rule, whole({"stop": ["H"]}, completion(""))) == KEPT
    assert verdict(rule, whole(body=completion(None, "stop", tool_calls=[call()]))) == KEPT


def several(*indices, asked=None):
    body = completion()
    body["choices"] = [{**body["choices"][0], "index": index} for index in indices]
    return whole(asked, body)


@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        (several(0), True),
        (several(0, 1), False),
        (several(0, 1, asked={"n": 2}), True),
        (several(0, asked={"n": 2}), False),
        *((several(0, asked={"n": odd}), True) for odd in (1, 0, -1, True, None, "2", 1.5)),
        (streamed([chunk({"content": "a"}), chunk({}, "stop")]), True),
    ],
)
def test_as_many_choices_as_n(answer, kept):
    assert (verdict("choices.count-is-n", answer) == KEPT) is kept


def test_a_stream_whose_index_counts_chunks():
    counting = streamed([{**chunk({}), "choices": [{"index": i, "delta": {"content": "a"}}]} for i in range(3)])
    assert "number of choices" in verdict("choices.count-is-n", counting)
    later = streamed([{**chunk({}), "choices": [{"index": 4, "delta": {"content": "a"}, "finish_reason": "stop"}]}])
    assert "not numbered from 0" in verdict("choices.indices-run-from-zero", later)


def test_indices():
    assert verdict("choices.indices-are-distinct", several(1, 0)) == KEPT
    assert verdict("choices.indices-run-from-zero", several(1, 0)) == KEPT
    assert "same index" in verdict("choices.indices-are-distinct", several(0, 0))
    (violation,) = found("choices.indices-run-from-zero", several(1, 2))
    assert (violation.expected, violation.observed) == ("0 to 1", "[1, 2]")
    assert "not numbered from 0" in verdict("choices.indices-run-from-zero", several("0"))


def test_a_stream_that_failed_has_no_number_of_choices():
    failed = streamed([chunk({"content": "a"}), {"error": {"message": "gone"}}], ending=b"")
    assert verdict("choices.count-is-n", failed) == UNSEEN


def test_several_choices():
    kind, rule = "several-choices", "choices.several-are-accepted"
    assert case_verdict(kind, rule, whole=several(0, 1, asked={"n": 2})) == KEPT
    assert "is refused" in case_verdict(kind, rule, whole=refused(asked={"n": 2}))
    one = streamed([chunk({"content": "a"}), chunk({}, "stop")], {"n": 2})
    assert "came to an end" in case_verdict(kind, rule, streamed=one)
    assert case_verdict(kind, rule, whole=refused(429)) == UNDECIDED
    assert "came to an end" in case_verdict(kind, rule, whole=several(0, 1))
    assert "is refused; not every choice" in case_verdict(kind, rule, asked=[refused(), one])


def test_several_choices_with_calls():
    kind, rule = "several-choices-with-calls", "choices.each-keeps-the-form"

    def with_calls(*calls, finish="tool_calls"):
        body = completion()
        body["choices"] = [
            {
                "index": i,
                "message": {"role": "assistant", "content": "<call>", "tool_calls": list(c)},
                "finish_reason": finish,
            }
            for i, c in enumerate(calls)
        ]
        return whole({"n": len(calls)}, body)

    assert case_verdict(kind, rule, whole=with_calls([call()], [call()])) == KEPT
    assert "choice 1 has no call" in case_verdict(kind, rule, whole=with_calls([call()], []))
    assert case_verdict(kind, rule, whole=with_calls([call()], [], finish="length")) == KEPT
    for other in ("content_filter", "unknown"):
        assert "choice 1 has no call" in case_verdict(kind, rule, whole=with_calls([call()], [], finish=other))
    for status in (199, 400):
        assert case_verdict(kind, rule, whole=refused(status)) == UNDECIDED
    one = whole({"n": 2}, completion(None, tool_calls=[call()]))
    assert "not as many choices" in case_verdict(kind, rule, whole=one)
    assert "not as many choices" in case_verdict(
        kind, rule, whole=whole({"n": 1}, with_calls([call()], [call()]).json.value)
    )
