"""Reads ARK's request body (section "Request body"): what it may contain, and what each member means."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from reference_impl.dialects.ark.messages import read_messages
from reference_impl.dialects.ark.tools import ToolUse, read_tools
from reference_impl.server.fields import Fields, Invalid, describe
from reference_impl.server.strict_json import Json

NO_EFFECT = (
    "seed", "presence_penalty", "frequency_penalty", "logit_bias", "logprobs", "top_logprobs", "user",
    "metadata", "store", "service_tier", "prompt_cache_key", "safety_identifier",
)  # fmt: skip
"""Validated for compatibility and otherwise ignored (last row of the table)."""

KNOWN = frozenset(
    {
        "model", "messages", "max_tokens", "max_completion_tokens", "temperature", "top_p", "stop", "n",
        "stream", "stream_options", "reasoning_effort", "reasoning", "tools", "tool_choice",
        "parallel_tool_calls", "response_format", "functions", "function_call", "ark_stateful",
        "ark_max_session_tokens", *NO_EFFECT,
    }
)  # fmt: skip

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
THINKING_EFFORTS = frozenset({"medium", "high", "xhigh", "max"})
DEFAULT_MAX_TOKENS = 2_048
DEFAULT_TEMPERATURE = 0.6
MAX_STOPS = 4


@dataclass(slots=True)
class JsonFormat:
    """A response_format other than text; `schema` is None where none is given."""

    schema: dict[str, Any] | None


@dataclass(slots=True)
class ArkRequest:
    """A valid request, with every default in its place."""

    model: str
    messages: list[dict[str, Any]]
    max_tokens: int | None
    temperature: float
    top_p: float
    stops: list[str]
    stream: bool
    include_usage: bool
    continuous_usage: bool
    thinking: bool
    json_format: JsonFormat | None
    session: str | None
    session_cap: int
    tool_use: ToolUse = field(default_factory=ToolUse)


def read_request(data: Json) -> ArkRequest:
    """The request that the JSON value makes; raises Invalid."""
    if not isinstance(data, dict):
        raise Invalid(f"The body must be a JSON object, not {describe(data)}.", "", "invalid_type", "type")
    for name in data:
        if name not in KNOWN:
            raise Invalid(f"Unknown parameter: '{name[:100]}'.", name[:100], "unknown_parameter", "closed")
    body = Fields(data, "")
    model = body.required_string("model")
    messages = read_messages(body)
    _check_ignored(body)
    max_tokens = body.integer("max_tokens", 1)
    max_completion_tokens = body.integer("max_completion_tokens", 1)
    temperature = body.number("temperature", 0, 2)
    top_p = body.number("top_p", 0, 1)
    body.integer("n", 1, 1)
    include_usage, continuous_usage = _read_stream_options(body)
    stops = [stop for stop in body.string_or_strings("stop", max_items=MAX_STOPS) if stop]
    session, session_cap = _read_session(body, stops)
    return ArkRequest(
        model=model,
        messages=messages,
        max_tokens=max_tokens if max_completion_tokens is None else max_completion_tokens,
        temperature=DEFAULT_TEMPERATURE if temperature is None else temperature,
        top_p=1.0 if top_p is None else top_p,
        stops=stops,
        stream=body.boolean("stream"),
        include_usage=include_usage,
        continuous_usage=include_usage and continuous_usage,
        thinking=_read_effort(body) in THINKING_EFFORTS,
        json_format=_read_response_format(body),
        session=session,
        session_cap=session_cap,
        tool_use=read_tools(body),
    )


def _check_ignored(body: Fields) -> None:
    body.integer("seed")
    body.number("presence_penalty")
    body.number("frequency_penalty")
    body.object("logit_bias")
    body.boolean("logprobs")
    body.integer("top_logprobs")
    body.string("user")
    body.object("metadata")
    body.boolean("store")
    body.string("service_tier")
    body.string("prompt_cache_key")
    body.string("safety_identifier")


def _read_stream_options(body: Fields) -> tuple[bool, bool]:
    options = body.object("stream_options")
    if options is None:
        return False, False
    return options.boolean("include_usage"), options.boolean("continuous_usage_stats")


def _read_effort(body: Fields) -> str:
    """`reasoning_effort`, else `reasoning.effort`, else low."""
    effort = body.string("reasoning_effort", one_of=EFFORTS)
    reasoning = body.object("reasoning")
    nested = reasoning.string("effort", one_of=EFFORTS) if reasoning is not None else None
    return effort or nested or "low"


def _read_response_format(body: Fields) -> JsonFormat | None:
    """The format when it is JSON. It is requested from the model only, so any schema will do."""
    options = body.object("response_format")
    if options is None:
        return None
    match options.required_string("type", one_of=("text", "json_object", "json_schema")):
        case "text":
            return None
        case "json_object":
            return JsonFormat(None)
    form = options.required_object("json_schema")
    form.required_string("name")
    form.string("description")
    form.boolean("strict")
    return JsonFormat(form.required_object("schema").members)


def _read_session(body: Fields, stops: list[str]) -> tuple[str | None, int]:
    session = body.string("ark_stateful", max_length=1_024)
    cap = body.integer("ark_max_session_tokens", 1)
    if session is None:
        return None, 0
    if cap is None:
        message = "'ark_max_session_tokens' is required with 'ark_stateful'."
        raise Invalid(message, "ark_max_session_tokens", "missing_required_parameter")
    if stops:
        raise Invalid("'stop' is not allowed with 'ark_stateful'.", "stop", "unsupported_parameter")
    return session, cap
