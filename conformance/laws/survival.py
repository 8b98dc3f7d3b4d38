"""Odd input: refused or answered, but neither a server error nor silence.

Cases of kind `survived` have the role `asked`; a promise's `status_below` is the first status that is too high.
"""

from __future__ import annotations

from collections.abc import Iterator

from conformance.cases import Case
from conformance.laws.registry import Undecided, Violation, case_law
from conformance.laws.relations import PASSING_TROUBLE, shortened
from conformance.wire.exchange import Exchange
from spec.model import Promise

SILENCE = frozenset({"refused", "timeout", "reset", "protocol-error"})


def _hurt(x: Exchange, below: int) -> Violation | None:
    """What to say where an endpoint did not survive a request."""
    if x.end in SILENCE:
        return Violation(f"the request ended in silence ({x.end})", "an answer", x.problem[:200], (x.id,))
    if x.status >= below and x.status not in PASSING_TROUBLE:
        return Violation("the request led to a server error", f"a status below {below}", str(x.status), (x.id,))
    if not x.ok or not x.asks_stream or not x.is_event_stream or _ended(x):
        return None
    if not x.stream.events:
        return Violation("the stream has not one event", "events, or a refusal", "none", (x.id,))
    last = shortened(x.stream.events[-1].data)
    return Violation("the stream breaks off", "a terminator, or an error event", last, (x.id,))


def _ended(x: Exchange) -> bool:
    return bool(x.error_events) or any(event.is_done for event in x.stream.events)


@case_law("", kind="survived")
def survived(case: Case, promise: Promise) -> Iterator[Violation]:
    """Every request of the case is answered, and not with a server error, whatever the answer says."""
    below = int(promise.params.get("status_below", 500))
    asked = case.all("asked")
    violations = [found for x in asked if (found := _hurt(x, below))]
    if not violations and any(not x.answered or x.status in PASSING_TROUBLE for x in asked):
        raise Undecided("a request was not answered in full, or only with a plea for patience")
    yield from violations
