"""What a run may spend, shared by its worker processes through one locked file."""

from __future__ import annotations

import fcntl
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO


class BudgetSpent(Exception):
    """A cap is reached: nothing more is sent, what was seen is kept."""


@dataclass(frozen=True, slots=True)
class Caps:
    """Hard caps of a run; None means no cap. `until` is a wall-clock time in seconds since the epoch."""

    requests: int | None = None
    tokens: int | None = None
    until: float | None = None


@dataclass(slots=True)
class Spent:
    """What all workers together have used so far; `reserved` tokens belong to requests in flight."""

    requests: int = 0
    tokens: int = 0
    reserved: int = 0
    waiting_s: float = 0.0
    stopped: str = ""


class Budget:
    """Takes requests and tokens out of the shared purse before anything is sent."""

    def __init__(self, path: Path, caps: Caps) -> None:
        self.path = path
        self.caps = caps
        path.touch()

    @contextmanager
    def _locked(self) -> Iterator[Spent]:
        with self.path.open("r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            spent = self._load(file)
            yield spent
            file.seek(0)
            file.truncate()
            json.dump(asdict(spent), file)

    @staticmethod
    def _load(file: IO[str]) -> Spent:
        text = file.read()
        return Spent(**json.loads(text)) if text else Spent()

    def take(self, tokens: int) -> None:
        """Reserve one request that may use so many tokens, or raise `BudgetSpent`."""
        with self._locked() as spent:
            if self.caps.until is not None and time.time() >= self.caps.until:
                spent.stopped = spent.stopped or "the time given to the run is over"
            elif self.caps.requests is not None and spent.requests + 1 > self.caps.requests:
                spent.stopped = spent.stopped or f"all {self.caps.requests} requests are spent"
            elif self.caps.tokens is not None and spent.tokens + spent.reserved + tokens > self.caps.tokens:
                spent.stopped = spent.stopped or f"the next request could pass {self.caps.tokens} tokens"
            if not spent.stopped:
                spent.requests += 1
                spent.reserved += tokens
            stopped = spent.stopped
        if stopped:
            raise BudgetSpent(stopped)

    def settle(self, reserved: int, used: int) -> None:
        """Replace a reservation by what the answer says it used."""
        with self._locked() as spent:
            spent.reserved -= reserved
            spent.tokens += used

    def waited(self, seconds: float) -> None:
        """Count time spent waiting because the endpoint asked for it."""
        with self._locked() as spent:
            spent.waiting_s += seconds

    def stop(self, reason: str) -> None:
        """End the run's sending for everybody."""
        with self._locked() as spent:
            spent.stopped = spent.stopped or reason

    def read(self) -> Spent:
        """What is spent so far."""
        with self._locked() as spent:
            return spent
