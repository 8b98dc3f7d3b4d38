"""The laws of finish reasons and token limits, on replies made by hand."""

from __future__ import annotations

import pytest

from tests.conformance.judging import KEPT, UNDECIDED, UNSEEN, case_found, case_verdict, verdict
from tests.conformance.made import call, chunk, completion, exchange, refused, streamed, whole


def cut(tokens=None, content="Hi", finish="length", asked=None, reasoning_tokens=None, **message):
    body = completion(content, finish, **message)
    body["usage"] = None if tokens is None else {"prompt_tokens": 5, "completion_tokens": tokens}
    if reasoning_tokens is not None:
        body["usage"]["completion_tokens_details"] = {"reasoning_tokens": reasoning_tokens}
    return whole(asked, body)


def test_null_in_a_whole_reply():
    rule = "finish.not-null-in-whole-reply"
    assert verdict(rule, whole()) == KEPT
    assert "is null" in verdict(rule, whole(body=completion(finish=None)))
    assert verdict(rule, streamed([chunk({"content": "a"})])) == UNSEEN
    unasked = exchange({"model": "m"}, 200, b'data: {"choices": []}\n\n', "text/event-stream")
    assert verdict(rule, unasked) == UNSEEN


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (cut(16), KEPT),
        (cut(15), KEPT),
        (cut(14), "limit was not reached"),
        (cut(14, asked={"max_completion_tokens": 14}), KEPT),
        (cut(14, asked={"max_tokens": None}), UNDECIDED),
        (cut(None), UNDECIDED),
        (cut(100, asked={"max_tokens": 2044}), UNDECIDED),
        (cut(100, asked={"max_tokens": 2043}), "limit was not reached"),
        (cut(14, finish="stop"), UNSEEN),
        (cut(14, finish="content_filter"), UNSEEN),
    ],
)
def test_length_means_limit(answer, expected):
    assert expected in verdict("finish.length-means-limit", answer)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (cut(16), KEPT),
        (cut(0, ""), "no output"),
        (cut(1, ""), "no output"),
        (cut(2, "", reasoning_tokens=0), KEPT),
        (cut(4, "", reasoning_tokens=0), KEPT),
        (cut(5, "", reasoning_tokens=0), "no output"),
        (cut(5, "", reasoning_tokens=5), KEPT),
        (cut(5, ""), KEPT),
        (cut(5, "", reasoning_tokens=0, asked={"tools": [{}]}), KEPT),
        (cut(0, "", asked={"max_tokens": None}), "no output"),
        (cut(1, "", asked={"max_tokens": 1}), KEPT),
        (cut(1, "", asked={"max_tokens": 2}), KEPT),
        (cut(1, "", asked={"max_tokens": 3}), "no output"),
        (cut(0, "", reasoning="Hm"), KEPT),
        (cut(0, None, tool_calls=[call()]), KEPT),
        (cut(None, ""), UNDECIDED),
        (streamed([chunk({}, "length")]), UNDECIDED),
    ],
)
def test_length_has_output(answer, expected):
    assert expected in verdict("finish.length-has-output", answer)


def test_a_prompt_that_is_not_counted_takes_no_room():
    body = {**completion("Hi", "length"), "usage": {"completion_tokens": 100}}
    assert "limit was not reached" in verdict("finish.length-means-limit", whole({"max_tokens": 2048}, body))
    assert verdict("finish.length-means-limit", whole({"max_tokens": 2049}, body)) == UNDECIDED


def test_the_count_of_several_choices_says_nothing_about_one():
    body = completion("Hi", "length")
    body["choices"].append({**body["choices"][0], "index": 1})
    assert verdict("finish.length-means-limit", whole(body=body)) == UNDECIDED


