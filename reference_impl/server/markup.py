"""Finds thinking and tool calls in the tokens of a reply.

Where the vocabulary has tokens for it, markup is recognised by token id, never by spelling: a model that merely
writes `<tool_call>` letter by letter has written text. Only for vocabularies without such tokens it is spelled.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from tokenizers import Tokenizer

from reference_impl.chat.format import CALL_CLOSE, CALL_OPEN, MARKUP, THINK_CLOSE
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
    """The markup that a vocabulary has as tokens of their own, by id.

    `spelled` if calls and thoughts are marked by ordinary text instead, for want of such tokens.
    """

    by_id: Mapping[int, str]
    spelled: bool

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> Markers:
        """Look the markup up in a tokenizer."""
        ids = {token: tokenizer.token_to_id(token) for token in MARKUP}
        needed = (THINK_CLOSE, CALL_OPEN, CALL_CLOSE)
        return cls(
            {number: token for token, number in ids.items() if number is not None},
            spelled=any(ids[token] is None for token in needed),
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
        self._speller = _Speller() if markers.spelled else None
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
        self.reasoning_tokens += self._thinking
        mark = self._markers.by_id.get(token)
        if self._speller is not None:
            return self._read(self._speller.push(self._detokenizer.push(token)))
        if mark is not None:
            self._detokenizer = Detokenizer(self._vocabulary)  # half a character before a mark is no text
            return self._on_mark(mark)
        return self._on_text(self._detokenizer.push(token))

    def finish(self) -> list[Piece]:
        """What was withheld, at the end of the tokens."""
        pieces = [] if self._speller is None else self._on_text(self._speller.finish())
        held = self._stops.finish()
        return [*pieces, Content(held)] if held else pieces

    def _read(self, parts: list[tuple[bool, str]]) -> list[Piece]:
        return [piece for is_mark, part in parts for piece in (self._on_mark if is_mark else self._on_text)(part)]

    def _on_mark(self, mark: str) -> list[Piece]:
        if self._thinking:
            if mark == THINK_CLOSE:
                self._thinking = False
                self._skip_space = True
            return []
        if self._call is not None:
            return self._close_call(self._call) if mark == CALL_CLOSE else []
        if mark != CALL_OPEN:
            return []
        self._call = _CallReader(self._calls)
        held = self._stops.finish()
        return [Content(held)] if held else []

    def _on_text(self, text: str) -> list[Piece]:
        text = text.translate(_NO_TEXT)
        if self._call is not None:
            pieces = self._call.push(text)
            self._calls += sum(isinstance(piece, CallOpened) for piece in pieces)
            return pieces
        if self._thinking:
            # white space is withheld until text follows, so that the thought has no ragged ends
            text = self._pending_space + self._after_space(text)
            shown = text.rstrip()
            self._pending_space = text[len(shown) :]
            return [Reasoning(shown)] if shown else []
        shown, _ = self._stops.push(self._after_space(text))
        return [Content(shown)] if shown else []

    def _close_call(self, call: _CallReader) -> list[Piece]:
        self._call = None
        self._skip_space = True
        if not call.opened:
            return []  # no call that a client could use
        self.completed_calls += 1
        return [CallClosed(call.index)]

    def _after_space(self, text: str) -> str:
        if self._skip_space:
            text = text.lstrip()
            self._skip_space = not text
        return text


class _Speller:
    """Finds markup that is spelled out, withholding what may still become some."""

    _MARKS = (THINK_CLOSE, CALL_OPEN, CALL_CLOSE)
    _ANY = re.compile("|".join(map(re.escape, _MARKS)))

    def __init__(self) -> None:
        self._held = ""

    def push(self, text: str) -> list[tuple[bool, str]]:
        """(whether it is markup, text) for everything that is certain now."""
        text = self._held + text
        parts: list[tuple[bool, str]] = []
        start = 0
        for found in self._ANY.finditer(text):
            parts += [(False, text[start : found.start()]), (True, found[0])]
            start = found.end()
        rest = text[start:]
        keep = max(
            (length for mark in self._MARKS for length in range(1, len(mark)) if rest.endswith(mark[:length])),
            default=0,
        )
        self._held = rest[len(rest) - keep :]
        return [part for part in [*parts, (False, rest[: len(rest) - keep])] if part[1]]

    def finish(self) -> str:
        """What was withheld, at the end."""
        held, self._held = self._held, ""
        return held


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
