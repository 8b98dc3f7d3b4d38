"""Properties against endpoints that change their mind, without sending anything."""

from __future__ import annotations

import random
from types import SimpleNamespace

import pytest
from hypothesis import strategies as st

from conformance.traffic.ledger import explore


class Pretender:
    """As much of an asker as a ledger looks at; `send` breaks a promise whenever `breaks` says so."""

    def __init__(self, breaks) -> None:
        self.session = SimpleNamespace(seed=7)
        self.probe = "made::property"
        self.findings: list[SimpleNamespace] = []
        self.sent: list[int] = []
        self.breaks = breaks

    def send(self, example: int) -> None:
        self.sent.append(example)
        outcome = "violated" if self.breaks(example) else "kept"
        self.findings.append(SimpleNamespace(outcome=outcome))


def test_sends_exactly_as_many_distinct_examples_as_it_may():
    asker = Pretender(lambda _: False)
    explore(asker, st.integers(0, 10**6), asker.send, examples=9)
    assert len(asker.sent) == len(set(asker.sent)) == 9


def test_the_same_seed_draws_the_same_examples():
    first, second = Pretender(lambda _: False), Pretender(lambda _: False)
    for asker in (first, second):
        explore(asker, st.integers(0, 10**6), asker.send, examples=5)
    assert first.sent == second.sent
    other = Pretender(lambda _: False)
    other.session.seed = 8
    explore(other, st.integers(0, 10**6), other.send, examples=5)
    assert other.sent != first.sent


def test_a_violation_is_shrunk_within_its_bound():
    asker = Pretender(lambda example: example >= 100)
    ledger = explore(asker, st.integers(0, 10**6), asker.send, examples=10, shrinks=15)
    first = next(index for index, example in enumerate(asker.sent) if example >= 100)
    assert ledger.broken
    assert len(asker.sent) - first - 1 <= 15
    assert min(example for example in asker.sent if example >= 100) < asker.sent[first]


@pytest.mark.parametrize("chance", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("number", range(5))
def test_an_endpoint_that_changes_its_mind_makes_nothing_flaky(chance, number):
    dice = random.Random(number)
    asker = Pretender(lambda _: dice.random() < chance)
    ledger = explore(asker, st.integers(0, 10**6), asker.send, examples=8, shrinks=6)
    assert len(asker.sent) == len(set(asker.sent)) <= 14
    assert ledger.broken == any(f.outcome == "violated" for f in asker.findings)


def test_what_the_probe_raises_comes_through():
    asker = Pretender(lambda _: False)

    def spent(_: int) -> None:
        pytest.skip("budget")

    with pytest.raises(pytest.skip.Exception):
        explore(asker, st.integers(), spent, examples=3)
