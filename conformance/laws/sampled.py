"""Promises whose outcome a model has a say in: tried several times, judged by how unlikely the result is.

A trial either shows what is promised or does not. One that shows it decides for the endpoint. It is believed
to break the promise only when so few trials show it would be improbable (`DOUBT`) even if the model were to
cooperate no more than half the time (`GENEROUS`). `enough` tells a probe when more trials would change nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import exp, fsum, lgamma, log, log1p

from conformance.laws.registry import Undecided, Violation

GENEROUS = 0.5  # how often a model is expected to do at least what it is clearly asked for
DOUBT = 0.001
TRIALS = 10  # with none of ten, the tail is 0.5**10 = 0.00098, below DOUBT
CONFIDENCE = 0.95


def tail(successes: int, trials: int, rate: float = GENEROUS) -> float:
    """The probability of at most that many successes in that many trials."""
    # In logarithms, since the number of ways to choose from thousands of trials is no floating-point number.
    ways = (lgamma(trials + 1) - lgamma(k + 1) - lgamma(trials - k + 1) for k in range(successes + 1))
    return fsum(exp(way + k * log(rate) + (trials - k) * log1p(-rate)) for k, way in enumerate(ways))


def interval(successes: int, trials: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The exact (Clopper-Pearson) interval of the rate behind an observed number of successes."""
    half = (1 - confidence) / 2
    low, high = 0.0, 1.0
    if successes > 0:  # the rate at which so many or more successes would be just as rare as `half`
        low = _solve(lambda rate: 1 - tail(successes - 1, trials, rate) - half)
    if successes < trials:
        high = _solve(lambda rate: half - tail(successes, trials, rate))
    return low, high


def _solve(rising: Callable[[float], float]) -> float:
    """The zero between 0 and 1 of a function that rises there, by halving."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if rising(middle) < 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def enough(shown: Sequence[bool], trials: int = TRIALS) -> bool:
    """Whether further trials would change nothing: one has shown it, or all that were planned are spent."""
    return any(shown) or len(shown) >= trials


def at_least_once(shown: Sequence[bool], what: str, exchanges: tuple[str, ...] = ()) -> Iterator[Violation]:
    """The verdict on a promise that cooperative models show now and then: `what` was to be seen, in words."""
    successes, trials = sum(shown), len(shown)
    if not trials:
        raise Undecided(f"{what}: no trial was answered")
    if successes:
        return
    low, high = interval(successes, trials)
    odds = tail(successes, trials)
    numbers = f"{successes} of {trials} trials, rate between {low:.2f} and {high:.2f} with 95 % confidence"
    if odds >= DOUBT:
        raise Undecided(f"{what}: {numbers}, too few to tell the endpoint from its model")
    yield Violation(
        f"{what}: not once in {trials} trials, which has a probability of {odds:.1g} at a rate of {GENEROUS}",
        "at least one trial that shows it",
        numbers,
        exchanges,
    )
