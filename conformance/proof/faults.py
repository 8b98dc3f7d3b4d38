"""The faults that the bundled reference can show, as its own command line lists them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """One planted defect: what it does, and which requirements of which profile it must turn red."""

    id: str
    sentence: str
    topic: str
    breaks: Mapping[str, tuple[str, ...]]
    citations: tuple[str, ...]


def list_faults() -> list[Fault]:
    """Every fault of the bundled reference. Raises RuntimeError where the reference cannot be asked."""
    command = [sys.executable, "-m", "reference_impl", "--list-faults", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the reference does not list its faults: {done.stderr.strip().splitlines()[-1:]}")
    return [
        Fault(
            id=row["id"],
            sentence=row["sentence"],
            topic=row["topic"],
            breaks={name: tuple(ids) for name, ids in row["breaks"].items()},
            citations=tuple(row["citations"]),
        )
        for row in json.loads(done.stdout)
    ]
