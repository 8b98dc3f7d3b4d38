"""The endpoint under test, and how it is asked."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Target:
    """Where and how to ask. The key itself is never held here, only the name of its environment variable.

    `capabilities` are the operator's own declarations: True (must be served), False (is not offered).
    """

    base_url: str
    model: str
    vision_model: str | None = None
    reasoning_model: str | None = None
    api_key_env: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    secret_headers: tuple[str, ...] = ()
    induce: bool = False
    capabilities: Mapping[str, bool] = field(default_factory=dict)
    ca_bundle: str | None = None
    client_cert: str | None = None
    proxy: str | None = None
    allow_load: bool = False

    def key(self) -> str | None:
        """The key from the environment, or None where none is named or set."""
        return os.environ.get(self.api_key_env) or None if self.api_key_env else None

    def secrets(self) -> list[str]:
        """Every value that must not reach a file or a screen."""
        key = self.key()
        return [*([key] if key else []), *(self.headers[name] for name in self.secret_headers)]

    def to_json(self) -> dict[str, Any]:
        """The settings, without secrets: secret headers are left to be resolved again from the environment."""
        return asdict(self)
