"""Why a reply ended: the reason fits what is there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.cases import Case
from conformance.laws.conditions import chat, completed, in_one_piece, readable
from conformance.laws.limits import CUT_SHORT, limit_of
from conformance.laws.registry import Undecided, Violation, case_law, law
from conformance.laws.relations import reply_in, settled, shortened, steady_outcome
from conformance.laws.stop import STOPPED, matched, matches
from conformance.laws.texts import objects
from conformance.reply import Choice, Reply, reply_of
from conformance.wire.exchange import Exchange
from spec.model import Promise

#: A prompt and limit that together stay below this fill no context window in use.
SMALLEST_CONTEXT = 2048
#: A character of UTF-8 may take so many tokens, and shows nothing before the last.
TOKENS_OF_A_CHARACTER = 4
#: Other ends that a reply may come to before its natural one.
CUT = frozenset({"length", "content_filter", "inference_timeout"})


@law("finish.not-null-in-whole-reply", applies=in_one_piece)
def not_null_in_whole_reply(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """Every choice of a reply in one piece says why it ended."""
    for choice in objects(x.json.value["choices"]):
        if choice.get("finish_reason", ...) is None:
            yield Violation("finish_reason is null in a reply in one piece", "a reason", "null")


@case_law("finish.length-when-cut", kind=CUT_SHORT)
def length_when_cut(case: Case, promise: Promise) -> Iterator[Violation]:
    """A reply that goes on when the limit is raised was cut by the limit, and says so."""
    settled(case.exchanges)
    longest = reply_in(case.all("long")[0]).first.content
    short = [(x, reply_in(x).first) for x in case.all("short")]
    cut = [(x, first) for x, first in short if longest != first.content and longest.startswith(first.content)]
    if not cut:
        raise Undecided("no reply was cut: with the higher limit the text was the same or another")
    for x, first in cut:
        if first.finish_reason != "length":
            words = "a reply that was cut by the token limit gives another reason"
            yield Violation(words, "'length'", shortened(first.finish_reason), (x.id,))


def _ends_by_length(x: Exchange) -> bool:
    reply = reply_of(x) if chat(x) else None
    return bool(reply and any(choice.finish_reason == "length" for choice in reply.choices.values()))


@law("finish.length-means-limit", applies=_ends_by_length)
def length_means_limit(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """With the reason length, completion_tokens reach the limit of the request, or miss it by one."""
    reply, limit = reply_of(x), limit_of(x)
    assert reply is not None
    if limit is None or reply.completion_tokens is None or len(reply.choices) > 1:
        raise Undecided("the request sets no limit, or the reply gives no count for its only choice")
    if reply.completion_tokens >= limit - promise.params.get("tolerance", 1):
        return
    caps = [x.asks(name) for name in promise.params.get("other_caps", ())]
    if any(isinstance(cap, int) for cap in caps):
        raise Undecided("another cap of the request may have been reached")
    if (reply.prompt_tokens or 0) + limit > SMALLEST_CONTEXT:
        raise Undecided("the context window may have been full")
    yield Violation(
        "the reason is length, but the limit was not reached", f"{limit} tokens", f"{reply.completion_tokens}"
    )


def _may_be_hidden(x: Exchange, reply: Reply, generated: int) -> bool:
    """Whether so many tokens may show nothing: a tiny limit, an unfinished character or call, or reasoning."""
    if generated <= 1:
        return (limit_of(x) or SMALLEST_CONTEXT) <= 2
    offers = bool(x.asks("tools") or x.asks("functions"))
    return generated <= TOKENS_OF_A_CHARACTER or reply.reasoning_tokens != 0 or offers


def _has_output(choice: Choice) -> bool:
    return bool(choice.content or choice.reasoning or choice.calls or choice.function_call)


@law("finish.length-has-output", applies=_ends_by_length)
def length_has_output(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """A reply cut by length has text or a call, unless what was generated may be hidden or unfinished."""
    reply = reply_of(x)
    assert reply is not None
    generated = reply.completion_tokens
    for choice in reply.choices.values():
        if choice.finish_reason == "length" and not _has_output(choice):
            if generated is None:
                raise Undecided("there is no output, and no count of what was generated without being shown")
            if not _may_be_hidden(x, reply, generated):
                yield Violation("the reason is length, and there is no output", "some output", f"{generated} tokens")


@case_law("finish.stop-on-stop-string", kind=STOPPED, applies=matched)
def stop_on_stop_string(case: Case, promise: Promise) -> Iterator[Violation]:
    """Where the control's text contains a stop string, the stopped reply has the reason stop."""
    settled(case.exchanges)
    steady_outcome(case.all("control"))
    for x in (x for x, ends in matches(case) if ends):
        reason = reply_in(x).first.finish_reason
        if reason != "stop":
            yield Violation(
                "a reply that a stop string ended gives another reason", "'stop'", shortened(reason), (x.id,)
            )


