"""Malformed and odd requests, from a fixed seed: every answer is an answer, none is a 5xx."""

from __future__ import annotations

import random

import pytest

from tests.reference.dialects.endpoint import Endpoint
from tests.reference.dialects.odd_requests import assert_answered, odd_request

REQUESTS = 400


@pytest.mark.parametrize("part", range(4))
def test_no_request_is_answered_with_5xx(either: Endpoint, part: int) -> None:
    rng = random.Random(f"{part}")
    statuses = set()
    for _ in range(REQUESTS // 4):
        data = odd_request(rng, either.model)
        response = either.raw(data)
        assert_answered(response, data)
        statuses.add(response.status_code)
    assert {200, 400} <= statuses
    assert either.app.state.engine.stats().running == 0
