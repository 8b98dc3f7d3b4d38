"""What is drawn for paid requests: allowed by the document, distinct, repeatable, and shrunk within a budget."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import strategies as st

import spec
from conformance.target import Target
from conformance.traffic.bodies import Bodies, changed
from conformance.traffic.conversations import TEXTS, conversations, options, texts
from conformance.traffic.properties import distinct, smallest

PROFILES = ("ark", "serenity-edge", "portable")


@cache
def _validator(name: str) -> Any:
    openapi = spec.load_profile(name).openapi
    root = {"$ref": "#/components/schemas/ChatCompletionRequest", "components": openapi["components"]}
    return jsonschema_rs.validator_for(json.loads(json.dumps(root)))


def _bodies(name: str) -> Bodies:
    return Bodies(spec.load_profile(name), Target("http://127.0.0.1", "m"), lambda: "nonce")


@pytest.mark.parametrize("name", PROFILES)
def test_the_document_allows_every_conversation(name: str) -> None:
    bodies = _bodies(name)
    roles = bodies.profile.promises["messages.every-role-is-accepted"].params["roles"]
    drawn = distinct(conversations(bodies.profile, roles), 40, 0)
    assert len(drawn) == 40
    for messages in drawn:
        assert messages[-1]["role"] == "user"
        assert _validator(name).is_valid(changed(bodies.chat(), messages=messages)), messages


@pytest.mark.parametrize("name", PROFILES)
def test_the_document_allows_every_set_of_options(name: str) -> None:
    bodies = _bodies(name)
    for fields in distinct(options(bodies), 60, 0):
        assert _validator(name).is_valid(changed(bodies.chat(), **fields)), fields
        assert fields["max_tokens"] <= 24
        assert ("parallel_tool_calls" in fields) == ("tools" in fields)


def test_texts_can_be_sent() -> None:
    drawn = distinct(texts(), 60, 0)
    assert any(text in TEXTS for text in drawn)
    for text in (*drawn, *TEXTS):
        assert text.encode("utf-8").decode("utf-8") == text
        assert "\x00" not in text


def test_the_same_seed_draws_the_same_values() -> None:
    strategy = st.integers(0, 10**6)
    first, again, other = (distinct(strategy, 5, number) for number in (1, 1, 2))
    assert first == again
    assert first != other
    assert len({json.dumps(value) for value in first}) == 5


def test_a_small_strategy_gives_what_it_has() -> None:
    assert sorted(distinct(st.sampled_from([1, 2]), 5, 0)) == [1, 2]


def test_shrinking_finds_the_smallest_failure() -> None:
    assert smallest(st.integers(0, 1000), lambda value: value >= 17, 200, 0) == 17


def test_shrinking_stays_within_its_budget() -> None:
    asked: list[int] = []

    def fails(value: int) -> bool:
        asked.append(value)
        return value > 3

    found = smallest(st.integers(0, 10**9), fails, 7, 0)
    assert len(asked) == len(set(asked)) <= 7
    assert found is None or found in asked


def test_shrinking_remembers_a_verdict() -> None:
    answers = iter([True] + [False] * 1000)
    assert smallest(st.just(1), lambda value: next(answers), 10, 0) == 1


def test_nothing_fails() -> None:
    assert smallest(st.integers(0, 5), lambda value: False, 20, 0) is None
