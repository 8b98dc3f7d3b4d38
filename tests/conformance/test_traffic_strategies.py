"""What the strategies draw, and that no endpoint which stops at a stop string is blamed for how it looks for them."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.laws.stop import ends_at
from conformance.traffic.strategies import (
    RARE_STOPS,
    conversations,
    field_subsets,
    overlapping_stops,
    stop_lists,
    token_limits,
)
from tests.conformance.judging import KEPT, case_verdict
from tests.conformance.made import completion, whole

TEXTS = st.text(st.sampled_from("ab, 1é👩\u200d\U0001f469"), max_size=30)
SMALL = settings(max_examples=60, deadline=None, database=None)


def listed(stop: str | list[str]) -> list[str]:
    return [stop] if isinstance(stop, str) else stop


@SMALL
@given(conversations())
def test_conversations_alternate_and_end_with_the_user(messages):
    assert [message["role"] for message in messages] == ["user", "assistant"] * (len(messages) // 2) + ["user"]
    assert all(message["content"] for message in messages)
    assert len(messages) in (1, 3, 5)


@SMALL
@given(st.data())
def test_stop_strings_are_up_to_four_and_never_empty(data):
    text = data.draw(TEXTS)
    stops = listed(data.draw(stop_lists(text)))
    assert 1 <= len(stops) <= 4
    assert all(stops)


@SMALL
@given(st.data())
def test_overlapping_stop_strings_both_occur(data):
    text = data.draw(st.text("abc", min_size=3, max_size=20))
    assert all(stop in text for stop in data.draw(overlapping_stops(text)))


@SMALL
@given(token_limits(40))
def test_limits_are_within_their_range(limit):
    assert 1 <= limit <= 40


@SMALL
@given(field_subsets({"a": 1, "b": 2}))
def test_subsets_keep_the_values(fields):
    assert fields.items() <= {"a": 1, "b": 2}.items()


def test_subsets_of_nothing():
    @SMALL
    @given(field_subsets({}))
    def only_the_empty_one(fields):
        assert fields == {}

    only_the_empty_one()


def searched(text: str, stops: list[str]) -> str:
    """An endpoint that looks at the finished text: the earliest beginning counts."""
    return text[: min(text.find(stop) for stop in stops if stop in text)]


def watched(text: str, stops: list[str]) -> str:
    """An endpoint that looks at each character as it comes: the earliest end counts, then the longest match."""
    for end in range(1, len(text) + 1):
        found = [stop for stop in stops if text[:end].endswith(stop)]
        if found:
            return text[: end - max(map(len, found))]
    return text


@SMALL
@given(st.data(), st.sampled_from([searched, watched]))
def test_both_ways_to_look_for_stop_strings_keep_the_law(data, endpoint):
    text = data.draw(TEXTS.filter(bool))
    stops = listed(data.draw(st.one_of(stop_lists(text), overlapping_stops(text))))
    control = [whole(body=completion(text)), whole(body=completion(text))]
    if ends_at(text, stops):
        stopped = whole({"stop": stops}, completion(endpoint(text, stops)))
        for rule in ("stop.cut-at-first-match", "stop.ends-generation", "finish.stop-on-stop-string"):
            assert case_verdict("stopped", rule, control=control, stopped=stopped) == KEPT
    else:
        stopped = whole({"stop": stops}, completion(text))
        assert case_verdict("stopped", "stop.unmatched-changes-nothing", control=control, stopped=stopped) == KEPT


def test_rare_stops_are_rare():
    assert not any(stop in "1, 2, 3, 4, 5 What is a GPU? A GPU is a processor." for stop in RARE_STOPS)
