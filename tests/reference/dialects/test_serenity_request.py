"""Serenity Edge's request body, row by row."""

from __future__ import annotations

import pytest

from tests.reference.dialects.endpoint import CLOCK, TEXT, WEATHER, Endpoint

NAMED = {"type": "function", "function": {"name": "get_weather"}}
CALL = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'}}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "12 degrees"}
BAD_CALL = {**CALL, "type": "x"}
FORMAT = {"type": "json_schema"}
SCHEMA = {"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"]}


def tool(name: str) -> dict:
    return {"type": "function", "function": {"name": name}}


@pytest.mark.parametrize(
    "members",
    [
        {"messages": [{"role": "system", "content": "Be brief.", "name": "boss"}, *TEXT]},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}], "name": "ann"}]},
        {"messages": [*TEXT, {"role": "assistant", "content": None, "tool_calls": [CALL]}, RESULT]},
        {"messages": [*TEXT, {"role": "assistant", "tool_calls": [CALL]}, RESULT]},
        {"messages": [*TEXT, {"role": "assistant", "content": "Yes.", "name": "bot"}, *TEXT]},
        {"stream": False, "stream_options": {"include_usage": True}},
        {"max_tokens": 1},
        {"max_tokens": 32768, "stop": ["a", "e", "l", "\n"]},
        {"temperature": 2, "top_p": 0},
        {"temperature": 0, "top_p": 1},
        {"n": 2},
        {"stop": "x"},
        {"stop": ["a", "b", "c", "d"]},
        {"presence_penalty": -2, "frequency_penalty": 2},
        {"seed": 2**53},
        {"tools": [WEATHER, CLOCK], "tool_choice": "auto"},
        {"tools": [WEATHER, CLOCK], "tool_choice": "none"},
        {"tools": [WEATHER, CLOCK], "tool_choice": "required"},
        {"tools": [WEATHER, CLOCK], "tool_choice": NAMED, "parallel_tool_calls": False},
        {"tools": [tool("A-z_09" + "x" * 58)]},
        {"tool_choice": "none"},
        {"response_format": {"type": "text"}},
        {"response_format": {"type": "json_object"}},
        {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA}}},
        {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA, "strict": True}}},
        {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {"not": {}}}}},
        *({"reasoning": {"effort": effort}} for effort in ("low", "medium", "high")),
        {"reasoning": {"effort": "high", "exclude": True}},
        {"reasoning": {}},
        {"user": "someone"},
        {"not_in_the_table": 1},
    ],
    ids=str,
)
def test_what_the_document_allows_is_accepted(serenity: Endpoint, members: dict) -> None:
    reply = serenity.whole(**{"max_tokens": 4, **members})

    assert reply["object"] == "chat.completion"
    assert len(reply["choices"]) == members.get("n", 1)


@pytest.mark.parametrize(
    ("param", "members"),
    [
        ("model", {"model": ...}),
        ("messages", {"messages": ...}),
        ("messages", {"messages": []}),
        ("messages[0].role", {"messages": [{"role": "developer", "content": "x"}]}),
        ("messages[0].content", {"messages": [{"role": "system"}]}),
        ("messages[0].content", {"messages": [{"role": "system", "content": [{"type": "text", "text": "x"}]}]}),
        ("messages[0].content", {"messages": [{"role": "user"}]}),
        ("messages[0].content", {"messages": [{"role": "user", "content": None}]}),
        ("messages[0].content[0].text", {"messages": [{"role": "user", "content": [{"type": "text"}]}]}),
        ("messages[1].content", {"messages": [*TEXT, {"role": "assistant", "content": ["x"]}]}),
        ("messages[0].tool_call_id", {"messages": [{"role": "tool", "content": "x"}]}),
        ("messages[0].tool_calls[0].id", {"messages": [{"role": "assistant", "tool_calls": [{**CALL, "id": 5}]}]}),
        ("messages[0].tool_calls[0].type", {"messages": [{"role": "assistant", "tool_calls": [BAD_CALL]}]}),
        ("stream", {"stream": 1}),
        ("stream_options", {"stream_options": []}),
        ("max_tokens", {"max_tokens": 0}),
        ("max_tokens", {"max_tokens": 32769}),
        ("max_tokens", {"max_tokens": "5"}),
        ("temperature", {"temperature": 2.1}),
        ("top_p", {"top_p": -0.1}),
        ("n", {"n": 0}),
        ("n", {"n": 1.5}),
        ("stop", {"stop": ["a", "b", "c", "d", "e"]}),
        ("presence_penalty", {"presence_penalty": 2.1}),
        ("frequency_penalty", {"frequency_penalty": -2.1}),
        ("seed", {"seed": "x"}),
        ("tools[0].type", {"tools": [{"type": "custom", "custom": {"name": "x"}}]}),
        ("tools[0].function.name", {"tools": [tool("has space")]}),
        ("tools[0].function.name", {"tools": [tool("")]}),
        ("tools[0].function.name", {"tools": [tool("x" * 65)]}),
        ("tools[0].function.strict", {"tools": [{"type": "function", "function": {"name": "f", "strict": 1}}]}),
        ("tool_choice", {"tools": [WEATHER], "tool_choice": "maybe"}),
        ("tool_choice.function.name", {"tools": [CLOCK], "tool_choice": NAMED}),
        ("tool_choice.type", {"tools": [WEATHER], "tool_choice": {"type": "allowed_tools"}}),
        ("parallel_tool_calls", {"parallel_tool_calls": 0}),
        ("response_format.type", {"response_format": {"type": "xml"}}),
        ("response_format.json_schema", {"response_format": {"type": "json_schema"}}),
        ("response_format.json_schema.name", {"response_format": {**FORMAT, "json_schema": {"schema": {}}}}),
        ("response_format.json_schema.schema", {"response_format": {**FORMAT, "json_schema": {"name": "x"}}}),
        (
            "response_format.json_schema.schema",
            {"response_format": {**FORMAT, "json_schema": {"name": "x", "schema": {"not": {}}, "strict": True}}},
        ),
        ("reasoning.effort", {"reasoning": {"effort": "max"}}),
        ("reasoning.exclude", {"reasoning": {"exclude": "yes"}}),
        ("user", {"user": 5}),
    ],
    ids=str,
)  # fmt: skip
def test_what_the_document_does_not_allow_is_refused(serenity: Endpoint, param: str, members: dict) -> None:
    error = serenity.error(400, **members)

    assert error["type"] == "invalid_request_error"
    assert error["param"] == param
    assert error["message"]


