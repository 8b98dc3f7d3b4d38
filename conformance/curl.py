"""An exchange as a command line that sends it again."""

from __future__ import annotations

import shlex

from conformance.wire.exchange import Exchange
from conformance.wire.redaction import REDACTED

LONGEST_BODY = 20_000


def curl(exchange: Exchange) -> str:
    """A curl command with the same method, headers and body; the key is taken from `$API_KEY`."""
    parts = ["curl", "-sS", "-i", "-N", "-X", exchange.sent.method, shlex.quote(exchange.sent.url)]
    for name, value in exchange.sent.headers:
        if name.lower() == "accept-encoding":
            continue
        if REDACTED in value:
            parts.append(f'-H "{name}: {value.replace(REDACTED, "$API_KEY")}"')
        else:
            parts += ["-H", shlex.quote(f"{name}: {value}")]
    body = exchange.sent.body
    if len(body) > LONGEST_BODY:
        parts.append(f"--data-binary @-  # a body of {len(body)} bytes: conformance replay sends it again")
    elif body:
        try:
            parts += ["--data-binary", shlex.quote(body.decode("utf-8"))]
        except UnicodeDecodeError:
            escaped = "".join(f"\\x{byte:02x}" for byte in body)
            return f"printf {shlex.quote(escaped)} | " + " ".join([*parts, "--data-binary", "@-"])
    return " ".join(parts)
