"""Tokens are drawn from the distribution that the parameters describe."""

import math
from collections import Counter

import pytest
import torch

from reference_impl.engine.request import SamplingParams
from reference_impl.engine.sampling import Sampler, choose

LOGITS = torch.tensor([2.0, 1.0, 0.0, -1.0, float("-inf")])


def sampler(**params):
    return Sampler(SamplingParams(max_tokens=1, **params), None)


def frequencies(draws, logits=LOGITS, **params):
    one = sampler(seed=5, **params)
    counts = Counter(choose(logits[None].clone(), [one])[0] for _ in range(draws))
    return [counts[token] / draws for token in range(len(logits))]


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_frequencies_follow_the_softmax(temperature):
    expected = (LOGITS / temperature).softmax(-1).tolist()
    assert frequencies(4000, temperature=temperature) == pytest.approx(expected, abs=0.03)


def test_top_p_keeps_the_smallest_set_that_reaches_it():
    odds = LOGITS.softmax(-1).tolist()  # about 0.64, 0.24, 0.09, 0.03
    assert odds[0] < 0.7 < odds[0] + odds[1]
    kept = odds[0] + odds[1]
    expected = [odds[0] / kept, odds[1] / kept, 0, 0, 0]
    assert frequencies(3000, top_p=0.7) == pytest.approx(expected, abs=0.03)


@pytest.mark.parametrize("top_p", [0.0, 0.1])
def test_tiny_top_p_keeps_the_likeliest(top_p):
    assert frequencies(50, top_p=top_p) == [1, 0, 0, 0, 0]


def test_temperature_zero_is_greedy_and_draws_nothing():
    one = sampler(temperature=0.0, seed=1)
    assert [choose(LOGITS[None].clone(), [one])[0] for _ in range(5)] == [0] * 5
    assert one.draw() == sampler(seed=1).draw()


def test_rows_with_different_parameters_do_not_mix():
    """Each row of a mixed batch draws what it draws alone, whether or not a neighbour has top_p."""
    params = [{"temperature": 0.0}, {"temperature": 1.0}, {"temperature": 1.5, "top_p": 0.9}, {"top_p": 0.5}]
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(4, 1000, generator=generator)
    together = [sampler(seed=9, **each) for each in params]
    apart = [sampler(seed=9, **each) for each in params]
    for _ in range(50):
        mixed = choose(logits.clone(), together)
        assert mixed == [choose(row[None].clone(), [one])[0] for row, one in zip(logits, apart, strict=True)]


def test_logit_bias_moves_a_token_and_ignores_unknown_ids():
    one = sampler(temperature=0.0, logit_bias={3: 100.0, 0: -100.0, 99: 100.0, -1: 100.0})
    assert choose(LOGITS[None].clone(), [one]) == [3]


def test_penalties_subtract_once_and_per_occurrence():
    one = sampler(presence_penalty=0.5, frequency_penalty=0.25, logit_bias={2: 1.0})
    for token in (0, 0, 2):
        one.accept(token)
    assert one.adjustments() == {0: pytest.approx(-1.0), 2: pytest.approx(0.25)}


def test_negative_penalty_encourages_repetition():
    one = sampler(temperature=0.0, frequency_penalty=-2.0)
    one.accept(3)
    one.accept(3)
    assert choose(LOGITS[None].clone(), [one]) == [3]


def test_forbidden_tokens_are_never_drawn():
    one = sampler(temperature=0.0)
    one.forbidden = [0]
    assert choose(LOGITS[None].clone(), [one]) == [1]


def test_the_highest_draw_is_a_token_with_probability():
    """A random number next to 1 must not land behind the last token that may be drawn."""

    class Highest:
        def random(self):
            return math.nextafter(1.0, 0.0)

    one = sampler()
    one._generator = Highest()
    assert choose(LOGITS[None].clone(), [one]) == [3]
