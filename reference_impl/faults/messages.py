"""Faults of what is read from messages: refused, dropped, rewritten, or fatal."""

from __future__ import annotations

import itertools
import json
from typing import Any

from reference_impl.faults.edits import Message, crash, messages_of, parts_of, refuse, rewritten
from reference_impl.faults.hooks import Exchange
from reference_impl.faults.registry import also, fault
from reference_impl.server.strict_json import Json


@fault("empty-messages-accepted", "request", both=["request.messages.min-items"])
def empty_messages_accepted(data: Json, exchange: Exchange) -> Json:
    """`messages: []` is answered."""
    if isinstance(data, dict) and data.get("messages") == []:
        return {**data, "messages": [{"role": "user", "content": ""}]}
    return data


@fault("empty-messages-500", "request", both=["request.messages.min-items"])
def empty_messages_500(data: Json, exchange: Exchange) -> Json:
    """`messages: []` raises 500."""
    if isinstance(data, dict) and data.get("messages") == []:
        crash("list index out of range")
    return data


@fault(
    "system-parts-stringified",
    "request",
    ark=["messages.text-parts-on-every-role"],
    serenity_edge=["request.messages.system.content.type"],
)
def system_parts_stringified(data: Json, exchange: Exchange) -> Json:
    """An array of parts in a system message becomes the text [object Object]."""
    if exchange.dialect == "ark":
        for message in messages_of(data):
            if message.get("role") == "system" and isinstance(message.get("content"), list):
                refuse("'messages[0].content' must be a string.", "messages[0].content")
        return data

    def change(message: Message) -> Message:
        parts = message.get("role") == "system" and isinstance(message.get("content"), list)
        return {**message, "content": "[object Object]"} if parts else message

    return rewritten(data, change)


@fault("text-parts-refused", "request", both=["messages.text-parts-are-accepted"])
def text_parts_refused(data: Json, exchange: Exchange) -> Json:
    """An array of text parts is refused."""
    for part in parts_of(data) if isinstance(data, dict) else ():
        if part.get("type") == "text":
            refuse("'messages[0].content' must be a string.", "messages[0].content")
    return data


@fault("text-parts-joined-with-lines", "request", both=["messages.parts-equal-string"])
def text_parts_joined_with_lines(data: Json, exchange: Exchange) -> Json:
    """A text part counts a line break more than the same text as a string."""

    def change(message: Message) -> Message:
        content = message.get("content")
        if message.get("role") != "user" or not isinstance(content, list):
            return message
        return {**message, "content": [*content, {"type": "text", "text": "\n"}]}

    return rewritten(data, change)


@fault("developer-role-refused", "request", ark=["messages.every-role-is-accepted"])
def developer_role_refused(data: Json, exchange: Exchange) -> Json:
    """The role developer is refused."""
    if any(message.get("role") == "developer" for message in messages_of(data)):
        refuse("'messages[0].role' must be one of system, user, assistant, tool.", "messages[0].role")
    return data


@fault("developer-becomes-user", "request", ark=["messages.developer-counts-as-system"])
def developer_becomes_user(data: Json, exchange: Exchange) -> Json:
    """A developer message is treated as one of the user."""

    def change(message: Message) -> Message:
        named = {"role": "user", "name": "developer"}
        return {**message, **named} if message.get("role") == "developer" else message

    return rewritten(data, change)


@fault("tool-role-refused", "request", serenity_edge=["messages.every-role-is-accepted"])
def tool_role_refused(data: Json, exchange: Exchange) -> Json:
    """The role tool is refused."""
    if any(message.get("role") == "tool" for message in messages_of(data)):
        refuse("'messages[1].role' must be one of system, user, assistant.", "messages[1].role")
    return data


@fault("first-message-dropped", "request", both=["messages.every-message-counts"])
def first_message_dropped(data: Json, exchange: Exchange) -> Json:
    """Of a conversation only the last four messages reach the model."""
    messages = messages_of(data)
    return {**data, "messages": messages[-4:]} if len(messages) > 4 else data


@fault("system-message-dropped", "request", both=["messages.every-message-counts"])
def system_message_dropped(data: Json, exchange: Exchange) -> Json:
    """System messages never reach the model."""
    kept = [message for message in messages_of(data) if message.get("role") != "system"]
    return {**data, "messages": kept} if kept else data


@fault("name-dropped", "request", ark=["messages.name-reaches-the-model"])
def name_dropped(data: Json, exchange: Exchange) -> Json:
    """`name` is accepted and never reaches the model."""
    return rewritten(data, lambda message: {key: value for key, value in message.items() if key != "name"})


@fault("name-refused", "request", both=["messages.name-is-accepted"])
def name_refused(data: Json, exchange: Exchange) -> Json:
    """`name` is refused."""
    if any("name" in message for message in messages_of(data)):
        refuse("Unknown parameter: 'messages[0].name'.", "messages[0].name")
    return data


@fault("emoji-refused", "request", both=["messages.any-text-is-accepted"])
def emoji_refused(data: Json, exchange: Exchange) -> Json:
    """Characters outside the basic plane are refused."""
    if any(ord(char) > 0xFFFF for char in json.dumps(messages_of(data), ensure_ascii=False)):
        refuse("'messages' has a character that is not supported.", "messages")
    return data


@fault(
    "null-content-on-tool-turn-refused",
    "request",
    both=["messages.call-turn-with-null-content-is-accepted"],
)
def null_content_on_tool_turn_refused(data: Json, exchange: Exchange) -> Json:
    """An assistant message with tool calls and null as content is refused."""
    for message in messages_of(data):
        if message.get("tool_calls") and "content" in message and message["content"] is None:
            refuse("'messages[1].content' must be a string.", "messages[1].content")
    return data


