"""The laws of stop strings and seeds, on replies made by hand."""

from __future__ import annotations

import pytest

from conformance.laws.stop import ends_at, stops_of
from tests.conformance.judging import KEPT, UNDECIDED, UNSEEN, case_found, case_verdict, found, verdict
from tests.conformance.made import chunk, completion, refused, streamed, whole

TEXT = "one, two, three, four"
CONTROL = [whole(body=completion(TEXT)), whole(body=completion(TEXT))]
KIND = "stopped"
CUT, ENDS, UNMATCHED, REASON = (
    "stop.cut-at-first-match",
    "stop.ends-generation",
    "stop.unmatched-changes-nothing",
    "finish.stop-on-stop-string",
)


def stopped(content, stop, finish="stop"):
    return whole({"stop": stop}, completion(content, finish))


@pytest.mark.parametrize(
    ("content", "stop", "cut", "ends", "or_included"),
    [
        ("one, ", "two", True, True, True),
        ("one, ", ["three", "two"], True, True, True),
        ("one, two", "two", False, False, True),
        ("one, two,", "two", False, False, False),
        (TEXT, "two", False, False, False),
        ("one", "two", False, False, False),
        ("", "one", True, True, True),
        ("one, two, ", ["three", "ree"], True, True, True),
    ],
)
def test_where_a_stopped_text_ends(content, stop, cut, ends, or_included):
    roles = {"control": CONTROL, "stopped": stopped(content, stop)}
    assert (case_verdict(KIND, CUT, **roles) == KEPT) is cut
    assert (case_verdict(KIND, ENDS, **roles) == KEPT) is ends
    assert (case_verdict(KIND, ENDS, **roles, params={"may_include": True}) == KEPT) is or_included
    assert case_verdict(KIND, UNMATCHED, **roles) == UNSEEN


def test_overlapping_strings_may_be_met_in_either_order():
    """`ne, tw` begins first, and `e,` is complete first."""
    assert ends_at(TEXT, ["e,", "ne, tw"]) == {1: "ne, tw", 2: "e,"}
    for content in ("o", "on"):
        assert case_verdict(KIND, CUT, control=CONTROL, stopped=stopped(content, ["e,", "ne, tw"])) == KEPT
    assert "does not end" in case_verdict(KIND, CUT, control=CONTROL, stopped=stopped("one", ["e,", "ne, tw"]))


def test_of_strings_that_end_together_the_longest_counts():
    assert ends_at("xyab", ["ab", "yab"]) == {1: "yab"}


def test_each_stopped_reply_is_judged_by_its_own_strings():
    """Of two replies one has a stop string that occurs, the other has none."""
    roles = {"control": CONTROL, "stopped": [stopped(TEXT, "five"), stopped("one, ", "two")]}
    for order in (1, -1):
        roles["stopped"] = roles["stopped"][::order]
        assert [case_verdict(KIND, rule, **roles) for rule in (CUT, ENDS, UNMATCHED, REASON)] == [KEPT] * 4
    roles["stopped"] = [stopped("one", "five", "length"), stopped("two", "two", "length")]
    verdicts = [case_verdict(KIND, rule, **roles) for rule in (CUT, ENDS, UNMATCHED, REASON)]
    assert all(one not in (KEPT, UNSEEN, UNDECIDED) and ";" not in one for one in verdicts)


def test_the_end_of_a_long_text_is_shown():
    text = "a long way " * 40 + "one, two"
    control = [whole(body=completion(text))] * 2
    (violation,) = case_found(KIND, CUT, control=control, stopped=stopped(text, ["e, two", ", "]))
    assert (violation.expected[-4:], violation.observed[-5:]) == (" on'", " two'")
    assert max(len(violation.expected), len(violation.observed)) < 70
    (violation,) = case_found(KIND, UNMATCHED, control=control, stopped=stopped(text + "!", ["x"]))
    assert (violation.expected[-14:], violation.observed[-15:]) == (" two', 'stop')", " two!', 'stop')")
    (violation,) = found("stop.absent-from-output", stopped(text, ["a long"]))
    assert violation.observed.endswith("one, two'")


def test_no_match_no_end():
    assert ends_at(TEXT, ["five"]) == {}
    assert ends_at("", ["a"]) == {}


@pytest.mark.parametrize(
    ("stop", "expected"), [("a", ["a"]), (["a", "", 5, "b"], ["a", "b"]), (None, []), ("", []), ({"a": 1}, [])]
)
def test_the_stop_strings_of_a_request(stop, expected):
    assert stops_of(whole({"stop": stop})) == expected