@pytest.mark.parametrize("other", ["eos", "unknown"])
def test_only_the_choice_that_was_cut_owes_output(other):
    body = completion("Hi", "length")
    body["choices"].append({"index": 1, "message": {"role": "assistant", "content": ""}, "finish_reason": other})
    body["usage"] = {"completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 0}}
    assert verdict("finish.length-has-output", whole(body=body)) == KEPT


LONG = [whole(body=completion("1, 2, 3, 4")), whole(body=completion("1, 2, 3, 4"))]


@pytest.mark.parametrize(
    ("short", "when_cut", "extends"),
    [
        (completion("1, 2", "length"), KEPT, KEPT),
        (completion("1, 2", "stop"), "gives another reason", "goes on"),
        (completion("1, 2", "eos"), "gives another reason", KEPT),
        (completion("1, 2, 3, 4", "stop"), UNDECIDED, KEPT),
        (completion("1, 2, 3, 4", "length"), UNDECIDED, KEPT),
        (completion("1, 2", "unknown"), "gives another reason", KEPT),
        (completion("One", "length"), UNDECIDED, "begins differently"),
    ],
)
def test_a_lower_limit(short, when_cut, extends):
    roles = {"long": LONG, "short": whole(body=short)}
    assert when_cut in case_verdict("cut-short", "finish.length-when-cut", **roles)
    assert extends in case_verdict("cut-short", "limits.longer-limit-extends", **roles)


def test_one_reply_under_the_higher_limit_shows_a_cut():
    for long in (LONG[0], [LONG[0], whole(body=completion("Four"))]):
        roles = {"long": long, "short": whole(body=completion("1, 2", "stop"))}
        assert "gives another reason" in case_verdict("cut-short", "finish.length-when-cut", **roles)


def test_a_text_that_ended_by_itself_ends_there_under_a_higher_limit():
    rule, text = "limits.longer-limit-extends", "a long way " * 40
    roles = {"long": [whole(body=completion("1, 2", "length"))] * 2, "short": whole(body=completion("1, 2", "stop"))}
    assert "goes on" in case_verdict("cut-short", rule, **roles)
    roles = {"long": [whole(body=completion(text + "on"))] * 2, "short": whole(body=completion(text + "o"))}
    (violation,) = case_found("cut-short", rule, **roles)
    assert (violation.expected[-4:], violation.observed[-4:]) == ("y o'", " on'")


def test_an_unsteady_endpoint_is_not_held_to_its_text():
    roles = {"long": [LONG[0], whole(body=completion("Four"))], "short": whole(body=completion("One", "length"))}
    assert case_verdict("cut-short", "limits.longer-limit-extends", **roles) == UNDECIDED
    assert case_verdict("cut-short", "limits.longer-limit-extends", long=LONG, short=refused(429)) == UNDECIDED


@pytest.mark.parametrize("choice", [None, "auto", "required", {"type": "allowed_tools"}])
def test_calls_that_were_free_or_required(choice):
    rule, asked = "finish.tool-calls-with-calls", {"tool_choice": choice}
    assert verdict(rule, whole(asked, completion(None, "tool_calls", tool_calls=[call()]))) == KEPT
    assert "another reason" in verdict(rule, whole(asked, completion(None, "stop", tool_calls=[call()])))
    assert verdict(rule, whole(asked, completion(None, "length", tool_calls=[call()]))) == KEPT
    assert verdict("finish.tool-calls-for-named-choice", whole(asked, completion(tool_calls=[call()]))) == UNSEEN
    assert verdict(rule, whole(asked)) == UNSEEN


def test_a_call_forced_by_name():
    asked = {"tool_choice": {"type": "function", "function": {"name": "f"}}}
    stopped = whole(asked, completion(None, "stop", tool_calls=[call()]))
    assert "another reason" in verdict("finish.tool-calls-for-named-choice", stopped)
    assert verdict("finish.tool-calls-with-calls", stopped) == UNSEEN
    good = streamed([chunk({"tool_calls": [{"index": 0, "function": {}}]}), chunk({}, "tool_calls")], asked)
    assert verdict("finish.tool-calls-for-named-choice", good) == KEPT


@pytest.mark.parametrize("choice", [{}, {"type": "custom"}, {"type": "other"}, {"type": None}])
def test_another_choice_of_tools_is_not_judged(choice):
    stopped = whole({"tool_choice": choice}, completion(None, "stop", tool_calls=[call()]))
    assert verdict("finish.tool-calls-with-calls", stopped) == UNSEEN
    assert verdict("finish.tool-calls-for-named-choice", stopped) == UNSEEN


def test_no_reason_of_calls_without_one():
    rule = "finish.no-tool-calls-without-calls"
    assert verdict(rule, whole()) == KEPT
    assert verdict(rule, whole(body=completion(finish="unknown"))) == KEPT
    assert "there is no call" in verdict(rule, whole(body=completion("Hello", "tool_calls", tool_calls=[])))
    assert verdict(rule, whole(body=completion(None, "tool_calls", tool_calls=[call()]))) == KEPT


@pytest.mark.parametrize("reason", ["inference_timeout", "content_filter"])
def test_induced_ends(reason):
    rule = f"finish.{reason.replace('_', '-')}"
    facts = {"induce": reason}
    assert verdict(rule, whole(body=completion("Hi", reason), facts=facts)) == KEPT
    assert verdict(rule, whole(body=completion("Hi", reason))) == KEPT
    assert "does not say so" in verdict(rule, whole(facts=facts))
    assert "does not say so" in verdict(rule, refused(500, facts=facts))
    assert verdict(rule, whole()) == UNSEEN
    assert verdict(rule, whole(facts={"induce": "other"})) == UNSEEN
    assert verdict(rule, whole(body=completion("Hi", "aborted"))) == UNSEEN


@pytest.mark.parametrize(("tokens", "kept"), [(15, True), (16, True), (17, False)])
def test_the_limit_bounds_the_output(tokens, kept):
    for rule, asked in (
        ("limits.max-tokens-bounds-output", {}),
        ("limits.max-completion-tokens-bounds-output", {"max_tokens": None, "max_completion_tokens": 16}),
    ):
        assert (verdict(rule, cut(tokens, asked=asked)) == KEPT) is kept
    reasoning = cut(tokens, reasoning="Hm")
    assert (verdict("limits.bound-includes-reasoning", reasoning) == KEPT) is kept


def test_each_choice_may_reach_the_limit():
    assert verdict("limits.max-tokens-bounds-output", cut(32, asked={"n": 2})) == KEPT
    assert "more tokens" in verdict("limits.max-tokens-bounds-output", cut(33, asked={"n": 2}))


def test_each_name_of_the_limit_has_a_law_of_its_own():
    both = cut(9, asked={"max_completion_tokens": 8})
    assert verdict("limits.max-tokens-bounds-output", both) == UNSEEN
    assert verdict("limits.max-completion-tokens-bounds-output", both) == UNSEEN
    assert verdict("limits.max-completion-tokens-bounds-output", cut(9)) == UNSEEN
    assert verdict("limits.max-tokens-bounds-output", cut(None)) == UNSEEN
    for odd in (1.5, 0, -1, True):
        assert verdict("limits.max-tokens-bounds-output", cut(99, asked={"max_tokens": odd})) == UNSEEN
    assert "more tokens" in verdict("limits.max-tokens-bounds-output", cut(2, asked={"max_tokens": 1}))


def both(tokens, finish, max_tokens, synonym):
    return cut(tokens, finish=finish, asked={"max_tokens": max_tokens, "max_completion_tokens": synonym})


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (both(6, "length", 24, 6), KEPT),
        (both(24, "length", 24, 6), "more tokens"),
        (both(24, "length", 6, 24), KEPT),
        (both(6, "length", 6, 24), "max_tokens cut"),
        (both(5, "length", 6, 24), "max_tokens cut"),
        (both(7, "length", 6, 24), KEPT),
        (both(6, "stop", 6, 24), KEPT),
        (both(6, "content_filter", 6, 24), KEPT),
        (both(5, "stop", 6, 24), KEPT),
        (both(4, "stop", 6, 24), UNDECIDED),
        (both(6, "length", 6, 6), UNSEEN),
        (cut(6), UNSEEN),
    ],
)
def test_the_synonym_wins(answer, expected):
    assert expected in verdict("limits.max-completion-tokens-wins", answer)


def test_reasoning_counts():
    body = completion("Hi", "length")
    body["usage"] = {"prompt_tokens": 5, "completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 17}}
    assert "reasoning alone" in verdict("limits.bound-includes-reasoning", whole(body=body))
    body["usage"]["completion_tokens_details"]["reasoning_tokens"] = 9
    assert verdict("limits.bound-includes-reasoning", whole(body=body)) == KEPT
    body["usage"]["completion_tokens_details"]["reasoning_tokens"] = 16
    assert verdict("limits.bound-includes-reasoning", whole(body=body)) == KEPT
    body["usage"]["completion_tokens_details"]["reasoning_tokens"] = 32
    assert verdict("limits.bound-includes-reasoning", whole({"n": 2}, body)) == KEPT
    assert verdict("limits.bound-includes-reasoning", cut(17)) == UNSEEN
    assert verdict("limits.bound-includes-reasoning", cut(None, reasoning="Hm")) == UNSEEN
