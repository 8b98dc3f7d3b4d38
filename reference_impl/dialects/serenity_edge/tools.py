"""Reads Serenity Edge's tools, tool_choice and parallel_tool_calls."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Literal

from reference_impl.server.fields import Fields, Invalid, wrong_type

NAME = re.compile(r"[A-Za-z0-9_-]+")
NAME_RULE = "must be letters, digits, underscores and dashes, at least one"
NAME_LENGTH = 64
MAX_TOOLS = 512


@dataclass(slots=True)
class ToolUse:
    """The functions the model sees, those it may call, and whether it must."""

    mode: Literal["none", "auto", "required"] = "none"
    functions: list[dict[str, Any]] = field(default_factory=list)
    only: str | None = None
    parallel: bool = True

    @property
    def callable(self) -> list[dict[str, Any]]:
        """The functions that a call may name."""
        return [function for function in self.functions if self.only in (None, function["name"])]


def read_tools(body: Fields) -> ToolUse:
    """The tools of a request; raises Invalid."""
    functions = [_read_tool(tool) for tool in body.objects("tools", max_items=MAX_TOOLS)]
    mode, only = _read_choice(body)
    parallel = body.boolean("parallel_tool_calls", default=True)
    if only is not None and all(only != function["name"] for function in functions):
        raise Invalid(f"'tool_choice' names {only[:100]!r}, which is not among 'tools'.", "tool_choice.function.name")
    if mode == "required" and not functions:
        raise Invalid("'tool_choice' is 'required', but there are no 'tools'.", "tool_choice")
    if mode == "none" or not functions:
        return ToolUse()
    return ToolUse(mode, functions, only, parallel)


def _read_tool(tool: Fields) -> dict[str, Any]:
    tool.required_string("type", one_of=("function",))
    function = tool.required_object("function")
    parameters = function.object("parameters")
    return {
        "name": function.required_string("name", max_length=NAME_LENGTH, pattern=NAME, rule=NAME_RULE),
        "description": function.string("description"),
        "parameters": parameters.members if parameters is not None else None,
        "strict": function.boolean("strict"),
        "path": function.at("parameters"),
    }


def _read_choice(body: Fields) -> tuple[Literal["none", "auto", "required"], str | None]:
    value = body.members.get("tool_choice")
    match value:
        case None:
            return "auto", None
        case "none" | "auto" | "required":
            return value, None
        case dict():
            choice = Fields(value, "tool_choice")
            choice.required_string("type", one_of=("function",))
            return "required", choice.required_object("function").required_string("name")
        case str():
            raise Invalid("'tool_choice' must be one of none, auto, required.", "tool_choice", constraint="enum")
    raise wrong_type("tool_choice", "a string or an object", value)
