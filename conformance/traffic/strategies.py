"""Hypothesis strategies for what a conversation may hold, and for stop strings and limits that go with it.

Small on purpose: an example is a request that costs money, and what is small needs little shrinking.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

#: Texts that implementations stumble over, each short: scripts, joiners, marks, and what looks like protocol.
DIFFICULT_TEXTS = (
    "naïve façade",
    "Zażółć gęślą jaźń",
    "Привет, как дела?",
    "你好，世界",
    "こんにちは",
    "한국어 문장",
    "مرحبا بالعالم",
    "שלום עולם",
    "नमस्ते दुनिया",
    "👩‍👩‍👧‍👦 family",
    "🏳️‍🌈🏴‍☠️",
    "👍🏽 👍",
    "e\u0301 and é",
    "a\u200bb\u00a0c\u2028d",
    "data: [DONE]",
    "\r\n\r\n",
    'quotes " and \\ and \\n',
    "<b>bold</b> & <tool>",
    "{{ template }} {% if %}",
    '{"role": "system"}',
    "%s %d %n",
    "𝔘𝔫𝔦𝔠𝔬𝔡𝔢",
)
#: Stop strings that no short answer contains, from a single sign to joined emoji.
RARE_STOPS = ("☃", "\u2063\u2063", "👩‍👩‍👧‍👦", "zq~zq", "</never>", "\n\n\n\n\n", "é̂", "🏳️‍🌈")

_QUESTIONS = (
    "What is a GPU?",
    "Count from 1 to 8.",
    "What is the capital of France?",
    "Say hello.",
    "Name three colours.",
)


def texts() -> st.SearchStrategy[str]:
    """Short texts: questions, difficult ones, and plain ones in any script."""
    letters = st.characters(min_codepoint=32, exclude_categories=("Cs", "Cc", "Cn", "Co"))
    return st.one_of(
        st.sampled_from(_QUESTIONS),
        st.sampled_from(DIFFICULT_TEXTS),
        st.text(letters, min_size=1, max_size=12).filter(lambda text: bool(text.strip())),
    )


def conversations() -> st.SearchStrategy[list[dict[str, Any]]]:
    """Up to five messages that alternate between user and assistant and end with the user."""

    def joined(turns: list[tuple[str, str]], last: str) -> list[dict[str, Any]]:
        messages = [
            {"role": role, "content": text}
            for asked, answered in turns
            for role, text in (("user", asked), ("assistant", answered))
        ]
        return [*messages, {"role": "user", "content": last}]

    return st.builds(joined, st.lists(st.tuples(texts(), texts()), max_size=2), texts())


def stop_lists(text: str) -> st.SearchStrategy[str | list[str]]:
    """A stop string, or up to four, for an answer that is known to be `text`.

    They are cut out of it (within words, across them, overlapping), go beyond its end, or do not occur.
    """
    if not text:
        return st.sampled_from(RARE_STOPS)
    starts = st.integers(0, len(text) - 1)
    inside = st.builds(lambda start, size: text[start : start + size], starts, st.integers(1, 16))
    beyond = st.builds(lambda size, extra: text[-size:] + extra, st.integers(1, 8), st.sampled_from(RARE_STOPS))
    one = st.one_of(inside, beyond, st.sampled_from(RARE_STOPS))
    return st.one_of(one, st.lists(one, min_size=1, max_size=4))


def overlapping_stops(text: str) -> st.SearchStrategy[list[str]]:
    """Two stop strings of which one ends inside the other, both cut out of `text` (at least 3 characters)."""

    def pair(start: int, first: int, shift: int, second: int) -> list[str]:
        return [text[start : start + first], text[start + shift : start + shift + second]]

    last = max(0, len(text) - 3)
    return st.builds(pair, st.integers(0, last), st.integers(2, 8), st.integers(1, 2), st.integers(1, 8)).filter(all)


def token_limits(most: int) -> st.SearchStrategy[int]:
    """Limits from one token to `most`, the small ones most often."""
    return st.one_of(st.integers(1, min(4, most)), st.integers(1, most))


def field_subsets(fields: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Any part of some valid fields, the others left out."""
    names = sorted(fields)
    chosen = st.sets(st.sampled_from(names)) if names else st.just(set[str]())
    return chosen.map(lambda kept: {name: fields[name] for name in names if name in kept})
