"""Requests beside and after one another: nothing leaks, and nothing of one disturbs the next."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from conformance.cases import Case
from conformance.laws.conditions import chat
from conformance.laws.registry import Undecided, Violation, case_law, run_law
from conformance.laws.relations import outcome_of, prompt_tokens_of, reply_in, settled, shortened, steady_outcome
from conformance.laws.texts import asked_text, pieces_of
from conformance.wire.exchange import Exchange
from spec.model import Promise

#: Roles together (sent at the same time) and alone (the same requests, one by one, in the same order).
TOGETHER = "together"
#: Roles before, cut (the client hung up), after: the same streamed request three times.
HUNG_UP = "hung-up"
#: Roles first (a prompt never sent before) and again (the same, when it can be cached).
CACHED = "cached"

_NONCE = re.compile(r"Reference: ([0-9a-f]{12})\b")
_WORD = re.compile(r"\b[0-9a-f]{12}\b")


def nonces_of(x: Exchange) -> set[str]:
    """The words of its own that a request carries."""
    return set(_NONCE.findall(asked_text(x)))


def _echoes(exchanges: Sequence[Exchange], within_probe: bool) -> Iterator[Violation]:
    """Texts that contain a word which only another request carries."""
    owners = {nonce: x for x in exchanges for nonce in nonces_of(x)}
    for x in exchanges:
        said = "".join(piece for _, piece in pieces_of(x))
        for word in dict.fromkeys(_WORD.findall(said)):
            other = owners.get(word)
            if other is not None and (within_probe or other.probe != x.probe) and word not in asked_text(x):
                yield Violation(
                    "a reply contains a word that only another request holds",
                    "nothing of other requests",
                    word,
                    (x.id, other.id),
                )


def _ids_of(x: Exchange) -> set[str]:
    """Every id of a reply: one, or those of all chunks."""
    ids = [chunk.get("id") for chunk in x.chunks] if x.is_event_stream else [reply_in(x).id]
    return {one for one in ids if isinstance(one, str)}


@case_law("wire.requests-do-not-mix", kind=TOGETHER)
def requests_do_not_mix(case: Case, promise: Promise) -> Iterator[Violation]:
    """Sent together, requests have ids, texts and prompt_tokens of their own, as each has when sent alone."""
    together = case.all("together")
    settled(together)
    if any(x.status != 200 for x in together):
        raise Undecided("not every request that was sent at the same time was accepted")
    ids = [_ids_of(x) for x in together]
    shared = sorted({one for i, mine in enumerate(ids) for others in ids[i + 1 :] for one in mine & others})
    if shared:
        yield Violation("replies to requests sent together share an id", "distinct ids", shortened(shared))
    yield from _echoes([*together, *case.all("alone")], within_probe=True)
    for x, single in zip(together, case.all("alone"), strict=False):
        if reply_in(x).usage is None or reply_in(single).usage is None:
            continue
        if prompt_tokens_of(x) != prompt_tokens_of(single):
            yield Violation(
                "prompt_tokens differ when requests are sent together",
                f"{prompt_tokens_of(single)}",
                f"{prompt_tokens_of(x)}",
                (x.id, single.id),
            )


@run_law("wire.requests-do-not-mix")
def replies_hold_nothing_of_others(exchanges: Sequence[Exchange], promise: Promise) -> Iterator[Violation]:
    """No reply of the run contains a word that only requests of other probes carry.

    Requests of one probe may belong to one conversation that the endpoint keeps.
    """
    yield from _echoes([x for x in exchanges if chat(x)], within_probe=False)


@case_law("wire.hang-up-leaves-the-next-alone", kind=HUNG_UP)
def hang_up_leaves_the_next_alone(case: Case, promise: Promise) -> Iterator[Violation]:
    """After a client hung up, the same request has the status, form and prompt_tokens that it had before."""
    before, after = case.one("before"), case.one("after")
    settled((before,))
    if not before.ok:
        raise Undecided(f"the request was answered {before.status} before any client hung up")
    if not any(x.end == "hung-up" for x in case.all("cut")):
        raise Undecided("the answer was complete before the client could hang up")
    if not after.answered:
        yield Violation("the next request got no whole answer", "an answer as before", f"{after.end}: {after.problem}")
        return
    settled((after,))
    if after.status != 200 or after.is_event_stream != before.is_event_stream:
        yield Violation(
            "the next request is answered differently",
            f"{before.status} {before.media_type}",
            f"{after.status} {after.media_type}",
        )
    elif reply_in(after).first.finish_reason is None:
        yield Violation("the next stream does not come to its finish", "a finish_reason", "none")
    elif prompt_tokens_of(before) != prompt_tokens_of(after):
        yield Violation(
            "the next request has other prompt_tokens", f"{prompt_tokens_of(before)}", f"{prompt_tokens_of(after)}"
        )


@case_law("wire.cache-keeps-the-answer", kind=CACHED)
def cache_keeps_the_answer(case: Case, promise: Promise) -> Iterator[Violation]:
    """A prompt's first answer and those after it are the same; undecided where the later ones differ too."""
    settled(case.exchanges)
    first = outcome_of(case.one("first"))
    later = steady_outcome(case.all("again"))
    if later != first:
        yield Violation("a prompt is answered differently once it has been seen", shortened(first), shortened(later))
