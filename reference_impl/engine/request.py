"""What a caller asks of the engine, and the two ways in which it refuses."""

from __future__ import annotations

from dataclasses import dataclass, field

from torch import Tensor


class QueueFull(Exception):
    """As many requests wait as the engine accepts; try again later."""


class PromptTooLong(ValueError):
    """The prompt leaves no room for a single generated token in the context.

    Attributes: `tokens`, the prompt's length, and `limit`, the longest prompt that fits.
    """

    def __init__(self, tokens: int, limit: int) -> None:
        super().__init__(f"the prompt has {tokens} tokens; at most {limit} fit")
        self.tokens = tokens
        self.limit = limit


class EngineFailure(RuntimeError):
    """A step failed inside the engine; the request that sees this has lost its state."""


@dataclass(slots=True)
class SamplingParams:
    """How tokens are drawn. Penalties count generated tokens only, as most servers do.

    temperature 0 (or below 1e-5) is greedy; top_p 0 keeps the single likeliest token.
    logit_bias maps a token id to a number added to its logit. seed None draws a fresh seed.
    """

    max_tokens: int
    temperature: float = 1.0
    top_p: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    logit_bias: dict[int, float] = field(default_factory=dict)
    seed: int | None = None


@dataclass(slots=True)
class GenerationRequest:
    """One prompt as token ids, with what bounds and steers its continuation.

    images: float tensors [3, 64, 64], one for each run of placeholder tokens in the prompt, in order.
    grammar: an llguidance grammar (see `grammar.py`) or None for free text.
    eos_ids: the tokens that end the generation; none of them is ever yielded.
    min_tokens: how many tokens must come before one of `eos_ids` may.
    """

    prompt: list[int]
    sampling: SamplingParams
    eos_ids: frozenset[int]
    images: list[Tensor] = field(default_factory=list)
    grammar: str | None = None
    min_tokens: int = 0
