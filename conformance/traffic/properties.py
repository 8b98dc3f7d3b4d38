"""Hypothesis where an example is a paid request: drawn beforehand, sent once each, shrunk within a budget."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import find as hypothesis_find
from hypothesis.errors import NoSuchExample
from hypothesis.strategies import SearchStrategy

#: How often a strategy is asked again for values it has not given yet.
PATIENCE = 20


def _settings(count: int, *phases: Phase) -> settings:
    return settings(
        max_examples=count,
        phases=phases,
        database=None,
        deadline=None,
        print_blob=False,
        suppress_health_check=list(HealthCheck),
    )


def distinct(strategy: SearchStrategy[Any], count: int, number: int) -> list[Any]:
    """`count` different JSON values of a strategy (fewer where it has no more), the same for the same `number`."""
    found: dict[str, Any] = {}
    for attempt in range(PATIENCE):

        @seed(number * PATIENCE + attempt)
        @_settings(count, Phase.generate)
        @given(strategy)
        def collect(value: Any) -> None:
            found.setdefault(_key(value), value)

        collect()
        if len(found) >= count:
            break
    return list(found.values())[:count]


def smallest(strategy: SearchStrategy[Any], fails: Callable[[Any], bool], budget: int, number: int) -> Any:
    """The smallest value found for which `fails` holds, asking it at most `budget` times; None where there is none.

    The verdict on a value is remembered, so that an endpoint that changes its mind cannot confuse the search.
    """
    known: dict[str, bool] = {}

    def check(value: Any) -> bool:
        key = _key(value)
        if key not in known:
            if len(known) >= budget:
                return False
            known[key] = fails(value)
        return known[key]

    try:
        return hypothesis_find(
            strategy,
            check,
            settings=_settings(budget, Phase.generate, Phase.shrink),
            random=Random(number),  # noqa: S311
        )
    except NoSuchExample:
        return None


def _key(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
