"""The chat format of the built-in models: a conversation becomes segments, and segments become token ids.

The layout follows the ChatML family (``<|im_start|>role``, text, ``<|im_end|>``). What a caller wrote is
always a ``Text`` segment and is encoded so that it can never turn into a special token, whatever it spells.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tokenizers import Tokenizer

from reference_impl.chat.signatures import tool_signature
from reference_impl.model.vision import IMAGE_TOKENS

IM_START, IM_END, END_OF_TEXT = "<|im_start|>", "<|im_end|>", "<|endoftext|>"
VISION_START, VISION_END, IMAGE_PAD = "<|vision_start|>", "<|vision_end|>", "<|image_pad|>"
THINK_OPEN, THINK_CLOSE = "<think>", "</think>"
CALL_OPEN, CALL_CLOSE = "<tool_call>", "</tool_call>"
TOOLS_OPEN, TOOLS_CLOSE = "<tools>", "</tools>"

TURN_MARKUP = (END_OF_TEXT, IM_START, IM_END, VISION_START, VISION_END, IMAGE_PAD)
"""Tokens that shape the conversation; never part of a reply's text."""

CONTENT_MARKUP = (THINK_OPEN, THINK_CLOSE, CALL_OPEN, CALL_CLOSE, TOOLS_OPEN, TOOLS_CLOSE)
"""Tokens that stand inside a turn; a decoder shows them, and the parser of replies looks for them."""

MARKUP = TURN_MARKUP + CONTENT_MARKUP
"""Every reserved token of the built-in tokenizer, in the order of their ids."""


@dataclass(frozen=True, slots=True)
class Text:
    """Ordinary text; it never becomes a special token."""

    text: str


@dataclass(frozen=True, slots=True)
class Special:
    """One special token, by its spelling."""

    token: str


@dataclass(frozen=True, slots=True)
class Image:
    """The place of the image with this index, counted over the whole conversation from 0."""

    index: int


Segment = Text | Special | Image


class Encoded(NamedTuple):
    """Token ids, and for each image the half-open range of its placeholder tokens."""

    ids: list[int]
    images: list[tuple[int, int]]


class UnknownRoleError(ValueError):
    """A message has a role other than system, user, assistant and tool."""


def render(
    messages: Sequence[Mapping[str, Any]],
    tools: Sequence[Mapping[str, Any]] | None = None,
    think: bool = False,
) -> list[Segment]:
    """The prompt for the next assistant turn.

    ``messages`` have the roles system, user, assistant and tool in the OpenAI shape (``content`` a string,
    null or parts; ``name``, ``tool_calls``, ``tool_call_id``); ``tools`` are ``{"type": "function", …}``.
    With ``think`` the prompt ends inside an open thinking block, which the model closes itself.
    """
    segments: list[Segment] = []
    images = 0
    rest = list(_results_in_call_order(messages))
    if tools:
        system = rest.pop(0) if rest and rest[0]["role"] == "system" else None
        segments += _tool_turn(system, tools)
    for message in rest:
        body, images = _body(message, images)
        segments += _turn(_heading(message), body)
    segments += [Special(IM_START), Text("assistant\n")]
    if think:
        segments += [Special(THINK_OPEN), Text("\n")]
    return segments


def opens_thinking(segments: Sequence[Segment]) -> bool:
    """Whether what the model writes next continues a thinking block that the prompt has opened."""
    for segment in reversed(segments):
        if isinstance(segment, Special) and segment.token in (THINK_OPEN, THINK_CLOSE, IM_START):
            return segment.token == THINK_OPEN
    return False


def render_reply(
    content: str | None, calls: Sequence[Mapping[str, Any]] = (), thinking: str | None = None
) -> list[Segment]:
    """What the model is to write for a reply, up to and including the end of its turn (used in training)."""
    segments: list[Segment] = []
    if thinking is not None:  # the prompt has opened the block
        segments += [Text(f"{thinking}\n"), Special(THINK_CLOSE), Text("\n")]
    return [*segments, *_reply(content or "", calls), Special(IM_END)]


def encode(segments: Iterable[Segment], tokenizer: Tokenizer) -> Encoded:
    """Token ids of the segments. Raises ValueError for a special token or image that the tokenizer lacks."""
    ids: list[int] = []
    images: list[tuple[int, int]] = []
    reserved = sorted({token.content for token in tokenizer.get_added_tokens_decoder().values()})
    for segment in _joined(segments):
        match segment:
            case Text(text):
                for piece in _defused(text, reserved):
                    ids += tokenizer.encode(piece, add_special_tokens=False).ids
            case Special(token):
                ids.append(token_id(token, tokenizer))
            case Image():
                pad = token_id(IMAGE_PAD, tokenizer)
                ids.append(token_id(VISION_START, tokenizer))
                images.append((len(ids), len(ids) + IMAGE_TOKENS))
                ids += [pad] * IMAGE_TOKENS
                ids.append(token_id(VISION_END, tokenizer))
    return Encoded(ids, images)


