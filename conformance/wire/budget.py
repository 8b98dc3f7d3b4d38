"""What a run may spend, shared by its worker processes through one locked file."""

from __future__ import annotations

import fcntl
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO

_SIZE = 8192  # room for 64 workers and what some of them send at once
LOOK_AGAIN_S = 0.05
OVERLOADED = (429, 503)
GOOD_ANSWERS = 10  # after so many one more request may be in flight


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


@dataclass(frozen=True, slots=True)
class Turn:
    """One request that may be sent after `wait` seconds, which is at `start`; `bound` is reserved for it."""

    bound: Amount
    wait: float
    start: float


@dataclass(slots=True)
class Spent:
    """What all workers together have used so far; what is `reserved` belongs to requests in flight.

    Before `quiet_until` nobody sends, because the endpoint asked for patience; `next_at` paces requests. `in_flight`
    has the start of every request that is not answered yet, and `window` is how many there may be: 0 stands for as
    many as there are workers, until the endpoint has too much of them. It is halved then, once for all that were in
    flight together, and grows by one after some `good` answers.
    """

    requests: int = 0
    tokens: int = 0
    cost: float = 0.0
    reserved_tokens: int = 0
    reserved_cost: float = 0.0
    waiting_s: float = 0.0
    quiet_until: float = 0.0
    next_at: float = 0.0
    in_flight: list[float] = field(default_factory=list)
    window: int = 0
    narrowed_at: float = 0.0
    good: int = 0
    stopped: str = ""


class Budget:
    """Takes requests and tokens out of the shared purse before anything is sent.

    `longest_s` is how long an exchange may take: one that is older belongs to a worker that has died.
    """

    def __init__(
        self, path: Path, caps: Caps, longest_s: float = 900.0, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self.path = path
        self.caps = caps
        self.longest_s = longest_s
        self._sleep = sleep
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

    def take(self, bound: Amount, *, crowd: bool = False) -> Turn:
        """Reserve one request that may use so much, as soon as there is room for it; or raise `BudgetSpent`.

        There is always room for one of a `crowd`, which a probe sends at the same time on purpose.
        """
        while True:
            with self._locked() as spent:
                spent.stopped = spent.stopped or self._over(spent, bound)
                stopped = spent.stopped
                if not stopped and (crowd or self._has_room(spent)):
                    return self._turn(spent, bound)
                spent.waiting_s += 0.0 if stopped else LOOK_AGAIN_S
            if stopped:
                raise BudgetSpent(stopped)
            self._sleep(LOOK_AGAIN_S)

    def _has_room(self, spent: Spent) -> bool:
        spent.in_flight = [start for start in spent.in_flight if start > time.time() - self.longest_s]
        return not spent.window or len(spent.in_flight) < spent.window

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

    def _turn(self, spent: Spent, bound: Amount) -> Turn:
        now, start = time.time(), self._start(spent)
        if self.caps.requests_per_minute is not None:
            spent.next_at = start + 60.0 / self.caps.requests_per_minute
        spent.requests += 1
        spent.reserved_tokens += bound.tokens
        spent.reserved_cost += bound.cost
        spent.waiting_s += start - now
        spent.in_flight.append(start)
        return Turn(bound, max(0.0, start - now), start)

    def settle(self, turn: Turn, used: Amount, status: int = 200) -> None:
        """Replace a reservation by what the answer says it used; its status tells how much the endpoint can bear."""
        with self._locked() as spent:
            spent.reserved_tokens -= turn.bound.tokens
            spent.reserved_cost -= turn.bound.cost
            spent.tokens += used.tokens
            spent.cost += used.cost
            if status in OVERLOADED and turn.start >= spent.narrowed_at:
                together = len(spent.in_flight)
                spent.window = max(1, min(spent.window or together, together) // 2)
                spent.narrowed_at, spent.good = time.time(), 0
            elif status and status not in OVERLOADED:
                spent.good += 1
                if spent.window and spent.good >= GOOD_ANSWERS:
                    spent.window, spent.good = spent.window + 1, 0
            if turn.start in spent.in_flight:
                spent.in_flight.remove(turn.start)

    def hush(self, seconds: float) -> None:
        """The endpoint asks for patience: nobody sends before so many seconds have passed."""
        with self._locked() as spent:
            spent.quiet_until = max(spent.quiet_until, time.time() + seconds)

    def reopen(self) -> None:
        """Go on after an interruption: what was spent stays spent, what was in flight is forgotten."""
        with self._locked() as spent:
            spent.stopped = ""
            spent.reserved_tokens, spent.reserved_cost, spent.in_flight = 0, 0.0, []

    def stop(self, reason: str) -> None:
        """End the run's sending for everybody."""
        with self._locked() as spent:
            spent.stopped = spent.stopped or reason

    def read(self) -> Spent:
        """What is spent so far."""
        with self._locked() as spent:
            return spent
