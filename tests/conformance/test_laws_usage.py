"""The laws of token counts, on replies made by hand."""

from __future__ import annotations

import pytest

from tests.conformance.judging import KEPT, UNDECIDED, UNSEEN, case_found, case_verdict, found, verdict
from tests.conformance.made import call, chunk, completion, refused, streamed, whole

ASKED = {"stream_options": {"include_usage": True}}
RUNNING = {"stream_options": {"include_usage": True, "continuous_usage_stats": True}}
SAID, END = chunk({"role": "assistant", "content": "Hi"}), chunk({}, "stop")


def usage(prompt=5, completion_=4, total=None, cached=None, reasoning=None):
    counts = {"prompt_tokens": prompt, "completion_tokens": completion_}
    counts["total_tokens"] = prompt + completion_ if total is None else total
    if cached is not None:
        counts["prompt_tokens_details"] = {"cached_tokens": cached}
    if reasoning is not None:
        counts["completion_tokens_details"] = {"reasoning_tokens": reasoning}
    return counts


def reply(counts, **message):
    return whole(body={**completion(**message), "usage": counts})


@pytest.mark.parametrize(
    ("rule", "good", "bad"),
    [
        ("usage.total-is-sum", usage(5, 4), usage(5, 4, 8)),
        ("usage.total-is-sum", usage(5, 4), usage(5, 4, 10)),
        ("usage.prompt-is-positive", usage(1), usage(0)),
        ("usage.prompt-is-positive", usage(2), usage(-1)),
        ("usage.completion-is-positive-when-text", usage(5, 1), usage(5, 0)),
        ("usage.completion-is-positive-when-text", usage(5, 2), usage(5, -1)),
        ("usage.cached-within-prompt", usage(5, cached=5), usage(5, cached=6)),
        ("usage.cached-within-prompt", usage(5, cached=0), usage(5, cached=-1)),
        ("usage.reasoning-within-completion", usage(5, 4, reasoning=4), usage(5, 4, reasoning=5)),
        ("usage.reasoning-within-completion", usage(5, 4, reasoning=0), usage(5, 4, reasoning=-1)),
    ],
)
def test_sums_and_bounds(rule, good, bad):
    assert verdict(rule, reply(good)) == KEPT
    assert verdict(rule, reply(bad)) not in (KEPT, UNSEEN, UNDECIDED)
    last = chunk(None, usage=bad)
    assert verdict(rule, streamed([SAID, END, last], ASKED)) not in (KEPT, UNSEEN, UNDECIDED)
    assert verdict(rule, whole(body={**completion(), "usage": None})) == UNSEEN
    assert verdict(rule, reply({"prompt_tokens": "5"})) == KEPT  # types are for the schema


def test_a_sum_of_counts_that_are_missing_is_not_judged():
    for missing in ("prompt_tokens", "completion_tokens", "total_tokens"):
        counts = {name: value for name, value in usage(5, 4, 1).items() if name != missing}
        assert verdict("usage.total-is-sum", reply(counts)) == KEPT
        both = streamed([{**SAID, "usage": counts}, END, chunk(None, usage=usage(5, 4, 8))], RUNNING)
        (violation,) = found("usage.total-is-sum", both)
        assert (violation.expected, violation.observed) == ("5 + 4 = 9", "8")


def test_the_last_usage_of_a_stream_counts_what_was_generated():
    rule = "usage.completion-is-positive-when-text"
    early = {**SAID, "usage": usage(5, 0)}
    assert verdict(rule, streamed([early, END, chunk(None, usage=usage(5, 1))], RUNNING)) == KEPT
    assert verdict(rule, streamed([early, END, chunk(None, usage=usage(5, 0))], RUNNING)) != KEPT


def test_one_is_not_true():
    asked = {"stream_options": {"include_usage": 1}}
    assert verdict("usage.chunk-when-asked", streamed([SAID, END], asked)) == UNSEEN
    asked = {"stream_options": {"include_usage": True, "continuous_usage_stats": 1}}
    assert verdict("usage.running-counts-on-content-chunks", streamed([SAID, END], asked)) == UNSEEN


def test_no_text_needs_no_count():
    rule = "usage.completion-is-positive-when-text"
    assert verdict(rule, reply(usage(5, 0), content="")) == KEPT
    assert "counts no tokens" in verdict(rule, reply(usage(5, 0), content=None, tool_calls=[call()]))


