"""Faults of tool_choice and its relatives: choices that are refused, ignored or turned round."""

from __future__ import annotations

import itertools
import json

from reference_impl.faults.edits import Chunk, Pieces, choices, refuse
from reference_impl.faults.hooks import Exchange
from reference_impl.faults.registry import fault
from reference_impl.server.pieces import CallArguments, CallClosed, CallOpened, Reply
from reference_impl.server.strict_json import Json

_NUMBERS = itertools.count()


@fault("tool-choice-none-refused", "request", both=["tools.every-choice-is-accepted"])
def tool_choice_none_refused(data: Json, exchange: Exchange) -> Json:
    """`tool_choice: none` is refused as invalid."""
    if isinstance(data, dict) and data.get("tool_choice") == "none":
        refuse("'tool_choice' must be 'auto'.", "tool_choice")
    return data


@fault("tool-choice-none-ignored", "request", both=["tools.none-yields-no-call"])
def tool_choice_none_ignored(data: Json, exchange: Exchange) -> Json:
    """With `tool_choice: none` the model is left free to call, and does."""
    if isinstance(data, dict) and data.get("tool_choice") == "none" and data.get("tools"):
        return {**data, "tool_choice": "required"}
    return data


@fault("tool-choice-required-ignored", "request", both=["tools.required-yields-a-call"])
def tool_choice_required_ignored(data: Json, exchange: Exchange) -> Json:
    """`tool_choice: required` yields plain prose."""
    if isinstance(data, dict) and data.get("tool_choice") == "required":
        return {**data, "tool_choice": "none"}
    return data


@fault("tool-choice-named-ignored", "request", both=["tools.named-choice-is-obeyed"])
def tool_choice_named_ignored(data: Json, exchange: Exchange) -> Json:
    """A named choice calls another tool, or none where there is no other."""
    if not isinstance(data, dict) or not isinstance(data.get("tool_choice"), dict):
        return data
    named = data["tool_choice"].get("function", {}).get("name")
    others = [tool for tool in data.get("tools") or () if tool.get("function", {}).get("name") not in (None, named)]
    if not others:
        return {**data, "tool_choice": "none"}
    name = others[0]["function"]["name"]
    return {**data, "tool_choice": {"type": "function", "function": {"name": name}}}


@fault("allowed-tools-ignored", "request", ark=["tools.allowed-tools-is-obeyed"])
def allowed_tools_ignored(data: Json, exchange: Exchange) -> Json:
    """allowed_tools calls a tool that is not on the list."""
    choice = data.get("tool_choice") if isinstance(data, dict) else None
    if not isinstance(choice, dict) or choice.get("type") != "allowed_tools":
        return data
    allowed = json.dumps(choice)
    for tool in data.get("tools") or ():
        name = tool.get("function", {}).get("name")
        if name and json.dumps(name) not in allowed:
            return {**data, "tool_choice": {"type": "function", "function": {"name": name}}}
    return data


@fault("parallel-false-ignored", "pieces", both=["tools.parallel-false-yields-at-most-one"])
async def parallel_false_ignored(pieces: Pieces, exchange: Exchange) -> Pieces:
    """`parallel_tool_calls: false` still returns two calls."""
    reply = Reply()
    doubled = exchange.data.get("parallel_tool_calls") is False
    async for piece in pieces:
        reply.add(piece)
        yield piece
        if doubled and isinstance(piece, CallClosed):
            yield CallOpened(1, reply.calls[0].name)
            yield CallArguments(1, reply.calls[0].arguments)
            yield CallClosed(1)


@fault("called-name-invented", "pieces", both=["tools.called-names-are-offered"])
async def called_name_invented(pieces: Pieces, exchange: Exchange) -> Pieces:
    """The name of a called function gets a prefix that no request offered."""
    async for piece in pieces:
        yield CallOpened(piece.index, f"functions.{piece.name}") if isinstance(piece, CallOpened) else piece


@fault("legacy-call-as-tool-call", "completion", ark=["tools.legacy-call-carrier"])
def legacy_call_as_tool_call(body: Chunk, exchange: Exchange) -> Chunk:
    """A call of a legacy function comes in `tool_calls`."""
    for choice in choices(body):
        call = choice["message"].pop("function_call", None)
        if call is not None:
            choice["message"]["tool_calls"] = [
                {"id": f"call_{next(_NUMBERS)}", "index": 0, "type": "function", "function": call}
            ]
            choice["finish_reason"] = "tool_calls"
    return body


@fault("legacy-functions-beat-tools", "request", ark=["tools.legacy-functions-yield-to-tools"])
def legacy_functions_beat_tools(data: Json, exchange: Exchange) -> Json:
    """`functions` is used even where `tools` is given."""
    if isinstance(data, dict) and data.get("tools") and data.get("functions"):
        tools = [{"type": "function", "function": function} for function in data["functions"]]
        return {**data, "tools": tools, "tool_choice": "required"}
    return data


@fault("legacy-functions-refused", "request", ark=["tools.legacy-functions-are-accepted"])
def legacy_functions_refused(data: Json, exchange: Exchange) -> Json:
    """Legacy functions are refused."""
    if isinstance(data, dict) and "functions" in data:
        refuse("'functions' is no longer supported.", "functions")
    return data


@fault("custom-tools-refused", "request", ark=["tools.custom-tools-are-accepted"])
def custom_tools_refused(data: Json, exchange: Exchange) -> Json:
    """Custom tools are refused."""
    tools = data.get("tools") if isinstance(data, dict) else None
    if isinstance(tools, list) and any(isinstance(tool, dict) and tool.get("type") == "custom" for tool in tools):
        refuse("'tools[0].type' must be 'function'.", "tools[0].type")
    return data


@fault("tool-names-with-dashes-refused", "request", serenity_edge=["tools.documented-names-are-accepted"])
def tool_names_with_dashes_refused(data: Json, exchange: Exchange) -> Json:
    """Function names with a dash, or longer than forty characters, are refused."""
    for tool in _tools(data):
        name = tool.get("function", {}).get("name", "")
        if isinstance(name, str) and ("-" in name or 40 < len(name) <= 64):
            refuse("'tools[0].function.name' must be an identifier.", "tools[0].function.name")
    return data


@fault("tool-schemas-nested-refused", "request", both=["tools.schemas-are-accepted"])
def tool_schemas_nested_refused(data: Json, exchange: Exchange) -> Json:
    """Parameters that are objects or arrays themselves are refused."""
    for tool in _tools(data):
        text = json.dumps(tool.get("function", {}).get("parameters"))
        if '"items"' in text or text.count('"properties"') > 1:
            refuse("'tools[0].function.parameters' must be flat.", "tools[0].function.parameters")
    return data


def _tools(data: Json) -> list[dict[str, Json]]:
    tools = data.get("tools") if isinstance(data, dict) else None
    listed = tools if isinstance(tools, list) else []
    return [tool for tool in listed if isinstance(tool, dict) and isinstance(tool.get("function"), dict)]
