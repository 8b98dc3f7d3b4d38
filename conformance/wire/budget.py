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

_SIZE = 2048


class BudgetSpent(Exception):
    """A cap is reached: nothing more is sent, what was seen is kept."""


@dataclass(frozen=True, slots=True)
class Caps:
    """Hard caps of a run; None means no cap.

    `until` is a wall-clock time in seconds since the epoch; `cost` is money, in the currency of the prices.
    """

    requests: int | None = None
    tokens: int | None = None
    until: float | None = None
    cost: float | None = None
    requests_per_minute: float | None = None


@dataclass(frozen=True, slots=True)
class Amount:
    """Tokens and the money they cost: as an upper bound before a request, as a fact after its answer."""

    tokens: int = 0
    cost: float = 0.0


@dataclass(slots=True)
class Spent:
    """What all workers together have used so far; what is `reserved` belongs to requests in flight.

    Before `quiet_until` nobody sends, because the endpoint asked for patience; `next_at` paces requests.
    """

    requests: int = 0
    tokens: int = 0
    cost: float = 0.0
    reserved_tokens: int = 0
    reserved_cost: float = 0.0
    waiting_s: float = 0.0
    quiet_until: float = 0.0
    next_at: float = 0.0
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
            # Written over in place and padded: some file systems wait for the disk when a file was truncated.
            file.write(json.dumps(asdict(spent)).ljust(_SIZE))

    @staticmethod
    def _load(file: IO[str]) -> Spent:
        text = file.read().strip()
        return Spent(**json.loads(text)) if text else Spent()

    def take(self, bound: Amount) -> float:
        """Reserve one request that may use so much, or raise `BudgetSpent`; returns seconds to wait before it."""
        with self._locked() as spent:
            spent.stopped = spent.stopped or self._over(spent, bound)
            wait = 0.0
            if not spent.stopped:
                spent.requests += 1
                spent.reserved_tokens += bound.tokens
                spent.reserved_cost += bound.cost
                wait = self._turn(spent)
            stopped = spent.stopped
        if stopped:
            raise BudgetSpent(stopped)
        return wait

    def _over(self, spent: Spent, bound: Amount) -> str:
        """Which cap one more request would pass, in words; '' where it passes none."""
        caps = self.caps
        if caps.until is not None and self._start(spent) >= caps.until:
            return "the time given to the run is over, or would be before the next request may be sent"
        if caps.requests is not None and spent.requests + 1 > caps.requests:
            return f"all {caps.requests} requests are spent"
        if caps.tokens is not None and spent.tokens + spent.reserved_tokens + bound.tokens > caps.tokens:
            return f"the next request could pass {caps.tokens} tokens"
        if caps.cost is not None and spent.cost + spent.reserved_cost + bound.cost > caps.cost:
            return f"the next request could cost more than the {caps.cost:g} given"
        return ""

    @staticmethod
    def _start(spent: Spent) -> float:
        """When the next request may be sent."""
        return max(time.time(), spent.next_at, spent.quiet_until)

    def _turn(self, spent: Spent) -> float:
        now, start = time.time(), self._start(spent)
        if self.caps.requests_per_minute is not None:
            spent.next_at = start + 60.0 / self.caps.requests_per_minute
        wait = max(0.0, start - now)
        spent.waiting_s += wait
        return wait

    def settle(self, bound: Amount, used: Amount) -> None:
        """Replace a reservation by what the answer says it used."""
        with self._locked() as spent:
            spent.reserved_tokens -= bound.tokens
            spent.reserved_cost -= bound.cost
            spent.tokens += used.tokens
            spent.cost += used.cost

    def hush(self, seconds: float) -> None:
        """The endpoint asks for patience: nobody sends before so many seconds have passed."""
        with self._locked() as spent:
            spent.quiet_until = max(spent.quiet_until, time.time() + seconds)

    def reopen(self) -> None:
        """Go on after an interruption: what was spent stays spent, what was in flight is forgotten."""
        with self._locked() as spent:
            spent.stopped = ""
            spent.reserved_tokens, spent.reserved_cost = 0, 0.0

    def stop(self, reason: str) -> None:
        """End the run's sending for everybody."""
        with self._locked() as spent:
            spent.stopped = spent.stopped or reason

    def read(self) -> Spent:
        """What is spent so far."""
        with self._locked() as spent:
            return spent
