"""Which faults a request meets: none, always the same, or, for proofs, those that the request itself names."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from starlette.requests import Request
from starlette.types import Scope

from reference_impl.faults.hooks import Planted
from reference_impl.faults.registry import UnknownFault, select

HEADER: Final = "x-reference-fault"
_REMEMBERED: Final = 64


@dataclass(slots=True)
class Plot:
    """Faults with the memory and the count of requests that belong to them."""

    faults: tuple[Planted, ...] = ()
    memory: dict[str, Any] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))


Planting = Callable[[Scope], Plot]

_CLEAN: Final = Plot()


def no_faults(_: Scope) -> Plot:
    """Nothing is planted."""
    return _CLEAN


def always(ids: Iterable[str], dialect: str) -> Planting:
    """Every request meets the same faults. Raises UnknownFault."""
    plot = Plot(select(ids, dialect))
    return lambda _: plot


def as_asked(dialect: str) -> Planting:
    """A request meets the fault of its header `X-Reference-Fault: ID` (or `ID/RUN`, each run with its own memory).

    One server can so be every broken server in turn, without starting anew for each fault.
    """
    plots: OrderedDict[str, Plot] = OrderedDict()

    def planted(scope: Scope) -> Plot:
        asked = Request(scope).headers.get(HEADER)
        if asked is None:
            return _CLEAN
        if asked not in plots:
            try:
                plots[asked] = Plot(select([asked.partition("/")[0]], dialect))
            except UnknownFault:
                return _CLEAN
            if len(plots) > _REMEMBERED:
                plots.popitem(last=False)
        return plots[asked]

    return planted
