"""What must be refused: one defect away from a request that was just accepted.

Cases of kind `refused` have the roles `control` (the accepted twin) and `defect` (the same request with
exactly one thing wrong). `data["broken"]` says in a few words what is wrong, `data["statuses"]` which
statuses are expected (any 4xx where it is missing), `data["code"]` and `data["param"]` what the error must
carry; a promise's own parameters of these names come first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from conformance.cases import Case
from conformance.laws.registry import Undecided, Violation, case_law
from conformance.wire.exchange import Exchange
from spec.model import Promise

REFUSED = "refused"
PATIENCE = frozenset({408, 425, 429})  # says nothing about the request itself
OUTAGE = frozenset({502, 503, 504})


def error_of(x: Exchange) -> dict[str, Any] | None:
    """The `error` object of an answer's body, or None where there is none."""
    body = x.json.value
    error = body.get("error") if isinstance(body, dict) else None
    return error if isinstance(error, dict) else None


def answered_or_undecided(x: Exchange, who: str) -> None:
    """Raise `Undecided` where an exchange has no status that speaks about its request."""
    if x.received is None:
        raise Undecided(f"{who} got no answer: {x.problem or x.end}")
    if x.status in PATIENCE or x.status in OUTAGE:
        raise Undecided(f"{who} was answered with {x.status}, which says nothing about the request")


def is_refusal(x: Exchange) -> bool:
    """Whether the answer refuses this request (and does not merely ask for patience)."""
    return 400 <= x.status < 500 and x.status not in PATIENCE


def refused_defect(case: Case) -> bool:
    """The defect of a case was refused, and its control accepted: what the refusal says can be judged."""
    return all(is_refusal(x) and x.end == "complete" for x in case.all("defect")) and all(
        x.status == 200 for x in case.all("control")
    )


@case_law("", kind=REFUSED)
def refused(case: Case, promise: Promise) -> Iterator[Violation]:
    """A request with one defect is refused as the client's mistake; without the defect it is accepted."""
    for control in case.all("control"):
        answered_or_undecided(control, "the request without the defect")
        if control.status != 200:
            raise Undecided(f"the request without the defect was answered with {control.status} as well")
    told = {**case.data, **promise.params}
    broken = str(told.get("broken", "the request is invalid"))
    for defect in case.all("defect"):
        answered_or_undecided(defect, "the request with the defect")
        yield from _refusal(defect, broken, told)


def _refusal(x: Exchange, broken: str, told: Mapping[str, Any]) -> Iterator[Violation]:
    statuses = told.get("statuses")
    wanted = list(statuses) if isinstance(statuses, Sequence) and not isinstance(statuses, str) else []
    expected = " or ".join(map(str, wanted)) if wanted else "a client error (4xx)"
    if not is_refusal(x) or (wanted and x.status not in wanted):
        verb = "accepted" if x.status == 200 else "answered with the wrong status"
        yield Violation(f"{broken}, and the request was {verb}", expected, f"HTTP {x.status}", (x.id,))
        return
    error = error_of(x) or {}
    for member in ("code", "param"):
        value = told.get(member)
        if value is not None and error.get(member) != value:
            yield Violation(
                f"{broken}, and the refusal does not say so in error.{member}",
                f"error.{member} {value!r}",
                repr(error.get(member)),
                (x.id,),
            )
