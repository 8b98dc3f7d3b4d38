"""Whether tools are called as `tool_choice`, `parallel_tool_calls` and `tools` say."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.laws.calls import (
    allowed_names,
    answered_with_tools,
    calls_of,
    choices_of,
    custom_names,
    forced_name,
    legacy_names,
    member_of,
    names_of,
    names_one_of,
    offered,
    was_cut,
)
from conformance.laws.conditions import readable
from conformance.laws.registry import Undecided, Violation, law
from conformance.laws.relations import shortened
from conformance.reply import ToolCall
from conformance.wire.exchange import Exchange
from spec.model import Promise


def _forced(x: Exchange, wanted: str) -> Iterator[Violation]:
    """A violation for each choice without a call, where the request forces one and nothing cut it short."""
    whole_choices = [choice for choice in choices_of(x) if not was_cut(choice)]
    if x.error_events or not whole_choices:
        raise Undecided("every choice was cut short before a call could be complete")
    for choice in whole_choices:
        if not choice.calls:
            text = f"content {shortened(choice.content)}, finish_reason {choice.finish_reason!r}"
            yield Violation("a call was forced and none came", wanted, text)


@law("tools.none-yields-no-call", applies=lambda x: answered_with_tools(x) and x.asks("tool_choice") == "none")
def none_yields_no_call(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """With `tool_choice: "none"` no reply has a tool call, streamed or not."""
    calls = calls_of(x)
    if calls:
        yield Violation('tools are called although tool_choice is "none"', "no call", names_of(calls))


@law("tools.required-yields-a-call", applies=lambda x: answered_with_tools(x) and x.asks("tool_choice") == "required")
def required_yields_a_call(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """With `tool_choice: "required"` a reply that was not cut short has at least one tool call."""
    yield from _forced(x, "at least one tool call")


@law("tools.named-choice-is-obeyed", applies=lambda x: answered_with_tools(x) and forced_name(x) is not None)
def named_choice_is_obeyed(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """With a function named in `tool_choice` every call is of it, and a reply that was not cut has one."""
    wanted = forced_name(x)
    strangers = [call for call in calls_of(x) if not names_one_of(call, offered(x))]
    others = [call for call in calls_of(x) if call.name != wanted and call not in strangers]
    if strangers and not others:
        raise Undecided("what is called is not offered at all, which another law judges")
    if others:
        yield Violation("a function other than the forced one is called", shortened(wanted), names_of(others))
    elif not calls_of(x):
        yield from _forced(x, f"a call of {wanted}")


@law("tools.allowed-tools-is-obeyed", applies=lambda x: answered_with_tools(x) and allowed_names(x) is not None)
def allowed_tools_is_obeyed(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """With `allowed_tools` only listed tools are called, and at least one where its mode is "required"."""
    allowed = allowed_names(x) or set()
    known = {*offered(x), *custom_names(x)}
    others = [call for call in calls_of(x) if names_one_of(call, known) and not names_one_of(call, allowed)]
    if others:
        yield Violation("a tool outside allowed_tools is called", ", ".join(sorted(allowed)), names_of(others))
    elif not calls_of(x):
        if member_of(member_of(x.asks("tool_choice"), "allowed_tools"), "mode") == "required":
            yield from _forced(x, f"a call of one of {', '.join(sorted(allowed))}")
        else:
            raise Undecided("the model was free not to call, and did not")


@law(
    "tools.parallel-false-yields-at-most-one",
    applies=lambda x: answered_with_tools(x) and x.asks("parallel_tool_calls") is False,
)
def parallel_false_yields_at_most_one(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """With `parallel_tool_calls: false` no choice has more than one tool call."""
    for choice in choices_of(x):
        if len(choice.calls) > 1:
            yield Violation("several calls although parallel_tool_calls is false", "at most 1", names_of(choice.calls))


def _name_in_pieces(x: Exchange, call: ToolCall, known: set[str]) -> bool:
    """A streamed call whose first fragment has no name, or only the beginning of one, which another law judges."""
    if not x.asks_stream:
        return False
    begun = isinstance(call.name, str) and call.fragments > 1 and any(name.startswith(call.name) for name in known)
    return call.name is None or begun


@law("tools.called-names-are-offered", applies=lambda x: readable(x) and bool(calls_of(x)))
def called_names_are_offered(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """Every call names a tool that stands in the request."""
    known = {*offered(x), *custom_names(x), *legacy_names(x)}
    strangers = [call for call in calls_of(x) if not names_one_of(call, known) and not _name_in_pieces(x, call, known)]
    if strangers:
        yield Violation(
            "a tool is called that the request does not offer", ", ".join(sorted(known)), names_of(strangers)
        )


@law(
    "tools.legacy-functions-yield-to-tools",
    applies=lambda x: answered_with_tools(x) and bool(legacy_names(x) - set(offered(x))),
)
def legacy_functions_yield_to_tools(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """Where `tools` is given nothing of `functions` is called, in neither form."""
    only_legacy = legacy_names(x) - set(offered(x))
    called = [str(call.name) for call in calls_of(x) if names_one_of(call, only_legacy)]
    called += [str(c.function_call.get("name")) for c in choices_of(x) if c.function_call is not None]
    if called:
        yield Violation("a function of functions is called although tools is given", "none of them", ", ".join(called))


def _forces_legacy(x: Exchange) -> bool:
    return (
        readable(x) and bool(legacy_names(x)) and "tools" not in (x.asked or {}) and x.asks("function_call") != "none"
    )


@law("tools.legacy-call-carrier", applies=_forces_legacy)
def legacy_call_carrier(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """A call of a function from `functions` comes as `message.function_call`, and not only as `tool_calls`."""
    seen = [choice for choice in choices_of(x) if choice.function_call is not None]
    others = [choice for choice in choices_of(x) if choice.function_call is None and choice.calls]
    if not seen and not others:
        raise Undecided("no function was called")
    for choice in others:
        yield Violation("a legacy call comes only as tool_calls", "message.function_call", names_of(choice.calls))
