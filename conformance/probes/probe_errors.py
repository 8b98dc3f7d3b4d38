"""Refusals, again and again: the same each time, whole and streamed."""

from __future__ import annotations

import pytest

from conformance.ask import Asker
from conformance.probe import probe
from conformance.probes.pairs import REFUSALS
from conformance.traffic.bodies import Bodies, Body, changed
from conformance.traffic.carriers import SHORT

STREAMED, AGAIN = "errors.same-streamed-and-whole", "errors.repeat"
SEEN = (STREAMED, AGAIN, "stream.refusals-are-not-streams", *REFUSALS)


def _defects(bodies: Bodies) -> dict[str, Body]:
    body = bodies.chat("Say OK.", max_tokens=SHORT)
    return {
        "no-messages": changed(body, messages=[]),
        "high-temperature": changed(body, temperature=2.5),
        "no-model": changed(body, model=...),
        "unknown-role": changed(body, messages=[{"role": "narrator", "content": "Once."}]),
    }


@pytest.mark.parametrize(
    ("name", "effort"),
    [
        pytest.param("no-messages", "", marks=probe(*SEEN, effort="standard", cost=3)),
        pytest.param("high-temperature", "", marks=probe(*SEEN, effort="standard", cost=3)),
        pytest.param("no-model", "", marks=probe(*SEEN, effort="exhaustive", cost=3)),
        pytest.param("unknown-role", "", marks=probe(*SEEN, effort="exhaustive", cost=3)),
    ],
)
def test_the_same_refusal(ask: Asker, bodies: Bodies, name: str, effort: str) -> None:
    """Send one defect twice, and once with `stream`: the refusal stays the same JSON body.

    Clients decide by status and code whether to try again; a stream that only fails once it has begun, or a code
    that changes, leads them astray.
    """
    body = _defects(bodies)[name]
    first, again, streamed = ask(body), ask(body), ask({**body, "stream": True})
    ask.case("refused-again", [AGAIN], asked=[first, again])
    ask.case("refused-both-ways", [STREAMED], whole=first, streamed=streamed)
