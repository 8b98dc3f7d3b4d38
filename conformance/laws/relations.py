"""Relations that many promises share; the case names the requirements that it speaks for.

`accepted` (role asked), `same-prompt` (plain, changed), `longer-prompt` (shorter, longer) and `same-text`
(plain, again, changed). Other laws use the helpers below to read the roles of their own cases.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from conformance.cases import Case
from conformance.laws.registry import Undecided, Violation, case_law
from conformance.reply import Reply, reply_of
from conformance.wire.exchange import Exchange
from spec.model import Promise

#: Answers that say nothing about the request: too many, too busy, too late.
PASSING_TROUBLE = frozenset({408, 425, 429, 502, 503, 504})


def shortened(value: object, size: int = 160) -> str:
    """A value as the report shows it, no longer than `size` characters."""
    text = repr(value)
    return text if len(text) <= size else text[: size - 1] + "…"


def settled(exchanges: Sequence[Exchange]) -> None:
    """Refuse to decide where one of the answers is missing or only tells of an overloaded endpoint."""
    for x in exchanges:
        if not x.answered:
            raise Undecided(f"{x.id} was not answered in full ({x.end}): {x.problem}".rstrip(": "))
        if x.status in PASSING_TROUBLE:
            raise Undecided(f"{x.id} was answered {x.status}, which says nothing about the request")


def reply_in(x: Exchange) -> Reply:
    """The reply of an exchange that has to have one before anything can be compared."""
    settled((x,))
    reply = reply_of(x)
    if reply is None:
        raise Undecided(f"{x.id} (status {x.status}) has no reply to compare with")
    return reply


def prompt_tokens_of(x: Exchange) -> int:
    """The reported prompt length in tokens, without which a relation over it cannot be judged."""
    count = reply_in(x).prompt_tokens
    if count is None:
        raise Undecided(f"{x.id} reports no prompt_tokens")
    return count


def outcome_of(x: Exchange) -> tuple[str, str, Any, tuple[tuple[Any, Any], ...]]:
    """What the first choice says: content, reasoning, finish reason, calls (without their ids)."""
    one = reply_in(x).first
    calls = tuple((call.name, call.arguments) for call in one.calls)
    return one.content, one.reasoning, one.finish_reason, calls


def steady_outcome(control: Sequence[Exchange]) -> tuple[str, str, Any, tuple[tuple[Any, Any], ...]]:
    """The outcome that the same request had each time it was sent; undecided where it had several."""
    if len(control) < 2:
        raise Undecided("the control was not sent often enough to know whether the endpoint is deterministic")
    first, *others = (outcome_of(x) for x in control)
    if any(other != first for other in others):
        raise Undecided("the endpoint did not answer the same request the same way twice")
    return first


def steady_text(control: Sequence[Exchange]) -> str:
    """The content that the same request had each time it was sent; undecided where it had several."""
    return steady_outcome(control)[0]


def refused(x: Exchange) -> Violation | None:
    """What to say where a request that the document allows was not answered with status 200."""
    if x.status == 200:
        return None
    body = x.received.body.decode("utf-8", "replace") if x.received else ""
    words = "a request that the document allows is refused"
    return Violation(words, "status 200", f"{x.status} {body[:300]}", (x.id,))


@case_law("", kind="accepted")
def accepted(case: Case, promise: Promise) -> Iterator[Violation]:
    """Every request of the case is one that the document allows, and is answered with status 200."""
    asked = case.all("asked")
    decided = [x for x in asked if x.answered and x.status not in PASSING_TROUBLE]
    violations = [violation for violation in map(refused, decided) if violation]
    if not violations:
        settled(asked)
    yield from violations


@case_law("", kind="same-prompt")
def same_prompt(case: Case, promise: Promise) -> Iterator[Violation]:
    """A change that means nothing to the model leaves status, kind of reply and prompt_tokens as they were."""
    plain, changed = case.one("plain"), case.all("changed")
    settled((plain, *changed))
    if plain.status != 200:
        raise Undecided(f"the request without the change was answered {plain.status}")
    for x in changed:
        refusal = refused(x)
        if refusal:
            yield refusal
            continue
        if x.asks_stream == plain.asks_stream and x.is_event_stream != plain.is_event_stream:
            yield Violation("the kind of reply changed", plain.media_type, x.media_type, (plain.id, x.id))
        before, after = prompt_tokens_of(plain), prompt_tokens_of(x)
        if before != after:
            yield Violation(
                "prompt_tokens changed although the prompt did not", f"{before}", f"{after}", (plain.id, x.id)
            )


@case_law("", kind="longer-prompt")
def longer_prompt(case: Case, promise: Promise) -> Iterator[Violation]:
    """What is added to the prompt reaches the model: prompt_tokens grow."""
    for shorter, longer in zip(case.all("shorter"), case.all("longer"), strict=True):
        settled((shorter, longer))
        if shorter.status != 200:
            raise Undecided(f"the shorter request was answered {shorter.status}")
        refusal = refused(longer)
        if refusal:
            yield refusal
            continue
        before, after = prompt_tokens_of(shorter), prompt_tokens_of(longer)
        if after <= before:
            yield Violation(
                "prompt_tokens did not grow although the prompt did",
                f"more than {before}",
                f"{after}",
                (shorter.id, longer.id),
            )


@case_law("", kind="same-text")
def same_text(case: Case, promise: Promise) -> Iterator[Violation]:
    """A change without effect leaves the answer as it was, where the endpoint answers the same way twice."""
    control = (*case.all("plain"), *case.all("again"))
    changed = case.all("changed")
    settled((*control, *changed))
    for x in changed:
        refusal = refused(x)
        if refusal:
            yield refusal
            return
    expected = steady_outcome(control)
    for x in changed:
        observed = outcome_of(x)
        if observed != expected:
            yield Violation(
                "the answer changed although nothing that matters did",
                shortened(expected),
                shortened(observed),
                (control[0].id, x.id),
            )
