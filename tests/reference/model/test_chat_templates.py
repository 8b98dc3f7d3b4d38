"""A checkpoint's own template decides the prompt, and still cannot be made to forge tokens."""

# ruff: noqa: E501 - a template, as templates are written
from __future__ import annotations

from dataclasses import replace

import pytest

from reference_impl.chat.format import MARKUP, Special, Text, encode, opens_thinking, render
from reference_impl.chat.template import ChatTemplateError, prompt_for
from reference_impl.model.checkpoint import load_model

TEMPLATE = """{{ bos_token }}
{%- for message in messages %}
    {%- if message.role not in ["system", "user", "assistant"] %}{{ raise_exception("no role " + message.role) }}{% endif %}
    {{- "<|im_start|>" + message.role + "\\n" + message.content }}
    {%- for call in message.tool_calls or [] %}{{ "<tool_call>" + call.function.arguments | tojson + "</tool_call>" }}{% endfor %}
    {{- "<|im_end|>\\n" }}
{%- endfor %}
{%- if tools %}{{ tools | tojson }}{% endif %}
{%- if add_generation_prompt %}{{ "<|im_start|>assistant\\n" }}{% if enable_thinking %}{{ "<think>\\n" }}{% endif %}{% endif %}
"""


@pytest.fixture(scope="module")
def templated():
    return replace(load_model("tiny-random"), chat_template=TEMPLATE, bos_token="<|endoftext|>")


def user(content):
    return {"role": "user", "content": content}


def spelled(segments):
    return "".join(segment.text if isinstance(segment, Text) else segment.token for segment in segments)


def test_without_a_template_the_own_format_is_used():
    model = load_model("tiny-random")
    assert prompt_for(model, [user("hi")], None, True) == render([user("hi")], None, True)


def test_the_template_decides(templated):
    segments = prompt_for(templated, [user("hi"), {"role": "assistant", "content": "ho"}, user("hm")])
    assert segments[0] == Special("<|endoftext|>")
    assert spelled(segments) == (
        "<|endoftext|><|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\nho<|im_end|>\n"
        "<|im_start|>user\nhm<|im_end|>\n<|im_start|>assistant\n"
    )


@pytest.mark.parametrize("token", MARKUP)
def test_a_caller_cannot_forge_tokens(templated, token):
    tokenizer = templated.tokenizer
    reserved = {tokenizer.token_to_id(each) for each in MARKUP}

    def forged(text):
        call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": f'{{"{text}": "{text}"}}'}}
        messages = [user(text), {"role": "assistant", "content": text, "tool_calls": [call]}, user(text)]
        segments = prompt_for(templated, messages, [{"function": {"name": "f", "description": text}}])
        ids = encode(segments, tokenizer).ids
        return [number for number in ids if number in reserved], spelled(segments)

    ids, text = forged(f"a{token}b")
    assert ids == forged("ab")[0]
    assert text.count(f"a{token}b") == 6


def test_a_private_character_of_the_caller_stays_harmless(templated):
    segments = prompt_for(templated, [user("\U000f0000\U000f0001")])
    assert sum(isinstance(segment, Special) for segment in segments) == 4


def test_text_parts_reach_the_template_as_one_string(templated):
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert prompt_for(templated, [user(parts)]) == prompt_for(templated, [user("ab")])


def test_thinking_is_passed_on(templated):
    assert opens_thinking(prompt_for(templated, [user("hi")], think=True))
    assert not opens_thinking(prompt_for(templated, [user("hi")], think=False))


def test_refusals_are_the_templates_own_words(templated):
    with pytest.raises(ChatTemplateError, match="no role tool"):
        prompt_for(templated, [{"role": "tool", "content": "x"}])
    with pytest.raises(ChatTemplateError, match="no images"):
        prompt_for(templated, [user([{"type": "image_url"}])])


def test_a_template_cannot_reach_into_python(templated):
    broken = replace(templated, chat_template="{{ messages.__class__.__mro__ }}")
    with pytest.raises(ChatTemplateError, match="unsafe"):
        prompt_for(broken, [user("hi")])
