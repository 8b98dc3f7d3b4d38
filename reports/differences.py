"""Where an observed text departs from the expected one, for the eye."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import NamedTuple

_WORDS = re.compile(r"\w+|\s+|[^\w\s]")
_LONGEST = 2_000
# Below this likeness the marks would be confetti: two different texts, not one text with a difference.
_ALIKE = 0.45


class Piece(NamedTuple):
    """A stretch of text and whether it is only on this side."""

    text: str
    differs: bool


def marked(expected: str, observed: str) -> tuple[list[Piece], list[Piece]]:
    """Both texts in pieces, the stretches that only one of them has marked.

    Texts that are too long or too unlike to compare come back unmarked.
    """
    left, right = _WORDS.findall(expected), _WORDS.findall(observed)
    if len(expected) + len(observed) > _LONGEST or not left or not right:
        return [Piece(expected, False)], [Piece(observed, False)]
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    if matcher.ratio() < _ALIKE:
        return [Piece(expected, False)], [Piece(observed, False)]
    before: list[Piece] = []
    after: list[Piece] = []
    for kind, i1, i2, j1, j2 in matcher.get_opcodes():
        same = kind == "equal"
        if i2 > i1:
            before.append(Piece("".join(left[i1:i2]), not same))
        if j2 > j1:
            after.append(Piece("".join(right[j1:j2]), not same))
    return before, after
