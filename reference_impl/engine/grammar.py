"""Grammars that constrain the tokens of a generation."""

from __future__ import annotations

from llguidance import LLMatcher, LLTokenizer
from tokenizers import Tokenizer


class GrammarCompiler:
    """Compiles grammars for one tokenizer; the tokenizer's tables are built once, on first use."""

    def __init__(self, tokenizer: Tokenizer, eos_ids: frozenset[int], vocabulary: int) -> None:
        self._tokenizer = tokenizer
        self._eos_ids = sorted(eos_ids)
        self._vocabulary = vocabulary
        self._tables: LLTokenizer | None = None

    def matcher(self, grammar: str) -> LLMatcher:
        """A fresh matcher; one that cannot be built is in its error state (see `is_error`)."""
        if self._tables is None:
            self._tables = LLTokenizer(
                self._tokenizer.to_str(), n_vocab=self._vocabulary, eos_token=self._eos_ids
            )
        return LLMatcher(self._tables, grammar, log_level=0)