def test_a_usage_in_every_whole_reply():
    rule = "usage.present-in-whole-reply"
    assert verdict(rule, whole()) == KEPT
    assert "no usage" in verdict(rule, whole(body={**completion(), "usage": None}))
    assert verdict(rule, streamed([SAID, END])) == UNSEEN


COUNTED = chunk(None, usage=usage())


@pytest.mark.parametrize(
    ("chunks", "kept"),
    [
        ([SAID, END, COUNTED], True),
        ([SAID, END], False),
        ([SAID, COUNTED, END], False),
        ([SAID, END, COUNTED, COUNTED], False),
        ([SAID, chunk({}, "stop", usage=usage())], False),
        ([SAID, END, {**COUNTED, "usage": None}], False),
        ([SAID, END, {"usage": usage()}], False),
    ],
)
def test_the_usage_comes_once_and_last(chunks, kept):
    assert (verdict("usage.chunk-when-asked", streamed(chunks, ASKED)) == KEPT) is kept


@pytest.mark.parametrize(
    ("chunks", "expected", "observed"),
    [
        ([SAID, END], "chunk 2", "nowhere"),
        ([SAID, COUNTED, END], "chunk 3", "2"),
        ([SAID, END, COUNTED, COUNTED], "chunk 4", "3, 4"),
    ],
)
def test_where_the_usage_came_instead(chunks, expected, observed):
    (violation,) = found("usage.chunk-when-asked", streamed(chunks, ASKED))
    assert (violation.expected, violation.observed) == (expected, observed)


def test_a_stream_that_failed_owes_no_usage():
    failed = streamed([SAID, {"error": {"message": "gone"}}], ASKED, ending=b"")
    assert verdict("usage.chunk-when-asked", failed) == UNSEEN


def test_no_usage_unasked():
    rule = "usage.chunk-only-when-asked"
    assert verdict(rule, streamed([{**SAID, "usage": None}, END])) == KEPT
    assert "nobody asked" in verdict(rule, streamed([SAID, END, COUNTED]))
    assert "chunk 2" in verdict(
        rule, streamed([SAID, {**END, "usage": usage()}], {"stream_options": {"include_usage": False}})
    )
    assert verdict(rule, streamed([SAID, END, COUNTED], ASKED)) == UNSEEN


def test_nothing_before_the_end():
    rule = "usage.null-before-the-end"
    null = [{**SAID, "usage": None}, {**END, "usage": None}, COUNTED]
    assert verdict(rule, streamed(null, ASKED), before_end=["null"]) == KEPT
    absent = streamed([SAID, END, COUNTED], ASKED)
    assert verdict(rule, absent, before_end=["null", "absent"]) == KEPT
    assert verdict(rule, absent) == KEPT
    assert "no usage member" in verdict(rule, absent, before_end=["null"])
    early = [{**SAID, "usage": usage()}, END, COUNTED]
    assert verdict(rule, streamed(early, ASKED)) == "chunk 1 has choices and a usage"
    assert verdict(rule, streamed([chunk(None), *early], ASKED)) == "chunk 2 has choices and a usage"
    assert verdict(rule, streamed(early, RUNNING)) == UNSEEN


def running(*counts, text="a"):
    return streamed(
        [*(chunk({"content": text}, usage=one) for one in counts), END, chunk(None, usage=usage(5, 3))], RUNNING
    )


@pytest.mark.parametrize(
    ("counts", "kept"),
    [
        ([usage(5, 1), usage(5, 2)], True),
        ([usage(5, 2), usage(5, 2)], True),
        ([usage(5, 2), usage(5, 1)], False),
        ([usage(5, 4)], False),
        ([usage(4, 1)], False),
        ([usage(6, 1)], False),
    ],
)
def test_running_counts_grow(counts, kept):
    assert (verdict("usage.running-counts-grow", running(*counts)) == KEPT) is kept


def test_the_count_that_falls_is_named():
    rule = "usage.running-counts-grow"
    assert verdict(rule, running(usage(5, 2), usage(5, 1))) == "completion_tokens falls within a stream"
    assert verdict(rule, running(usage(5, 2, 9))) == "total_tokens falls within a stream"
    assert verdict(rule, running(usage(4, 1))) == "prompt_tokens changes within a stream"


