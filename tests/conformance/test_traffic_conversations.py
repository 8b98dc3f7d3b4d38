"""What is drawn for paid requests: conversations and option sets that the document allows."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import spec
from conformance.target import Target
from conformance.traffic.bodies import Bodies, changed
from conformance.traffic.conversations import TEXTS, conversations, options, texts

PROFILES = ("ark", "serenity-edge", "portable")


@cache
def _validator(name: str) -> Any:
    openapi = spec.load_profile(name).openapi
    root = {"$ref": "#/components/schemas/ChatCompletionRequest", "components": openapi["components"]}
    return jsonschema_rs.validator_for(json.loads(json.dumps(root)))


def drawn(strategy: st.SearchStrategy[Any], count: int) -> list[Any]:
    """Values of a strategy, the same ones every time."""
    found: list[Any] = []

    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(value: Any) -> None:
        found.append(value)

    collect()
    return found


def _bodies(name: str) -> Bodies:
    return Bodies(spec.load_profile(name), Target("http://127.0.0.1", "m"), lambda: "nonce")


@pytest.mark.parametrize("name", PROFILES)
def test_the_document_allows_every_conversation(name: str) -> None:
    bodies = _bodies(name)
    roles = bodies.profile.promises["messages.every-role-is-accepted"].params["roles"]
    for messages in drawn(conversations(bodies.profile, roles), 60):
        assert messages[-1]["role"] == "user"
        assert _validator(name).is_valid(changed(bodies.chat(), messages=messages)), messages


@pytest.mark.parametrize("name", PROFILES)
def test_the_document_allows_every_set_of_options(name: str) -> None:
    bodies = _bodies(name)
    for fields in drawn(options(bodies), 100):
        assert _validator(name).is_valid(changed(bodies.chat(), **fields)), fields
        assert fields["max_tokens"] <= 24


def test_texts_can_be_sent() -> None:
    found = drawn(texts(), 60)
    assert any(text in TEXTS for text in found)
    for text in (*found, *TEXTS):
        assert text.encode("utf-8").decode("utf-8") == text
        assert "\x00" not in text