def _free_or_required(x: Exchange) -> bool:
    choice = x.asks("tool_choice")
    return choice in (None, "auto", "required") or (isinstance(choice, dict) and choice.get("type") == "allowed_tools")


def _named(x: Exchange) -> bool:
    choice = x.asks("tool_choice")
    return isinstance(choice, dict) and choice.get("type") == "function"


def _calling(x: Exchange) -> list[Choice]:
    reply: Reply | None = reply_of(x) if chat(x) else None
    return [choice for choice in reply.choices.values() if choice.calls] if reply else []


def _reason_of_calls(x: Exchange) -> Iterator[Violation]:
    for choice in _calling(x):
        if choice.finish_reason not in ("tool_calls", *CUT):
            yield Violation(
                "a reply with tool calls gives another reason", "'tool_calls'", shortened(choice.finish_reason)
            )


@law("finish.tool-calls-with-calls", applies=lambda x: bool(_calling(x)) and _free_or_required(x))
def tool_calls_with_calls(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """A reply with calls that the model chose or was required to make ends with the reason tool_calls."""
    yield from _reason_of_calls(x)


@law("finish.tool-calls-for-named-choice", applies=lambda x: bool(_calling(x)) and _named(x))
def tool_calls_for_named_choice(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """A reply whose call was forced by name ends with the reason tool_calls."""
    yield from _reason_of_calls(x)


@law("finish.no-tool-calls-without-calls", applies=readable)
def no_tool_calls_without_calls(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """The reason tool_calls comes with a call."""
    reply = reply_of(x)
    assert reply is not None
    for choice in reply.choices.values():
        if choice.finish_reason == "tool_calls" and not choice.calls:
            yield Violation("the reason is tool_calls, and there is no call", "a call", shortened(choice.content))


def _induced_or_seen(x: Exchange, reason: str) -> bool:
    reply = reply_of(x) if completed(x) else None
    seen = bool(reply and any(choice.finish_reason == reason for choice in reply.choices.values()))
    return seen or (chat(x) and x.answered and x.facts.get("induce") == reason)


def _induced_reason(x: Exchange, reason: str) -> Iterator[Violation]:
    reply = reply_of(x)
    reasons: list[Any] = [choice.finish_reason for choice in reply.choices.values()] if reply else []
    if reason not in reasons:
        yield Violation(
            "a reply that was ended from outside does not say so",
            f"status 200 and {reason!r}",
            f"status {x.status} and {shortened(reasons)}",
        )


@law("finish.inference-timeout", applies=lambda x: _induced_or_seen(x, "inference_timeout"))
def inference_timeout(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """A reply that ran out of time has status 200 and the reason inference_timeout."""
    yield from _induced_reason(x, "inference_timeout")


@law("finish.content-filter", applies=lambda x: _induced_or_seen(x, "content_filter"))
def content_filter(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """A reply whose output was withheld has the reason content_filter."""
    yield from _induced_reason(x, "content_filter")
