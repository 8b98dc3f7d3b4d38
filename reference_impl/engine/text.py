"""From token ids to text, piece by piece: incremental UTF-8 and stop strings. Pure, no model."""

from __future__ import annotations

import codecs
import json
from functools import lru_cache

from tokenizers import Tokenizer
from tokenizers.decoders import DecodeStream


@lru_cache(maxsize=1)
def _byte_of_letter() -> dict[str, int]:
    """The byte that each letter of a byte-level vocabulary stands for (GPT-2's published table)."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    table = {chr(byte): byte for byte in plain}
    others = (byte for byte in range(256) if byte not in set(plain))
    table.update({chr(256 + index): byte for index, byte in enumerate(others)})
    return table


def _decodes_bytes(tokenizer: Tokenizer) -> bool:
    """Whether the vocabulary is byte-level: then a token is bytes, whatever surrounds it."""
    decoder = json.loads(tokenizer.to_str()).get("decoder") or {}
    stages = decoder.get("decoders", [decoder])
    return any(stage.get("type") == "ByteLevel" for stage in stages)


class Vocabulary:
    """The bytes of every token of a byte-level tokenizer, or DecodeStream for any other; made once."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.special = frozenset(
            token for token, added in tokenizer.get_added_tokens_decoder().items() if added.special
        )
        self.bytes_of: dict[int, bytes] | None = None
        if _decodes_bytes(tokenizer):
            letters = _byte_of_letter()
            added = {token: item.content for token, item in tokenizer.get_added_tokens_decoder().items()}
            self.bytes_of = {
                token: added[token].encode() if token in added else bytes(letters[letter] for letter in piece)
                for piece, token in tokenizer.get_vocab(with_added_tokens=True).items()
                if token not in self.special
            }


class Detokenizer:
    """Turns token ids into text as they come; text is withheld only inside an unfinished character.

    Special tokens contribute nothing. The pieces of `push` and the last one of `finish`, joined, do not
    depend on where the stream is cut, and half a character at the end of a generation is dropped.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._utf8 = codecs.getincrementaldecoder("utf-8")("replace")
        self._stream = None if vocabulary.bytes_of is not None else DecodeStream(skip_special_tokens=True)

    def push(self, token: int) -> str:
        """The text that `token` completes, possibly none."""
        if token in self._vocabulary.special:
            return ""
        if self._stream is not None:
            return self._stream.step(self._vocabulary.tokenizer, token) or ""
        assert self._vocabulary.bytes_of is not None
        return self._utf8.decode(self._vocabulary.bytes_of.get(token, b""))


class StopStrings:
    """Cuts text just before the first stop string, withholding only what may still become one.

    The held text is always the longest ending that is a proper beginning of some stop string, so nothing
    is withheld longer than needed. Empty stop strings are ignored. When two stop strings match, the one
    that begins first wins.
    """

    def __init__(self, stops: list[str]) -> None:
        self._stops = [stop for stop in stops if stop]
        self._held = ""
        self.stopped = False

    def push(self, text: str) -> tuple[str, bool]:
        """Text that may be shown now, and whether a stop string was met (then nothing follows)."""
        if self.stopped:
            return "", True
        if not self._stops:
            return text, False
        text = self._held + text
        starts = [start for stop in self._stops if (start := text.find(stop)) >= 0]
        # A longer stop string may begin before the one found and still be incomplete; what decides then is
        # the one that completes first, which keeps the outcome independent of how the text is cut.
        first = self._first_completed(text) if starts else None
        if first is not None:
            self.stopped, self._held = True, ""
            return text[:first], True
        keep = max((self._overlap(text, stop) for stop in self._stops), default=0)
        self._held = text[len(text) - keep :] if keep else ""
        return text[: len(text) - keep], False

    def finish(self) -> str:
        """The withheld text, at the end of a generation that met no stop string."""
        held, self._held = self._held, ""
        return held

    def _first_completed(self, text: str) -> int | None:
        """Where the match begins that ends earliest (of equals, the longest); None without a match."""
        matches = [(start + len(stop), start) for stop in self._stops if (start := text.find(stop)) >= 0]
        return min(matches)[1] if matches else None

    @staticmethod
    def _overlap(text: str, stop: str) -> int:
        for length in range(min(len(stop) - 1, len(text)), 0, -1):
            if text.endswith(stop[:length]):
                return length
        return 0
