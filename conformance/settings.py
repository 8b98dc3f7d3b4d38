"""One run's settings, written to its folder so that every worker process reads the same."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from conformance.probe import Effort
from conformance.target import Target
from conformance.wire.budget import Caps
from conformance.wire.limits import Limits

SETTINGS = "run.json"


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that decides what a run sends and how it is judged."""

    profile: str
    target: Target
    out: Path
    seed: int = 0
    effort: Effort = "standard"
    only: tuple[str, ...] = ()
    workers: int = 1
    shard: tuple[int, int] = (1, 1)
    strict: bool = False
    caps: Caps = field(default_factory=Caps)
    limits: Limits = field(default_factory=Limits)
    spec_dir: Path | None = None
    resume: bool = False
    command: str = "conformance run"
    catalogue: str = ""  # digest of the catalogue that the command line planned with
    probes: tuple[str, ...] = ()  # only these, by pytest's node ids; empty means all that are wanted
    belief_repeats: int = 2  # how often a violation is sent again: the evidence says 1, 2 or 3 of 3

    def write(self) -> None:
        """Write `run.json` into the run's folder (no secret is part of it)."""
        text = json.dumps({**asdict(self), "target": self.target.to_json()}, indent=1, default=str)
        (self.out / SETTINGS).write_text(text + "\n", encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> Settings:
        """The settings a run was started with."""
        raw: Mapping[str, Any] = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
        return cls(
            **{
                **raw,
                "target": Target.from_json(raw["target"]),
                "out": folder,
                "only": tuple(raw["only"]),
                "probes": tuple(raw["probes"]),
                "shard": (raw["shard"][0], raw["shard"][1]),
                "caps": Caps(**raw["caps"]),
                "limits": Limits(**raw["limits"]),
                "spec_dir": Path(raw["spec_dir"]) if raw["spec_dir"] else None,
            }
        )
