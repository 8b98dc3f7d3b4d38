"""Requests generated from the document: every place of it once, and a bounded number at random."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.ask import Asker
from conformance.laws.generated import GENERATED
from conformance.plugin import SETTINGS_KEY, profile_of
from conformance.probe import probe
from conformance.traffic import contract
from conformance.traffic.defects import encoded
from conformance.traffic.ledger import explore
from spec.model import Profile

JUDGED = (
    "errors.client-mistakes-are-not-5xx",
    "errors.odd-input-is-survived",
    "errors.documented-statuses-only",
    "errors.body-is-an-error-object",
    "wire.json-content-type",
)
SAMPLE = 8  # at the usual effort
SHARDS = 8  # so that several processes can share the whole
FUZZED = 25


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """The whole coverage in parts of known cost; it is only generated where it is going to be sent."""
    if "shard" not in metafunc.fixturenames:
        return
    settings, profile = metafunc.config.stash[SETTINGS_KEY], profile_of(metafunc.config)
    if settings.effort != "exhaustive":
        metafunc.parametrize("shard", [])
        return
    count = len(contract.coverage(profile, settings.target.model))
    marks = [probe(*JUDGED, "request.*", effort="exhaustive", cost=len(range(i, count, SHARDS))) for i in range(SHARDS)]
    metafunc.parametrize("shard", [pytest.param(i, marks=mark) for i, mark in enumerate(marks)])


def _send(ask: Asker, generated: contract.Generated) -> None:
    asked = ask(encoded(generated.body))
    alone = generated.broken if len(generated.broken) == 1 else ()
    data: dict[str, Any] = {
        "place": generated.place,
        "scenario": generated.scenario,
        "broken": list(generated.broken),
        "complaints": contract.complaints(generated, asked),
    }
    ask.case(GENERATED, alone, data, asked=asked)


@probe(*JUDGED, effort="standard", cost=SAMPLE)
def test_sample_of_coverage(ask: Asker, profile: Profile) -> None:
    """Send a few of the requests that cover the required part of the document, spread over its places."""
    cases = contract.coverage(profile, ask.session.target.model, required_only=True)
    for number in range(SAMPLE):
        _send(ask, cases[number * len(cases) // SAMPLE])


def test_coverage(ask: Asker, profile: Profile, shard: int) -> None:
    """Send every request that covers the document: each keyword of each place kept, and broken once.

    A failure ends nothing; findings are grouped by the place in the document.
    """
    for generated in contract.coverage(profile, ask.session.target.model)[shard::SHARDS]:
        _send(ask, generated)


@pytest.mark.parametrize("kind", ["allowed", "forbidden"])
@probe(*JUDGED, effort="exhaustive", cost=FUZZED)
def test_fuzz(ask: Asker, profile: Profile, kind: str) -> None:
    """Send requests drawn at random from what the document allows, or forbids; shrink one that does harm."""

    def send(body: Any) -> None:
        broken = contract.broken_by(profile, body)
        data = {"scenario": f"fuzz, {kind}", "broken": list(broken)}
        ask.case(GENERATED, broken if len(broken) == 1 else (), data, asked=ask(encoded(body)))

    explore(ask, contract.fuzz(profile, ask.session.target.model, kind == "forbidden"), send, examples=FUZZED)
