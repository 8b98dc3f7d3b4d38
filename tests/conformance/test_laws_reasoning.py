"""The laws of thinking, on exchanges made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.conformance.judging import KEPT, UNDECIDED, UNSEEN, case_found, case_verdict, found, verdict
from tests.conformance.made import call, chunk, completion, refused, streamed, whole

ON = {"reasoning_effort": "high"}


def reply(
    asked: dict[str, Any],
    reasoning: str | None = None,
    tokens: int | None = 0,
    content: Any = "Oslo.",
    finish: str = "stop",
    *,
    generated: int = 9,
    **message: Any,
) -> Any:
    body = completion(content, finish, **({} if reasoning is None else {"reasoning": reasoning}), **message)
    body["usage"] = {"prompt_tokens": 5, "completion_tokens": generated, "total_tokens": 5 + generated}
    if tokens is not None:
        body["usage"]["completion_tokens_details"] = {"reasoning_tokens": tokens}
    return whole(asked, body)


@pytest.mark.parametrize(
    ("name", "asked", "other"),
    [
        ("reasoning.low-is-off", {"reasoning_effort": "low"}, ON),
        ("reasoning.low-is-off", {"reasoning": {"effort": "low"}}, {}),
        ("reasoning.none-and-minimal-are-off", {"reasoning_effort": "none"}, {"reasoning_effort": "low"}),
        ("reasoning.none-and-minimal-are-off", {"reasoning": {"effort": "minimal"}}, {}),
        ("reasoning.default-is-off", {}, ON),
        ("reasoning.default-is-off", {"reasoning": {}}, {"reasoning": {"exclude": True}}),
    ],
)
def test_off(name: str, asked: dict[str, Any], other: dict[str, Any]) -> None:
    assert verdict(name, reply(asked)) == KEPT
    assert verdict(name, reply(asked, "")) == KEPT
    assert verdict(name, reply(asked, tokens=None)) == KEPT
    assert "text" in verdict(name, reply(asked, "Let me think."))
    assert "tokens" in verdict(name, reply(asked, tokens=1))
    assert verdict(name, reply(other, "Let me think.", 3)) == UNSEEN


def test_two_efforts_that_differ_are_not_judged() -> None:
    for field, nested in (("low", "high"), ("high", "low")):
        asked = {"reasoning_effort": field, "reasoning": {"effort": nested}}
        for name in ("reasoning.low-is-off", "reasoning.on-yields-reasoning"):
            assert verdict(name, reply(asked, "Hm.", 3)) == UNSEEN
    twice = {"reasoning_effort": "low", "reasoning": {"effort": "low"}}
    assert verdict("reasoning.low-is-off", reply(twice)) == KEPT


def test_reasoning_in_one_delta_is_text() -> None:
    stream = streamed(
        [chunk({"reasoning": "Hm"}), chunk({"content": "Oslo"}), chunk({}, "stop")], {"reasoning_effort": "low"}
    )
    assert "text" in verdict("reasoning.low-is-off", stream)


def test_on_yields_reasoning() -> None:
    name = "reasoning.on-yields-reasoning"
    assert verdict(name, reply(ON, "Hm.", 3)) == KEPT
    assert "no reasoning text" in verdict(name, reply(ON, None, 3))
    assert verdict(name, reply(ON)) == UNDECIDED
    assert verdict(name, reply(ON, None, 9, "First I", "length")) == UNDECIDED
    assert verdict(name, reply(ON, "First I", 9, None, "length")) == KEPT
    assert verdict(name, reply({"reasoning_effort": "low"}, "Hm.", 3)) == UNDECIDED
    assert verdict(name, reply({"reasoning_effort": "low"}, "Hm.", 3), efforts=["low"]) == KEPT
    assert verdict(name, reply({"reasoning_effort": "none"})) == UNSEEN
    assert verdict(name, reply({"reasoning": {"effort": "high", "exclude": True}}, None, 3)) == UNSEEN


def test_trials() -> None:
    name = "reasoning.on-yields-reasoning"
    assert case_verdict("thinking-trials", name, trials=[reply(ON), reply(ON, "Hm.", 3)]) == KEPT
    assert case_verdict("thinking-trials", name, trials=[reply(ON)] * 9) == UNDECIDED
    assert "not once in 10" in case_verdict("thinking-trials", name, trials=[reply(ON)] * 10)
    assert case_verdict("thinking-trials", name, trials=[refused()] * 10) == UNDECIDED


def test_exclude() -> None:
    name, asked = "reasoning.exclude-hides-text", {"reasoning": {"effort": "high", "exclude": True}}
    assert verdict(name, reply(asked, None, 3)) == KEPT
    assert "excluded" in verdict(name, reply(asked, "Hm.", 3))
    stream = streamed([chunk({"reasoning": "Hm"}), chunk({"content": "Oslo"}), chunk({}, "stop")], asked)
    assert "excluded" in verdict(name, stream)
    assert verdict(name, reply(ON, "Hm.", 3)) == UNSEEN
    assert verdict(name, reply({"reasoning": {"exclude": 1}}, "Hm.", 3)) == UNSEEN


def test_hidden_thinking_does_not_move_into_the_answer() -> None:
    name = "reasoning.exclude-hides-text"
    shown = [reply(ON, "I think it is Oslo.", 3)] * 2

    def found(hidden: Any, again: Any = shown) -> str:
        return case_verdict("thinking-hidden", name, shown=again[0], again=again[1:], hidden=hidden)

    assert found(reply({})) == KEPT
    assert "hidden thinking stands in content" in found(reply({}, content="I think it is Oslo. Oslo."))
    for other in ("Bergen.", "Trondheim."):
        assert "content changed" in found(reply({}, content=other))
    long = [reply(ON, "abcdefghijklmnopqrstuvwxyz", 3)] * 2
    assert "hidden thinking" in found(reply({}, content="abcdefghijklmnopqrstuvwx!"), long)
    assert "content changed" in found(reply({}, content="abcdefghijklmnopqrstuvw!"), long)
    assert found(reply({}), [reply(ON), reply(ON)]) == UNDECIDED
    assert found(reply({}), [shown[0], reply(ON, "Other", 3)]) == UNDECIDED
    assert found(reply({}), shown[:1]) == UNDECIDED


def test_text_implies_tokens() -> None:
    name = "reasoning.text-implies-tokens"
    assert verdict(name, reply(ON, "Hm.", 1)) == KEPT
    assert "without reasoning tokens" in verdict(name, reply(ON, "Hm.", 0))
    assert verdict(name, reply(ON, "Hm.", None)) == UNSEEN
    assert verdict(name, reply(ON, "", 0)) == UNSEEN


@pytest.mark.parametrize("markup", ["<think>", "</think>", "[THINK]", "<|channel|>analysis"])
def test_markup(markup: str) -> None:
    name = "reasoning.no-markup-in-content"
    assert "markup" in verdict(name, reply({}, content=f"{markup}Oslo"))
    quoted = {"messages": [{"role": "user", "content": f"Say {markup}"}]}
    assert verdict(name, reply(quoted, content=f"{markup}Oslo")) == KEPT
    assert verdict(name, reply({}, content="I think <b>Oslo</b>")) == KEPT
    (violation,) = found(name, reply({}, content="<reasoning><think>Oslo"))
    assert violation.observed == "<think> in '<reasoning><think>Oslo'"


def test_cut_thinking_stays_reasoning() -> None:
    name = "reasoning.cut-thinking-stays-reasoning"
    assert verdict(name, reply(ON, "First I", 9, None, "length")) == KEPT
    assert verdict(name, reply(ON, "First I", 9, "\n", "length")) == KEPT
    assert "stands in content" in verdict(name, reply(ON, None, 9, "First I", "length"))
    assert verdict(name, reply(ON, "First I", 8, "Os", "length")) == UNSEEN
    assert verdict(name, reply(ON, "First I", 9, "Oslo", "stop")) == UNSEEN
    assert verdict(name, reply(ON, None, 0, "", "length", generated=0)) == UNSEEN
    assert verdict(name, reply(ON, None, 10, "First I", "length")) == UNSEEN
    cut = reply(ON, None, 9, "First I", "length")
    elsewhere = replace(cut, sent=replace(cut.sent, url="http://127.0.0.1:9/v1/other"))
    assert verdict(name, elsewhere) == UNSEEN
    assert verdict(name, refused(asked=ON)) == UNSEEN


def test_the_tokens_of_several_choices_are_not_told_apart() -> None:
    body = completion("First I", "length")
    body["choices"] += [{**body["choices"][0], "index": 1}]
    body["usage"] = {"completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 9}}
    name = "reasoning.cut-thinking-stays-reasoning"
    assert verdict(name, whole(ON, body)) == UNSEEN
    assert verdict(name, whole(ON, {**body, "choices": []})) == UNSEEN


def test_a_cut_reply_is_a_prefix() -> None:
    name = "reasoning.cut-thinking-stays-reasoning"
    full = reply(ON, "First I look at the map.", 8, "It is Oslo.")

    def found(cut: Any, full: Any = full) -> str:
        return case_verdict("thinking-cut", name, full=full, again=full, cut=cut)

    assert found(reply(ON, "First I", 3, None, "length")) == KEPT
    assert found(reply(ON, "First I look at the map.", 8, "It is", "length")) == KEPT
    assert "something else" in found(reply(ON, None, 0, "First I", "length"))
    assert found(reply(ON, None, 0, "It", "length"), reply(ON)) == UNDECIDED


def test_answer_is_content() -> None:
    name = "reasoning.answer-is-content"
    assert verdict(name, reply(ON, "Hm.", 3)) == KEPT
    assert "without an answer" in verdict(name, reply(ON, "Hm.", 3, None))
    assert "without an answer" in verdict(name, reply(ON, "Hm.", 3, ""))
    assert verdict(name, reply(ON, "Hm.", 3, None, "length")) == UNSEEN
    assert verdict(name, reply({**ON, "stop": ["O"]}, "Hm.", 3, "")) == UNSEEN
    assert verdict(name, reply(ON, "Hm.", 3, None, tool_calls=[call()])) == UNSEEN
    assert verdict(name, reply({**ON, "tool_choice": "required"}, "Hm.", 3, None)) == UNSEEN
    assert verdict(name, reply({})) == UNSEEN
    for odd in ("eos", "unknown"):
        assert verdict(name, reply(ON, "Hm.", 3, None, odd)) == UNSEEN
    failed = streamed([chunk({"reasoning": "Hm"}, "stop"), {"error": {"message": "gone"}}], ON, ending=b"")
    assert verdict(name, failed) == UNSEEN


@pytest.mark.parametrize("odd", ["eos", "unknown", "length"])
def test_only_a_choice_that_ended_by_itself_owes_an_answer(odd: str) -> None:
    body = completion("Oslo.", reasoning="Hm.")
    body["choices"] += [{**completion("", odd, reasoning="Hm.")["choices"][0], "index": 1}]
    assert verdict("reasoning.answer-is-content", whole({**ON, "n": 2}, body)) == KEPT


def test_both_forms_of_an_effort() -> None:
    name, nested = "reasoning.object-form-equals-field", {"reasoning": {"effort": "high"}}

    def found(fields: list[Any], objects: list[Any]) -> str:
        return case_verdict("effort-forms", name, field=fields, object=objects)

    thinking, silent = reply(ON, "Hm.", 3), reply(nested)
    assert found([thinking], [reply(nested, "Ah.", 2)]) == KEPT
    assert found([reply(ON)], [silent]) == KEPT
    assert "status" in found([thinking], [refused(asked=nested)])
    assert "status" in found([refused(asked=ON)], [thinking])
    assert found([thinking], [silent]) == UNDECIDED
    assert found([thinking] * 3, [silent] * 2) == UNDECIDED
    for times in (3, 4):
        assert "one form switches" in found([thinking] * times, [silent] * times)
    assert found([thinking] * 3, [silent, silent, reply(nested, "Ah.", 2)]) == UNDECIDED
    assert found([silent, thinking], [thinking, silent]) == UNDECIDED
    assert found([silent, thinking, silent], [thinking] * 3) == UNDECIDED
    counted = reply(ON, None, 3)
    for fields, objects, expected in (([counted] * 3, [silent] * 3, "on"), ([silent] * 3, [counted] * 3, "off")):
        (violation,) = case_found("effort-forms", name, field=fields, object=objects)
        assert violation.expected == f"thinking {expected}"
        assert violation.observed == f"thinking {'off' if expected == 'on' else 'on'}"
    longer = completion("Oslo.")
    longer["usage"] = {"prompt_tokens": 6, "completion_tokens": 4, "total_tokens": 10}
    assert "prompt_tokens" in found([thinking], [whole(nested, longer)])
    assert "prompt_tokens" in found([whole(ON, longer)], [thinking])
    assert "prompt_tokens" in found([thinking, whole(ON, longer)], [whole(nested, longer), thinking])
    (violation,) = case_found("effort-forms", name, field=[thinking, refused()], object=[refused(), thinking])
    assert (violation.expected, violation.observed) == ("200", "400")
    assert found([refused(503)], [silent]) == UNDECIDED
