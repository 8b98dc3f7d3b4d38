"""The state machine of sessions, against an endpoint that says yes to everything."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.traffic.session_machine import Hand, explore_sessions
from tests.conformance.made import completion, refused, whole


class Recorder:
    """Takes the place of what a probe asks with."""

    def __init__(self, seed: int) -> None:
        self.session, self.probe = SimpleNamespace(seed=seed), "sessions::drawn"
        self.sent: list[dict[str, Any]] = []
        self.cases: list[tuple[str, dict[str, Any]]] = []
        self._nonces = itertools.count()

    def __call__(self, body: dict[str, Any]) -> Any:
        self.sent.append(body)
        in_session = "session" in body
        return (
            refused(asked=body) if in_session and ("cap" not in body or "stop" in body) else whole(body, completion())
        )

    def nonce(self) -> str:
        return f"n{next(self._nonces)}"

    def case(self, kind: str, *, repeatable: bool, **roles: Any) -> None:
        self.cases.append((kind, roles))


class Builder:
    """Takes the place of the builder of bodies."""

    def chat(self, text: str = "", max_tokens: int = 0, **fields: Any) -> dict[str, Any]:
        return {"messages": [{"role": "user", "content": text}], "max_tokens": max_tokens, **fields}


def explored(seed: int = 0, requests: int = 48) -> Recorder:
    recorder = Recorder(seed)
    explore_sessions(Hand(recorder, Builder(), "session", "cap", requests))  # type: ignore[arg-type]
    return recorder


@pytest.mark.parametrize("requests", [1, 7, 48])
def test_it_sends_exactly_what_it_may(requests: int) -> None:
    assert len(explored(requests=requests).sent) == requests


def test_the_same_seed_sends_the_same_and_another_seed_something_else() -> None:
    assert explored(3).sent == explored(3).sent
    assert explored(3).sent != explored(4).sent


def test_every_session_is_replayed_turn_by_turn_in_a_session_of_its_own() -> None:
    cases = explored().cases
    assert {kind for kind, _ in cases} == {"sessions-apart", "session-refused-turn"}
    for _, roles in cases:
        alone, mixed = roles["alone"], roles["mixed"]
        assert len(alone) == len(mixed) >= 2
        assert len({x.asks("session") for x in alone}) == len({x.asks("session") for x in mixed}) == 1
        assert alone[0].asks("session") != mixed[0].asks("session")
        assert [x.asks("messages") for x in alone] == [x.asks("messages") for x in mixed]


def test_what_is_to_be_refused_is_refused() -> None:
    refusals = [x for kind, roles in explored().cases if kind == "session-refused-turn" for x in roles["refused"]]
    assert refusals
    assert all(("cap" in x.asked) is ("stop" in x.asked) for x in refusals)
