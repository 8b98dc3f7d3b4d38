"""Requests that between them touch every behaviour of a dialect, and an engine that answers them sensibly."""

from __future__ import annotations

import base64
import io
import json
import re
import zlib
from collections.abc import Iterator
from typing import Any

from PIL import Image

from reference_impl.chat.format import THINK_OPEN
from reference_impl.engine.request import GenerationRequest
from reference_impl.model.checkpoint import LoadedModel

Exchange = tuple[dict[str, str], bytes]
"""Headers and body of one request."""

TEXT = [{"role": "user", "content": "What is a GPU?"}]
CALL = {"id": "call_9", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'}}
CALLS = [CALL, {"id": "call_10", "type": "function", "function": {"name": "get-time", "arguments": "{}"}}]
RESULTS = [
    {"role": "tool", "tool_call_id": "call_10", "content": "[12, 30]"},
    {"role": "tool", "tool_call_id": "call_9", "content": "9 degrees"},
]
ADDRESS = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "at": {"type": "object", "properties": {"x": {"type": "integer"}}}},
    "required": ["city"],
}
TOOLS = [
    {"type": "function", "function": {"name": "get_weather", "description": "Weather.", "parameters": ADDRESS}},
    {"type": "function", "function": {"name": "get-time", "parameters": {"type": "object", "properties": {}}}},
]
SCHEMA = {"type": "object", "properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": {"type": "boolean"}}}
NAMED = {"type": "function", "function": {"name": "get_weather"}}


class Answers:
    """A script for the stand-in engine: calls where the grammar wants them, thoughts where the prompt opens one."""

    def __init__(self, model: LoadedModel) -> None:
        self._tokenizer = model.tokenizer
        self._think = model.tokenizer.token_to_id(THINK_OPEN)

    def __call__(self, request: GenerationRequest) -> str:
        prompt = self._tokenizer.decode(request.prompt, skip_special_tokens=True)
        thinking = self._think in request.prompt[-4:]
        return ("The END is near.\n</think>\n" if thinking else "") + self._answer(request.grammar, prompt)

    def _answer(self, grammar: str | None, prompt: str) -> str:
        text = f"Grüße 🐢: one two three [DONE] END of {zlib.crc32(prompt.encode())}."
        if grammar is None:
            return text
        names = re.findall(r'\\"name\\": \\"([\w-]+)\\"', grammar)
        if not names:
            return '{"cost": "4"}' if "cost" in grammar else '{"a": true}'
        if "| text" in grammar and "weather" not in prompt:
            return text
        several = "{0," in grammar
        return "\n".join(map(self._call, names if several else names[:1]))

    def _call(self, name: str) -> str:
        arguments = '{"city": "Llanfairpwllgwyngyllgogerychwyrn", "at": {"x": 1}}' if name == "get_weather" else "{}"
        return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'


def data_url(data: bytes | None = None) -> str:
    """A small picture as a data URL, or any bytes labelled as one."""
    if data is None:
        stream = io.BytesIO()
        Image.new("RGB", (16, 16), "red").save(stream, "PNG")
        data = stream.getvalue()
    return f"data:image/png;base64,{base64.b64encode(data).decode()}"


def picture(url: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}}


def user(*parts: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"role": "user", "content": [{"type": "text", "text": "What colour?"}, *parts]}]


def battery(model_id: str) -> Iterator[Exchange]:
    """Every request, in an order that matters to faults with a memory."""
    key = {"authorization": "Bearer right"}
    for members in _bodies(model_id):
        body = {"model": model_id, "messages": TEXT, "max_tokens": 120, "temperature": 0, **members}
        body = {name: value for name, value in body.items() if value is not ...}
        streams = (False, True) if "stream" not in body else (body["stream"],)
        for stream in streams:
            yield key, json.dumps({**body, "stream": stream}).encode()
    plain = {"model": model_id, "messages": TEXT, "max_tokens": 8}
    yield key, json.dumps(plain).encode()
    for condition in ("rate_limit", "overload", "upstream_error", "timeout", "midstream_error", "inference_timeout"):
        for stream in (False, True):
            yield {**key, "x-conformance-induce": condition}, json.dumps({**plain, "stream": stream}).encode()
    yield {**key, "x-conformance-induce": "content_filter"}, json.dumps(plain).encode()
    for headers in ({}, {"authorization": "Bearer wrong"}):
        yield headers, json.dumps(plain).encode()
    escaped = json.dumps({**plain, "messages": [{"role": "user", "content": "é"}]}).encode()
    for body in (b"[]", b'{"model": ', b'{"a": 1, "a": 2}', escaped, escaped.replace(b"\\u00e9", b"\\ud800")):
        yield key, body
    yield key, json.dumps({**plain, "messages": [{"role": "user", "content": "x"}]}).encode() + b" " * 1_100_000
    yield key, json.dumps(plain).encode() + b" " * 9_000_000


