"""20,000 odd, malformed and generated requests from fixed seeds: no 5xx, no hang, and no growth of memory."""

from __future__ import annotations

import json
import random
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from conformance.traffic.contract import fuzz
from spec.loader import load_profile
from tests.reference.dialects.odd_requests import assert_answered, odd_request
from tests.reference.process import resident_bytes, started

pytestmark = pytest.mark.endurance

OWN, DRAWN = 8_000, 2_000  # of each dialect: by our own generator, and by Schemathesis
WARM = 1_000
GROWTH = 24 << 20


@pytest.mark.parametrize(("dialect", "model"), [("ark", "reference/tiny-random"), ("serenity-edge", "tiny-random")])
def test_ten_thousand_requests(dialect: str, model: str) -> None:
    with started("--dialect", dialect) as (url, process), httpx.Client(timeout=60, trust_env=False) as client:

        def send(data: bytes) -> None:
            headers = {"content-type": "application/json"}
            assert_answered(client.post(f"{url}/chat/completions", content=data, headers=headers), data)

        rng = random.Random("endurance")
        for _ in range(WARM):
            send(odd_request(rng, model))
        warm = resident_bytes(process)
        for _ in range(OWN - WARM):
            send(odd_request(rng, model))
        for negative in (False, True):
            draw(dialect, model, negative, send)
        send(json.dumps({"model": model, "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 3}).encode())
        assert resident_bytes(process) < warm + GROWTH, (warm, resident_bytes(process))
        print(f"{dialect}: {warm >> 20} MiB after {WARM} requests, {resident_bytes(process) >> 20} at the end")


def draw(dialect: str, model: str, negative: bool, send: Any) -> None:
    """Send what Schemathesis draws from the document, or from what it forbids."""

    @seed(7)
    @settings(
        max_examples=DRAWN // 2,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(fuzz(load_profile(dialect), model, negative))
    def each(body: Any) -> None:
        if isinstance(body, dict):
            body = {**body, "max_tokens": 3} if isinstance(body.get("max_tokens"), int) else body
        send(json.dumps(body, ensure_ascii=False).encode())

    each()
