"""Several choices for one request."""

from __future__ import annotations

from conformance.ask import Asker
from conformance.probe import probe
from conformance.traffic.bodies import Bodies, changed

CAPABILITY = "multiple-choices"


@probe("choices.*", needs=CAPABILITY, cost=3)
def test_several_choices(ask: Asker, bodies: Bodies) -> None:
    """Ask for two choices whole and three streamed: each has its index, its role and its end.

    The prompt is the same as for one choice, and is counted once.
    """
    body = bodies.chat("Say hello.", temperature=1)
    one = ask(body)
    two = ask(changed(body, n=2))
    ask.case("capability", data={"capability": CAPABILITY}, asked=two, repeatable=False)
    three = ask(changed(body, n=3, stream=True, stream_options={"include_usage": True}))
    ask.case("several-choices", whole=two, streamed=three)
    ask.case("same-prompt", ("choices.prompt-is-counted-once",), plain=one, changed=[two, three])


@probe("choices.each-keeps-the-form", needs=CAPABILITY, cost=2)
def test_several_choices_with_calls(ask: Asker, bodies: Bodies) -> None:
    """Force a call in each of two choices, whole and streamed: calls stay calls, each with its own index."""
    body = bodies.forced_call(n=2)
    ask.case("several-choices-with-calls", whole=ask(body), streamed=ask(changed(body, stream=True)))
