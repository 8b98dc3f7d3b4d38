"""What an interrupted run already has, so that nothing that was answered is asked again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from conformance.wire.exchange import Exchange
from conformance.wire.journal import CASES, read_exchanges, read_lines


class Recording:
    """The answers and cases in a run's folder; nothing without a folder."""

    def __init__(self, folder: Path | None = None) -> None:
        exchanges = read_exchanges(folder) if folder else []
        cases = list(read_lines(folder / CASES)) if folder else []
        # Not how many there are: a kill loses those in flight, whose numbers were given out before later ones'.
        self.last_exchange = max((number_of(x.id) for x in exchanges), default=0)
        self.last_case = max((number_of(line["id"]) for line in cases), default=0)
        self.answers: dict[tuple[str, int], Exchange] = {
            (x.probe, int(x.facts["ordinal"])): x for x in exchanges if x.answered and "ordinal" in x.facts
        }
        self.cases = {fingerprint(line) for line in cases}


def number_of(name: str) -> int:
    """The running number in the id of an exchange or a case, whatever worker gave it."""
    return int(name.rpartition("-")[2].lstrip("xc"))


def fingerprint(case: Mapping[str, Any]) -> str:
    """What makes a recorded case the same case: everything but its own id."""
    return json.dumps({name: value for name, value in case.items() if name != "id"}, sort_keys=True)
