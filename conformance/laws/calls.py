"""Reads what a request offers to call and what a reply calls; judges nothing."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

from conformance.laws.conditions import readable
from conformance.laws.relations import shortened
from conformance.reply import Choice, ToolCall, reply_of
from conformance.wire.exchange import Exchange

#: Finish reasons after which a call may be incomplete or missing through no fault of the form.
CUT = frozenset({"length", "content_filter", "inference_timeout"})


def objects_in(value: Any) -> list[dict[str, Any]]:
    """The objects of an array; none where it is no array."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def member_of(value: Any, name: str) -> Any:
    """A member of an object, None where there is none or no object."""
    return value.get(name) if isinstance(value, dict) else None


def offered(x: Exchange) -> dict[str, dict[str, Any]]:
    """The function definitions in the request's `tools`, by name."""
    definitions = (member_of(one, "function") for one in objects_in(x.asks("tools")))
    return {str(member_of(one, "name")): one for one in definitions if isinstance(one, dict)}


def custom_names(x: Exchange) -> set[str]:
    """The names of the request's custom tools, whose calls no document gives a form."""
    return {str(member_of(member_of(one, "custom"), "name")) for one in objects_in(x.asks("tools")) if "custom" in one}


def legacy_names(x: Exchange) -> set[str]:
    """The names in the request's `functions`."""
    return {str(member_of(one, "name")) for one in objects_in(x.asks("functions"))}


def has_tools(x: Exchange) -> bool:
    """The request offers at least one tool."""
    return bool(objects_in(x.asks("tools")))


def forced_name(x: Exchange) -> str | None:
    """The function that the request forces by name, or None."""
    choice = x.asks("tool_choice")
    if member_of(choice, "type") != "function":
        return None
    name = member_of(member_of(choice, "function"), "name")
    return name if isinstance(name, str) else None


def allowed_names(x: Exchange) -> set[str] | None:
    """The names that `allowed_tools` lists, None where the request has none."""
    choice = x.asks("tool_choice")
    if member_of(choice, "type") != "allowed_tools":
        return None
    listed = member_of(member_of(choice, "allowed_tools"), "tools")
    names = [member_of(member_of(one, "function") or member_of(one, "custom"), "name") for one in objects_in(listed)]
    return {str(name) for name in names if name is not None}


def was_cut(choice: Choice) -> bool:
    """The choice ended before the model was done."""
    return isinstance(choice.finish_reason, str) and choice.finish_reason in CUT


def names_one_of(call: ToolCall, names: Container[str]) -> bool:
    """The call names one of these tools."""
    return isinstance(call.name, str) and call.name in names


def choices_of(x: Exchange) -> list[Choice]:
    """The choices of a reply, none where it cannot be read."""
    reply = reply_of(x)
    return list(reply.choices.values()) if reply else []


def calls_of(x: Exchange) -> list[ToolCall]:
    """Every tool call of every choice."""
    return [call for choice in choices_of(x) for call in choice.calls]


def function_calls(x: Exchange, finished: bool = False) -> list[ToolCall]:
    """The calls of functions (not of custom tools); with `finished` only those that nothing cut short."""
    custom = custom_names(x)
    return [
        call
        for choice in choices_of(x)
        if not (finished and (was_cut(choice) or x.error_events))
        for call in choice.calls
        if call.type != "custom" and not names_one_of(call, custom)
    ]


def with_calls(x: Exchange) -> bool:
    """A reply in which at least one function is called."""
    return readable(x) and bool(function_calls(x))


def with_finished_calls(x: Exchange) -> bool:
    """A reply with at least one function call that nothing cut short."""
    return readable(x) and bool(function_calls(x, finished=True))


def answered_with_tools(x: Exchange) -> bool:
    """A reply to a request that offers tools."""
    return readable(x) and has_tools(x)


def names_of(calls: Sequence[ToolCall]) -> str:
    """The names of calls, for a message."""
    return ", ".join(shortened(call.name, 80) for call in calls) or "no call"
