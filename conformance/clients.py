"""Which client SDKs a violation was seen to break: measured data, shown beside the evidence."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import yaml


@cache
def breaks() -> Mapping[str, tuple[str, ...]]:
    """Requirement id → the clients, with their versions, that broke when it was violated."""
    loaded = yaml.safe_load((files("conformance") / "clients.yaml").read_text(encoding="utf-8"))
    return {
        requirement: tuple(loaded["clients"][name] for name in names) for requirement, names in loaded["breaks"].items()
    }
