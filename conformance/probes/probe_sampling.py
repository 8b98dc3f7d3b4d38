"""Sampling parameters, beyond the ranges that the document gives them."""

from __future__ import annotations

from conformance.ask import Asker
from conformance.laws.relations import outcome_of
from conformance.laws.sampling import SEEDED
from conformance.probe import probe
from conformance.traffic.bodies import Bodies


@probe("sampling.seed-repeats", cost=2)
def test_seed_repeats(ask: Asker, bodies: Bodies) -> None:
    """Send the same request with a seed and a high temperature twice, and a third time where the texts differ."""
    body = bodies.chat("Write a story about a robot and a river.", temperature=1.2, seed=1234, max_tokens=96)
    asked = [ask(body), ask(body)]
    if all(x.ok for x in asked) and outcome_of(asked[0]) != outcome_of(asked[1]):
        asked.append(ask(body))
    ask.case(SEEDED, asked=asked)
