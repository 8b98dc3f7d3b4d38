"""Secrets leave every recorded byte at capture, by value, in each form an endpoint may echo them."""

from __future__ import annotations

import base64
import html
import json
import re
import urllib.parse
from collections.abc import Iterable

REDACTED = "[redacted]"
_SECRET_HEADERS = frozenset({"authorization", "proxy-authorization", "x-api-key", "api-key", "cookie", "set-cookie"})
_PERCENT = re.compile("%[0-9A-F]{2}")
MIN_SECRET = 4  # shorter values would blank ordinary text


def _forms(secret: str) -> Iterable[str]:
    yield secret
    for quoted in (urllib.parse.quote(secret, safe=""), urllib.parse.quote_plus(secret), urllib.parse.quote(secret)):
        yield quoted
        yield _PERCENT.sub(lambda match: match[0].lower(), quoted)
    yield html.escape(secret)
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret).replace("/", "\\/")[1:-1]
    yield "".join(f"\\u{ord(char):04x}" for char in secret)
    yield "".join(f"\\u{ord(char):04X}" for char in secret)
    yield secret.encode().hex()
    yield secret.encode().hex().upper()
    for prefix in ("", "Bearer ", ":"):
        encoded = base64.b64encode((prefix + secret).encode()).decode()
        yield encoded.rstrip("=")
        yield encoded.rstrip("=").replace("/", "\\/")
        yield base64.urlsafe_b64encode((prefix + secret).encode()).decode().rstrip("=")
    # Inside a longer base64 text the secret may start at any of three bit offsets: keep the inner part.
    for pad in (1, 2):
        yield base64.b64encode(b"\0" * pad + secret.encode()).decode().rstrip("=")[4:-1]


class Redactor:
    """Replaces known secrets in bytes, text and headers by `[redacted]`."""

    def __init__(self, secrets: Iterable[str]) -> None:
        forms = {form for secret in secrets if len(secret) >= MIN_SECRET for form in _forms(secret)}
        forms |= {form.replace("\\", "\\\\") for form in forms}  # JSON inside JSON
        self._forms = sorted((form for form in forms if len(form) >= MIN_SECRET), key=len, reverse=True)
        self._bytes = [form.encode() for form in self._forms]

    def body(self, data: bytes) -> bytes:
        """The same bytes without any form of a secret."""
        for form in self._bytes:
            if form in data:
                data = data.replace(form, REDACTED.encode())
        return data

    def text(self, text: str) -> str:
        """The same text without any form of a secret."""
        for form in self._forms:
            text = text.replace(form, REDACTED)
        return text

    def headers(self, headers: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        """Headers whose secret-bearing values are blanked whole; others, and their names, by value."""
        return tuple(
            (
                self.text(name),
                self._secret_header(name, value) if name.lower() in _SECRET_HEADERS else self.text(value),
            )
            for name, value in headers
        )

    @staticmethod
    def _secret_header(name: str, value: str) -> str:
        scheme, space, _ = value.partition(" ")
        return f"{scheme} {REDACTED}" if space and name.lower().endswith("authorization") else REDACTED
