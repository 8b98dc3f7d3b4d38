"""The endpoint under test, and how it is asked."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, MutableMapping
from dataclasses import asdict, dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

SECRET_HEADERS_VARIABLE = "CONFORMANCE_SECRET_HEADERS"  # noqa: S105 - a name, not a secret
SECRET_PROXY_VARIABLE = "CONFORMANCE_SECRET_PROXY"  # noqa: S105


@dataclass(frozen=True, slots=True)
class Prices:
    """Money for a million tokens."""

    prompt: float
    completion: float
    currency: str = ""

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        """What so many tokens cost."""
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1_000_000


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
    name: str = ""
    prices: Prices | None = None
    requests_per_minute: float | None = None

    def key(self) -> str | None:
        """The key from the environment, or None where none is named or set."""
        return os.environ.get(self.api_key_env) or None if self.api_key_env else None

    def models(self) -> tuple[str, ...]:
        """Every model that is asked for."""
        return tuple(name for name in (self.model, self.vision_model, self.reasoning_model) if name)

    def secrets(self) -> list[str]:
        """Every value that must not reach a file or a screen."""
        key = self.key()
        headers = [self.headers[name] for name in self.secret_headers]
        password = urlsplit(self.proxy or "").password
        return [*([key] if key else []), *headers, *([password, unquote(password)] if password else [])]

    def to_json(self) -> dict[str, Any]:
        """The settings as they may be written down, without values of secret headers and users of proxies."""
        known = {name: value for name, value in self.headers.items() if name not in self.secret_headers}
        return {**asdict(self), "headers": known, "proxy": self._bare_proxy()}

    def _bare_proxy(self) -> str | None:
        if self.proxy is None or "@" not in self.proxy:
            return self.proxy
        parts = urlsplit(self.proxy)
        return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Target:
        """A target written by `to_json`; what is secret comes back from the environment (`pass_secrets`)."""
        secrets: Mapping[str, str] = json.loads(os.environ.get(SECRET_HEADERS_VARIABLE, "{}"))
        kept = {name: secrets[name] for name in raw["secret_headers"] if name in secrets}
        prices = Prices(**raw["prices"]) if raw["prices"] else None
        return cls(
            **{
                **raw,
                "headers": {**raw["headers"], **kept},
                "secret_headers": tuple(raw["secret_headers"]),
                "prices": prices,
                "proxy": (os.environ.get(SECRET_PROXY_VARIABLE) or raw["proxy"]) if raw["proxy"] else None,
            }
        )

    def pass_secrets(self, environment: MutableMapping[str, str]) -> None:
        """Hand what is secret to worker processes, which inherit the environment and never a file."""
        environment[SECRET_PROXY_VARIABLE] = self.proxy or ""
        environment[SECRET_HEADERS_VARIABLE] = json.dumps({name: self.headers[name] for name in self.secret_headers})
