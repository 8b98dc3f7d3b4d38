"""How often is often enough: tails, intervals, and when to stop."""

from __future__ import annotations

import pytest

from conformance.laws.registry import Undecided
from conformance.laws.sampled import DOUBT, TRIALS, at_least_once, enough, interval, tail


def test_tail_of_a_fair_coin() -> None:
    assert tail(0, 10) == pytest.approx(0.5**10)
    assert tail(1, 2) == pytest.approx(0.75)
    assert tail(3, 3) == pytest.approx(1)
    assert tail(0, 4, rate=0.1) == pytest.approx(0.9**4)


def test_the_planned_trials_are_just_enough() -> None:
    assert tail(0, TRIALS) < DOUBT <= tail(0, TRIALS - 1)


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [(0, 10, 0, 0.3085), (10, 10, 0.6915, 1), (5, 10, 0.1871, 0.8129), (1, 10, 0.0025, 0.4450)],
)
def test_exact_intervals(successes: int, trials: int, low: float, high: float) -> None:
    # figures of Clopper and Pearson's method, as any table of it has them
    assert interval(successes, trials) == pytest.approx((low, high), abs=1e-4)


def test_when_to_stop() -> None:
    assert not enough([])
    assert not enough([False] * (TRIALS - 1))
    assert enough([False] * TRIALS)
    assert enough([False] * (TRIALS + 1))
    assert enough([False, True])
    assert enough([False, False], trials=2)


def test_verdicts() -> None:
    assert list(at_least_once([False, True], "thinking")) == []
    (violation,) = at_least_once([False] * TRIALS, "thinking", ("x1",))
    assert "not once in 10 trials" in violation.message
    assert "0 of 10 trials, rate between 0.00 and 0.31" in violation.observed
    assert violation.exchanges == ("x1",)
    with pytest.raises(Undecided, match="0 of 9 trials"):
        list(at_least_once([False] * (TRIALS - 1), "thinking"))
    with pytest.raises(Undecided, match="no trial"):
        list(at_least_once([], "thinking"))
