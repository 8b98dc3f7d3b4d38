"""Incremental text: characters cut anywhere arrive whole, and stop strings are cut and held back exactly."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

from reference_impl.engine.text import Detokenizer, StopStrings, Vocabulary

HARD_TEXTS = [
    "zażółć gęślą",
    "🚀👩‍👩‍👧‍👦🏳️‍🌈",
    "日本語。한국어 ไทย",
    "naïve café",
    "a\u0301e\u0308 e",
    "\n\n\t  x",
]


@pytest.fixture(scope="module")
def vocabulary(model):
    return Vocabulary(model.tokenizer)


@pytest.mark.parametrize("text", HARD_TEXTS)
def test_text_survives_token_by_token(text, model, vocabulary):
    detokenizer = Detokenizer(vocabulary)
    ids = model.tokenizer.encode(text, add_special_tokens=False).ids
    pieces = [detokenizer.push(token) for token in ids]
    assert "".join(pieces) == text
    assert "\N{REPLACEMENT CHARACTER}" not in "".join(pieces)


def test_nothing_but_an_unfinished_character_is_withheld(model, vocabulary):
    """After each token, all characters that are complete have been shown."""
    text = "ab🚀c"
    detokenizer = Detokenizer(vocabulary)
    shown, seen = "", b""
    for token in model.tokenizer.encode(text, add_special_tokens=False).ids:
        shown += detokenizer.push(token)
        seen += vocabulary.bytes_of[token]
        assert shown == seen.decode("utf-8", "ignore")


def test_half_a_character_at_the_end_is_dropped(model, vocabulary):
    ids = model.tokenizer.encode("ab🚀", add_special_tokens=False).ids
    detokenizer = Detokenizer(vocabulary)
    assert "".join(detokenizer.push(token) for token in ids[:-1]) == "ab"


def test_turn_markup_is_silent_and_content_markup_is_shown(model, vocabulary):
    detokenizer = Detokenizer(vocabulary)
    assert detokenizer.push(model.tokenizer.token_to_id("<|im_end|>")) == ""
    assert detokenizer.push(model.tokenizer.token_to_id("<tool_call>")) == "<tool_call>"


@given(st.text())
def test_any_text_survives(text):
    vocabulary = BYTES
    detokenizer = Detokenizer(vocabulary)
    ids = vocabulary.tokenizer.encode(text, add_special_tokens=False).ids
    assert "".join(detokenizer.push(token) for token in ids) == text


@given(st.lists(st.integers(0, 255)))
def test_any_bytes_give_what_python_decodes(numbers):
    """Broken UTF-8 gives replacement characters, the same as decoding at once (but for an unfinished end)."""
    vocabulary = BYTES
    token_of = {value: token for token, value in vocabulary.bytes_of.items()}
    detokenizer = Detokenizer(vocabulary)
    text = "".join(detokenizer.push(token_of[bytes([number])]) for number in numbers)
    whole = bytes(numbers).decode("utf-8", "replace")
    assert whole == text or whole == text + "\N{REPLACEMENT CHARACTER}"


def byte_tokenizer():
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={letter: i for i, letter in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


BYTES = Vocabulary(byte_tokenizer())


def test_vocabulary_that_is_not_byte_level_is_decoded_in_context():
    """Metaspace vocabularies (the Llama 2 kind) drop the first space, so tokens have no text of their own."""
    pieces = {"<unk>": 0, "▁good": 1, "▁day": 2, "s": 3}
    tokenizer = Tokenizer(models.WordLevel(pieces, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    vocabulary = Vocabulary(tokenizer)
    assert vocabulary.bytes_of is None
    detokenizer = Detokenizer(vocabulary)
    assert "".join(detokenizer.push(token) for token in [1, 2, 3]) == "good days"


# Few letters and short stop strings, so that overlaps and near misses are common.
LETTERS = st.text("ab", max_size=12)
STOPS = st.lists(st.text("ab", min_size=1, max_size=4), min_size=1, max_size=4)


def feed(stops, pieces):
    filter_ = StopStrings(stops)
    shown = ""
    for piece in pieces:
        emitted, stopped = filter_.push(piece)
        shown += emitted
        if stopped:
            return shown, True
    return shown + filter_.finish(), False


@given(LETTERS, STOPS, st.data())
def test_any_split_gives_the_same_text(text, stops, data):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    edges = [0, *cuts, len(text)]
    pieces = [text[a:b] for a, b in pairwise(edges)]
    assert feed(stops, pieces) == feed(stops, [text])


@given(LETTERS, STOPS)
def test_stop_string_is_never_shown_and_cuts_at_the_first_completed_match(text, stops):
    shown, stopped = feed(stops, list(text))
    assert not any(stop in shown for stop in stops)
    assert stopped == any(stop in text for stop in stops)
    if stopped:
        ends = [text.index(stop) + len(stop) for stop in stops if stop in text]
        longest = max(len(stop) for stop in stops if text[: min(ends)].endswith(stop))
        assert shown == text[: min(ends) - longest]
    else:
        assert shown == text


@given(LETTERS, STOPS)
def test_nothing_is_withheld_that_cannot_become_a_stop_string(text, stops):
    filter_ = StopStrings(stops)
    shown = ""
    for index, letter in enumerate(text, start=1):
        emitted, stopped = filter_.push(letter)
        if stopped:
            return
        shown += emitted
        held = text[len(shown) : index]
        assert held == "" or any(stop.startswith(held) and stop != held for stop in stops)


def test_without_stop_strings_everything_passes():
    filter_ = StopStrings(["", ""])
    assert filter_.push("anything") == ("anything", False)
    assert filter_.finish() == ""


def test_nothing_follows_a_stop():
    filter_ = StopStrings(["END"])
    assert filter_.push("a EN") == ("a ", False)
    assert filter_.push("D more") == ("", True)
    assert filter_.push("more") == ("", True)
    assert filter_.finish() == ""
