"""Many clients at once, of whom some hang up: nobody gets another's answer, and nothing is left behind."""

from __future__ import annotations

import asyncio
import json
import random
import time

import httpx
import pytest

from tests.reference.dialects.conftest import Speaker
from tests.reference.dialects.endpoint import Endpoint

CLIENTS = 64


def settled(endpoint: Endpoint) -> bool:
    """Whether the engine is idle with all its blocks free, at the latest after a few seconds."""
    for _ in range(200):
        stats = endpoint.app.state.engine.stats()
        if not (stats.running or stats.waiting) and stats.blocks_free == stats.blocks_total:
            return True
        time.sleep(0.05)
    return False


async def ask(client: httpx.AsyncClient, endpoint: Endpoint, number: int, rng: random.Random) -> str | None:
    """One request whose prompt is its own; the text of its answer, or None after hanging up."""
    messages = [{"role": "user", "content": f"Number {number}: tell me about {'it ' * (number % 7)}"}]
    body = endpoint.body(messages=messages, max_tokens=12 + number % 5, stream=number % 2 == 0)
    if number % 3 == 0:
        try:
            await asyncio.wait_for(client.post("/chat/completions", json=body), rng.uniform(0.01, 0.5))
        except TimeoutError:
            return None
        return None
    response = await client.post("/chat/completions", json=body)
    assert response.status_code == 200
    if not body["stream"]:
        return str(response.json()["choices"][0]["message"]["content"])
    *events, done, rest = response.text.split("\n\n")
    assert (done, rest) == ("data: [DONE]", "")
    chunks = [json.loads(event.removeprefix("data: ")) for event in events]
    assert len({chunk["id"] for chunk in chunks}) == 1
    return "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks)


def test_64_clients_of_whom_a_third_hangs_up(either: Endpoint) -> None:
    rng = random.Random(5)

    async def everybody() -> list[str | None]:
        limits = httpx.Limits(max_connections=CLIENTS)
        async with httpx.AsyncClient(base_url=either.url, timeout=120, limits=limits, trust_env=False) as client:
            return await asyncio.gather(*(ask(client, either, number, rng) for number in range(CLIENTS)))

    together = asyncio.run(everybody())

    assert settled(either)
    for number in (1, 2, 4, 31, 62):
        messages = [{"role": "user", "content": f"Number {number}: tell me about {'it ' * (number % 7)}"}]
        alone = either.message(messages=messages, max_tokens=12 + number % 5)
        assert together[number] == alone["content"]


@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_hangs_up_stops_the_generation(speak_either: Speaker, stream: bool) -> None:
    endpoint = speak_either("word " * 500, delay=0.01)

    request = {"json": endpoint.body(max_tokens=400, stream=stream), "timeout": 0.3}
    if stream:
        with endpoint.client.stream("POST", "/chat/completions", **request) as response:
            next(response.iter_raw())
    else:
        with pytest.raises(httpx.ReadTimeout):
            endpoint.client.post("/chat/completions", **request)

    generation = endpoint.app.state.engine.generations[0]
    deadline = time.monotonic() + 5
    while not generation.cancelled and time.monotonic() < deadline:
        time.sleep(0.01)
    assert generation.cancelled
    assert generation.completion_tokens < 400


def test_a_full_queue_is_429_with_retry_after(serenity: Endpoint) -> None:
    engine = serenity.app.state.engine
    before = engine.max_queue
    engine.max_queue = -engine.max_batch
    try:
        response = serenity.post()
    finally:
        engine.max_queue = before

    assert response.status_code == 429
    assert response.headers["retry-after"] == "1"
    assert response.json()["error"]["type"] == "rate_limit_error"
