"""Requests to Serenity Edge, right and wrong, written from its page "Create chat completion"."""

from __future__ import annotations

from tests.spec.instances import Table

SYSTEM = {"role": "system", "content": "Be brief."}
USER = {"role": "user", "content": "Hello"}
TEXT = {"type": "text", "text": "What is this?"}
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
CALL = {"id": "call_1", "type": "function", "function": {"name": "rate", "arguments": "{}"}}
CALLING = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "content": "4.2", "tool_call_id": "call_1"}
FUNCTION = {"type": "function", "function": {"name": "rate"}}
SCHEMA = {"type": "json_schema", "json_schema": {"name": "answer", "schema": {"type": "object"}}}

table = Table("request", {"model": "orion-pro", "messages": [SYSTEM, USER]})


def message(**changes: object) -> list[object]:
    return [{**USER, **changes}]


# model, messages
table.required("model", "messages")
table.typed("model", "string")
table.typed("messages", "array")
table.bad("no message", messages=[])
table.good("one message", messages=[USER])
table.bad("a message that is a text", messages=["Hello"])

# system
table.required("messages__0__role", "messages__0__content")
table.typed("messages__0__content", "string")
table.bad("parts on a system message", messages=[{"role": "system", "content": [TEXT]}])
table.good("a name for the system", messages__0__name="rules")
table.typed("messages__0__name", "string")
table.bad("the developer role", messages__0__role="developer")
table.bad("an unknown role", messages__0__role="function")
table.bad("a role in capitals", messages__0__role="SYSTEM")

# user
table.required("messages__1__role", "messages__1__content")
table.bad("user content a number", messages__1__content=7)
table.bad("user content null", messages__1__content=None)
table.bad("user content an object", messages__1__content=TEXT)
table.good("a text part", messages__1__content=[TEXT])
table.good("two images", messages__1__content=[TEXT, IMAGE, IMAGE])
table.bad(
    "a remote image", messages__1__content=[{"type": "image_url", "image_url": {"url": "https://a.example/b.png"}}]
)
table.bad("an http image", messages__1__content=[{"type": "image_url", "image_url": {"url": "http://a.example/b.png"}}])
table.bad(
    "a data URL that is not base64", messages__1__content=[{"type": "image_url", "image_url": {"url": "data:,x"}}]
)
table.bad("a part of another type", messages__1__content=[{"type": "input_audio", "input_audio": {}}])
table.bad("a text among parts", messages__1__content=["Hello"])
table.good("a name for the user", messages__1__name="ada")
table.typed("messages__1__name", "string")

# assistant
turn = {**table.base, "messages": [USER, CALLING, RESULT]}
table.good("a turn with a call", turn)
table.good("a call without content", messages=[USER, {"role": "assistant", "tool_calls": [CALL]}, RESULT])
table.good("an answer", messages=[USER, {"role": "assistant", "content": "Hi."}])
table.good("an answer with a name", messages=[USER, {"role": "assistant", "content": "Hi.", "name": "bot"}])
table.good("an assistant message with a role only", messages=[USER, {"role": "assistant"}])
table.bad("assistant content a number", turn, messages__1__content=7)
table.bad("assistant content in parts", turn, messages__1__content=[TEXT])
table.bad("calls as an object", turn, messages__1__tool_calls=CALL)
table.bad("a call that is a text", turn, messages__1__tool_calls=["rate"])
for path in ("id", "type", "function", "function__name", "function__arguments"):
    table.required(f"messages__1__tool_calls__0__{path}", base=turn)
table.bad("a call of another type", turn, messages__1__tool_calls__0__type="custom")
table.bad("a call with a number as id", turn, messages__1__tool_calls__0__id=1)
table.bad("arguments as an object", turn, messages__1__tool_calls__0__function__arguments={})
table.bad("a function name that is null", turn, messages__1__tool_calls__0__function__name=None)

# tool
table.required("messages__2__content", "messages__2__tool_call_id", base=turn)
table.bad("a result that is an object", turn, messages__2__content={"rate": 4.2})
table.bad("a result in parts", turn, messages__2__content=[TEXT])
table.bad("a result that is null", turn, messages__2__content=None)
table.bad("a number as tool_call_id", turn, messages__2__tool_call_id=1)

