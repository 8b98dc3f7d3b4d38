"""False alarms: the untouched reference again and again, with other seeds, workers, chunks, delays and efforts."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from conformance import reference
from conformance.probe import Effort
from conformance.proof.prove import Red, observe
from conformance.settings import Settings

DELAYS_MS = (0, 0, 0, 2, 0)
WORKERS = (1, 2, 4)
TOKENS_PER_CHUNK = (1, 3, 1, 20)
EFFORT: tuple[Effort, ...] = ("standard", "standard", "exhaustive", "standard", "standard")


@dataclass(frozen=True, slots=True)
class CleanRun:
    """One run against an untouched reference: anything red is a false alarm."""

    number: int
    seed: int
    workers: int
    delay_ms: int
    tokens_per_chunk: int
    effort: Effort
    red: dict[str, Red]
    errors: list[str]
    requests: int


def clean_runs(settings: Settings, count: int, model: str) -> Iterator[CleanRun]:
    """Run so often, each time with other circumstances, and yield what was seen."""
    for number in range(1, count + 1):
        delay, workers = DELAYS_MS[number % len(DELAYS_MS)], WORKERS[number % len(WORKERS)]
        effort = EFFORT[number % len(EFFORT)]
        tokens = TOKENS_PER_CHUNK[number % len(TOKENS_PER_CHUNK)]
        with ExitStack() as stack:
            arguments = ("--allow-induce", "--token-delay-ms", str(delay), "--tokens-per-chunk", str(tokens))
            running = stack.enter_context(reference.running(settings.profile, *arguments))
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            target = replace(settings.target, base_url=running.base_url, model=model or settings.target.model)
            here = replace(settings, out=folder, seed=number, workers=workers, target=target, effort=effort)
            red, errors, requests = observe(here)
        yield CleanRun(number, number, workers, delay, tokens, effort, red, errors, requests)
