"""Rendering and encoding: what a caller writes reaches the model, counts, and stays text."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference_impl.chat.format import (
    IMAGE_PAD,
    MARKUP,
    Image,
    Special,
    Text,
    UnknownRoleError,
    encode,
    opens_thinking,
    render,
    render_reply,
)
from reference_impl.model.checkpoint import load_model
from reference_impl.model.vision import IMAGE_TOKENS

TOKENIZER = load_model("tiny-random").tokenizer
RESERVED = {TOKENIZER.token_to_id(token) for token in MARKUP}
CALLS = [
    {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}},
    {"id": "call_2", "type": "function", "function": {"name": "get_time", "arguments": '{"city": "Oslo"}'}},
]
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
CONVERSATION = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Weather in Paris and time in Oslo?", "name": "ada"},
    {"role": "assistant", "content": "Let me look.", "tool_calls": CALLS},
    {"role": "tool", "tool_call_id": "call_1", "content": "18 degrees"},
    {"role": "tool", "tool_call_id": "call_2", "content": "10:15"},
]

texts = st.text(max_size=60)
hostile = st.lists(st.one_of(texts, st.sampled_from(MARKUP), st.sampled_from("<|>/_")), max_size=6).map("".join)
additions = st.lists(st.sampled_from(["more", "words", "7", "é", "日本", "!"]), min_size=1, max_size=5).map(" ".join)


def size(messages, tools=None, think=False):
    return len(encode(render(messages, tools, think), TOKENIZER).ids)


def spelled(segments):
    return "".join(
        {Text: lambda s: s.text, Special: lambda s: s.token, Image: lambda s: "[image]"}[type(s)](s) for s in segments
    )


def user(content, **more):
    return {"role": "user", "content": content, **more}


def test_the_layout():
    assert spelled(render(CONVERSATION, [WEATHER])) == (
        "<|im_start|>system\nBe brief.\n<tools>\nget_weather(city: string) // Get the weather\n</tools><|im_end|>\n"
        "<|im_start|>user ada\nWeather in Paris and time in Oslo?<|im_end|>\n"
        "<|im_start|>assistant\nLet me look.\n"
        '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>\n'
        '<tool_call>\n{"name": "get_time", "arguments": {"city": "Oslo"}}\n</tool_call><|im_end|>\n'
        "<|im_start|>tool 1 get_weather\n18 degrees<|im_end|>\n"
        "<|im_start|>tool 2 get_time\n10:15<|im_end|>\n"
        "<|im_start|>assistant\n"
    )


@given(hostile, hostile, hostile)
@settings(max_examples=200, deadline=None)
def test_text_of_a_caller_never_becomes_a_special_token(text, name, argument):
    """The reserved tokens of a prompt are those of the same prompt with harmless texts, in the same order."""

    def reserved(text, name, argument):
        function = {"name": name or "f", "arguments": json.dumps({"x": argument})}
        tool = {"function": {"name": name, "description": text, "parameters": {"description": argument}}}
        messages = [
            {"role": "system", "content": text, "name": name},
            user([{"type": "text", "text": text}, {"type": "image_url"}, {"type": "text", "text": argument}]),
            {"role": "assistant", "content": "x", "tool_calls": [{"id": "1", "function": function}]},
            {"role": "tool", "tool_call_id": "1", "content": argument, "name": name},
        ]
        ids = encode(render(messages, [tool], think=True), TOKENIZER).ids
        return [token for token in ids if token in RESERVED]

    assert reserved(text, name, argument) == reserved("a", "b", "c")


@given(hostile)
@settings(max_examples=200, deadline=None)
def test_a_message_is_encoded_without_loss(text):
    text = text.encode("utf-8", "replace").decode()
    ids = encode([Text(text)], TOKENIZER).ids
    assert TOKENIZER.decode(ids, skip_special_tokens=False) == text


@given(texts)
@settings(max_examples=100, deadline=None)
def test_a_string_and_one_text_part_are_the_same(text):
    assert encode(render([user(text)]), TOKENIZER) == encode(
        render([user([{"type": "text", "text": text}])]), TOKENIZER
    )


@given(texts, texts)
@settings(max_examples=100, deadline=None)
def test_two_text_parts_are_the_joined_text(one, two):
    parts = [{"type": "text", "text": one}, {"type": "text", "text": two}]
    assert encode(render([user(parts)]), TOKENIZER) == encode(render([user(one + two)]), TOKENIZER)


@pytest.mark.parametrize("index", range(len(CONVERSATION)))
@given(addition=additions)
@settings(max_examples=25, deadline=None)
def test_longer_message_text_means_more_tokens(index, addition):
    longer = copy.deepcopy(CONVERSATION)
    longer[index]["content"] += " " + addition
    assert size(longer) > size(CONVERSATION)


@given(addition=additions)
@settings(max_examples=25, deadline=None)
def test_longer_name_means_more_tokens(addition):
    assert size([user("hi", name="ada")]) > size([user("hi")])
    assert size([user("hi", name="ada-" + addition)]) > size([user("hi", name="ada")])


@pytest.mark.parametrize(
    "message", [user("one more"), {"role": "assistant", "content": "a"}, {"role": "system", "content": "b"}]
)
def test_one_more_message_means_more_tokens(message):
    assert size([*CONVERSATION, message]) > size(CONVERSATION)


@given(addition=additions)
@settings(max_examples=25, deadline=None)
def test_longer_arguments_and_call_names_mean_more_tokens(addition):
    for member, value in (
        ("arguments", json.dumps({"city": f"Paris {addition}"})),
        ("name", f"get_weather_{addition}"),
    ):
        longer = copy.deepcopy(CONVERSATION)
        longer[2]["tool_calls"][0]["function"][member] = value
        assert size(longer) > size(CONVERSATION)


PLACES = {
    "name": ("function", "name"),
    "description": ("function", "description"),
    "parameter description": ("function", "parameters", "properties", "city", "description"),
    "schema description": ("function", "parameters", "description"),
    "parameter type": ("function", "parameters", "properties", "city", "type"),
    "pattern": ("function", "parameters", "properties", "city", "pattern"),
    "nested default": ("function", "parameters", "properties", "city", "default"),
}


@pytest.mark.parametrize("place", PLACES)
@given(addition=additions)
@settings(max_examples=15, deadline=None)
def test_longer_parts_of_a_tool_mean_more_tokens(place, addition):
    *path, last = PLACES[place]
    longer = copy.deepcopy(WEATHER)
    inner = longer
    for step in path:
        inner = inner[step]
    inner[last] = f"{inner.get(last, '')} {addition}"
    assert size([user("hi")], [longer]) > size([user("hi")], [WEATHER])


def test_one_more_tool_parameter_or_enum_value_means_more_tokens():
    base = size([user("hi")], [WEATHER])
    assert base > size([user("hi")])
    more = copy.deepcopy(WEATHER)
    more["function"]["parameters"]["properties"]["unit"] = {"type": "string", "enum": ["celsius"]}
    with_unit = size([user("hi")], [more])
    assert with_unit > base
    more["function"]["parameters"]["properties"]["unit"]["enum"].append("fahrenheit")
    assert size([user("hi")], [more]) > with_unit
    assert size([user("hi")], [WEATHER, more]) > with_unit


def test_ids_of_calls_do_not_count_and_results_may_come_in_any_order():
    renamed = json.loads(json.dumps(CONVERSATION).replace("call_1", "a-much-longer-identifier"))
    assert render(renamed) == render(CONVERSATION)
    swapped = [*CONVERSATION[:3], CONVERSATION[4], CONVERSATION[3]]
    assert render(swapped) == render(CONVERSATION)


def test_a_result_for_no_known_call_is_kept_behind_the_others():
    stray = {"role": "tool", "tool_call_id": "unknown", "content": "stray"}
    text = spelled(render([*CONVERSATION[:3], stray, *CONVERSATION[3:]]))
    assert text.index("10:15") < text.index("tool 3\nstray")


def test_spacing_and_escapes_of_arguments_do_not_count():
    compact = copy.deepcopy(CONVERSATION)
    compact[2]["tool_calls"][0]["function"]["arguments"] = '{"city":"\\u0050aris"}'
    assert render(compact) == render(CONVERSATION)


def test_arguments_that_are_no_json_are_kept_as_a_string():
    broken = copy.deepcopy(CONVERSATION)
    broken[2]["tool_calls"][0]["function"]["arguments"] = '{"city": '
    assert '"arguments": "{\\"city\\": "}' in spelled(render(broken))


def test_images_stand_where_they_were_sent():
    parts = [
        {"type": "text", "text": "one"},
        {"type": "image_url"},
        {"type": "image_url"},
        {"type": "text", "text": "two"},
    ]
    messages = [user(parts), {"role": "assistant", "content": "ok"}, user([{"type": "image_url"}])]
    segments = render(messages)
    assert [segment.index for segment in segments if isinstance(segment, Image)] == [0, 1, 2]
    ids, images = encode(segments, TOKENIZER)
    pad = TOKENIZER.token_to_id(IMAGE_PAD)
    assert [stop - start for start, stop in images] == [IMAGE_TOKENS] * 3
    assert all(ids[start:stop] == [pad] * IMAGE_TOKENS for start, stop in images)
    assert ids.count(pad) == 3 * IMAGE_TOKENS


def test_the_answer_given_is_the_history_sent_back():
    """What the model wrote has the tokens that the same turn has later, so that a cached prefix fits."""
    asked = render([user("hi")])
    answered = encode([*asked, *render_reply("Hello!", CALLS)], TOKENIZER).ids
    history = [user("hi"), {"role": "assistant", "content": "Hello!", "tool_calls": CALLS}, user("more")]
    assert encode(render(history), TOKENIZER).ids[: len(answered)] == answered


def test_thinking_is_opened_by_the_prompt():
    assert opens_thinking(render([user("hi")], think=True))
    assert not opens_thinking(render([user("hi")], think=False))
    assert not opens_thinking(render([user("<think>")], think=False))
    assert spelled(render_reply("answer", thinking="hm")) == "hm\n</think>\nanswer<|im_end|>"


def test_an_unknown_role_is_refused():
    with pytest.raises(UnknownRoleError, match="'critic'"):
        render([{"role": "critic", "content": "no"}])


def test_a_token_that_the_tokenizer_lacks_is_refused():
    with pytest.raises(ValueError, match=r"no token <\|other\|>"):
        encode([Special("<|other|>")], TOKENIZER)
