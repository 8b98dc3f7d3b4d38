"""A case: several exchanges that belong together, written down so that judging can be repeated offline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.wire.exchange import Exchange
from conformance.wire.journal import CASES, read_lines


@dataclass(frozen=True, slots=True)
class Case:
    """Exchanges by the role they play in a relation of some `kind` (`refused`, `streamed-and-whole`, …).

    `requirements` are the ids that laws of this kind without an id of their own speak for.
    """

    id: str
    kind: str
    requirements: tuple[str, ...]
    roles: Mapping[str, tuple[Exchange, ...]]
    data: Mapping[str, Any] = field(default_factory=dict)
    probe: str = ""
    repeat_of: str | None = None

    def one(self, role: str) -> Exchange:
        """The only exchange of a role."""
        (exchange,) = self.roles[role]
        return exchange

    def all(self, role: str) -> tuple[Exchange, ...]:
        """The exchanges of a role in order; empty where nobody plays it."""
        return self.roles.get(role, ())

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """Every exchange of the case."""
        return tuple(exchange for exchanges in self.roles.values() for exchange in exchanges)

    def to_json(self) -> dict[str, Any]:
        """One line of `cases.jsonl`."""
        return {
            "id": self.id,
            "kind": self.kind,
            "requirements": list(self.requirements),
            "roles": {role: [x.id for x in exchanges] for role, exchanges in self.roles.items()},
            "data": dict(self.data),
            "probe": self.probe,
            "repeat_of": self.repeat_of,
        }


def read_cases(folder: Path, exchanges: Iterable[Exchange]) -> list[Case]:
    """The cases of a run; one that names an exchange which was never recorded is left out (a killed run)."""
    by_id = {exchange.id: exchange for exchange in exchanges}
    cases = []
    for line in read_lines(folder / CASES):
        names = [name for role in line["roles"].values() for name in role]
        if any(name not in by_id for name in names):
            continue
        cases.append(
            Case(
                id=line["id"],
                kind=line["kind"],
                requirements=tuple(line["requirements"]),
                roles={role: tuple(by_id[name] for name in ids) for role, ids in line["roles"].items()},
                data=line["data"],
                probe=line["probe"],
                repeat_of=line["repeat_of"],
            )
        )
    return cases
