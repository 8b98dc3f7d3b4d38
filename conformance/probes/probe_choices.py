"""Several choices for one request."""

from __future__ import annotations

import pytest

from conformance.ask import Asker
from conformance.plugin import profile_of
from conformance.probe import probe
from conformance.traffic.bodies import Bodies, changed

CAPABILITY = "multiple-choices"
SEVERAL = "choices.several-are-accepted"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Ask for several choices only where the document promises them; there they show all about choices."""
    if "counts" in metafunc.fixturenames:
        promised = SEVERAL in profile_of(metafunc.config).promises
        mark = probe(*(("choices.*", "stream.finish-once") if promised else (SEVERAL,)), needs=CAPABILITY, cost=3)
        metafunc.parametrize("counts", [pytest.param((2, 3), marks=mark, id="two-and-three")])


def test_several_choices(ask: Asker, bodies: Bodies, counts: tuple[int, int]) -> None:
    """Ask for two choices whole and three streamed: each has its index, its role and its end.

    The prompt is the same as for one choice, and is counted once.
    """
    body = bodies.chat("Say hello.", temperature=1)
    one = ask(body)
    two = ask(changed(body, n=counts[0]))
    ask.case("capability", data={"capability": CAPABILITY}, asked=two, repeatable=False)
    three = ask(changed(body, n=counts[1], stream=True, stream_options={"include_usage": True}))
    ask.case("several-choices", whole=two, streamed=three)
    ask.case("same-prompt", ("choices.prompt-is-counted-once",), plain=one, changed=[two, three])


@probe("choices.each-keeps-the-form", needs=CAPABILITY, cost=2)
def test_several_choices_with_calls(ask: Asker, bodies: Bodies) -> None:
    """Force a call in each of two choices, whole and streamed: calls stay calls, each with its own index."""
    body = bodies.forced_call(n=2)
    ask.case("several-choices-with-calls", whole=ask(body), streamed=ask(changed(body, stream=True)))
