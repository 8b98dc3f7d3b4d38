"""Prompts that are too long, and fields that are accepted without effect.

Cases of kind `over-context` have the role `asked`; `data["words"]` is the least number of tokens it must have.
"""

from __future__ import annotations

from collections.abc import Iterator

from conformance.cases import Case
from conformance.laws.conditions import completed
from conformance.laws.refusals import about_the_request, is_refusal
from conformance.laws.registry import Undecided, Violation, case_law, law
from conformance.laws.relations import prompt_tokens_of, shortened
from conformance.laws.texts import objects
from conformance.wire.exchange import Exchange
from spec.model import Promise


@case_law("limits.over-context-prompt-is-not-cut", kind="over-context")
def over_context_prompt(case: Case, promise: Promise) -> Iterator[Violation]:
    """A prompt beyond the context is refused; where it is answered, all of it was counted."""
    x, words = case.one("asked"), int(case.data["words"])
    about_the_request(x, "the long prompt")
    if is_refusal(x):
        return
    if x.status != 200:
        yield Violation("a prompt beyond the context is neither refused nor answered", "4xx", f"HTTP {x.status}")
        return
    counted = prompt_tokens_of(x)
    if counted >= words:
        raise Undecided(f"the prompt of {counted} tokens fits into the context")
    yield Violation("a long prompt was answered, but not all of it was read", f"at least {words}", f"{counted}")


@law("request.logprobs-are-not-returned", applies=lambda x: completed(x) and x.asks("logprobs") is True)
def logprobs_are_not_returned(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """Where `logprobs` has no effect, choices have none: the member is absent or null."""
    bodies = x.chunks if x.is_event_stream else (x.json.value,)
    for body in bodies:
        for choice in objects(body.get("choices") if isinstance(body, dict) else None):
            if choice.get("logprobs") is not None:
                yield Violation("log probabilities came back", "absent or null", shortened(choice["logprobs"]))
                return
