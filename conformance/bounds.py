"""How many tokens a probe's requests may use at most, known before anything is sent.

The bound of one request is the one that the budget reserves for it (`conformance.ask.most`): a prompt has at most
one token a byte of its body, and an answer as many as its own limit allows. What each probe asks is known from
recorded runs of the bundled reference, which `conformance plan --learn RUN` turns into `bounds.json`.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from conformance.ask import bound_of
from conformance.settings import Settings
from conformance.target import Target
from conformance.wire.journal import read_exchanges

TABLE = "bounds.json"


@dataclass(frozen=True, slots=True)
class Tokens:
    """An upper bound, in tokens of the prompt and of the completion."""

    prompt: int = 0
    completion: int = 0

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(self.prompt + other.prompt, self.completion + other.completion)

    def times(self, count: int) -> Tokens:
        """The bound of so many requests."""
        return Tokens(self.prompt * count, self.completion * count)

    def largest(self, other: Tokens) -> Tokens:
        """The larger of each."""
        return Tokens(max(self.prompt, other.prompt), max(self.completion, other.completion))


def per_request(probe: str, target: Target) -> Tokens:
    """The mean bound of one request of a probe, over its own requests.

    A probe that was never recorded is given the largest bound of its topic, or of all.
    """
    table = _table()
    known: Mapping[str, Tokens] = table["probes"]
    name = function_of(probe)
    found = known.get(name)
    if found is None:
        topic = [bound for other, bound in known.items() if other.startswith(name.partition("::")[0] + "::")]
        found = _largest(topic or list(known.values()))
    longer = max((len(name) for name in target.models()), default=0) - table["model_length"]
    return Tokens(found.prompt + max(0, longer), found.completion)


def function_of(probe: str) -> str:
    """A probe's name without its parameters."""
    return probe.partition("[")[0]


def learn(folders: Sequence[Path]) -> str:
    """The table, as JSON text, from the runs in these folders."""
    rows: dict[str, Tokens] = {}
    shortest = math.inf
    for folder in folders:
        shortest = min(shortest, *(len(name) for name in Settings.read(folder).target.models()))
        for name, bound in _bounds_of(folder).items():
            rows[name] = rows.get(name, Tokens()).largest(bound)
    probes = ",\n".join(f'  "{name}": [{row.prompt}, {row.completion}]' for name, row in sorted(rows.items()))
    return f'{{"model_length": {shortest}, "probes": {{\n{probes}\n}}}}\n'


def _bounds_of(folder: Path) -> dict[str, Tokens]:
    """The largest mean bound among a probe's parameters, by the probe's name without them."""
    asked: dict[str, list[Tokens]] = defaultdict(list)
    for exchange in read_exchanges(folder):
        if exchange.repeat_of is None and not exchange.facts.get("attempt"):
            asked[exchange.probe].append(Tokens(*bound_of(exchange.sent.body)))
    means: dict[str, Tokens] = {}
    for probe, bounds in asked.items():
        total = sum(bounds, Tokens())
        mean = Tokens(math.ceil(total.prompt / len(bounds)), math.ceil(total.completion / len(bounds)))
        name = function_of(probe)
        means[name] = means.get(name, Tokens()).largest(mean)
    return means


def _largest(bounds: Iterable[Tokens]) -> Tokens:
    result = Tokens()
    for bound in bounds:
        result = result.largest(bound)
    return result


@cache
def _table() -> dict[str, Any]:
    raw = json.loads((files("conformance") / TABLE).read_text(encoding="utf-8"))
    return {**raw, "probes": {name: Tokens(*pair) for name, pair in raw["probes"].items()}}