def test_a_count_that_is_missing_neither_falls_nor_changes():
    rule = "usage.running-counts-grow"
    assert verdict(rule, running({"completion_tokens": 1}, usage(5, 2))) == KEPT
    assert verdict(rule, running(usage(5, 2), {"prompt_tokens": 5})) == KEPT
    assert verdict(rule, running({}, usage(5, 3), usage(5, 1))) == "completion_tokens falls within a stream"
    assert verdict(rule, running({"completion_tokens": 9})) == "completion_tokens falls within a stream"


def test_running_counts_stand_on_chunks_with_text():
    rule = "usage.running-counts-on-content-chunks"
    assert verdict(rule, running(usage(5, 1))) == KEPT
    assert "chunk 2" in verdict(rule, running(usage(5, 1), None))
    assert verdict(rule, running(None, text="")) == KEPT
    assert verdict(rule, streamed([SAID, END, COUNTED], ASKED)) == UNSEEN


def pair(whole_counts, stream_counts, asked=None):
    wholes = [reply(counts) for counts in whole_counts]
    chunks = [SAID, END, *([chunk(None, usage=stream_counts)] if stream_counts else [])]
    return {"whole": wholes, "streamed": streamed(chunks, ASKED if asked is None else asked)}


def test_prompt_tokens_ignore_streaming():
    kind, rule = "streamed-and-whole", "usage.prompt-tokens-ignore-streaming"
    assert case_verdict(kind, rule, **pair([usage(5, 9)], usage(5, 4))) == KEPT
    for other in (4, 6):
        assert "differ streamed" in case_verdict(kind, rule, **pair([usage(5), usage(other)], usage(other)))
    assert case_verdict(kind, rule, **pair([usage(5)], None, {})) == UNDECIDED
    assert case_verdict(kind, rule, whole=refused(), streamed=streamed([SAID, END, COUNTED], ASKED)) == UNDECIDED


def test_prompt_tokens_repeat():
    kind, rule = "repeated", "usage.prompt-tokens-repeat"
    assert case_verdict(kind, rule, asked=[reply(usage(5, 4)), reply(usage(5, 9))]) == KEPT
    assert "from time to time" in case_verdict(kind, rule, asked=[reply(usage(5)), reply(usage(5)), reply(usage(4))])
    (violation,) = case_found(kind, rule, asked=[reply(usage(5)), reply(usage(4)), reply(usage(4))])
    assert (violation.expected, violation.observed) == ("5", "[5, 4, 4]")
    assert case_verdict(kind, rule, asked=[reply(usage(5))]) == UNDECIDED
    assert case_verdict(kind, rule, asked=[reply(usage(5)), refused(503)]) == UNDECIDED


@pytest.mark.parametrize(
    ("wholes", "stream", "expected"),
    [
        ([usage(cached=0), usage(cached=4)], usage(cached=4), KEPT),
        ([usage(cached=0), usage(cached=0)], usage(cached=0), KEPT),
        ([usage(), usage()], usage(), KEPT),
        ([usage(cached=0), usage(cached=0)], usage(cached=4), KEPT),
        ([usage(cached=0), usage(cached=4)], usage(), "is reported in one form"),
        ([usage(), usage()], usage(cached=4), "is reported in one form"),
        ([usage(cached=0), usage(cached=4)], usage(cached=0), "stays 0"),
        ([usage(cached=0), usage(cached=4), usage(cached=0)], usage(cached=0), KEPT),
        ([usage(cached=4), usage(cached=4)], usage(cached=0), "stays 0"),
        ([usage(), usage(cached=4)], usage(cached=4), KEPT),
        ([usage(cached=4)], None, UNDECIDED),
    ],
)
def test_cached_tokens_in_both_forms(wholes, stream, expected):
    roles = pair(wholes, stream, None if stream else {})
    assert expected in case_verdict("streamed-and-whole", "usage.cached-tokens-in-both-forms", **roles)


def test_the_last_chunk_is_full():
    kind, rule = "streamed-and-whole", "usage.final-chunk-is-full"
    full = usage(cached=1, reasoning=0)
    assert case_verdict(kind, rule, **pair([full], {**full, "more": 1})) == KEPT
    assert "lacks members" in case_verdict(kind, rule, **pair([full], usage(cached=1)))
    assert "lacks members" in case_verdict(kind, rule, **pair([full], {**full, "prompt_tokens_details": {}}))
    assert "lacks members" in case_verdict(kind, rule, **pair([full, usage()], usage()))
    assert case_verdict(kind, rule, **pair([full], None, {})) == UNDECIDED
