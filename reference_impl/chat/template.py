"""Prompts by a checkpoint's own chat template; models without one use the built-in format.

A template mixes its markup with what the caller wrote into one string. So that a caller's ``<|im_end|>`` cannot
become the token, each spelling of a reserved token in the caller's texts is exchanged for a private character
before the template runs, and put back as plain text afterwards.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NoReturn

from jinja2 import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from reference_impl.chat.format import Segment, Special, Text, render
from reference_impl.model.checkpoint import LoadedModel

_FIRST_STAND_IN = 0xF0000  # supplementary private use area: no font, no template and no tokenizer knows it


class ChatTemplateError(ValueError):
    """The template refused the conversation or failed; the message is the template's own."""


def prompt_for(
    model: LoadedModel,
    messages: Sequence[Mapping[str, Any]],
    tools: Sequence[Mapping[str, Any]] | None = None,
    think: bool = False,
) -> list[Segment]:
    """The prompt in the model's own format; arguments as for ``format.render``.

    Raises ChatTemplateError where a template refuses, and for images, which templates are not given.
    """
    if model.chat_template is None:
        return render(messages, tools, think)
    reserved = sorted(
        {token.content for token in model.tokenizer.get_added_tokens_decoder().values()}, key=len, reverse=True
    )
    stand_ins = {token: chr(_FIRST_STAND_IN + number) for number, token in enumerate(reserved)}
    spelling = re.compile("|".join(map(re.escape, reserved)))
    try:
        text = (
            _environment()
            .from_string(model.chat_template)
            .render(
                messages=[_disguised(_for_template(message), spelling, stand_ins) for message in messages],
                tools=_disguised(list(tools), spelling, stand_ins) if tools else None,
                add_generation_prompt=True,
                enable_thinking=think,
                bos_token=model.bos_token,
            )
        )
    except TemplateError as error:
        raise ChatTemplateError(f"the model's chat template refused the conversation: {error}") from error
    return _segments(text, spelling, stand_ins)


def _environment() -> ImmutableSandboxedEnvironment:
    """What templates of Hugging Face checkpoints expect to find."""
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    environment.filters["tojson"] = _to_json
    environment.globals["raise_exception"] = _refuse
    environment.globals["strftime_now"] = lambda form: datetime.now(UTC).strftime(form)
    return environment


def _to_json(value: object, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _refuse(message: str) -> NoReturn:
    raise TemplateError(message)


def _for_template(message: Mapping[str, Any]) -> dict[str, Any]:
    """Text parts as one string and call arguments as an object, which is what templates understand."""
    shown = dict(message)
    content = shown.get("content")
    if isinstance(content, list):
        if any(part["type"] != "text" for part in content):
            raise ChatTemplateError("the model reads no images")
        content = "".join(part["text"] for part in content)
    shown["content"] = content or ""
    if shown.get("tool_calls"):
        shown["tool_calls"] = [
            {**call, "function": {**call["function"], "arguments": _parsed(call["function"]["arguments"])}}
            for call in shown["tool_calls"]
        ]
    return shown


def _parsed(arguments: str) -> object:
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def _disguised(value: Any, spelling: re.Pattern[str], stand_ins: Mapping[str, str]) -> Any:
    """``value`` with every reserved spelling in its strings exchanged."""
    if isinstance(value, str):
        return spelling.sub(lambda found: stand_ins[found[0]], value)
    if isinstance(value, Mapping):
        return {
            _disguised(key, spelling, stand_ins): _disguised(inner, spelling, stand_ins) for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_disguised(inner, spelling, stand_ins) for inner in value]
    return value


def _segments(text: str, spelling: re.Pattern[str], stand_ins: Mapping[str, str]) -> list[Segment]:
    """The rendered text cut at its tokens, with the caller's own spellings put back."""
    restored = {ord(stand_in): token for token, stand_in in stand_ins.items()}
    segments: list[Segment] = []
    position = 0
    for found in spelling.finditer(text):
        segments += [Text(text[position : found.start()].translate(restored)), Special(found[0])]
        position = found.end()
    segments.append(Text(text[position:].translate(restored)))
    return [segment for segment in segments if segment != Text("")]