@pytest.mark.parametrize(
    ("content", "finish", "kept"),
    [(TEXT, "stop", True), (TEXT[:-1], "stop", False), ("z", "stop", False), (TEXT, "length", False)],
)
def test_strings_that_do_not_occur(content, finish, kept):
    roles = {"control": CONTROL, "stopped": stopped(content, ["four!"], finish)}
    assert (case_verdict(KIND, UNMATCHED, **roles) == KEPT) is kept
    assert case_verdict(KIND, CUT, **roles) == UNSEEN
    assert case_verdict(KIND, REASON, **roles) == UNSEEN


def test_the_reason():
    assert case_verdict(KIND, REASON, control=CONTROL, stopped=stopped("one, ", "two")) == KEPT
    for other in ("length", "unknown", None):
        assert "another reason" in case_verdict(KIND, REASON, control=CONTROL, stopped=stopped("one, ", "two", other))


@pytest.mark.parametrize("rule", [CUT, ENDS, REASON])
def test_an_endpoint_that_changes_its_mind_is_not_judged(rule):
    unsteady = [CONTROL[0], whole(body=completion("three, two"))]
    assert case_verdict(KIND, rule, control=unsteady, stopped=stopped("one", "two")) == UNDECIDED
    assert case_verdict(KIND, rule, control=CONTROL[:1], stopped=stopped("one, ", "two")) == UNDECIDED
    assert case_verdict(KIND, rule, control=CONTROL, stopped=refused(429, asked={"stop": "two"})) == UNDECIDED


def test_where_the_first_control_has_no_match_the_laws_of_a_match_say_nothing():
    control = [whole(body=completion("three")), CONTROL[0]]
    assert case_verdict(KIND, CUT, control=control, stopped=stopped("one, ", "two")) == UNSEEN
    assert case_verdict(KIND, UNMATCHED, control=control, stopped=stopped("one, ", "two")) == UNDECIDED


def test_a_control_that_was_refused():
    assert case_verdict(KIND, UNMATCHED, control=[refused(), refused()], stopped=stopped("one", "two")) == UNDECIDED


def test_absent_from_the_output():
    rule = "stop.absent-from-output"
    assert verdict(rule, stopped("one, ", "two")) == KEPT
    assert "stands in the output" in verdict(rule, stopped("one, two", ["five", "two"]))
    parts = streamed([chunk({"content": "one, t"}), chunk({"content": "wo"}), chunk({}, "stop")], {"stop": ["two"]})
    assert "stands in the output" in verdict(rule, parts)
    assert verdict(rule, whole({"stop": []})) == UNSEEN
    assert verdict(rule, whole({"stop": [""]})) == UNSEEN


def thought(content, reasoning="I count: alpha", stop=None):
    return whole({"stop": stop} if stop else None, completion(content, reasoning=reasoning))


def test_reasoning_stops_nothing():
    kind, rule = "stop-in-reasoning", "stop.ignores-reasoning"
    control = [thought("42"), thought("42")]
    assert case_verdict(kind, rule, control=control, stopped=thought("42", stop=["alpha"])) == KEPT
    for other in ("", "43"):
        assert "changes the answer" in case_verdict(kind, rule, control=control, stopped=thought(other, stop=["alpha"]))
    long = [thought("a long way " * 40 + "one")] * 2
    (violation,) = case_found(kind, rule, control=long, stopped=thought("a long way " * 40 + "two", stop=["alpha"]))
    assert (violation.expected[-14:], violation.observed[-14:]) == (" one', 'stop')", " two', 'stop')")
    assert case_verdict(kind, rule, control=control, stopped=thought("42", stop=["beta"])) == UNDECIDED
    assert (
        case_verdict(kind, rule, control=[thought("42"), thought("43")], stopped=thought("", stop=["alpha"]))
        == UNDECIDED
    )


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["a", "a"], KEPT),
        (["a", "b"], UNDECIDED),
        (["b", "a"], UNDECIDED),
        (["a", "b", "a"], KEPT),
        (["a", "b", "b"], KEPT),
        (["a", "b", "c"], "all differ"),
        (["a"], UNDECIDED),
    ],
)
def test_a_seed(texts, expected):
    asked = [whole({"seed": 7}, completion(text)) for text in texts]
    assert expected in case_verdict("seeded", "sampling.seed-repeats", asked=asked)


def test_the_first_two_replies_of_a_seed_are_shown():
    asked = [whole({"seed": 7}, completion(text)) for text in ("one", "two", "three", "four")]
    (violation,) = case_found("seeded", "sampling.seed-repeats", asked=asked)
    assert "4 replies" in violation.message
    assert (violation.expected[:6], violation.observed[:6]) == ("('one'", "('two'")
