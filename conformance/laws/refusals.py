"""What must be refused, one defect away from a request that was just accepted; and limits that are just kept.

Cases of kind `refused` have the roles `control` (the accepted twin) and `defect` (the same request with
exactly one thing wrong). Their `data` may say what is wrong (`broken`, a few words), which top-level field is at
fault (`field`), the name of a field that is unknown (`unknown`), and that another status than that of an invalid
parameter is right (`own_status`). A promise's `statuses` are the statuses expected, any 4xx where it has none;
its `code` and `param` are what the error must carry.
Cases of kind `within` have one role, `asked`: requests that stand on a limit and are still allowed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from conformance.cases import Case
from conformance.laws.registry import Undecided, Violation, case_law
from conformance.laws.relations import PASSING_TROUBLE, shortened
from conformance.wire.exchange import Exchange
from spec.model import Promise

REFUSED = "refused"
WITHIN = "within"


def error_of(x: Exchange) -> dict[str, Any] | None:
    """The `error` object of an answer's body, or None where there is none."""
    body = x.json.value
    error = body.get("error") if isinstance(body, dict) else None
    return error if isinstance(error, dict) else None


def about_the_request(x: Exchange, who: str) -> None:
    """Raise `Undecided` where an exchange has no status that speaks about its request."""
    if x.received is None:
        raise Undecided(f"{who} got no answer: {x.problem or x.end}")
    if x.status in PASSING_TROUBLE:
        raise Undecided(f"{who} was answered with {x.status}, which says nothing about the request")


def is_refusal(x: Exchange) -> bool:
    """Whether the answer refuses this very request (and does not merely ask for patience)."""
    return 400 <= x.status < 500 and x.status not in PASSING_TROUBLE


def accepted_control(case: Case) -> None:
    """Raise `Undecided` where the twin without the defect was not accepted."""
    for control in case.all("control"):
        about_the_request(control, "the request without the defect")
        if control.status != 200:
            raise Undecided(f"the request without the defect was answered with {control.status} as well")


def well_refused(case: Case) -> bool:
    """Every defect of a case was refused in full and every control accepted: what the refusals say can be judged."""
    return all(is_refusal(x) and x.end == "complete" for x in case.all("defect")) and all(
        x.status == 200 for x in case.all("control")
    )


def broken_in(case: Case) -> str:
    """What is wrong with the defect of a case, in words."""
    return str(case.data.get("broken", "the request is invalid"))


@case_law("", kind=REFUSED)
def refused(case: Case, promise: Promise) -> Iterator[Violation]:
    """A request with one defect is refused as the client's mistake; without the defect it is accepted."""
    accepted_control(case)
    wanted = statuses_of(promise)
    expected = " or ".join(map(str, wanted)) or "a client error (4xx)"
    for x in case.all("defect"):
        about_the_request(x, "the request with the defect")
        if not is_refusal(x) or (wanted and x.status not in wanted):
            verb = "accepted" if x.status == 200 else f"answered with {x.status}"
            yield Violation(f"{broken_in(case)}, and the request was {verb}", expected, f"HTTP {x.status}", (x.id,))
            continue
        error = error_of(x) or {}
        for member in ("code", "param"):
            value = promise.params.get(member)
            if value is not None and error.get(member) != value:
                yield Violation(
                    f"{broken_in(case)}, and error.{member} of the refusal does not say so",
                    f"error.{member} {value!r}",
                    shortened(error.get(member)),
                    (x.id,),
                )


def statuses_of(promise: Promise) -> list[int]:
    """The statuses that a promise names, empty where it names none."""
    statuses = promise.params.get("statuses", ())
    return list(statuses) if isinstance(statuses, Sequence) and not isinstance(statuses, str) else []


@case_law("", kind=WITHIN)
def within(case: Case, promise: Promise) -> Iterator[Violation]:
    """A value that stands on a limit is still allowed, and the request accepted."""
    for x in case.all("asked"):
        about_the_request(x, "the request on the limit")
        if x.status == 200:
            continue
        if is_refusal(x) and _speaks_of_context(x):
            raise Undecided("the request on the limit was refused for the model's context, which is another limit")
        yield Violation(
            f"{case.data.get('met', 'a value stands on its limit')}, and the request was refused",
            "status 200",
            f"HTTP {x.status} {shortened((error_of(x) or {}).get('message', ''))}",
            (x.id,),
        )


def _speaks_of_context(x: Exchange) -> bool:
    assert x.received is not None
    return b"context" in x.received.body.lower()
