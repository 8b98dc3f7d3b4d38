"""Ten minutes of mixed traffic, a third of which hangs up: memory ends where it was after one minute."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import time

import httpx
import pytest

from tests.reference.dialects.odd_requests import assert_answered, odd_request
from tests.reference.process import resident_bytes, started

pytestmark = pytest.mark.endurance

MINUTES = float(os.environ.get("SOAK_MINUTES", "10"))
CLIENTS = 8
GROWTH = 1.05
JSON = {"content-type": "application/json"}
LONGEST = 300  # seconds: an answer that nothing limits fills the context, beside seven others


@pytest.mark.parametrize(("dialect", "model"), [("ark", "reference/tiny-random"), ("serenity-edge", "tiny-random")])
def test_memory_stays(dialect: str, model: str) -> None:
    # llguidance panics over some schemas. That is caught, but where Rust's backtraces are switched on, the first panic
    # loads the libraries' debug information: 50 MiB, once.
    with started("--dialect", dialect, RUST_BACKTRACE="0") as (url, process):
        sent, first, last = asyncio.run(soak(url, model, process))
    print(f"{dialect}: {sent} requests in {MINUTES:g} min, {first >> 20} MiB after one minute, {last >> 20} at the end")
    assert last < first * GROWTH


async def ask_and_hang_up(url: httpx.URL, data: bytes, seconds: float) -> None:
    """A request whose asker is gone a moment later. (httpx loses a pooled connection now and then when cancelled.)"""
    _, writer = await asyncio.open_connection(url.host, url.port)
    head = f"POST {url.path}/chat/completions HTTP/1.1\r\nHost: {url.host}\r\nContent-Type: application/json\r\n"
    writer.write(f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data)
    await asyncio.sleep(seconds)
    writer.transport.abort()


async def soak(url: str, model: str, process: subprocess.Popen[str]) -> tuple[int, int, int]:
    """How many requests were sent; the process's memory after one minute and at the end, in bytes."""
    began = time.monotonic()
    sent = 0

    async def client(number: int) -> None:
        nonlocal sent
        rng = random.Random(f"soak {number}")
        async with httpx.AsyncClient(base_url=url, timeout=LONGEST, trust_env=False) as http:
            while time.monotonic() < began + 60 * MINUTES:
                data = odd_request(rng, model)
                sent += 1
                if rng.random() < 1 / 3:
                    await ask_and_hang_up(httpx.URL(url), data, rng.uniform(0.001, 0.05))
                    continue
                response = await http.post("/chat/completions", content=data, headers=JSON)
                assert_answered(response, data)

    async def after_a_minute() -> int:
        await asyncio.sleep(min(60, 6 * MINUTES))
        return resident_bytes(process)

    first, *_ = await asyncio.gather(after_a_minute(), *(client(number) for number in range(CLIENTS)))
    await asyncio.sleep(1)
    return sent, first, resident_bytes(process)
