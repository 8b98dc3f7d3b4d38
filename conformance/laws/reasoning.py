"""Thinking: when it is on and off, where its text and its tokens stand, and that it stays out of the answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from conformance.cases import Case
from conformance.laws.calls import choices_of, forced_name, member_of, was_cut
from conformance.laws.conditions import chat, readable
from conformance.laws.registry import Undecided, Violation, case_law, law
from conformance.laws.relations import prompt_tokens_of, reply_in, settled, shortened, steady_outcome
from conformance.laws.sampled import at_least_once
from conformance.reply import reply_of
from conformance.wire.exchange import Exchange
from spec.model import Promise

ON = ("medium", "high", "xhigh", "max")  # in every document; a promise's `efforts` may add more
NOW_AND_THEN = "thinking now and then"
MARKUP = (
    "<think>", "</think>", "<thinking>", "</thinking>", "<|think|>", "<reasoning>", "</reasoning>", "[THINK]",
    "[/THINK]", "<|channel|>analysis", "◁think▷",
)  # fmt: skip


def effort_of(x: Exchange) -> Any:
    """The effort that the request asks for in either form; None where it names none, or two that differ."""
    field, nested = x.asks("reasoning_effort"), member_of(x.asks("reasoning"), "effort")
    if field is not None and nested is not None and field != nested:
        return None
    return nested if field is None else field


def _names_no_effort(x: Exchange) -> bool:
    return x.asks("reasoning_effort") is None and x.asks("reasoning") in (None, {})


def _excludes(x: Exchange) -> bool:
    return member_of(x.asks("reasoning"), "exclude") is True


def reasoning_text(x: Exchange) -> str:
    """The thinking of every choice, joined."""
    return "".join(choice.reasoning for choice in choices_of(x))


def _tokens(x: Exchange) -> int | None:
    reply = reply_of(x)
    return reply.reasoning_tokens if reply else None


def thought(x: Exchange) -> bool:
    """The reply shows that the model has been thinking, by text or by tokens."""
    return bool(reasoning_text(x)) or bool(_tokens(x))


def _off(x: Exchange) -> Iterator[Violation]:
    if reasoning_text(x):
        yield Violation("reasoning text although thinking is off", "no reasoning", shortened(reasoning_text(x)))
    elif _tokens(x):
        yield Violation("reasoning tokens although thinking is off", "0", str(_tokens(x)))


@law("reasoning.low-is-off", applies=lambda x: readable(x) and effort_of(x) == "low")
def low_is_off(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """With the effort `low` there is no reasoning text and no reasoning token."""
    yield from _off(x)


@law("reasoning.none-and-minimal-are-off", applies=lambda x: readable(x) and effort_of(x) in ("none", "minimal"))
def none_and_minimal_are_off(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """With the efforts `none` and `minimal` there is no reasoning text and no reasoning token."""
    yield from _off(x)


@law("reasoning.default-is-off", applies=lambda x: readable(x) and _names_no_effort(x))
def default_is_off(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """Without an effort there is no reasoning text and no reasoning token."""
    yield from _off(x)


def _may_think(x: Exchange) -> bool:
    return readable(x) and effort_of(x) not in (None, "none", "minimal") and not _excludes(x)


@law("reasoning.on-yields-reasoning", applies=_may_think)
def on_yields_reasoning(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """Where an effort has switched thinking on, tokens spent thinking come with their text.

    A model that does not think at all is not a breach by itself; asked often enough, it is.
    """
    if any(map(was_cut, choices_of(x))) and not reasoning_text(x):
        raise Undecided("the reply was cut short")
    if effort_of(x) not in promise.params.get("efforts", ON):
        raise Undecided("the effort does not switch thinking on")
    if reasoning_text(x):
        return
    if _tokens(x):
        yield Violation(
            "tokens were spent thinking and no reasoning text came", "message.reasoning", f"{_tokens(x)} tokens"
        )
    else:
        raise Undecided("the model did not think")


@case_law("reasoning.on-yields-reasoning", kind="thinking-trials")
def trials_yield_reasoning(case: Case, promise: Promise) -> Iterator[Violation]:
    """Of several clear requests for thinking at least one is answered with reasoning text."""
    trials = [x for x in case.all("trials") if x.ok]
    shown = [bool(reasoning_text(x)) for x in trials]
    yield from at_least_once(shown, "reasoning text where thinking is on", tuple(x.id for x in trials))


@law("reasoning.exclude-hides-text", applies=lambda x: readable(x) and _excludes(x))
def exclude_hides_text(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """With `exclude` neither the message nor any delta has reasoning text."""
    if reasoning_text(x):
        yield Violation("reasoning text although it is excluded", "none", shortened(reasoning_text(x)))


@case_law("reasoning.exclude-hides-text", kind="thinking-hidden")
def hidden_thinking_is_not_content(case: Case, promise: Promise) -> Iterator[Violation]:
    """Hiding the thinking leaves the answer as it is: the thoughts do not move into `content`."""
    shown = (*case.all("shown"), *case.all("again"))
    content, reasoning, *_ = steady_outcome(shown)
    hidden = reply_in(case.one("hidden")).first
    if not reasoning:
        raise Undecided("the model did not think, so that there was nothing to hide")
    if hidden.content != content:
        start = reasoning.strip()[:24]
        words = "the hidden thinking stands in content" if start and start in hidden.content else "content changed"
        yield Violation(f"{words} under exclude", shortened(content), shortened(hidden.content))


def _returns_text_and_tokens(x: Exchange) -> bool:
    return readable(x) and bool(reasoning_text(x)) and _tokens(x) is not None


@law("reasoning.text-implies-tokens", applies=_returns_text_and_tokens)
def text_implies_tokens(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """Where reasoning text comes back and the usage counts reasoning tokens, it counts more than none."""
    if not _tokens(x):
        yield Violation("reasoning text without reasoning tokens", "reasoning_tokens above 0", str(_tokens(x)))


@law("reasoning.no-markup-in-content", applies=readable)
def no_markup_in_content(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """`content` has no thinking markup; what the request itself contains may be quoted."""
    request = x.sent.body.decode("utf-8", "replace")
    for choice in choices_of(x):
        found = [one for one in MARKUP if one in choice.content and one not in request]
        if found:
            yield Violation("content holds thinking markup", "no markup", f"{found[0]} in {shortened(choice.content)}")


def _all_spent_thinking(x: Exchange) -> bool:
    """Cut by the limit, with every generated token counted as thinking (a count of one choice only)."""
    reply = reply_of(x) if chat(x) else None
    choices = choices_of(x)
    if reply is None or len(choices) != 1 or not was_cut(choices[0]):
        return False
    return bool(reply.reasoning_tokens) and reply.reasoning_tokens == reply.completion_tokens


@law("reasoning.cut-thinking-stays-reasoning", applies=_all_spent_thinking)
def cut_thinking_stays_reasoning(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """A reply whose tokens were all spent thinking when the limit cut it has no `content`."""
    (choice,) = choices_of(x)
    if choice.content.strip():
        yield Violation("thinking that was cut short stands in content", "no content", shortened(choice.content))


@case_law("reasoning.cut-thinking-stays-reasoning", kind="thinking-cut")
def cut_thinking_is_a_prefix(case: Case, promise: Promise) -> Iterator[Violation]:
    """With a smaller limit thinking and answer are each cut short, and neither moves into the other."""
    content, reasoning, *_ = steady_outcome((*case.all("full"), *case.all("again")))
    cut = reply_in(case.one("cut")).first
    if not reasoning:
        raise Undecided("the model did not think, so that there was nothing to cut")
    if not content.startswith(cut.content.rstrip("\ufffd")):
        yield Violation("a smaller limit puts something else into content", shortened(content), shortened(cut.content))


def _finished_thinking(x: Exchange) -> bool:
    forced = x.asks("tool_choice") == "required" or forced_name(x) is not None  # a missing call is another's finding
    if not readable(x) or x.error_events or x.asks("stop") or forced:
        return False
    return any(one.reasoning and one.finish_reason == "stop" and not one.calls for one in choices_of(x))


@law("reasoning.answer-is-content", applies=_finished_thinking)
def answer_is_content(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """A reply that thought, called nothing and ended by itself has its answer in `content`."""
    for choice in choices_of(x):
        if choice.reasoning and choice.finish_reason == "stop" and not choice.calls and not choice.content:
            yield Violation("the reply ends after thinking without an answer", "content", shortened(choice.reasoning))


@case_law("reasoning.object-form-equals-field", kind="effort-forms")
def object_form_equals_field(case: Case, promise: Promise) -> Iterator[Violation]:
    """The two forms of one effort have the same status and prompt_tokens, and thinking is on or off in both.

    Whether a model thinks is asked several times of each form before a difference is believed.
    """
    fields, objects = case.all("field"), case.all("object")
    settled((*fields, *objects))
    if fields[0].status != objects[0].status:
        yield Violation("the forms differ in status", str(fields[0].status), str(objects[0].status))
        return
    before, after = prompt_tokens_of(fields[0]), prompt_tokens_of(objects[0])
    if before != after:
        yield Violation("the forms differ in prompt_tokens", str(before), str(after))
        return
    here, there = _thinking(fields), _thinking(objects)
    if here == there != NOW_AND_THEN:
        return
    if min(len(fields), len(objects)) < 3 or NOW_AND_THEN in (here, there):
        raise Undecided("the model does not decide alike on the same request whether to think")
    yield Violation("one form switches thinking on and the other does not", here, there)


def _thinking(exchanges: Sequence[Exchange]) -> str:
    shown = [thought(x) for x in exchanges]
    return "thinking on" if all(shown) else NOW_AND_THEN if any(shown) else "thinking off"