def _bodies(model_id: str) -> Iterator[dict[str, Any]]:
    usage = {"stream_options": {"include_usage": True}}
    yield {}
    yield {"user": "u", "temperature": 5}
    yield {"max_tokens": 4}
    yield {"max_tokens": 4, "max_completion_tokens": 6}
    yield {"max_completion_tokens": 6, "max_tokens": ...}
    yield {"temperature": ...}
    yield {"temperature": 2, "seed": 3}
    yield {"seed": 3, **usage}
    yield {**usage, "n": 1}
    yield {"stream_options": {"include_usage": True, "continuous_usage_stats": True}}
    for stop in ("END", ["END", "two"], ["two three", "xx"], ["zz", "yy", "words"], [], None, ["a"] * 5):
        yield {"stop": stop}
    yield {"n": 2}
    yield {"n": 2, "tools": TOOLS, "tool_choice": "required"}
    for choice in ("none", "auto", "required", NAMED, ...):
        yield {"tools": TOOLS, "tool_choice": choice}
    yield {"tools": TOOLS, "messages": [{"role": "user", "content": "The weather?"}], **usage}
    yield {"tools": TOOLS, "tool_choice": "required", "parallel_tool_calls": False}
    yield {
        "tools": TOOLS,
        "tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [NAMED]}},
    }
    yield {"tools": [{"type": "custom", "custom": {"name": "shell"}}], "tool_choice": "required"}
    yield {"tools": []}
    functions = [tool["function"] for tool in TOOLS[:1]]
    yield {"functions": functions, "function_call": {"name": "get_weather"}}
    yield {"functions": functions, "tools": TOOLS[1:]}
    for effort in ("none", "minimal", "low", "high", "xhigh"):
        yield {"reasoning_effort": effort}
    for reasoning in ({"effort": "low"}, {"effort": "high"}, {"effort": "high", "exclude": True}):
        yield {"reasoning": reasoning, **usage}
        yield {"reasoning": reasoning, "stop": "END"}
    yield {"reasoning": {"effort": "high"}, "max_tokens": 3}
    yield {"reasoning": {"effort": "high"}, "model": f"{model_id}-text"}
    yield {"reasoning": {"effort": "high"}, "tools": TOOLS, "tool_choice": "required"}
    for form in ("text", "json_object", "json_schema"):
        yield {"response_format": {"type": form}}
    strict = {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA, "strict": True}}
    yield {"response_format": strict}
    yield from _conversations()
    yield from _pictures(model_id)
    yield from _refused()
    session = {"ark_stateful": "s", "ark_max_session_tokens": 300}
    yield {**session, "max_tokens": 5, "stop": None}
    yield {**session, "max_tokens": 5}
    yield {**session, "temperature": 9}
    yield {**session, "max_tokens": 5, "messages": [{"role": "user", "content": "again"}]}
    yield {**session, "ark_stateful": "t", "ark_max_session_tokens": 60}
    yield {**session, "stop": "x"}
    yield {"ark_stateful": "u"}


def _conversations() -> Iterator[dict[str, Any]]:
    turn = {"role": "assistant", "tool_calls": CALLS}
    yield {"messages": [{"role": "system", "content": "Be brief.", "name": "boss"}, *TEXT]}
    yield {"messages": [{"role": "system", "content": [{"type": "text", "text": "Be brief."}]}, *TEXT]}
    yield {"messages": [{"role": "developer", "content": "Be brief."}, *TEXT]}
    yield {"messages": [{"role": "user", "content": [{"type": "text", "text": "What is a GPU?"}]}]}
    yield {"messages": [*TEXT, {"role": "assistant", "content": "A chip."}] * 3}
    yield {"messages": [*TEXT, turn, *RESULTS], "tools": TOOLS}
    yield {"messages": [*TEXT, {**turn, "content": None, "refusal": None}, *RESULTS], "tools": TOOLS}
    broken = {**CALL, "function": {"name": "f", "arguments": "{"}, "id": "x" * 40}
    yield {"messages": [*TEXT, {**turn, "tool_calls": [broken]}, {**RESULTS[0], "tool_call_id": "x" * 40}]}
    yield {"messages": [{"role": "user", "content": "word " * 9_000}]}
    yield {"messages": [{"role": "user", "content": "A 🐢."}]}


def _pictures(model_id: str) -> Iterator[dict[str, Any]]:
    good, bad = picture(data_url()), picture(data_url(b"no picture"))
    yield {"messages": user(good)}
    yield {"messages": user(good, good, good)}
    yield {"messages": user(*[good] * 9)}
    yield {"messages": user(*[good] * 5) * 2}
    yield {"messages": user(bad)}
    yield {"messages": user(picture("https://example.com/a.png"))}
    yield {"messages": user(picture("file:///a.png"))}
    yield {"messages": user(good), "model": f"{model_id}-text"}


def _refused() -> Iterator[dict[str, Any]]:
    yield {"messages": []}
    yield {"max_tokens": 0}
    yield {"max_tokens": 99_999}
    yield {"model": "no-such-model"}
    yield {"not_listed": 1}
    yield {"user": "u", "logit_bias": {}, "logprobs": True}
    yield {"top_p": None}
    yield {"stream": "yes"}
    yield {"tools": TOOLS, "tool_choice": "sometimes"}