@fault(
    "absent-content-on-tool-turn-refused",
    "request",
    both=["messages.call-turn-without-content-is-accepted"],
)
def absent_content_on_tool_turn_refused(data: Json, exchange: Exchange) -> Json:
    """An assistant message with tool calls and no content raises 500."""
    for message in messages_of(data):
        if message.get("tool_calls") and "content" not in message:
            crash("KeyError: 'content'")
    return data


@fault("history-args-json-error-500", "request", both=["messages.broken-past-arguments-are-survived"])
def history_args_json_error_500(data: Json, exchange: Exchange) -> Json:
    """Arguments of an earlier call that are no JSON raise 500."""
    for message in messages_of(data):
        for call in message.get("tool_calls") or ():
            _load_or_crash(call.get("function", {}).get("arguments", "{}"))
    return data


@fault("tool-results-paired-by-order", "request", both=["messages.tool-results-in-any-order"])
def tool_results_paired_by_order(data: Json, exchange: Exchange) -> Json:
    """Results are matched to calls by position and not by id."""
    ids: list[str] = []

    def change(message: Message) -> Message:
        if message.get("tool_calls"):
            ids[:] = [str(call.get("id")) for call in message["tool_calls"]]
        if message.get("role") == "tool" and ids:
            return {**message, "tool_call_id": ids.pop(0)}
        return message

    return rewritten(data, change)


@fault("tool-results-refused", "request", both=["messages.tool-results-are-accepted"])
def tool_results_refused(data: Json, exchange: Exchange) -> Json:
    """A second tool result behind one set of calls is refused."""
    roles = [message.get("role") for message in messages_of(data)]
    if ("tool", "tool") in itertools.pairwise(roles):
        refuse("'messages[3].role' must be 'user' or 'assistant'.", "messages[3].role")
    return data


@fault("tool-content-string-reparsed", "request", both=["messages.tool-content-is-opaque"])
def tool_content_string_reparsed(data: Json, exchange: Exchange) -> Json:
    """A tool result that looks like JSON is parsed, and crashes the template where it is none."""
    for message in messages_of(data):
        content = message.get("content")
        if message.get("role") == "tool" and isinstance(content, str) and content[:1] in ("{", "["):
            parsed = _load_or_crash(content)
            if isinstance(parsed, list):
                crash("'list' object has no attribute 'items'")
    return data


@fault("call-ids-in-prompt", "request", both=["messages.call-ids-are-opaque"])
def call_ids_in_prompt(data: Json, exchange: Exchange) -> Json:
    """Call ids longer than thirty characters are refused."""
    for message in messages_of(data):
        for call in message.get("tool_calls") or ():
            if len(str(call.get("id", ""))) > 30 or not str(call.get("id", "call_")).startswith("call_"):
                refuse("'messages[1].tool_calls[0].id' has an unknown form.", "messages[1].tool_calls[0].id")
    return data


@fault("own-reply-refused", "request", both=["messages.own-replies-are-accepted-back"])
def own_reply_refused(data: Json, exchange: Exchange) -> Json:
    """An assistant message with the members of a reply is refused in the history."""
    for message in messages_of(data):
        if message.get("role") == "assistant" and {"refusal", "reasoning"} & set(message):
            refuse("Unknown parameter: 'messages[1].refusal'.", "messages[1].refusal")
        if message.get("role") == "assistant" and isinstance(message.get("content"), str) and len(message) == 2:
            refuse("'messages[1]' must have a name.", "messages[1].name")
    return data


@fault("loose-ends-500", "request", both=["errors.loose-ends-are-survived"])
def loose_ends_500(data: Json, exchange: Exchange) -> Json:
    """An empty list of tools, or a result without its call, raises 500."""
    called = {
        call.get("id")
        for message in messages_of(data)
        for call in message.get("tool_calls") or ()
        if isinstance(call, dict)
    }
    results = {message.get("tool_call_id") for message in messages_of(data) if message.get("role") == "tool"}
    if isinstance(data, dict) and (data.get("tools") == [] or results - called):
        crash("no such call")
    return data


@fault("lone-surrogate-500", "raw", both=["messages.lone-surrogate-is-survived"])
def lone_surrogate_500(body: bytes, exchange: Exchange) -> bytes:
    """An unpaired surrogate escape raises 500."""
    if b"\\ud8" in body.lower() and b"\\udc" not in body.lower() and b"\\udf" not in body.lower():
        crash("surrogates not allowed")
    return body


@fault("lone-surrogate-kills-stream", "raw", both=["messages.lone-surrogate-is-survived"])
def lone_surrogate_kills_stream(body: bytes, exchange: Exchange) -> bytes:
    """An unpaired surrogate lets a stream die after its first event."""
    if b"\\ud8" not in body.lower() or b"\\udc" in body.lower() or b"\\ude" in body.lower():
        return body
    exchange.api_key += "\ud800"
    at = body.lower().index(b"\\ud8")
    return body[:at] + b"?" + body[at + 6 :]


@also("lone-surrogate-kills-stream", "events")
async def _dies(events: Any, exchange: Exchange) -> Any:
    async for event in events:
        yield event
        if "\ud800" in exchange.api_key:
            return


@fault("surrogate-pair-refused", "raw", both=["wire.encoding-is-irrelevant"])
def surrogate_pair_refused(body: bytes, exchange: Exchange) -> bytes:
    """Escapes in JSON strings are read twice, so that an escaped text counts more."""
    return body.replace(b"\\u00", b"\\\\u00")


def _load_or_crash(text: object) -> object:
    try:
        return json.loads(str(text))
    except ValueError:
        crash("Expecting value: line 1 column 1")
