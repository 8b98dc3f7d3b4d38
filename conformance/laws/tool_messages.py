"""The message that carries calls: their ids, and what stands in `content` beside them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from conformance.laws.calls import (
    answered_with_tools,
    calls_of,
    choices_of,
    function_calls,
    member_of,
    objects_in,
    offered,
    with_calls,
)
from conformance.laws.conditions import chat, readable, whole
from conformance.laws.registry import Undecided, Violation, law, run_law
from conformance.laws.relations import shortened
from conformance.wire.exchange import Exchange
from spec.model import Promise

MARKUP = (
    "<tool_call", "</tool_call", "<|tool_call", "<function_call", "</function", "<function=", "[TOOL_CALL",
    "<|python_tag|>", "<tools>", "</tools>", "<｜tool", "<|channel|>commentary", "<invoke name", "<|tool▁call",
)  # fmt: skip


@law("tools.ids-are-not-empty", applies=with_calls)
def ids_are_not_empty(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """Every tool call has an id, a string that is not empty (one that a stream never sends is judged there)."""
    calls = [call for call in function_calls(x) if not (x.asks_stream and call.id is None)]
    if not calls:
        raise Undecided("no call has an id at all")
    for call in calls:
        if not isinstance(call.id, str) or not call.id:
            yield Violation(
                f"the call of {shortened(call.name, 80)} has no id", "a string that is not empty", repr(call.id)
            )


@law("tools.ids-are-distinct", applies=lambda x: readable(x) and len(calls_of(x)) > 1)
def ids_are_distinct(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """No two calls of one reply have the same id."""
    ids = [call.id for call in calls_of(x) if isinstance(call.id, str) and call.id]
    if not ids:
        raise Undecided("no call has an id")
    twice = sorted({one for one in ids if ids.count(one) > 1})
    if twice:
        yield Violation("two calls of one reply have the same id", "distinct ids", ", ".join(map(shortened, twice)))


@run_law("tools.ids-differ-across-replies")
def ids_differ_across_replies(exchanges: Sequence[Exchange], promise: Promise) -> Iterator[Violation]:
    """No call has the id of a call in another reply of the run."""
    first: dict[str, Exchange] = {}
    replies = 0
    for x in exchanges:
        ids = {call.id for call in calls_of(x) if isinstance(call.id, str) and call.id} if chat(x) else set()
        replies += bool(ids)
        for one in sorted(ids):
            if one in first:
                yield Violation(
                    "two replies have calls with the same id", "ids that differ", shortened(one), (first[one].id, x.id)
                )
            first.setdefault(one, x)
    if replies < 2:
        raise Undecided("fewer than two replies with tool calls in the run")


def _free_to_call(x: Exchange) -> bool:
    return answered_with_tools(x) and x.asks("tool_choice") != "none"


@law("tools.calls-are-structured", applies=_free_to_call)
def calls_are_structured(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """Where tools are offered `content` holds no call markup, and beside a parsed call no unparsed one.

    Markup that the request itself contains may be quoted.
    """
    request = x.sent.body.decode("utf-8", "replace")
    for choice in choices_of(x):
        found = [one for one in MARKUP if one in choice.content and one not in request]
        if found:
            yield Violation("content holds call markup", "no markup", f"{found[0]} in {shortened(choice.content)}")
        elif choice.calls and (name := _unparsed_call(choice.content, offered(x))):
            yield Violation(f"a call of {name} is left as text", "every call in tool_calls", shortened(choice.content))


def _unparsed_call(content: str, names: Any) -> str | None:
    for name in names:
        pattern = rf'"name"\s*:\s*{re.escape(json.dumps(name))}\s*,\s*"(?:arguments|parameters)"\s*:'
        if re.search(pattern, content):
            return str(name)
    return None


def _only_calls(x: Exchange) -> bool:
    return whole(x) and any(choice.calls and not choice.content for choice in choices_of(x))


@law("tools.call-only-content", applies=_only_calls)
def call_only_content(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """`content` beside nothing but tool calls is absent or null, whichever the document says."""
    allowed = list(promise.params.get("allowed", ("absent", "null")))
    for item in objects_in(member_of(x.json.value, "choices")):
        message = item.get("message")
        if not objects_in(member_of(message, "tool_calls")) or (isinstance(message, dict) and message.get("content")):
            continue
        found = _presence(message)
        if found not in allowed:
            yield Violation("content of a message with only tool calls", " or ".join(allowed), found)


def _presence(message: Any) -> str:
    if "content" not in message:
        return "absent"
    return "null" if message["content"] is None else shortened(message["content"])
