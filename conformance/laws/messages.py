"""Conversations: what may change in one without changing what the model reads."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.cases import Case
from conformance.laws.registry import Undecided, Violation, case_law
from conformance.laws.relations import prompt_tokens_of, refused, settled
from spec.model import Promise


@case_law("messages.call-ids-are-opaque", kind="renamed-calls")
def call_ids_are_opaque(case: Case, promise: Promise) -> Iterator[Violation]:
    """Other ids for the calls of a conversation change no status, and the length of the prompt at most a little.

    Roles `plain` and `changed`; the promise's `tolerance` is in tokens, since ids may be part of the prompt.
    """
    plain, changed = case.one("plain"), case.one("changed")
    settled((plain, changed))
    if plain.status != 200:
        raise Undecided(f"the conversation with the first ids was answered {plain.status}")
    refusal = refused(changed)
    if refusal:
        yield refusal
        return
    before, after = prompt_tokens_of(plain), prompt_tokens_of(changed)
    tolerance = int(promise.params.get("tolerance", 0))
    if abs(after - before) > tolerance:
        yield Violation("prompt_tokens changed with the ids of calls", f"{before} ± {tolerance}", f"{after}")
