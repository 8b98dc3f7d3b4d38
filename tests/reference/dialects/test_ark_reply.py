"""ARK's completion object, tool call and chunks, from what the engine is told to say."""

from __future__ import annotations

import json
import re
import time

from tests.reference.dialects.conftest import Speaker
from tests.reference.dialects.endpoint import CLOCK, TEXT, WEATHER

ONE_CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
TWO_CALLS = ONE_CALL + '\n<tool_call>\n{"name": "get_time", "arguments": {}}\n</tool_call>'
THOUGHT = "I should be brief.\n</think>\nA processor."


def test_the_completion_object(speak_ark: Speaker) -> None:
    ark = speak_ark("A GPU is a processor.")

    reply = ark.whole(max_tokens=100)

    assert list(reply) == [
        "id", "object", "created", "model", "service_tier", "system_fingerprint", "choices", "usage",
    ]  # fmt: skip
    assert re.fullmatch(r"chatcmpl-\w+", reply["id"])
    assert reply["object"] == "chat.completion"
    assert abs(reply["created"] - time.time()) < 60
    assert reply["model"] == ark.model
    assert (reply["service_tier"], reply["system_fingerprint"]) == ("default", None)
    message = {"role": "assistant", "content": "A GPU is a processor.", "refusal": None, "annotations": []}
    assert reply["choices"] == [{"index": 0, "message": message, "finish_reason": "stop"}]


def test_usage_and_credits(speak_ark: Speaker) -> None:
    ark = speak_ark("Yes.")

    first, second = ark.whole()["usage"], ark.whole()["usage"]
    refused = ark.post(n=2)
    third = ark.whole()["usage"]

    assert refused.status_code == 400
    assert first["total_tokens"] == first["prompt_tokens"] + first["completion_tokens"]
    assert first["prompt_tokens_details"] == {"cached_tokens": 0, "audio_tokens": 0}
    assert first["completion_tokens_details"] == {
        "reasoning_tokens": 0,
        "audio_tokens": 0,
        "accepted_prediction_tokens": 0,
        "rejected_prediction_tokens": 0,
    }
    assert first["credits_used"] > 0
    assert second["credit_balance"] == first["credit_balance"] - second["credits_used"]
    assert third["credit_balance"] == second["credit_balance"] - third["credits_used"]


def test_call_only_reply_has_no_content(speak_ark: Speaker) -> None:
    ark = speak_ark(TWO_CALLS)

    choice = ark.whole(tools=[WEATHER, CLOCK], max_tokens=200)["choices"][0]

    message = choice["message"]
    assert choice["finish_reason"] == "tool_calls"
    assert "content" not in message
    assert (message["refusal"], message["annotations"]) == (None, [])
    assert [call["index"] for call in message["tool_calls"]] == [0, 1]
    assert all(re.fullmatch(r"call_[0-9a-f]{32}", call["id"]) for call in message["tool_calls"])
    assert [call["type"] for call in message["tool_calls"]] == ["function", "function"]
    assert message["tool_calls"][0]["function"] == {"name": "get_weather", "arguments": '{"city": "Oslo"}'}
    assert message["tool_calls"][1]["function"] == {"name": "get_time", "arguments": "{}"}


def test_text_before_a_call_is_content(speak_ark: Speaker) -> None:
    message = speak_ark(f"Let me look.\n{ONE_CALL}").message(tools=[WEATHER], max_tokens=200)

    assert message["content"].strip() == "Let me look."
    assert len(message["tool_calls"]) == 1


def test_a_call_that_the_limit_cuts_is_left_out(speak_ark: Speaker) -> None:
    ark = speak_ark(TWO_CALLS)
    cap = len(ark.app.state.engine.tokens(TWO_CALLS)) - 3

    choice = ark.whole(tools=[WEATHER, CLOCK], max_tokens=cap)["choices"][0]

    assert choice["finish_reason"] == "length"
    assert [call["function"]["name"] for call in choice["message"]["tool_calls"]] == ["get_weather"]


