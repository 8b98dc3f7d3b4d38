"""How a probe is declared: which requirements it makes observable, from which effort on, at what cost."""

from __future__ import annotations

from typing import Literal

import pytest

Effort = Literal["smoke", "standard", "exhaustive"]
EFFORTS: tuple[Effort, ...] = ("smoke", "standard", "exhaustive")


def probe(*requirements: str, effort: Effort = "standard", cost: int, needs: str = "") -> pytest.MarkDecorator:
    """Mark a test as a probe.

    `requirements` are ids or globs; `cost` is exactly how many requests it sends to an endpoint that keeps
    them; `needs` names what the target must have been declared or found to have (`key`, `induce`, `load`, or
    a capability).
    """
    return pytest.mark.probe(requirements=requirements, effort=effort, cost=cost, needs=needs)
