"""Hypothesis strategies for conversations and option sets that a document allows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from conformance.traffic.bodies import Bodies, Body
from conformance.traffic.images import text_part
from spec.model import Profile

#: Texts that break what reads bytes, splits lines or guesses scripts; each is ordinary somewhere.
TEXTS = (
    "Zażółć gęślą jaźń",
    "日本語のテキスト",
    "한국어 문장",
    "नमस्ते दुनिया",
    "مرحبا بالعالم",
    "שלום עולם",
    "Здравствуй, мир",
    "👩‍👩‍👧‍👦 and 🇵🇱 and 👍🏽",
    "e\u0301 is not é",
    "a\u200bb\u2060c\ufeffd",
    "line one\nline two\r\nline\u2028three\u0085four",
    "\ttabs and  spaces ",
    'quotes "and" \\ backslashes \\u0041',
    "data: [DONE]\n\n",
    "<|im_start|>assistant",
    "{{template}} {% raw %} ${x} %s",
    "<script>alert(1)</script>",
    "NULL",
    "𝒳𝒴𝒵 𐍈 𓀀",
    "\U000e0041\U0010ffff",
)


def texts(longest: int = 40) -> st.SearchStrategy[str]:
    """Texts in any script without control characters and surrogates, and known stumbling blocks."""
    letters = st.characters(exclude_categories=("Cs", "Cc", "Cn"))
    return st.one_of(st.text(letters, min_size=1, max_size=longest), st.sampled_from(TEXTS))


def conversations(profile: Profile, roles: Sequence[str]) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Conversations that end with a user: instructions first, then turns of users and assistants."""
    instructing = [role for role in roles if role in ("system", "developer")]
    opening = st.lists(_messages(profile, instructing), max_size=1) if instructing else st.just([])
    turn = st.tuples(_messages(profile, ["user"]), _messages(profile, ["assistant"])).map(list)
    turns = st.lists(turn, max_size=3).map(lambda pairs: [message for pair in pairs for message in pair])
    return st.tuples(opening, turns, _messages(profile, ["user"])).map(lambda all_: [*all_[0], *all_[1], all_[2]])


def _messages(profile: Profile, roles: Sequence[str]) -> st.SearchStrategy[dict[str, Any]]:
    names: st.SearchStrategy[dict[str, str]] = st.one_of(
        st.just({}), st.sampled_from(["ada", "Bob_2", "c-3"]).map(lambda name: {"name": name})
    )
    if not profile.accepts("messages.name"):
        names = st.just({})
    return st.tuples(st.sampled_from(list(roles)), _content(roles), names).map(
        lambda drawn: {"role": drawn[0], "content": drawn[1], **drawn[2]}
    )


def _content(roles: Sequence[str]) -> st.SearchStrategy[Any]:
    if list(roles) != ["user"]:  # only there do all documents allow parts
        return texts()
    return st.one_of(texts(), st.lists(texts().map(text_part), min_size=1, max_size=3))


def options(bodies: Bodies) -> st.SearchStrategy[Body]:
    """Sets of optional fields with documented values that need no capability."""
    fields: dict[str, st.SearchStrategy[Any]] = {
        "max_tokens": st.integers(1, 24),
        "max_completion_tokens": st.integers(1, 24),
        "temperature": st.sampled_from([0, 0.3, 1, 1.5, 2]),
        "top_p": st.sampled_from([0.1, 0.5, 0.9, 1]),
        "n": st.just(1),
        "stop": st.one_of(texts(8), st.lists(texts(8), min_size=1, max_size=4)),
        "seed": st.integers(0, 2**31 - 1),
        "presence_penalty": st.sampled_from([-2, -0.5, 0, 1.5, 2]),
        "frequency_penalty": st.sampled_from([-2, -0.5, 0, 1.5, 2]),
        "user": st.just("conformance"),
        "metadata": st.just({"purpose": "conformance"}),
        "store": st.booleans(),
        "logprobs": st.booleans(),
        "response_format": st.just({"type": "text"}),
        "stream": st.booleans(),
    }
    known = {name: values for name, values in fields.items() if bodies.profile.accepts(name)}
    # the limit keeps examples cheap
    return st.fixed_dictionaries({}, optional=known).map(lambda drawn: {"max_tokens": 16, **drawn})
