"""Conditions that no client can provoke, provoked by a header where the endpoint allows it."""

from __future__ import annotations

import pytest

from conformance.ask import Asker
from conformance.probe import probe
from conformance.traffic.bodies import Bodies
from conformance.traffic.carriers import SHORT

BODIES = (
    "errors.body-is-json",
    "errors.body-is-an-error-object",
    "errors.message-is-text",
    "errors.type-fits-the-status",
)
CONDITIONS = {
    "rate_limit": ("errors.rate-limit-is-429", "errors.retry-after-on-429"),
    "overload": ("errors.overload-is-429-or-503",),
    "upstream_error": ("errors.upstream-error-is-500",),
    "timeout": ("errors.timeout-is-500",),
}


@pytest.mark.parametrize(
    "condition",
    [
        pytest.param(name, marks=probe(*ids, *BODIES, effort="standard", cost=1, needs="induce"))
        for name, ids in CONDITIONS.items()
    ],
)
def test_failure(ask: Asker, bodies: Bodies, condition: str) -> None:
    """Have a plain request fail in one of the documented ways."""
    ask(bodies.chat("Say OK.", max_tokens=SHORT), induce=condition)


@pytest.mark.parametrize(
    "condition",
    [
        pytest.param(name, marks=probe(*ids, *BODIES, effort="exhaustive", cost=1, needs="induce"))
        for name, ids in CONDITIONS.items()
    ],
)
def test_failure_of_a_stream(ask: Asker, bodies: Bodies, condition: str) -> None:
    """Have a streamed request fail before its first event: with a status, not with a stream."""
    ask(bodies.chat("Say OK.", max_tokens=SHORT, stream=True), induce=condition)
