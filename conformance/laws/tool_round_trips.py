"""Results of calls in the conversation: paired with them by id, in whatever order they come."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.cases import Case
from conformance.laws.registry import Undecided, Violation, case_law
from conformance.laws.relations import outcome_of, refused, settled, shortened, steady_outcome
from spec.model import Promise


@case_law("messages.tool-results-in-any-order", kind="result-order")
def results_in_any_order(case: Case, promise: Promise) -> Iterator[Violation]:
    """Results in another order are accepted and not mistaken for one another.

    The answer to swapped results (each with its right id) is that to results in order, and not that to results
    whose texts are exchanged, which is what an endpoint sees that pairs by position.
    """
    swapped = case.one("swapped")
    settled(case.exchanges)
    if case.one("in_order").status != 200:
        raise Undecided("results in order were refused as well")
    violation = refused(swapped)
    if violation:
        yield violation
        return
    in_order = steady_outcome((*case.all("in_order"), *case.all("again")))
    crossed, seen = outcome_of(case.one("crossed")), outcome_of(swapped)
    if in_order == crossed:
        raise Undecided("the model answers alike whichever result belongs to which call")
    if seen == crossed:
        yield Violation(
            "results are paired with calls by position and not by id", shortened(in_order[0]), shortened(seen[0])
        )
    elif seen != in_order:
        raise Undecided("the order of the results changes the answer in a way of its own")
