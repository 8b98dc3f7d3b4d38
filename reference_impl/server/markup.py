"""Finds thinking and tool calls in the tokens of a reply.

Markup is recognised by token id, never by spelling: a model that merely writes `<tool_call>` letter by
letter has written text.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from tokenizers import Tokenizer

from reference_impl.chat.format import CALL_CLOSE, CALL_OPEN, MARKUP, THINK_CLOSE, THINK_OPEN
from reference_impl.engine.text import Detokenizer, StopStrings, Vocabulary
from reference_impl.server.pieces import (
    CallArguments,
    CallClosed,
    CallOpened,
    Content,
    Piece,
    Reasoning,
)

_HEAD = re.compile(r'\s*\{\s*"name"\s*:\s*("(?:[^"\\]|\\.)*")\s*,\s*"arguments"\s*:\s*', re.DOTALL)
_MAX_HEAD = 4_096

# Characters that are no text: what a byte that is not UTF-8 decodes to, and controls other than white space.
_NO_TEXT = dict.fromkeys([0xFFFD, 0x7F, *(code for code in range(0x20) if chr(code) not in "\t\n\r")])


@dataclass(frozen=True, slots=True)
class Markers:
    """The ids of the markup tokens that a vocabulary has; None for those that it lacks."""

    think_open: int | None
    think_close: int | None
    call_open: int | None
    call_close: int | None
    all: frozenset[int]

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> Markers:
        """Look the markup up in a tokenizer."""
        ids = {token: tokenizer.token_to_id(token) for token in MARKUP}
        return cls(
            ids[THINK_OPEN],
            ids[THINK_CLOSE],
            ids[CALL_OPEN],
            ids[CALL_CLOSE],
            frozenset(number for number in ids.values() if number is not None),
        )


class ReplyParser:
    """Turns the tokens of one reply into pieces.

    Stop strings apply to the answer text only; after one is met `stopped` is True and nothing follows.
    `reasoning_tokens` counts the tokens before the end of thinking, its closing mark included.
    """

    def __init__(self, vocabulary: Vocabulary, markers: Markers, *, thinking: bool, stops: list[str]) -> None:
        self._markers = markers
        self._vocabulary = vocabulary
        self._detokenizer = Detokenizer(vocabulary)
        self._stops = StopStrings(stops)
        self._thinking = thinking
        self._skip_space = thinking
        self._pending_space = ""
        self._call: _CallReader | None = None
        self._calls = 0
        self.reasoning_tokens = 0
        self.completed_calls = 0

    @property
    def stopped(self) -> bool:
        """Whether a stop string has been met."""
        return self._stops.stopped

    def push(self, token: int) -> list[Piece]:
        """The pieces that `token` completes."""
        if self._thinking:
            return self._push_thinking(token)
        if self._call is not None:
            return self._push_call(self._call, token)
        if token == self._markers.call_open:
            held = self._stops.finish()
            self._call = _CallReader(self._calls)
            self._detokenizer = Detokenizer(self._vocabulary)
            return [Content(held)] if held else []
        if token in self._markers.all:
            return []
        shown, _ = self._stops.push(self._after_space(self._text(token)))
        return [Content(shown)] if shown else []

    def finish(self) -> list[Piece]:
        """What was withheld, at the end of the tokens."""
        held = self._stops.finish()
        return [Content(held)] if held else []

    def _text(self, token: int) -> str:
        return self._detokenizer.push(token).translate(_NO_TEXT)

    def _after_space(self, text: str) -> str:
        if self._skip_space:
            text = text.lstrip()
            self._skip_space = not text
        return text

    def _push_thinking(self, token: int) -> list[Piece]:
        self.reasoning_tokens += 1
        if token == self._markers.think_close:
            self._thinking = False
            self._skip_space = True
            self._detokenizer = Detokenizer(self._vocabulary)
            return []
        if token in self._markers.all:
            return []
        # white space is withheld until text follows, so that the thought has no ragged ends
        text = self._pending_space + self._after_space(self._text(token))
        shown = text.rstrip()
        self._pending_space = text[len(shown) :]
        return [Reasoning(shown)] if shown else []

    def _push_call(self, call: _CallReader, token: int) -> list[Piece]:
        if token == self._markers.call_close:
            self._call = None
            self._skip_space = True
            self._detokenizer = Detokenizer(self._vocabulary)
            if not call.opened:
                return []  # no call that a client could use
            self.completed_calls += 1
            return [CallClosed(call.index)]
        pieces = call.push(self._text(token))
        if any(isinstance(piece, CallOpened) for piece in pieces):
            self._calls += 1
        return pieces


class _CallReader:
    """Reads `{"name": …, "arguments": …}` as it comes, and gives the arguments on without delay."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.opened = False
        self._head = ""
        self._value = _JsonValue()

    def push(self, text: str) -> list[Piece]:
        if self.opened:
            return self._arguments(text)
        self._head = (self._head + text)[:_MAX_HEAD]
        head = _HEAD.match(self._head)
        # one character more than the spaces after the colon, so that no space leads the arguments
        if head is None or head.end() == len(self._head):
            return []
        self.opened = True
        name: str = json.loads(head[1], strict=False)
        return [CallOpened(self.index, name), *self._arguments(self._head[head.end() :])]

    def _arguments(self, text: str) -> list[Piece]:
        inside = self._value.take(text)
        return [CallArguments(self.index, inside)] if inside else []


class _JsonValue:
    """Takes the characters of one JSON object or array, and none behind it."""

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = False
        self._escaped = False
        self._over = False

    def take(self, text: str) -> str:
        if self._over:
            return ""
        for position, character in enumerate(text):
            if self._in_string:
                if self._escaped:
                    self._escaped = False
                elif character == "\\":
                    self._escaped = True
                elif character == '"':
                    self._in_string = False
            elif character == '"':
                self._in_string = True
            elif character in "{[":
                self._depth += 1
            elif character in "}]":
                self._depth -= 1
                if self._depth <= 0:
                    self._over = True
                    return text[: position + (self._depth == 0)]
        return text
