"""API keys: one key from the environment, or none at all."""

from __future__ import annotations

import hmac
from collections.abc import Callable

from starlette.datastructures import Headers

from reference_impl.server.contract import Refused


class Keys:
    """Accepts one bearer key, or, without one, everybody."""

    def __init__(self, key: str | None, refuse: Callable[[str], Refused]) -> None:
        self._key = key
        self._refuse = refuse

    def check(self, headers: Headers) -> str:
        """The caller's key, empty where none is needed; raises Refused (401)."""
        given = headers.getlist("authorization")
        if self._key is None:
            return given[0] if given else ""
        if not given:
            raise self._refuse("An API key is needed: send it as 'Authorization: Bearer KEY'.")
        scheme, _, key = given[0].partition(" ")
        if len(given) > 1 or scheme.lower() != "bearer":
            raise self._refuse("The Authorization header must be 'Bearer KEY', once.")
        if not hmac.compare_digest(key.strip().encode(), self._key.encode()):
            raise self._refuse("The API key is not valid.")
        return self._key