def test_reasoning_is_on_above_low(speak_ark: Speaker) -> None:
    ark = speak_ark(lambda request: THOUGHT)

    for effort in ("medium", "high", "xhigh", "max"):
        reply = ark.whole(reasoning_effort=effort, max_tokens=100)
        message = reply["choices"][0]["message"]
        assert (message["reasoning"], message["content"]) == ("I should be brief.", "A processor.")
        assert reply["usage"]["completion_tokens_details"]["reasoning_tokens"] > 0
        assert ark.whole(reasoning={"effort": effort}, max_tokens=100)["choices"][0]["message"] == message


def test_reasoning_is_off_up_to_low(speak_ark: Speaker) -> None:
    ark = speak_ark("A processor.")

    for effort in (..., "none", "minimal", "low"):
        reply = ark.whole(reasoning_effort=effort)
        assert "reasoning" not in reply["choices"][0]["message"]
        assert reply["usage"]["completion_tokens_details"]["reasoning_tokens"] == 0


def test_thinking_that_the_limit_cuts_stays_reasoning(speak_ark: Speaker) -> None:
    choice = speak_ark(THOUGHT).whole(reasoning_effort="high", max_tokens=3)["choices"][0]

    assert choice["finish_reason"] == "length"
    assert choice["message"]["content"] == ""
    assert choice["message"]["reasoning"]


def test_output_ends_before_the_first_stop_string(speak_ark: Speaker) -> None:
    ark = speak_ark("one two three four")

    for stop in ("three", ["four", "thre", "zzz"], ["three"], ["e f", " three"]):
        choice = ark.whole(stop=stop, max_tokens=50)["choices"][0]
        assert choice["finish_reason"] == "stop"
        assert choice["message"]["content"].rstrip() in ("one two", "one two thre")
        assert not any(s in choice["message"]["content"] for s in ([stop] if isinstance(stop, str) else stop))
    assert ark.app.state.engine.generations[0].cancelled


def test_a_withheld_beginning_of_a_stop_string_is_released(speak_ark: Speaker) -> None:
    assert speak_ark("one two thr").message(stop="three")["content"] == "one two thr"


def test_legacy_functions_answer_in_the_older_shape(speak_ark: Speaker) -> None:
    ark = speak_ark(ONE_CALL)
    function = WEATHER["function"]

    choice = ark.whole(functions=[function], function_call={"name": "get_weather"}, max_tokens=99)["choices"][0]
    yielded = ark.whole(functions=[function], tools=[WEATHER], max_tokens=99)["choices"][0]

    assert choice["finish_reason"] == "function_call"
    assert choice["message"]["function_call"] == {"name": "get_weather", "arguments": '{"city": "Oslo"}'}
    assert "tool_calls" not in choice["message"]
    assert yielded["finish_reason"] == "tool_calls"


def test_chunks_of_a_text(speak_ark: Speaker) -> None:
    ark = speak_ark("A GPU is a processor.")

    *chunks, usage_chunk, done = ark.stream(stream_options={"include_usage": True}, max_tokens=100)

    assert done == "[DONE]"
    assert len({chunk["id"] for chunk in [*chunks, usage_chunk]}) == 1
    for chunk in chunks:
        assert list(chunk) == [
            "id", "object", "created", "model", "service_tier", "system_fingerprint", "choices", "usage",
        ]  # fmt: skip
        assert (chunk["object"], chunk["service_tier"]) == ("chat.completion.chunk", "default")
        assert (chunk["system_fingerprint"], chunk["usage"]) == (None, None)
        assert chunk["choices"][0]["index"] == 0
        assert chunk["choices"][0]["delta"]["role"] == "assistant"
    assert chunks[0]["choices"][0]["delta"]["content"]
    assert "".join(c["choices"][0]["delta"]["content"] for c in chunks) == "A GPU is a processor."
    assert [c["choices"][0]["finish_reason"] for c in chunks] == [None] * (len(chunks) - 1) + ["stop"]
    assert chunks[-1]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert usage_chunk["choices"] == []
    assert set(usage_chunk["usage"]) == set(ark.whole()["usage"])