# streaming
for value in (True, False):
    table.good(f"stream {value}", stream=value)
    table.good(f"include_usage {value}", stream=True, stream_options={"include_usage": value})
table.typed("stream", "boolean")
table.typed("stream_options", "object")
table.bad("include_usage a text", stream_options={"include_usage": "yes"})

# numbers
for value in (1, 256, 32768):
    table.good(f"max_tokens {value}", max_tokens=value)
for value in (0, -1, 32769, 10**9):
    table.bad(f"max_tokens {value}", max_tokens=value)
table.typed("max_tokens", "integer")
table.between("temperature", 0, 2)
table.typed("temperature", "number")
table.between("top_p", 0, 1)
table.typed("top_p", "number")
for name in ("presence_penalty", "frequency_penalty"):
    table.between(name, -2, 2)
    table.typed(name, "number")
for value in (1, 2, 3):
    table.good(f"n {value}", n=value)
for value in (0, -1):
    table.bad(f"n {value}", n=value)
table.typed("n", "integer")
table.good("a seed", seed=-7)
table.typed("seed", "integer")

# stop
table.good("a stop string", stop="END")
table.good("four stop strings", stop=["a", "b", "c", "d"])
table.bad("five stop strings", stop=["a", "b", "c", "d", "e"])
table.bad("a number to stop at", stop=7)
table.bad("a number among stop strings", stop=["a", 7])

# tools
with_tools = {**table.base, "tools": [FUNCTION]}
table.good("a function", with_tools)
table.good(
    "a function in full",
    with_tools,
    tools__0__function={
        "name": "get-rate_2",
        "description": "A rate.",
        "parameters": {"type": "object"},
        "strict": True,
    },
)
table.typed("tools", "array")
table.required("tools__0__type", "tools__0__function", "tools__0__function__name", base=with_tools)
table.bad("a custom tool", tools=[{"type": "custom", "custom": {"name": "note"}}])
for name in ("a", "A9_-", "x" * 64):
    table.good(f"the function name {name}", with_tools, tools__0__function__name=name)
for name in ("", "x" * 65, "get rate", "get.rate", "rate!", "a/b"):
    table.bad(f"the function name {name!r}", with_tools, tools__0__function__name=name)
table.bad("a description that is a number", with_tools, tools__0__function__description=7)
table.bad("parameters that are a text", with_tools, tools__0__function__parameters="{}")
table.bad("strict that is a text", with_tools, tools__0__function__strict="yes")
table.one_of("tool_choice", ["none", "auto", "required"], base=with_tools)
NAMED = {"type": "function", "function": {"name": "rate"}}
table.good("a named function", with_tools, tool_choice=NAMED)
table.bad("a choice that is a number", with_tools, tool_choice=1)
table.bad("allowed tools", with_tools, tool_choice={"type": "allowed_tools", "allowed_tools": {}})
named = {**with_tools, "tool_choice": NAMED}
table.required("tool_choice__type", "tool_choice__function", "tool_choice__function__name", base=named)
table.bad("a name that is a number", named, tool_choice__function__name=7)
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
with_schema = {**table.base, "response_format": SCHEMA}
table.required(
    "response_format__json_schema",
    "response_format__json_schema__name",
    "response_format__json_schema__schema",
    base=with_schema,
)
table.good("a strict schema", with_schema, response_format__json_schema__strict=True)
table.bad("strict that is a number", with_schema, response_format__json_schema__strict=1)
table.bad("a schema that is a text", with_schema, response_format__json_schema__schema="object")
table.bad("a schema name that is a number", with_schema, response_format__json_schema__name=7)
table.bad("a schema description that is a number", with_schema, response_format__json_schema__description=7)

# reasoning, user
with_reasoning = {**table.base, "reasoning": {"effort": "low"}}
table.one_of("reasoning__effort", ["low", "medium", "high"], base=with_reasoning)
table.bad("an effort only the other vendor has", reasoning={"effort": "minimal"})
table.typed("reasoning", "object")
table.good("hidden reasoning", reasoning={"exclude": True})
table.bad("exclude that is a text", reasoning={"exclude": "yes"})
table.good("a user", user="u1")
table.typed("user", "string")
table.good("a field that is not listed", best_of=1)

CASES = table.cases