def _joined(segments: Iterable[Segment]) -> Iterator[Segment]:
    """Neighbouring texts as one, so that a text in two parts has the tokens of the whole."""
    pending = ""
    for segment in segments:
        if isinstance(segment, Text):
            pending += segment.text
            continue
        if pending:
            yield Text(pending)
            pending = ""
        yield segment
    if pending:
        yield Text(pending)


def _defused(text: str, reserved: Sequence[str]) -> Iterator[str]:
    """Cut ``text`` inside each spelling of a reserved token, which the tokenizer would take for the token."""
    start = 0
    while start < len(text):
        found = [at for token in reserved if (at := text.find(token, start)) >= 0]
        if not found:
            break
        cut = min(found) + 1
        yield text[start:cut]
        start = cut
    if start < len(text):
        yield text[start:]


def token_id(token: str, tokenizer: Tokenizer) -> int:
    """The id of a reserved token. Raises ValueError when the tokenizer lacks it."""
    number = tokenizer.token_to_id(token)
    if number is None:
        raise ValueError(f"the tokenizer has no token {token}")
    return number


def _turn(heading: str, body: Sequence[Segment]) -> list[Segment]:
    return [Special(IM_START), Text(f"{heading}\n"), *body, Special(IM_END), Text("\n")]


def _tool_turn(system: Mapping[str, Any] | None, tools: Sequence[Mapping[str, Any]]) -> list[Segment]:
    """The system turn with the tools behind the caller's own system text."""
    listing = "".join(f"\n{tool_signature(tool['function'])}" for tool in tools)
    own: list[Segment] = []
    if system is not None:
        own = [*_body(system, 0)[0], Text("\n")]
    heading = _heading(system) if system is not None else "system"
    return _turn(heading, [*own, Special(TOOLS_OPEN), Text(f"{listing}\n"), Special(TOOLS_CLOSE)])


def _heading(message: Mapping[str, Any]) -> str:
    role, name = message["role"], message.get("name")
    if role not in ("system", "user", "assistant", "tool"):
        raise UnknownRoleError(f"unknown role {role!r}")
    label = message.get("label") or ""
    return f"{role}{label} {name}" if name else f"{role}{label}"


def _body(message: Mapping[str, Any], images: int) -> tuple[list[Segment], int]:
    """Segments of one message, and how many images have been met by its end."""
    content = message.get("content")
    segments: list[Segment] = []
    if isinstance(content, str):
        segments.append(Text(content))
    for part in content if isinstance(content, list) else ():
        if part["type"] == "image_url":
            segments.append(Image(images))
            images += 1
        else:
            segments.append(Text(part["text"]))
    if message["role"] == "assistant":
        segments += _calls(message.get("tool_calls") or (), after_text=any(segments))
    return segments, images


def _reply(content: str, calls: Sequence[Mapping[str, Any]]) -> list[Segment]:
    return [Text(content), *_calls(calls, after_text=bool(content))]


def _calls(calls: Sequence[Mapping[str, Any]], after_text: bool) -> Iterator[Segment]:
    for position, call in enumerate(calls):
        if position or after_text:
            yield Text("\n")
        function = call["function"]
        name = json.dumps(function["name"], ensure_ascii=False)
        yield Special(CALL_OPEN)
        yield Text(f'\n{{"name": {name}, "arguments": {_canonical(function["arguments"])}}}\n')
        yield Special(CALL_CLOSE)


def _canonical(arguments: str) -> str:
    """Arguments in one spacing, whatever the caller's; what is no JSON stays as it came, as a JSON string."""
    try:
        return json.dumps(json.loads(arguments), ensure_ascii=False)
    except ValueError:
        return json.dumps(arguments, ensure_ascii=False)


def _results_in_call_order(messages: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The messages, with neighbouring tool results in the order of their calls, labelled by number and name.

    The ids themselves stay out of the prompt: they are the server's inventions and mean nothing to the model.
    """
    calls: dict[str, tuple[int, str]] = {}
    results: list[tuple[int, Mapping[str, Any]]] = []
    for message in messages:
        if message["role"] == "tool":
            number, name = calls.get(message.get("tool_call_id", ""), (len(calls) + 1, ""))
            named = {**message, "name": message.get("name") or name, "label": f" {number}"}
            results.append((number, named))
            continue
        yield from (result for _, result in sorted(results, key=lambda pair: pair[0]))
        results = []
        if message.get("tool_calls"):
            calls = {
                call["id"]: (number, call["function"]["name"])
                for number, call in enumerate(message["tool_calls"], start=1)
            }
        yield message
    yield from (result for _, result in sorted(results, key=lambda pair: pair[0]))
