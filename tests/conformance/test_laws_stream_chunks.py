"""The laws of chunks: identity, role, order, increments and what they add up to."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.conformance.judging import KEPT, UNDECIDED, UNSEEN, case_found, case_verdict, found, verdict
from tests.conformance.made import call, chunk, completion, refused, streamed, whole

SAID = [chunk({"role": "assistant", "content": "Hel"}), chunk({"content": "lo"}), chunk({"content": "!"})]
END = chunk({}, "stop")
USAGE = chunk(None, usage={"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8})
GOOD = streamed([*SAID, END])
RULES = (
    "stream.one-id",
    "stream.one-created",
    "stream.one-model",
    "stream.role-comes-first",
    "stream.role-comes-only-first",
    "stream.starts-with-the-first-token",
    "stream.finish-once",
    "stream.nothing-after-finish",
    "stream.no-empty-choices",
    "stream.no-whole-message",
    "stream.deltas-are-increments",
    "stream.folds-to-a-valid-message",
)


def broken(*chunks) -> set[str]:
    return {rule for rule in RULES if verdict(rule, streamed(list(chunks))) not in (KEPT, UNSEEN)}


def member(name, value, at=1):
    return [{**one, name: value} if index == at else one for index, one in enumerate([*SAID, END])]


@pytest.mark.parametrize(
    "chunks",
    [
        [*SAID, END],
        [*SAID, END, USAGE],
        [chunk({"role": "assistant", "content": "Hello!"}, "stop")],
        [*SAID, chunk({"content": "."}, "stop")],
        [*SAID, chunk({"content": ""}), END],
        [*SAID, chunk({"content": None, "tool_calls": None}, "stop")],
        [{**one, "extra": 1} for one in [*SAID, END]],
    ],
    ids=["plain", "usage", "one chunk", "text with finish", "empty text", "nulls", "extra members"],
)
def test_legal_variety_breaks_nothing(chunks):
    assert broken(*chunks) == set()


@pytest.mark.parametrize(
    ("rule", "chunks"),
    [
        ("stream.one-id", member("id", "other")),
        ("stream.one-created", member("created", 5)),
        ("stream.one-model", member("model", "other", at=3)),
        ("stream.role-comes-first", [chunk({"content": "a"}), END]),
        ("stream.role-comes-only-first", [SAID[0], chunk({"role": None, "content": "b"}), END]),
        ("stream.starts-with-the-first-token", [chunk({"role": "assistant", "content": ""}), *SAID[1:], END]),
        ("stream.finish-once", SAID),
        ("stream.finish-once", [*SAID, END, END]),
        ("stream.nothing-after-finish", [*SAID, END, chunk({"content": "more"})]),
        ("stream.no-empty-choices", [SAID[0], chunk(None), END]),
        (
            "stream.no-whole-message",
            [SAID[0], {**chunk({}), "choices": [{"index": 0, "delta": {}, "message": {}}]}, END],
        ),
        ("stream.deltas-are-increments", [SAID[0], chunk({"content": "Hello"}), chunk({"content": "Hello you"}), END]),
        ("stream.folds-to-a-valid-message", [SAID[0], chunk({"content": 5}), END]),
        ("stream.folds-to-a-valid-message", [SAID[0], chunk({"tool_calls": {}}), END]),
    ],
)
def test_one_breach(rule, chunks):
    assert broken(*chunks) == {rule}


def test_a_role_in_the_wrong_words():
    assert "stream.role-comes-first" in broken(chunk({"role": "", "content": "a"}), END)


def test_role_on_every_delta():
    rule = "stream.role-on-every-delta"
    assert "chunk 2" in verdict(rule, GOOD)
    every = [chunk({"role": "assistant", "content": "a"}), chunk({"role": "assistant"}, "stop"), USAGE]
    assert verdict(rule, streamed(every)) == KEPT


def test_the_first_chunk_may_be_the_last():
    assert verdict("stream.starts-with-the-first-token", streamed([chunk({"role": "assistant"}, "stop")])) == KEPT
    thinking = [chunk({"role": "assistant", "reasoning": "Hm"}), END]
    assert verdict("stream.starts-with-the-first-token", streamed(thinking)) == KEPT


def test_several_choices_each_have_role_and_finish():
    def of(index, delta, finish=None):
        return {**chunk({}), "choices": [{"index": index, "delta": delta, "finish_reason": finish}]}

    first = {"role": "assistant", "content": "a"}
    assert broken(of(0, first), of(1, first), of(1, {}, "stop"), of(0, {"content": "b"}), of(0, {}, "stop")) == set()
    assert "stream.role-comes-first" in broken(
        of(0, first), of(1, {"content": "a"}), of(0, {}, "stop"), of(1, {}, "stop")
    )
    assert broken(of(0, first), of(1, first), of(0, {}, "stop"), of(0, {}, "stop")) == {"stream.finish-once"}


def test_a_choice_without_index_is_the_first():
    def of(delta, finish=None, **index):
        return {**chunk({}), "choices": [{**index, "delta": delta, "finish_reason": finish}]}

    first = of({"role": "assistant", "content": "a"})
    assert broken(first, of({"content": "b"}, index=0), of({}, "stop", index=0)) == set()
    assert broken(first, of({}, "stop"), of({"content": "b"}, index=0)) == {"stream.nothing-after-finish"}
    assert broken(of({"role": "assistant", "content": "a"}, index=[1]), of({}, "stop", index=[1])) == set()


def test_a_member_that_no_chunk_has_does_not_change():
    nameless = [{name: value for name, value in one.items() if name != "model"} for one in [*SAID, END]]
    assert verdict("stream.one-model", streamed(nameless)) == KEPT


def test_the_chunk_at_fault_is_counted_from_one():
    assert verdict("stream.no-empty-choices", streamed([SAID[0], chunk(None), END])).startswith("chunk 2 ")
    again = [SAID[0], chunk({"role": "assistant", "content": "b"}), END]
    assert verdict("stream.role-comes-only-first", streamed(again)).endswith("in chunk 2")
    assert verdict("stream.role-on-every-delta", streamed([*SAID, END])) == "chunk 2 of choice 0 has no role"


def test_a_disturbed_stream_is_not_judged():
    failed = streamed([SAID[0], {"error": {"message": "gone"}}], ending=b"")
    assert all(verdict(rule, failed) == UNSEEN for rule in RULES)


def test_two_growing_pieces_are_no_proof_of_repetition():
    assert "stream.deltas-are-increments" not in broken(
        chunk({"role": "assistant", "content": "a"}), chunk({"content": "ab"}), END
    )
    rule = "stream.deltas-are-increments"
    assert verdict(rule, streamed([chunk({"content": "a"}), chunk({"content": "ab"})])) == UNSEEN
    assert verdict(rule, streamed([chunk({"content": "ha"})] * 5)) == KEPT
    assert "repeat" in verdict(rule, streamed([chunk({"content": text}) for text in ("a", "ab", "abc", "abcd")]))
    thinking = [chunk({"reasoning": text}) for text in ("a", "ab")]
    assert verdict(rule, streamed([*thinking, *SAID])) == KEPT
    assert verdict(rule, streamed([chunk({"content": 5})] * 3)) == UNSEEN
    assert verdict(rule, streamed([*SAID, {"error": {}}], ending=b"")) == UNSEEN


def test_what_does_not_fold_is_shown():
    (violation,) = found("stream.folds-to-a-valid-message", streamed([SAID[0], chunk({"content": 5}), END]))
    assert violation.message == "choice 0 does not fold: content of chunk 2 is no text"
    assert (violation.expected, violation.observed) == ("a string", "5")


@pytest.mark.parametrize("first", [({"content": 5}, "stop"), ({"content": "a"}, "length")])
def test_every_choice_has_to_fold(first):
    def of(index, delta, finish):
        return {**chunk({}), "choices": [{"index": index, "delta": delta, "finish_reason": finish}]}

    both = streamed([of(0, *first), of(1, {"content": 7}, "stop")])
    assert "choice 1 does not fold" in verdict("stream.folds-to-a-valid-message", both)


@pytest.mark.parametrize("missing", ["id", "type", "name", "arguments"])
def test_a_call_that_stays_incomplete(missing):
    parts = {"name": "f", "arguments": "{}"}
    head = {"index": 0, "id": "c", "type": "function", "function": parts}
    whole_call = chunk({"role": "assistant", "tool_calls": [head]})
    assert broken(whole_call, chunk({}, "tool_calls")) == set()
    part = {**head, "function": {k: v for k, v in parts.items() if k != missing}}
    part.pop(missing, None)
    incomplete = chunk({"role": "assistant", "tool_calls": [part, {**part, "index": 1}]})
    expected = f"call 0 of choice 0 folds without {missing}"
    assert verdict("stream.folds-to-a-valid-message", streamed([incomplete, chunk({}, "tool_calls")])) == expected
    assert broken(incomplete, chunk({}, "tool_calls")) == {"stream.folds-to-a-valid-message"}
    assert broken(incomplete, chunk({}, "length")) == set()


def timed(*at_ms: int):
    chunks = [chunk({"content": "a"}) for _ in at_ms]
    plain = streamed(chunks, ending=b"")
    size = len(plain.received.body) // len(chunks)
    return streamed(chunks, ending=b"", arrivals=tuple((at / 1000, size) for at in at_ms))


SLOW = timed(*range(100, 1000, 100))
AT_ONCE = timed(*[1000] * 9)
SHORT = timed(1000, 1000)


@pytest.mark.parametrize(
    ("streams", "expected"),
    [
        ([SLOW], KEPT),
        ([AT_ONCE, AT_ONCE, SLOW], KEPT),
        ([AT_ONCE, AT_ONCE, AT_ONCE], "each of 3 long streams"),
        ([AT_ONCE, AT_ONCE, SHORT], UNDECIDED),
        ([SHORT], UNDECIDED),
        ([refused()] * 3, UNDECIDED),
    ],
)
def test_progress(streams, expected):
    assert expected in case_verdict("long-streams", "stream.arrives-progressively", streamed=streams)


@pytest.mark.parametrize(
    ("at_ms", "kept"),
    [
        ([899] * 8 + [1000], True),
        ([901] * 8 + [1000], False),
        ([9000] * 8 + [10000], True),
        ([9500] * 8 + [10000], False),
        ([100] + [1000] * 8, True),
    ],
)
def test_a_tenth_of_the_time_is_progress(at_ms, kept):
    judged = case_verdict("long-streams", "stream.arrives-progressively", streamed=[timed(*at_ms)] * 3)
    assert (judged == KEPT) is kept


def test_eight_pieces_are_enough_to_tell():
    kind, rule = "long-streams", "stream.arrives-progressively"
    assert "each of 4" in case_verdict(kind, rule, streamed=[timed(*[1000] * 8)] * 4)
    assert case_verdict(kind, rule, streamed=[timed(*[1000] * 7)] * 3) == UNDECIDED
    assert "each of 3" in case_verdict(kind, rule, streamed=[timed(1000, 1000)] * 3, params={"min_chunks": 2})


def test_only_pieces_of_output_are_timed():
    """Neither what comes before the first piece nor an event that is no chunk says when output came."""
    pieces = [chunk({"role": "assistant"}), *[chunk({"content": "a"})] * 9]
    plain = streamed(pieces, ending=b"")
    first = plain.received.body.index(b"\n\n") + 2
    rest = len(plain.received.body) - first
    late = streamed(pieces, ending=b"", arrivals=((0.0, first), (1.0, rest)))
    odd = streamed(pieces[1:], ending=b"", arrivals=((1.0, rest),))
    noisy = replace(odd, received=replace(odd.received, body=b"data: 1\n\n" * 9 + odd.received.body))
    noisy = replace(noisy, received=replace(noisy.received, arrivals=((0.1, 81), (0.9, 9), (1.0, rest))))
    kind, rule = "long-streams", "stream.arrives-progressively"
    assert "each of" in case_verdict(kind, rule, streamed=[late] * 3)
    assert "each of" in case_verdict(kind, rule, streamed=[noisy] * 3)


def test_the_first_of_the_buffered_streams_is_shown():
    streams = [timed(950, *[990] * 7, 1000), AT_ONCE, timed(*[2000] * 8)]
    (violation,) = case_found("long-streams", "stream.arrives-progressively", streamed=[SHORT, *streams])
    assert violation.observed == "9 pieces after 0.950 s, within 0.050 s"
    assert violation.exchanges == tuple(x.id for x in streams)


def test_equal_streamed_and_whole():
    kind, rule = "streamed-and-whole", "stream.equals-whole"
    same = [whole(body=completion("Hello!")), whole(body=completion("Hello!"))]
    assert case_verdict(kind, rule, whole=same, streamed=GOOD) == KEPT
    assert "does not add up" in case_verdict(kind, rule, whole=same, streamed=streamed([SAID[0], END]))
    assert "does not add up" in case_verdict(kind, rule, whole=same, streamed=streamed([*SAID, chunk({}, "length")]))
    assert case_verdict(kind, rule, whole=[same[0], whole()], streamed=GOOD) == UNDECIDED
    assert case_verdict(kind, rule, whole=same[:1], streamed=GOOD) == UNDECIDED
    assert case_verdict(kind, rule, whole=same, streamed=refused(429)) == UNDECIDED
    (violation,) = case_found(kind, rule, whole=same, streamed=[GOOD, other := streamed([SAID[0], END])])
    assert violation.exchanges == (same[0].id, other.id)
    assert case_verdict(kind, rule, whole=same) == UNSEEN
    assert case_verdict(kind, rule, streamed=GOOD) == UNSEEN


def test_equal_calls_whatever_their_ids():
    kind, rule = "streamed-and-whole", "stream.equals-whole"
    wholes = [whole(body=completion(None, "tool_calls", tool_calls=[call()])) for _ in range(2)]
    parts = [{"index": 0, "id": "x", "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}]
    assert (
        case_verdict(
            kind, rule, whole=wholes, streamed=streamed([chunk({"tool_calls": parts}), chunk({}, "tool_calls")])
        )
        == KEPT
    )
    assert "add up" in case_verdict(kind, rule, whole=wholes, streamed=streamed([chunk({"content": "no"}), END]))


def test_done_in_the_text():
    kind, rule = "done-in-text", "stream.done-in-text-ends-nothing"
    said = whole(body=completion("data: [DONE] is the end"))
    through = streamed([chunk({"content": "data: [DO"}), chunk({"content": "NE] is the end"}), END])
    cut = streamed([chunk({"content": "data: [DONE]"})], ending=b"")
    assert case_verdict(kind, rule, whole=said, streamed=through) == KEPT
    assert "stream stops" in case_verdict(kind, rule, whole=said, streamed=cut)
    assert case_verdict(kind, rule, whole=whole(), streamed=GOOD) == UNDECIDED
    assert case_verdict(kind, rule, whole=whole(), streamed=cut) == UNDECIDED
    assert case_verdict(kind, rule, whole=[whole(), said], streamed=[GOOD, through]) == KEPT
    with pytest.raises(ValueError, match="shorter than"):
        case_verdict(kind, rule, whole=[said, said], streamed=through)
