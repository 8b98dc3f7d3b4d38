"""Requests to ARK, right and wrong, written from its page "Chat completions"."""

from __future__ import annotations

from tests.spec.instances import Table

FUNCTION = {
    "type": "function",
    "function": {"name": "rate", "description": "A rate.", "parameters": {"type": "object"}},
}
CUSTOM = {"type": "custom", "custom": {"name": "note"}}
TEXT = {"type": "text", "text": "What is this?"}
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
CALL = {"id": "call_1", "index": 0, "type": "function", "function": {"name": "rate", "arguments": "{}"}}
SCHEMA = {"type": "json_schema", "json_schema": {"name": "answer", "schema": {"type": "object"}}}

table = Table("request", {"model": "arklabsai/some", "messages": [{"role": "user", "content": "Hello"}]})

# model, messages
table.required("model", "messages")
table.typed("model", "string")
table.bad("null model", model=None)
table.typed("messages", "array")
table.bad("no message", messages=[])
table.bad("a text as a message", messages=["Hello"])
table.required("messages__0__role")
table.one_of("messages__0__role", ["system", "developer", "user", "assistant", "tool"])
table.typed("messages__0__role", "string")
table.optional("messages__0__content")
table.bad("content a number", messages__0__content=7)
table.bad("content an object", messages__0__content={"type": "text", "text": "Hello"})
table.good("a text part", messages__0__content=[TEXT])
table.good("a text and an image", messages__0__content=[TEXT, IMAGE])
table.good("parts on a system message", messages=[{"role": "system", "content": [TEXT]}])
table.good(
    "an https image", messages__0__content=[{"type": "image_url", "image_url": {"url": "https://a.example/b.png"}}]
)
table.bad("a part of another type", messages__0__content=[{"type": "audio", "audio": "x"}])
table.bad("a part without a type", messages__0__content=[{"text": "Hello"}])
table.bad("a text part without text", messages__0__content=[{"type": "text"}])
table.bad("a text part with a number", messages__0__content=[{"type": "text", "text": 7}])
table.bad("an image part without its object", messages__0__content=[{"type": "image_url"}])
table.bad(
    "an image part with a bare URL", messages__0__content=[{"type": "image_url", "image_url": "https://a.example"}]
)
table.bad("an image part without a URL", messages__0__content=[{"type": "image_url", "image_url": {}}])
table.bad("a text among parts", messages__0__content=["Hello"])
table.good("a name", messages__0__name="ada")
table.typed("messages__0__name", "string")
table.good("calls made earlier", messages=[{"role": "assistant", "tool_calls": [CALL]}])
table.good("calls and no content", messages=[{"role": "assistant", "content": "One moment.", "tool_calls": [CALL]}])
table.bad("calls that are no array", messages=[{"role": "assistant", "tool_calls": CALL}])
table.good("a tool result", messages=[{"role": "tool", "content": "4.2", "tool_call_id": "call_1"}])
table.good("an unknown member of a message", messages__0__mood="calm")

# limits and sampling
table.good("a token limit", max_tokens=200)
table.typed("max_tokens", "integer")
table.good("the synonym", max_completion_tokens=200)
table.good("both limits", max_tokens=100, max_completion_tokens=200)
table.typed("max_completion_tokens", "integer")
table.between("temperature", 0, 2)
table.good("the default temperature", temperature=0.6)
table.typed("temperature", "number")
table.between("top_p", 0, 1)
table.typed("top_p", "number")
table.good("one choice", n=1)
table.bad("two choices", n=2)
table.bad("no choice", n=0)
table.typed("n", "integer")

# stop
table.good("a stop string", stop="END")
table.good("four stop strings", stop=["a", "b", "c", "d"])
table.bad("five stop strings", stop=["a", "b", "c", "d", "e"])
table.bad("a number to stop at", stop=7)
table.bad("a number among stop strings", stop=["a", 7])

