"""Trains the byte-level BPE of the built-in models.

Text is cut into runs of letters, single digits, single spaces and single punctuation marks before any merge.
A word then has the same tokens wherever it stands, in a sentence, in quotes or in JSON, and copying it is a
matter of repeating tokens: what makes so small a model able to echo and to fill in tool arguments.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from reference_impl.chat.format import CONTENT_MARKUP, MARKUP

PIECES = r"\p{L}[\p{L}\p{M}]*|\p{N}|\s|[^\s\p{L}\p{N}]"


def train_tokenizer(texts: Iterable[str], vocab_size: int) -> Tokenizer:
    """A tokenizer of ``vocab_size`` entries: markup, the 256 bytes, and merges learned from ``texts``."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PIECES), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=[AddedToken(token, special=True, normalized=False) for token in MARKUP],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return _with_visible_markup(tokenizer)


def _with_visible_markup(tokenizer: Tokenizer) -> Tokenizer:
    """The same tokenizer, whose decoder keeps thinking and tool markup even when it skips special tokens.

    Qwen3 does the same: the markup has ids of its own, but is content to whoever parses the reply.
    """
    description = json.loads(tokenizer.to_str())
    for token in description["added_tokens"]:
        token["special"] = token["content"] not in CONTENT_MARKUP
    return Tokenizer.from_str(json.dumps(description))
