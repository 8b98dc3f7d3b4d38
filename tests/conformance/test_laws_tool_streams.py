"""The laws of calls as they arrive, on streams made by hand."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.judging import KEPT, UNDECIDED, UNSEEN, verdict
from tests.conformance.made import chunk, completion, streamed, whole

ASKED = {"tools": [{"type": "function", "function": {"name": "get_weather"}}]}
FIRST = "tools.first-fragment-names-the-call"
ONCE = "tools.id-and-name-come-once"
COMPLETE = "tools.calls-arrive-complete"
NUMBERED = "tools.indices-run-from-zero"


def part(index: Any = 0, id: Any = None, name: Any = None, arguments: Any = None) -> dict[str, Any]:
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    head = {} if index is None else {"index": index}
    return {**head, **({"id": id, "type": "function"} if id is not None else {}), "function": function}


def stream(*parts: dict[str, Any]) -> Any:
    return streamed([*(chunk({"tool_calls": [one]}) for one in parts), chunk({}, "tool_calls")], ASKED)


GOOD = (part(0, "a", "get_weather", ""), part(0, arguments='{"city":'), part(0, arguments='"Oslo"}'))


def test_a_good_stream_of_fragments_keeps_all_but_completeness() -> None:
    good = stream(*GOOD)
    assert [verdict(one, good) for one in (FIRST, ONCE, NUMBERED)] == [KEPT, KEPT, KEPT]
    assert "3 fragments" in verdict(COMPLETE, good)


def test_a_whole_call_in_one_delta_keeps_everything() -> None:
    good = stream(part(0, "a", "get_weather", "{}"), part(1, "b", "get_weather", "{}"))
    assert [verdict(one, good) for one in (FIRST, ONCE, NUMBERED, COMPLETE)] == [KEPT] * 4


def test_two_calls_in_one_delta() -> None:
    both = [part(0, "a", "get_weather", "{}"), part(1, "b", "get_weather", "{}")]
    good = streamed([chunk({"tool_calls": both}), chunk({}, "tool_calls")], ASKED)
    assert [verdict(one, good) for one in (FIRST, ONCE, NUMBERED, COMPLETE)] == [KEPT] * 4


@pytest.mark.parametrize("bad", [None, "", 5])
def test_the_first_fragment_lacks_its_id_or_name(bad: Any) -> None:
    assert "no id" in verdict(FIRST, stream(part(0, bad, "get_weather", "{}")))
    assert "no name" in verdict(FIRST, stream(part(0, "a", bad, "{}")))


def test_a_name_in_pieces() -> None:
    pieces = stream(part(0, "a", "get_"), part(0, name="weather", arguments="{}"))
    assert "in pieces" in verdict(FIRST, pieces)
    assert verdict(ONCE, pieces) == KEPT


def test_a_name_in_pieces_or_without_an_id_is_one_finding() -> None:
    pieces = stream(part(0, "a", "get_"), part(0, name="weather", arguments="{}"))
    assert verdict("tools.called-names-are-offered", pieces) == KEPT
    for odd in ("get_", 5):
        assert "does not offer" in verdict("tools.called-names-are-offered", stream(part(0, "a", odd, "{}")))
    assert verdict("tools.called-names-are-offered", stream(part(0, "a", arguments="{}"))) == KEPT
    assert verdict("tools.ids-are-not-empty", stream(part(0, None, "get_weather", "{}"))) == UNDECIDED
    assert "has no id" in verdict("tools.ids-are-not-empty", stream(part(0, "", "get_weather", "{}")))


def test_a_name_that_is_not_offered_but_whole_is_another_laws_business() -> None:
    assert verdict(FIRST, stream(part(0, "a", "get_news", "{"), part(0, arguments="}"))) == KEPT
    assert verdict(FIRST, stream(*GOOD[:1], part(0, name="get_weather", arguments="{}"))) == KEPT


def test_id_or_name_repeated() -> None:
    again = stream(*GOOD[:1], part(0, "a", arguments="{"), part(0, "a", arguments="}"))
    assert verdict(ONCE, again) == "the id of call 0 is repeated"
    assert verdict(FIRST, again) == KEPT
    assert verdict(ONCE, stream(*GOOD[:1], part(0, name="get_weather"))) == "the name of call 0 is repeated"


def test_null_and_empty_members_of_later_fragments_are_no_repetition() -> None:
    later = {"index": 0, "id": None, "function": {"name": "", "arguments": "{}"}}
    assert verdict(ONCE, stream(part(0, "a", "get_weather", ""), later)) == KEPT


def test_another_id_at_a_number_that_is_taken_begins_another_call() -> None:
    both = stream(part(0, "a", "get_weather", "{}"), part(0, "b", "get_weather", "{}"))
    assert "not numbered from 0" in verdict(NUMBERED, both)
    assert [verdict(one, both) for one in (FIRST, ONCE, COMPLETE)] == [KEPT] * 3
    assert verdict("tools.arguments-are-json", both) == KEPT
    assert verdict("tools.ids-are-distinct", both) == KEPT
    for first, second in (("a", "b"), ("b", "a")):
        parts = part(0, first, "get_weather", "{"), part(0, arguments="}"), part(0, second, "get_weather", "{}")
        assert "not numbered from 0" in verdict(NUMBERED, stream(*parts))
    odd = stream(part(0, "a", "get_weather", "{"), part(0, 5, arguments="}"))
    assert verdict(COMPLETE, odd) == "call 0 comes in 2 fragments"


def test_a_single_delta_that_is_not_complete() -> None:
    assert "not complete" in verdict(COMPLETE, stream(part(0, "a", "get_weather")))
    several = stream(part(0, "a", "get_weather", "{"), part(0, arguments="}"), part(1, "b", "get_weather"))
    assert verdict(COMPLETE, several) == "call 0 comes in 2 fragments; the delta of call 1 is not complete"


@pytest.mark.parametrize(("numbers", "good"), [((0, 1), True), ((1, 0), True), ((1,), False), ((0, 2), False)])
def test_numbers_of_a_stream(numbers: tuple[int, ...], good: bool) -> None:
    found = verdict(NUMBERED, stream(*(part(n, f"id{n}", "get_weather", "{}") for n in numbers)))
    assert (found == KEPT) is good


@pytest.mark.parametrize(("numbers", "good"), [((0, 1), True), ((1, 0), False), ((0, 0), False), ((1, 2), False)])
def test_numbers_of_a_whole_reply(numbers: tuple[int, ...], good: bool) -> None:
    calls = [part(n, f"id{n}", "get_weather", "{}") for n in numbers]
    found = verdict(NUMBERED, whole(ASKED, completion(None, "tool_calls", tool_calls=calls)))
    assert (found == KEPT) is good


def test_a_whole_reply_without_numbers_is_not_judged() -> None:
    calls = [part(None, "a", "get_weather", "{}")]
    assert verdict(NUMBERED, whole(ASKED, completion(None, "tool_calls", tool_calls=calls))) == UNSEEN


@pytest.mark.parametrize("number", [None, "1", True, 1.5])
def test_pieces_without_a_number_are_passed_over(number: Any) -> None:
    assert verdict(NUMBERED, stream(part(number, "a", "get_weather", "{}"))) == UNSEEN
    assert verdict(NUMBERED, stream(part(number, "a", "get_weather", "{}"), *GOOD)) == KEPT
    assert "no id" in verdict(FIRST, stream(part(number, "a", "get_weather", "{}"), part(0, None, "get_weather")))


def test_fragments_are_a_matter_of_streams() -> None:
    numbered = whole(ASKED, completion(None, "tool_calls", tool_calls=[part(0, None, "get_weather", "{}")]))
    assert [verdict(one, numbered) for one in (FIRST, ONCE, COMPLETE)] == [UNSEEN] * 3


def test_each_choice_counts_for_itself() -> None:
    def of(choice: int) -> dict[str, Any]:
        one = chunk({"tool_calls": [part(0, f"id{choice}", "get_weather", "{}")]})
        one["choices"][0]["index"] = choice
        return one

    assert verdict(NUMBERED, streamed([of(0), of(1)], ASKED)) == KEPT
    assert verdict(COMPLETE, streamed([of(0), of(1)], ASKED)) == KEPT


def test_odd_values_are_survived() -> None:
    odd = streamed([chunk({"tool_calls": [7, {"index": True}, {"index": 0, "function": [], "id": {}}]})], ASKED)
    for one in (FIRST, ONCE, COMPLETE, NUMBERED):
        assert isinstance(verdict(one, odd), str)
