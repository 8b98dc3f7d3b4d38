"""Conversations kept on the server: what one holds, that others leave it alone, and its cap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from conformance.cases import Case
from conformance.laws.refusals import is_refusal
from conformance.laws.registry import Undecided, Violation, case_law
from conformance.laws.relations import outcome_of, prompt_tokens_of, refused, reply_in, settled
from conformance.wire.exchange import Exchange
from spec.model import Promise


def _same_growth(alone: Sequence[Exchange], disturbed: Sequence[Exchange], what: str) -> Iterator[Violation]:
    """Two sessions with the same turns grow alike from turn to turn, as long as their replies are the same.

    Growth is compared and not length, because a session may still hold what an earlier run has said in it.
    """
    settled((*alone, *disturbed))
    for number, (plain, other) in enumerate(zip(alone, disturbed, strict=True), 1):
        if plain.status != 200:
            raise Undecided(f"turn {number} of the undisturbed session was answered {plain.status}")
        violation = refused(other)
        if violation:
            yield violation
            return
        before, after = (
            prompt_tokens_of(now) - prompt_tokens_of(first) for now, first in ((plain, alone[0]), (other, disturbed[0]))
        )
        if before != after:
            words = f"{what} changed by how much the prompt has grown until turn {number} (prompt_tokens)"
            yield Violation(words, f"{before}, as without it", str(after), (plain.id, other.id))
            return
        if number < len(alone) and outcome_of(plain)[0] != outcome_of(other)[0]:
            raise Undecided(f"the replies to turn {number} differ, so that later prompts cannot be compared")


@case_law("sessions.do-not-mix", kind="sessions-apart")
def sessions_do_not_mix(case: Case, promise: Promise) -> Iterator[Violation]:
    """Turns of another session between them leave the growth of its prompt_tokens as it is without."""
    yield from _same_growth(case.all("alone"), case.all("mixed"), "a turn of another session")


@case_law("sessions.refused-turn-changes-nothing", kind="session-refused-turn")
def refused_turn_changes_nothing(case: Case, promise: Promise) -> Iterator[Violation]:
    """A refused request between them leaves the growth of a session's prompt_tokens as it is without."""
    refusals = case.all("refused")
    settled(refusals)
    if not all(map(is_refusal, refusals)):
        raise Undecided("the request between the turns was not refused")
    yield from _same_growth(case.all("alone"), case.all("mixed"), "a refused request")


@case_law("sessions.cap-bounds-the-session", kind="session-cap")
def cap_bounds_the_session(case: Case, promise: Promise) -> Iterator[Violation]:
    """No answered turn leaves its session with more tokens (prompt and completion) than the cap it names."""
    turns = case.all("turns")
    settled(turns)
    name = str(promise.params["cap"])
    answered = [x for x in turns if x.status == 200]
    if not answered and not any(map(is_refusal, turns)):
        raise Undecided("no turn was answered or refused")
    caps, generated = [], 0
    for x in answered:
        cap, reply = x.asks(name), reply_in(x)
        if not isinstance(cap, int) or reply.prompt_tokens is None or reply.completion_tokens is None:
            raise Undecided(f"{x.id} says nothing about how many tokens the session holds")
        held = reply.prompt_tokens + reply.completion_tokens
        if held > cap:
            yield Violation("a session holds more tokens than its cap", f"at most {cap}", str(held), (x.id,))
        caps.append(cap)
        generated += reply.completion_tokens
    if caps and generated > max(caps):
        yield Violation("the replies of a session are longer than its cap", f"at most {max(caps)}", str(generated))