def test_no_usage_in_a_stream_unless_asked(speak_ark: Speaker) -> None:
    chunks = speak_ark().stream()

    assert chunks[-1] == "[DONE]"
    assert all("usage" not in chunk for chunk in chunks[:-1])
    assert all(chunk["choices"] for chunk in chunks[:-1])


def test_running_counts_on_every_content_chunk(speak_ark: Speaker) -> None:
    options = {"include_usage": True, "continuous_usage_stats": True}

    *chunks, last, _ = speak_ark(THOUGHT).stream(stream_options=options, reasoning_effort="max", max_tokens=90)

    running = [chunk["usage"] for chunk in chunks[:-1]]
    counts = [usage["completion_tokens"] for usage in running]
    assert counts == sorted(counts)
    assert counts[-1] <= last["usage"]["completion_tokens"]
    for usage in running:
        assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    assert chunks[0]["choices"][0]["delta"]["reasoning"]


def test_streamed_calls_are_complete(speak_ark: Speaker) -> None:
    *chunks, done = speak_ark(TWO_CALLS).stream(tools=[WEATHER, CLOCK], max_tokens=200)

    calls = [call for chunk in chunks for call in chunk["choices"][0]["delta"].get("tool_calls", [])]
    assert done == "[DONE]"
    assert [call["index"] for call in calls] == [0, 1]
    assert [call["function"]["name"] for call in calls] == ["get_weather", "get_time"]
    assert [json.loads(call["function"]["arguments"]) for call in calls] == [{"city": "Oslo"}, {}]
    assert all("content" not in chunk["choices"][0]["delta"] for chunk in chunks)
    assert chunks[-1]["choices"][0]["finish_reason"] == "tool_calls"


def test_a_failure_in_mid_stream_is_one_error_event(speak_ark: Speaker) -> None:
    events = speak_ark().stream({"X-Conformance-Induce": "midstream_error"})

    assert events[0]["choices"][0]["delta"]["content"]
    assert events[-1]["error"]["message"]
    assert all("error" not in event for event in events[:-1])


def test_inference_timeout_is_a_finish_reason(speak_ark: Speaker) -> None:
    ark = speak_ark("one two three four five")
    induced = {"X-Conformance-Induce": "inference_timeout"}

    whole = ark.post(induced)
    *chunks, done = ark.stream(induced)

    assert whole.status_code == 200
    assert whole.json()["choices"][0]["finish_reason"] == "inference_timeout"
    assert chunks[-1]["choices"][0]["finish_reason"] == "inference_timeout"
    assert done == "[DONE]"


def test_json_is_requested_from_the_model_only(speak_ark: Speaker) -> None:
    ark = speak_ark("no JSON at all")
    schema = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}}

    assert ark.message(response_format=schema)["content"] == "no JSON at all"
    assert "JSON" in ark.app.state.engine.prompt()
    assert ark.app.state.engine.requests[-1].grammar is None


def test_the_default_temperature_and_limit(speak_ark: Speaker) -> None:
    ark = speak_ark()
    ark.whole(temperature=..., max_tokens=...)

    sampling = ark.app.state.engine.requests[-1].sampling
    assert (sampling.temperature, sampling.max_tokens, sampling.seed) == (0.6, 2048, None)


def test_own_replies_are_accepted_back(speak_ark: Speaker) -> None:
    ark = speak_ark(TWO_CALLS)
    message = ark.message(tools=[WEATHER, CLOCK], max_tokens=200)
    results = [{"role": "tool", "tool_call_id": call["id"], "content": "12"} for call in message["tool_calls"]]

    for order in (results, results[::-1]):
        assert ark.post(messages=[*TEXT, message, *order], tools=[WEATHER, CLOCK]).status_code == 200
