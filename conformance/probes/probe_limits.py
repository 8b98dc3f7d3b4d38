"""Token limits: under each of their names, low and lower, with and without reasoning."""

from __future__ import annotations

from conformance.ask import Asker
from conformance.laws.limits import CUT_SHORT
from conformance.probe import probe
from conformance.probes.observed import ANY_USAGE, WHOLE_REPLY
from conformance.traffic.bodies import Bodies, changed
from conformance.traffic.ledger import explore
from conformance.traffic.strategies import token_limits

LONG_QUESTION = "Count from 1 to 20, separated by commas."
CUTS = (
    "finish.length-when-cut",
    "finish.length-means-limit",
    "finish.length-has-output",
    "limits.longer-limit-extends",
)


@probe(*CUTS, *WHOLE_REPLY, effort="smoke", cost=3)
def test_lower_limit_cuts(ask: Asker, bodies: Bodies) -> None:
    """Ask for a longer text twice, and once under a limit of six tokens: its beginning comes back, cut by length."""
    body = bodies.chat(LONG_QUESTION)
    long = [ask(body), ask(body)]
    ask.case(CUT_SHORT, long=long, short=ask(changed(body, max_tokens=6)))


@probe(*CUTS, "limits.max-tokens-bounds-output", cost=2)
def test_single_token(ask: Asker, bodies: Bodies) -> None:
    """Allow a single token, whole and streamed: one token comes, and the reason is length."""
    body = bodies.chat(LONG_QUESTION, max_tokens=1)
    ask(body)
    ask(changed(body, stream=True, stream_options={"include_usage": True}))


@probe("limits.max-completion-tokens-bounds-output", cost=1)
def test_synonym_alone(ask: Asker, bodies: Bodies) -> None:
    """Limit a longer text by `max_completion_tokens` alone."""
    ask(changed(bodies.chat(LONG_QUESTION), max_tokens=..., max_completion_tokens=6))


@probe("limits.max-completion-tokens-wins", cost=2)
def test_synonym_wins(ask: Asker, bodies: Bodies) -> None:
    """Set both limits, once the one lower and once the other: `max_completion_tokens` is the one that counts."""
    ask(bodies.chat(LONG_QUESTION, max_tokens=24, max_completion_tokens=6))
    ask(bodies.chat(LONG_QUESTION, max_tokens=6, max_completion_tokens=24))


@probe("limits.bound-includes-reasoning", *ANY_USAGE, needs="reasoning", cost=1)
def test_limit_covers_reasoning(ask: Asker, bodies: Bodies) -> None:
    """Let the model reason under a low limit: reasoning and answer together keep to it."""
    model = bodies.target.reasoning_model or bodies.target.model
    ask(bodies.chat("What is 17 + 25?", max_tokens=16, model=model, reasoning={"effort": "high"}))


@probe(*CUTS, "limits.max-tokens-bounds-output", effort="exhaustive", cost=18)
def test_any_limit(ask: Asker, bodies: Bodies) -> None:
    """Draw limits: under each the text is the beginning of what comes without it, and no longer than allowed."""
    body = bodies.chat(LONG_QUESTION, max_tokens=64)
    long = [ask(body), ask(body)]

    def send(limit: int) -> None:
        ask.case(CUT_SHORT, long=long, short=ask(changed(body, max_tokens=limit)))

    explore(ask, token_limits(40), send, examples=16)
