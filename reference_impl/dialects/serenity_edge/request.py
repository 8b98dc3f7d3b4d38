"""Reads Serenity Edge's request body (table "Request body"): every row, its range and its default.

Members that the table does not list are ignored: the document does not say that they are refused.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeVar

from reference_impl.dialects.serenity_edge.messages import read_messages
from reference_impl.dialects.serenity_edge.tools import ToolUse, read_tools
from reference_impl.server.fields import Fields, Invalid, describe
from reference_impl.server.strict_json import Json

MAX_OUTPUT = 32_768
DEFAULT_OUTPUT = 2_048
"""Where max_tokens is missing; the document leaves this open."""

MAX_CHOICES = 16
MAX_STOPS = 4
EFFORTS = ("low", "medium", "high")

Value = TypeVar("Value")


@dataclass(slots=True)
class JsonFormat:
    """A response_format other than text; `schema` is None for json_object."""

    schema: dict[str, Any] | None
    strict: bool


@dataclass(slots=True)
class SerenityEdgeRequest:
    """A valid request, with every default in its place."""

    model: str
    messages: list[dict[str, Any]]
    stream: bool
    include_usage: bool
    max_tokens: int
    temperature: float
    top_p: float
    choices: int
    stops: list[str]
    presence_penalty: float
    frequency_penalty: float
    seed: int | None
    json_format: JsonFormat | None
    thinking: bool
    hide_thinking: bool
    tool_use: ToolUse = field(default_factory=ToolUse)


def read_request(data: Json) -> SerenityEdgeRequest:
    """The request that the JSON value makes; raises Invalid."""
    if not isinstance(data, dict):
        raise Invalid(f"The body must be a JSON object, not {describe(data)}.", "", "invalid_type", "type")
    body = Fields(data, "")
    model = body.required_string("model")
    messages = read_messages(body)
    options = body.object("stream_options")
    include_usage = options.boolean("include_usage") if options is not None else False
    thinking, hide_thinking = _read_reasoning(body)
    body.string("user")
    return SerenityEdgeRequest(
        model=model,
        messages=messages,
        stream=body.boolean("stream"),
        include_usage=include_usage,
        max_tokens=_or(body.integer("max_tokens", 1, MAX_OUTPUT), DEFAULT_OUTPUT),
        temperature=_or(body.number("temperature", 0, 2), 1.0),
        top_p=_or(body.number("top_p", 0, 1), 1.0),
        choices=_or(body.integer("n", 1, MAX_CHOICES), 1),
        stops=[stop for stop in body.string_or_strings("stop", max_items=MAX_STOPS) if stop],
        presence_penalty=_or(body.number("presence_penalty", -2, 2), 0.0),
        frequency_penalty=_or(body.number("frequency_penalty", -2, 2), 0.0),
        seed=body.integer("seed"),
        json_format=_read_response_format(body),
        thinking=thinking,
        hide_thinking=hide_thinking,
        tool_use=read_tools(body),
    )


def _or(value: Value | None, default: Value) -> Value:
    return default if value is None else value


def _read_reasoning(body: Fields) -> tuple[bool, bool]:
    """Whether to think, and whether to hide it. An effort or exclude asks for thinking."""
    reasoning = body.object("reasoning")
    if reasoning is None:
        return False, False
    effort = reasoning.string("effort", one_of=EFFORTS)
    exclude = reasoning.boolean("exclude")
    return effort is not None or exclude, exclude


def _read_response_format(body: Fields) -> JsonFormat | None:
    options = body.object("response_format")
    if options is None:
        return None
    match options.required_string("type", one_of=("text", "json_object", "json_schema")):
        case "text":
            return None
        case "json_object":
            return JsonFormat(None, strict=False)
    form = options.required_object("json_schema")
    form.required_string("name")
    form.string("description")
    schema = form.required_object("schema").members
    return JsonFormat(schema, form.boolean("strict"))