def test_unknown_model_is_404(serenity: Endpoint) -> None:
    error = serenity.error(404, model="no-such-model")

    assert (error["type"], error["code"], error["param"]) == ("not_found_error", "model_not_found", "model")


def test_a_seed_repeats_the_text(serenity: Endpoint) -> None:
    def texts(seed: int) -> list[str]:
        reply = serenity.whole(temperature=1.5, seed=seed, n=2)
        return [choice["message"]["content"] for choice in reply["choices"]]

    assert texts(7) == texts(7)
    assert texts(7) != texts(8)
    assert len(set(texts(7))) == 2


def test_a_strict_schema_is_met(serenity: Endpoint) -> None:
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA, "strict": True}}

    choice = serenity.whole(response_format=form, max_tokens=500, temperature=1, seed=3)["choices"][0]

    assert choice["finish_reason"] == "stop"
    assert '"a": ' in choice["message"]["content"]


def test_a_forced_call_ends(either: Endpoint) -> None:
    for choice in ("required", NAMED):
        reply = either.whole(tools=[WEATHER], tool_choice=choice, parallel_tool_calls=False, max_tokens=500)["choices"][
            0
        ]
        assert reply["finish_reason"] == "tool_calls"
        assert [call["function"]["name"] for call in reply["message"]["tool_calls"]] == ["get_weather"]


@pytest.mark.parametrize(
    "members",
    [
        {"max_tokens": 40},
        {"tools": [WEATHER], "tool_choice": "required", "parallel_tool_calls": False, "max_tokens": 300},
        {"tools": [WEATHER, CLOCK], "tool_choice": "required", "max_tokens": 30},
        {"stop": "bl", "max_tokens": 40},
        {"reasoning": {"effort": "high"}, "max_tokens": 40},
        {"response_format": {"type": "json_object"}, "max_tokens": 100},
    ],
    ids=str,
)
def test_a_stream_is_the_whole_reply_in_pieces(either: Endpoint, members: dict) -> None:
    whole = either.whole(**members)["choices"][0]
    *chunks, done = either.stream(**members)
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]

    assert done == "[DONE]"
    assert chunks[-1]["choices"][0]["finish_reason"] == whole["finish_reason"]
    for text in ("content", "reasoning"):
        assert "".join(delta.get(text) or "" for delta in deltas) == (whole["message"].get(text) or "")
    calls: dict[int, list[str]] = {}
    for fragment in (call for delta in deltas for call in delta.get("tool_calls", [])):
        call = calls.setdefault(fragment["index"], ["", ""])
        call[0] += fragment["function"].get("name", "")
        call[1] += fragment["function"].get("arguments", "")
    wanted = [list(call["function"].values()) for call in whole["message"].get("tool_calls", [])]
    assert list(calls.values()) == wanted


def test_a_repeated_prompt_is_served_from_the_cache_and_answered_alike(either: Endpoint) -> None:
    messages = [{"role": "user", "content": "Tell me about caches, please, at some length. " * 3}]
    first, second = either.whole(messages=messages), either.whole(messages=messages)

    assert second["usage"]["prompt_tokens_details"]["cached_tokens"] > 0
    assert first["usage"]["prompt_tokens"] == second["usage"]["prompt_tokens"]
    assert first["choices"][0]["message"] == second["choices"][0]["message"]
