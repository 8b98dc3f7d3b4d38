"""Hypothesis against an endpoint that costs money and may change its mind.

Every example is sent at most once and its verdict remembered, so that an endpoint which answers differently each
time cannot make a property flaky, and shrinking asks nothing twice. Examples and shrinking have bounds of their
own; what is unknown once they are spent counts as kept.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis.strategies import SearchStrategy

from conformance.ask import Asker

Example = TypeVar("Example")

#: How many draws Hypothesis may make for each example that is sent; repeated draws cost nothing.
DRAWS_PER_EXAMPLE = 20
MOST_SHRINKS = 12


class _Broken(Exception):
    """The example breaks a promise; the findings say which."""


@dataclass(slots=True)
class Ledger:
    """The verdicts of one property: how many examples may still be sent, and what is known of those that were."""

    ask: Asker
    examples: int
    shrinks: int = MOST_SHRINKS
    verdicts: dict[str, bool] = field(default_factory=dict)
    broken: bool = False

    def judge(self, key: str, send: Callable[[], object]) -> bool:
        """Whether the example breaks a promise: as remembered, as found by sending it, or, unknown, not."""
        if key not in self.verdicts and self._may_send():
            seen = len(self.ask.findings)
            send()
            self.verdicts[key] = any(finding.outcome == "violated" for finding in self.ask.findings[seen:])
            self.broken = self.broken or self.verdicts[key]
        return self.verdicts.get(key, False)

    def _may_send(self) -> bool:
        if self.broken:
            self.shrinks -= 1
            return self.shrinks >= 0
        self.examples -= 1
        return self.examples >= 0


def explore(
    ask: Asker,
    strategy: SearchStrategy[Example],
    send: Callable[[Example], object],
    *,
    examples: int,
    shrinks: int = MOST_SHRINKS,
) -> Ledger:
    """Send `examples` distinct examples of a strategy, and once one breaks a promise, smaller ones like it.

    `send` asks and groups what it gets into cases; the laws judge. The same seed of the run draws the same
    examples. Nothing is raised for a violation: it stands among the findings of `ask`.
    """
    ledger = Ledger(ask, examples, shrinks)
    number = int.from_bytes(hashlib.sha256(f"{ask.session.seed}:{ask.probe}".encode()).digest()[:8])

    @seed(number)
    @settings(
        max_examples=examples * DRAWS_PER_EXAMPLE,
        phases=(Phase.generate, Phase.shrink),
        deadline=None,
        database=None,
        print_blob=False,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
    )
    @given(strategy)
    def every_example_keeps_its_promises(example: Example) -> None:
        if ledger.judge(repr(example), lambda: send(example)):
            raise _Broken

    with contextlib.suppress(_Broken):
        every_example_keeps_its_promises()
    return ledger
