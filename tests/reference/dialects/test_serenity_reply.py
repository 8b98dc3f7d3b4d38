"""Serenity Edge's completion and chunks, from what the engine is told to say."""

from __future__ import annotations

import time

from tests.reference.dialects.conftest import Speaker
from tests.reference.dialects.endpoint import CLOCK, TEXT, WEATHER

ONE_CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
TWO_CALLS = ONE_CALL + '\n<tool_call>\n{"name": "get_time", "arguments": {}}\n</tool_call>'
THOUGHT = "I should be brief.\n</think>\nA processor."
HIGH = {"effort": "high"}


def test_the_completion(speak_serenity: Speaker) -> None:
    serenity = speak_serenity("A GPU is a processor.")

    reply = serenity.whole(max_tokens=100)

    assert reply["object"] == "chat.completion"
    assert abs(reply["created"] - time.time()) < 60
    assert reply["model"] == serenity.model
    assert isinstance(reply["system_fingerprint"], str)
    message = {"role": "assistant", "content": "A GPU is a processor."}
    assert reply["choices"] == [{"index": 0, "message": message, "finish_reason": "stop"}]
    usage = reply["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    assert usage["prompt_tokens_details"] == {"cached_tokens": 0}
    assert usage["completion_tokens_details"] == {"reasoning_tokens": 0}


def test_call_only_reply_has_null_content(speak_serenity: Speaker) -> None:
    choice = speak_serenity(TWO_CALLS).whole(tools=[WEATHER, CLOCK], max_tokens=200)["choices"][0]

    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"] is None
    calls = choice["message"]["tool_calls"]
    assert len({call["id"] for call in calls}) == 2
    assert [call["type"] for call in calls] == ["function", "function"]
    assert [call["function"]["name"] for call in calls] == ["get_weather", "get_time"]
    assert [call["function"]["arguments"] for call in calls] == ['{"city": "Oslo"}', "{}"]


def test_reasoning_is_shown_or_excluded(speak_serenity: Speaker) -> None:
    serenity = speak_serenity(THOUGHT)

    for effort in ("low", "medium", "high"):
        message = serenity.message(reasoning={"effort": effort}, max_tokens=99)
        assert (message["reasoning"], message["content"]) == ("I should be brief.", "A processor.")
    for options in ({"effort": "low", "exclude": True}, {"exclude": True}):
        reply = serenity.whole(reasoning=options, max_tokens=99)
        assert "reasoning" not in reply["choices"][0]["message"]
        assert reply["choices"][0]["message"]["content"] == "A processor."
        assert reply["usage"]["completion_tokens_details"]["reasoning_tokens"] > 0
        *chunks, _ = serenity.stream(reasoning=options, max_tokens=99)
        assert all("reasoning" not in chunk["choices"][0]["delta"] for chunk in chunks)


def test_without_reasoning_there_is_none(speak_serenity: Speaker) -> None:
    serenity = speak_serenity("Yes.")

    assert "reasoning" not in serenity.message()
    assert "<think>" not in serenity.app.state.engine.prompt()


def test_role_only_in_the_first_chunk_of_each_choice(speak_serenity: Speaker) -> None:
    *chunks, done = speak_serenity("A GPU is a processor.").stream(n=3, max_tokens=60)

    assert done == "[DONE]"
    assert len({chunk["id"] for chunk in chunks}) == 1
    for index in range(3):
        mine = [c["choices"][0] for c in chunks if c["choices"][0]["index"] == index]
        assert [choice["delta"].get("role") for choice in mine] == ["assistant"] + [None] * (len(mine) - 1)
        assert "role" not in mine[1]["delta"]
        assert "".join(choice["delta"].get("content", "") for choice in mine) == "A GPU is a processor."
        assert [choice["finish_reason"] for choice in mine] == [None] * (len(mine) - 1) + ["stop"]
    order = [chunk["choices"][0]["index"] for chunk in chunks]
    assert order != sorted(order), "the choices are interleaved"


def test_tool_calls_come_in_fragments_by_index(speak_serenity: Speaker) -> None:
    *chunks, done = speak_serenity(TWO_CALLS).stream(tools=[WEATHER, CLOCK], max_tokens=200)

    assert done == "[DONE]"
    fragments = [f for chunk in chunks for f in chunk["choices"][0]["delta"].get("tool_calls", [])]
    for index, name, arguments in ((0, "get_weather", '{"city": "Oslo"}'), (1, "get_time", "{}")):
        first, *later = [fragment for fragment in fragments if fragment["index"] == index]
        assert (first["type"], first["function"]["name"]) == ("function", name)
        assert first["id"]
        assert all(set(fragment) == {"index", "function"} for fragment in later)
        assert all(set(fragment["function"]) == {"arguments"} for fragment in later)
        assert "".join(f["function"]["arguments"] for f in (first, *later)) == arguments
    assert chunks[-1]["choices"][0]["finish_reason"] == "tool_calls"


def test_usage_only_when_asked_and_then_last(speak_serenity: Speaker) -> None:
    serenity = speak_serenity()

    *plain, _ = serenity.stream()
    *chunks, last, done = serenity.stream(stream_options={"include_usage": True})

    assert all("usage" not in chunk and chunk["choices"] for chunk in plain)
    assert all("usage" not in chunk for chunk in chunks)
    assert last["choices"] == []
    assert last["usage"] == serenity.whole()["usage"]
    assert done == "[DONE]"


def test_content_filter_is_a_finish_reason(speak_serenity: Speaker) -> None:
    serenity = speak_serenity("one two three four five")
    induced = {"X-Conformance-Induce": "content_filter"}

    assert serenity.post(induced).json()["choices"][0]["finish_reason"] == "content_filter"
    *chunks, done = serenity.stream(induced)
    assert chunks[-1]["choices"][0]["finish_reason"] == "content_filter"
    assert done == "[DONE]"


def test_a_failure_in_mid_stream_ends_without_done(speak_serenity: Speaker) -> None:
    events = speak_serenity().stream({"X-Conformance-Induce": "midstream_error"})

    assert events[-1]["error"]["type"] == "server_error"


def test_defaults_reach_the_engine(speak_serenity: Speaker) -> None:
    serenity = speak_serenity()
    serenity.whole(temperature=..., max_tokens=...)
    serenity.whole(temperature=0.5, top_p=0.4, presence_penalty=1, frequency_penalty=-1, seed=5, n=2)

    default, *both = (request.sampling for request in serenity.app.state.engine.requests)
    assert (default.temperature, default.top_p, default.seed) == (1.0, 1.0, None)
    assert (default.presence_penalty, default.frequency_penalty) == (0.0, 0.0)
    for sampling in both:
        assert (sampling.temperature, sampling.top_p) == (0.5, 0.4)
        assert (sampling.presence_penalty, sampling.frequency_penalty) == (1.0, -1.0)
    assert [sampling.seed for sampling in both] == [5, 6]


def test_the_prompt_counts_once_for_all_choices(speak_serenity: Speaker) -> None:
    serenity = speak_serenity("Yes.")

    one, three = serenity.whole()["usage"], serenity.whole(n=3)["usage"]

    assert three["prompt_tokens"] == one["prompt_tokens"]
    assert three["completion_tokens"] == 3 * one["completion_tokens"]


def test_own_replies_are_accepted_back(speak_serenity: Speaker) -> None:
    serenity = speak_serenity(TWO_CALLS)
    message = serenity.message(tools=[WEATHER, CLOCK], max_tokens=200)
    results = [{"role": "tool", "tool_call_id": call["id"], "content": "[1]"} for call in message["tool_calls"]]

    for order in (results, results[::-1]):
        body = {"messages": [*TEXT, message, *order], "tools": [WEATHER, CLOCK]}
        assert serenity.post(**body).status_code == 200
