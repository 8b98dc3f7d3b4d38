"""What sampling parameters promise beyond being accepted."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from conformance.cases import Case
from conformance.laws.registry import Undecided, Violation, case_law
from conformance.laws.relations import outcome_of, settled, shortened
from spec.model import Promise

#: Role asked: the same request with a seed and a temperature, several times.
SEEDED = "seeded"


@case_law("sampling.seed-repeats", kind=SEEDED)
def seed_repeats(case: Case, promise: Promise) -> Iterator[Violation]:
    """Of several replies with the same seed at least two are the same; best effort asks for no more."""
    settled(case.exchanges)
    outcomes = [outcome_of(x) for x in case.all("asked")]
    if any(one == other for one, other in combinations(outcomes, 2)):
        return
    if len(outcomes) < 3:
        raise Undecided("two replies differ, and a third was not asked for")
    words = f"{len(outcomes)} replies with one seed all differ"
    yield Violation(words, shortened(outcomes[0]), shortened(outcomes[1]))
