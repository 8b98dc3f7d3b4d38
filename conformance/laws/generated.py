"""Requests that Schemathesis generated from the document, and what its own checks say about the answers.

Cases of kind `generated` have one role, `asked`. `data` has the `place` in the document that the request was made
for and the `scenario`, the promised constraints that the request breaks (`broken`), and the `complaints` of the
generator's checks about the answer, each with `check` and `says`.
A refusal is no evidence for a constraint here, since no accepted twin stands beside it; acceptance is evidence
against it, whatever else the request holds.
"""

from __future__ import annotations

from collections.abc import Iterator

from conformance.cases import Case
from conformance.laws.refusals import about_the_request, is_refusal
from conformance.laws.registry import Undecided, Violation, case_law
from conformance.laws.relations import PASSING_TROUBLE
from spec.model import Promise

GENERATED = "generated"
#: The checks whose findings no passive law of ours has under another name.
STATUS, CONTENT_TYPE = "status_code_conformance", "content_type_conformance"


def _label(case: Case) -> str:
    return f"{case.data.get('place') or 'the body'} ({case.data.get('scenario', 'generated')})"


def _broken(case: Case) -> bool:
    return bool(case.data.get("broken"))


@case_law("", kind=GENERATED, applies=lambda case: _broken(case) and case.one("asked").status == 200)
def forbidden_body_accepted(case: Case, promise: Promise) -> Iterator[Violation]:
    """A generated request that breaks a constraint of the document is not accepted."""
    yield Violation(f"a request that breaks {_label(case)} was accepted", "a client error (4xx)", "HTTP 200")


@case_law("errors.client-mistakes-are-not-5xx", kind=GENERATED, applies=_broken)
def generated_mistakes_are_not_5xx(case: Case, promise: Promise) -> Iterator[Violation]:
    """A generated request that the document forbids leads to no failure of the server."""
    x = case.one("asked")
    about_the_request(x, "the generated request")
    if x.status >= 500:
        yield Violation(f"a request that breaks {_label(case)} made the server fail", "4xx", f"HTTP {x.status}")
    elif not is_refusal(x):
        raise Undecided("the request was not refused")


@case_law("errors.odd-input-is-survived", kind=GENERATED, applies=lambda case: not _broken(case))
def generated_requests_are_survived(case: Case, promise: Promise) -> Iterator[Violation]:
    """A generated request, however odd, is answered, and not with a failure of the server."""
    x = case.one("asked")
    if x.end in ("reset", "protocol-error"):
        yield Violation(f"a generated request ({_label(case)}) got no answer", "an answer", x.problem[:200])
        return
    about_the_request(x, "the generated request")
    if x.status >= 500:
        yield Violation(f"a generated request ({_label(case)}) made the server fail", "below 500", f"HTTP {x.status}")


def _complained(case: Case, check: str) -> Iterator[Violation]:
    x = case.one("asked")
    if x.received is None or x.status in PASSING_TROUBLE:
        return
    for complaint in case.data.get("complaints", ()):
        if complaint.get("check") == check:
            words = f"the generator's check {check} complains at {_label(case)}"
            yield Violation(words, "an answer as documented", str(complaint.get("says", ""))[:200])


@case_law("errors.documented-statuses-only", kind=GENERATED)
def status_as_documented(case: Case, promise: Promise) -> Iterator[Violation]:
    """The generator's check finds the status among those that the document lists."""
    yield from _complained(case, STATUS)


@case_law("wire.json-content-type", kind=GENERATED)
def content_type_as_documented(case: Case, promise: Promise) -> Iterator[Violation]:
    """The generator's check finds the content type among those that the document lists."""
    yield from _complained(case, CONTENT_TYPE)
