"""ARK's request body, row by row."""

from __future__ import annotations

import pytest

from tests.reference.dialects.endpoint import CLOCK, TEXT, WEATHER, Endpoint

NAMED = {"type": "function", "function": {"name": "get_weather"}}
CALL = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'}}
HISTORY = [*TEXT, {"role": "assistant", "tool_calls": [CALL]}]
EARLY = ["a", "e", "l", "\n"]  # so that a long limit costs no time
PARTS = [{"type": "text", "text": "What is a GPU?"}]


@pytest.mark.parametrize(
    "members",
    [
        {"messages": [{"role": "developer", "content": "Be brief."}, *TEXT]},
        {"messages": [{"role": "system", "content": PARTS, "name": "boss"}, *TEXT]},
        {"messages": [{"role": "user"}]},
        {"messages": [{"role": "user", "content": None}]},
        {"messages": [*HISTORY, {"role": "tool", "tool_call_id": "call_1", "content": "12 degrees"}]},
        {"messages": [*HISTORY, {"role": "tool", "content": PARTS}]},
        {"messages": [*TEXT, {"role": "assistant", "content": None, "tool_calls": [{**CALL, "index": 0}]}]},
        {"messages": [*TEXT, {"role": "assistant", "tool_calls": [{"function": {"arguments": "{"}}]}]},
        {"max_tokens": ..., "stop": EARLY},
        {"max_tokens": 4096, "stop": EARLY},
        {"max_completion_tokens": 4},
        {"temperature": 2},
        {"temperature": ..., "top_p": 0},
        {"temperature": None, "max_tokens": 3, "stop": None, "tools": None},
        {"stop": "x"},
        {"stop": ["a", "b", "c", "d"]},
        {"stop": []},
        {"n": 1},
        {"n": 1.0},
        {"stream": False},
        {"stream_options": {"include_usage": True, "continuous_usage_stats": True}},
        *({"reasoning_effort": effort} for effort in ("none", "minimal", "low", "medium", "high", "xhigh", "max")),
        {"reasoning": {"effort": "high"}},
        {"reasoning": {"exclude": True}},
        {"tools": [WEATHER, {"type": "custom", "custom": {"name": "shell"}}]},
        *({"tools": [WEATHER, CLOCK], "tool_choice": choice} for choice in ("none", "auto", NAMED)),
        {"tools": [WEATHER, CLOCK], "tool_choice": "required", "parallel_tool_calls": False},
        {
            "tools": [WEATHER, CLOCK],
            "tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [NAMED]}},
        },
        {"tool_choice": "none"},
        {"tool_choice": "auto"},
        {"response_format": {"type": "text"}},
        {"response_format": {"type": "json_object"}},
        {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {"not": {}}}}},
        {"functions": [WEATHER["function"]], "function_call": "auto"},
        {"ark_max_session_tokens": 9},
        {"seed": 7, "presence_penalty": 1, "frequency_penalty": -1, "logit_bias": {"5": -100}},
        {"logprobs": True, "top_logprobs": 3, "user": "u", "metadata": {"a": "b"}, "store": True},
        {"service_tier": "auto", "prompt_cache_key": "k", "safety_identifier": "s"},
    ],
    ids=str,
)
def test_what_the_document_allows_is_accepted(ark: Endpoint, members: dict) -> None:
    reply = ark.whole(**{"max_tokens": 4, **members})

    assert reply["object"] == "chat.completion"


