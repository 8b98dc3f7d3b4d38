"""Reads ARK's tool members: tools, tool_choice, parallel_tool_calls, and the legacy functions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from reference_impl.server.fields import Fields, Invalid, wrong_type

MAX_TOOLS = 512
CHOICES = ("none", "auto", "required")


@dataclass(slots=True)
class ToolUse:
    """Which tools the model sees, which it may call, and whether it must.

    `shown` are function definitions; `allowed` are the names that may be called; `legacy` answers in the
    older function_call shape.
    """

    mode: Literal["none", "auto", "required"] = "none"
    shown: list[dict[str, Any]] = field(default_factory=list)
    allowed: list[str] = field(default_factory=list)
    parallel: bool = True
    legacy: bool = False


def read_tools(body: Fields) -> ToolUse:
    """The tools of a request; raises Invalid."""
    functions = [_read_function(function) for function in body.objects("functions", max_items=MAX_TOOLS)]
    _check_function_call(body)
    tools = [_read_tool(tool) for tool in body.objects("tools", max_items=MAX_TOOLS)]
    choice = _read_choice(body)
    parallel = body.boolean("parallel_tool_calls", default=True)
    if body.has("tools"):
        use = _chosen(tools, choice, "tools", "tool_choice")
        use.parallel = parallel
        return use
    if choice.mode == "required":
        raise Invalid("'tool_choice' forces a call, but there are no 'tools'.", "tool_choice")
    if not functions:
        return ToolUse()
    use = _chosen(functions, _legacy_choice(body), "functions", "function_call")
    use.parallel = False
    use.legacy = True
    return use


@dataclass(slots=True)
class _Choice:
    mode: Literal["none", "auto", "required"] = "auto"
    names: list[str] | None = None


def _read_tool(tool: Fields) -> dict[str, Any]:
    if tool.required_string("type", one_of=("function", "custom")) == "function":
        return _read_function(tool.required_object("function"))
    custom = tool.required_object("custom")
    custom.object("format")
    # the reply's table knows functions only, so free-form input travels as one string argument
    return {
        "name": custom.required_string("name", min_length=1),
        "description": custom.string("description"),
        "parameters": {
            "type": "object",
            "properties": {"input": {"type": "string"}},
            "required": ["input"],
            "additionalProperties": False,
        },
    }


def _read_function(function: Fields) -> dict[str, Any]:
    parameters = function.object("parameters")
    return {
        "name": function.required_string("name", min_length=1),
        "description": function.string("description"),
        "parameters": parameters.members if parameters is not None else None,
    }


def _read_choice(body: Fields) -> _Choice:
    value = body.members.get("tool_choice")
    if value is None:
        return _Choice()
    if isinstance(value, str):
        return _Choice(_mode(value, "tool_choice", CHOICES))
    if not isinstance(value, dict):
        raise wrong_type("tool_choice", "a string or an object", value)
    choice = Fields(value, "tool_choice")
    kind = choice.required_string("type", one_of=("function", "custom", "allowed_tools"))
    if kind != "allowed_tools":
        return _Choice("required", [choice.required_object(kind).required_string("name")])
    # either as OpenAI nests it, or flat
    allowed = choice.object("allowed_tools") or choice
    mode = _mode(allowed.string("mode") or "auto", allowed.at("mode"), ("auto", "required"))
    allowed.require("tools")
    return _Choice(mode, [_allowed_name(tool) for tool in allowed.objects("tools", max_items=MAX_TOOLS)])


def _allowed_name(tool: Fields) -> str:
    kind = tool.required_string("type", one_of=("function", "custom"))
    inner = tool.object(kind)
    return (inner or tool).required_string("name")


def _mode(value: str, param: str, modes: tuple[str, ...]) -> Literal["none", "auto", "required"]:
    match value:
        case "none" | "auto" | "required" if value in modes:
            return value
    raise Invalid(f"'{param}' must be one of {', '.join(modes)}.", param, constraint="enum")


def _check_function_call(body: Fields) -> None:
    value = body.members.get("function_call")
    if value is None:
        return
    if isinstance(value, str):
        _mode(value, "function_call", ("none", "auto"))
    elif isinstance(value, dict):
        Fields(value, "function_call").required_string("name")
    else:
        raise wrong_type("function_call", "a string or an object", value)


def _legacy_choice(body: Fields) -> _Choice:
    value = body.members.get("function_call")
    if isinstance(value, dict):
        return _Choice("required", [value["name"]])
    return _Choice("none" if value == "none" else "auto")


def _chosen(functions: list[dict[str, Any]], choice: _Choice, where: str, param: str) -> ToolUse:
    known = [function["name"] for function in functions]
    for name in choice.names or ():
        if name not in known:
            raise Invalid(f"'{param}' names {name[:100]!r}, which is not among '{where}'.", param)
    allowed = known if choice.names is None else choice.names
    if choice.mode == "none" or not allowed:
        if choice.mode == "required":
            raise Invalid(f"'{param}' forces a call, but there is nothing to call.", param)
        return ToolUse()
    return ToolUse(choice.mode, functions, allowed)
