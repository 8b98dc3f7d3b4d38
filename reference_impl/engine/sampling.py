"""Chooses the next token of each sequence from its logits, by its own parameters and its own generator.

Every operation works row by row, so a row's choice does not depend on the other rows.
"""

from __future__ import annotations

import random
import secrets

import torch
from llguidance import LLMatcher
from torch import Tensor

from reference_impl.engine.request import SamplingParams

_GREEDY_BELOW = 1e-5


class Sampler:
    """The sampling state of one generation: its random numbers, what it generated, and its grammar."""

    __slots__ = ("_counts", "_generator", "_penalised", "forbidden", "matcher", "params")

    def __init__(self, params: SamplingParams, matcher: LLMatcher | None) -> None:
        self.params = params
        self.matcher = matcher
        self.forbidden: list[int] = []
        """Tokens that may not come next (the end tokens, while `min_tokens` is not reached)."""
        seed = secrets.randbits(64) if params.seed is None else params.seed
        # Only reproducibility matters here; one generator per request, so that neighbours cannot disturb it.
        self._generator = random.Random(seed)  # noqa: S311
        self._counts: dict[int, int] = {}
        self._penalised = bool(params.presence_penalty or params.frequency_penalty)

    @property
    def greedy(self) -> bool:
        """Whether the likeliest token is taken."""
        return self.params.temperature < _GREEDY_BELOW

    def accept(self, token: int) -> None:
        """Record the chosen token."""
        if self._penalised:
            self._counts[token] = self._counts.get(token, 0) + 1
        if self.matcher is not None:
            self.matcher.consume_token(token)

    def draw(self) -> float:
        """The next random number of this generation, in [0, 1)."""
        return self._generator.random()

    def adjustments(self) -> dict[int, float]:
        """What to add to which logits: the bias, minus the penalties on what was generated."""
        added = dict(self.params.logit_bias)
        if self._penalised:
            presence, frequency = self.params.presence_penalty, self.params.frequency_penalty
            for token, count in self._counts.items():
                added[token] = added.get(token, 0.0) - presence - frequency * count
        return added


@torch.inference_mode()
def choose(logits: Tensor, samplers: list[Sampler]) -> list[int]:
    """One token for each row of `logits` Float[rows, V] (changed in place); samplers are not told."""
    vocabulary = logits.shape[1]
    for row, sampler in enumerate(samplers):
        added = {token: value for token, value in sampler.adjustments().items() if 0 <= token < vocabulary}
        if added:
            places = torch.tensor(list(added), device=logits.device)
            logits[row].index_add_(0, places, torch.tensor(list(added.values()), device=logits.device))
        if sampler.forbidden:
            logits[row, torch.tensor(sampler.forbidden, device=logits.device)] = float("-inf")
    _apply_grammars(logits, samplers)
    tokens: list[int] = logits.argmax(dim=-1).tolist()
    drawn = [row for row, sampler in enumerate(samplers) if not sampler.greedy]
    if drawn:
        picked = logits if len(drawn) == len(samplers) else logits[torch.tensor(drawn, device=logits.device)]
        for row, token in zip(drawn, _draw(picked, [samplers[row] for row in drawn]), strict=True):
            tokens[row] = token
    return tokens


def _draw(logits: Tensor, samplers: list[Sampler]) -> list[int]:
    """Sample each row by inverting its cumulative distribution, in the order of falling probability."""
    scale = torch.tensor([sampler.params.temperature for sampler in samplers], device=logits.device)
    odds = torch.softmax(logits / scale[:, None], dim=-1)
    if any(sampler.params.top_p < 1 for sampler in samplers):
        odds, order = odds.sort(dim=-1, descending=True, stable=True)
        before = odds.double().cumsum(dim=-1) - odds
        top_p = torch.tensor([sampler.params.top_p for sampler in samplers], device=logits.device)
        outside = before >= top_p[:, None]
        outside[:, 0] = False
        odds = odds.masked_fill(outside & (top_p < 1)[:, None], 0.0)
        # Back to vocabulary order: a request without top_p must not depend on whether its neighbour has one.
        odds = torch.zeros_like(odds).scatter_(1, order, odds)
    heights = odds.double().cumsum(dim=-1)
    marks = torch.tensor([sampler.draw() for sampler in samplers], dtype=torch.float64, device=logits.device)
    chosen = torch.searchsorted(heights, (marks * heights[:, -1])[:, None], right=True)[:, 0]
    # Rounding may put the mark on the very top; the last token with any probability is meant then.
    last = (odds > 0).long().mul(torch.arange(odds.shape[1], device=odds.device)).amax(dim=-1)
    tokens: list[int] = torch.minimum(chosen, last).tolist()
    return tokens


def _apply_grammars(logits: Tensor, samplers: list[Sampler]) -> None:
    rows = [row for row, sampler in enumerate(samplers) if sampler.matcher is not None]
    if not rows:
        return
    vocabulary = logits.shape[1]
    words = (vocabulary + 31) // 32
    bits = torch.zeros(len(rows), words, dtype=torch.int32)
    for index, row in enumerate(rows):
        matcher = samplers[row].matcher
        assert matcher is not None
        matcher.unsafe_compute_mask_ptr(bits[index].data_ptr(), words * 4)
    bits = bits.to(logits.device)
    allowed = (bits[:, :, None] >> torch.arange(32, dtype=torch.int32, device=logits.device)) & 1
    forbidden = allowed.view(len(rows), -1)[:, :vocabulary] == 0
    places = torch.tensor(rows, device=logits.device)
    logits[places] = logits[places].masked_fill(forbidden, float("-inf"))