# streaming
for value in (True, False):
    table.good(f"stream {value}", stream=value)
    table.good(f"include_usage {value}", stream=True, stream_options={"include_usage": value})
    table.good(f"running counts {value}", stream_options={"include_usage": True, "continuous_usage_stats": value})
table.typed("stream", "boolean")
table.typed("stream_options", "object")
table.bad("include_usage a text", stream_options={"include_usage": "yes"})
table.bad("running counts a number", stream_options={"continuous_usage_stats": 1})
table.good("an unknown stream option", stream_options={"other": 1})

# reasoning
EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"]
table.one_of("reasoning_effort", EFFORTS)
table.typed("reasoning_effort", "string")
with_object = {**table.base, "reasoning": {"effort": "low"}}
table.one_of("reasoning__effort", EFFORTS, base=with_object)
table.typed("reasoning", "object")

# tools
table.good("a function", tools=[FUNCTION])
table.good("a function with a name only", tools=[{"type": "function", "function": {"name": "rate"}}])
table.good("a custom tool", tools=[CUSTOM])
table.good("both kinds", tools=[FUNCTION, CUSTOM])
table.typed("tools", "array")
table.bad("a tool of another type", tools=[{"type": "browser"}])
table.bad("a tool without a type", tools=[{"function": {"name": "rate"}}])
table.bad("a function tool without its function", tools=[{"type": "function"}])
table.bad("a function without a name", tools=[{"type": "function", "function": {"description": "x"}}])
table.bad("a custom tool without its member", tools=[{"type": "custom"}])
with_tools = {**table.base, "tools": [FUNCTION]}
table.one_of("tool_choice", ["none", "auto", "required"], base=with_tools)
table.good("a named function", with_tools, tool_choice={"type": "function", "function": {"name": "rate"}})
table.good(
    "allowed tools", with_tools, tool_choice={"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}}
)
table.bad("a choice of another type", with_tools, tool_choice={"type": "any"})
table.bad("a named choice without its function", with_tools, tool_choice={"type": "function"})
table.bad("a named choice without a name", with_tools, tool_choice={"type": "function", "function": {}})
table.bad("a choice that is a number", with_tools, tool_choice=1)
for value in (True, False):
    table.good(f"parallel calls {value}", with_tools, parallel_tool_calls=value)
table.typed("parallel_tool_calls", "boolean", base=with_tools)

# response format
for name in ("text", "json_object"):
    table.good(f"format {name}", response_format={"type": name})
table.good("a schema", response_format=SCHEMA)
table.bad("another format", response_format={"type": "xml"})
table.bad("a format without a type", response_format={})
table.bad("a format that is a text", response_format="json_object")
table.bad("a schema format without its schema", response_format={"type": "json_schema"})
table.bad("a schema format with a bare schema", response_format={"type": "json_schema", "json_schema": "object"})

# legacy, sessions
table.good("legacy functions", functions=[{"name": "rate", "parameters": {}}], function_call="auto")
table.good("a legacy choice by name", functions=[{"name": "rate"}], function_call={"name": "rate"})
table.good("a session", ark_stateful="s1", ark_max_session_tokens=2000)
table.bad("a session that is a number", ark_stateful=1, ark_max_session_tokens=2000)
table.bad("a session cap that is a text", ark_stateful="s1", ark_max_session_tokens="2000")

# accepted without effect
NO_EFFECT = {
    "seed": 7,
    "presence_penalty": 0.5,
    "frequency_penalty": -0.5,
    "logit_bias": {"50256": -100},
    "logprobs": True,
    "top_logprobs": 3,
    "user": "u1",
    "metadata": {"a": "b"},
    "store": False,
    "service_tier": "auto",
    "prompt_cache_key": "k",
    "safety_identifier": "i",
}
for name, value in NO_EFFECT.items():
    table.good(f"{name}, without effect", **{name: value})
table.good("all that has no effect", **NO_EFFECT)

# unknown fields
for name in ("modell", "best_of", "X", "stream_option", "audio", "suffix"):
    table.bad(f"the unknown field {name}", **{name: 1})

CASES = table.cases