@pytest.mark.parametrize(
    ("param", "members"),
    [
        ("model", {"model": ...}),
        ("model", {"model": 7}),
        ("messages", {"messages": ...}),
        ("messages", {"messages": []}),
        ("messages", {"messages": "hello"}),
        ("messages[0]", {"messages": ["hello"]}),
        ("messages[0].role", {"messages": [{"content": "x"}]}),
        ("messages[0].role", {"messages": [{"role": "function", "content": "x"}]}),
        ("messages[0].content", {"messages": [{"role": "user", "content": 5}]}),
        ("messages[0].content[0].type", {"messages": [{"role": "user", "content": [{"type": "audio"}]}]}),
        ("messages[0].name", {"messages": [{"role": "user", "content": "x", "name": 1}]}),
        ("messages[0].tool_calls", {"messages": [{"role": "assistant", "tool_calls": {}}]}),
        ("max_tokens", {"max_tokens": 4097}),
        ("max_tokens", {"max_tokens": 0}),
        ("max_tokens", {"max_tokens": 1.5}),
        ("max_tokens", {"max_tokens": True}),
        ("temperature", {"temperature": 2.01}),
        ("temperature", {"temperature": -0.1}),
        ("temperature", {"temperature": "hot"}),
        ("top_p", {"top_p": 1.1}),
        ("stop", {"stop": ["a", "b", "c", "d", "e"]}),
        ("stop[1]", {"stop": ["a", 2]}),
        ("stop", {"stop": 2}),
        ("n", {"n": 2}),
        ("n", {"n": 0}),
        ("stream", {"stream": "yes"}),
        ("stream_options", {"stream_options": True}),
        ("stream_options.include_usage", {"stream_options": {"include_usage": 1}}),
        ("reasoning_effort", {"reasoning_effort": "extreme"}),
        ("reasoning.effort", {"reasoning": {"effort": 3}}),
        ("tools[0].type", {"tools": [{"type": "search"}]}),
        ("tools[0].function", {"tools": [{"type": "function"}]}),
        ("tools[0].function.name", {"tools": [{"type": "function", "function": {}}]}),
        ("tools[0].function.parameters", {"tools": [{"type": "function", "function": {"name": "f", "parameters": 1}}]}),
        ("tool_choice", {"tools": [WEATHER], "tool_choice": "sometimes"}),
        ("tool_choice", {"tools": [CLOCK], "tool_choice": NAMED}),
        ("tool_choice", {"tool_choice": "required"}),
        ("parallel_tool_calls", {"tools": [WEATHER], "parallel_tool_calls": "no"}),
        ("response_format.type", {"response_format": {"type": "yaml"}}),
        ("response_format.json_schema", {"response_format": {"type": "json_schema"}}),
        ("ark_max_session_tokens", {"ark_stateful": "s1"}),
        ("stop", {"ark_stateful": "s1", "ark_max_session_tokens": 99, "stop": "x"}),
        ("seed", {"seed": "seven"}),
        ("logit_bias", {"logit_bias": [1]}),
        ("logprobs", {"logprobs": 1}),
        ("metadata", {"metadata": "m"}),
        ("store", {"store": "yes"}),
    ],
    ids=str,
)
def test_what_the_document_does_not_allow_is_refused(ark: Endpoint, param: str, members: dict) -> None:
    error = ark.error(400, **members)

    assert error["type"] == "invalid_request_error"
    assert error["param"] == param
    assert error["message"]


@pytest.mark.parametrize("value", [1, None, "x", [], {}])
def test_unknown_fields_are_rejected_with_unknown_parameter(ark: Endpoint, value: object) -> None:
    error = ark.error(400, max_tokenz=value)

    assert (error["code"], error["param"]) == ("unknown_parameter", "max_tokenz")


def test_unknown_model_is_404(ark: Endpoint) -> None:
    assert ark.error(404, model="no-such/model")["code"] == "model_not_found"


def test_max_completion_tokens_wins(ark: Endpoint) -> None:
    for pair in ({"max_tokens": 9, "max_completion_tokens": 3}, {"max_tokens": 3, "max_completion_tokens": 9}):
        reply = ark.whole(**pair)

        assert reply["usage"]["completion_tokens"] == pair["max_completion_tokens"]
        assert reply["choices"][0]["finish_reason"] == "length"


def test_developer_is_treated_as_system(ark: Endpoint) -> None:
    replies = [ark.whole(messages=[{"role": role, "content": "Be brief."}, *TEXT]) for role in ("system", "developer")]

    assert replies[0]["usage"]["prompt_tokens"] == replies[1]["usage"]["prompt_tokens"]
    assert replies[0]["choices"][0]["message"] == replies[1]["choices"][0]["message"]


def test_name_reaches_the_model(ark: Endpoint) -> None:
    plain = ark.whole()
    named = ark.whole(messages=[{**TEXT[0], "name": "alice"}])

    assert named["usage"]["prompt_tokens"] > plain["usage"]["prompt_tokens"]


def test_fields_without_effect_change_nothing(ark: Endpoint) -> None:
    plain = ark.whole()
    other = ark.whole(seed=1, presence_penalty=2, frequency_penalty=2, logit_bias={"11": 100}, user="u")

    assert other["choices"] == plain["choices"]
    assert other["usage"]["prompt_tokens"] == plain["usage"]["prompt_tokens"]


def test_a_prompt_beyond_the_context_is_refused(ark: Endpoint) -> None:
    for words in (5_000, 400_000):
        error = ark.error(400, messages=[{"role": "user", "content": "word " * words}])

        assert error["code"] == "context_length_exceeded"
