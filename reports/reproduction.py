"""A recorded request as something to paste: a curl command and a few lines of Python."""

from __future__ import annotations

import base64
import json
import shlex

from reports.exchange import Exchange
from reports.text_safety import visible

_SECRET = "[redacted]"  # noqa: S105 - the mark that a secret was taken out

# Longer bodies are left to `conformance replay`, which sends the recorded bytes.
LONGEST_BODY = 6_000

# Set by the client itself; repeating them would only be noise, or wrong.
_LEFT_OUT = {
    "accept",
    "accept-encoding",
    "connection",
    "content-length",
    "host",
    "transfer-encoding",
    "user-agent",
}


def _headers(exchange: Exchange) -> list[tuple[str, str]]:
    return [(name, value) for name, value in exchange.request["headers"] if name.lower() not in _LEFT_OUT]


def _plain_text(body: bytes) -> str | None:
    """The body as text, or None where pasting it would not give the same bytes or would deceive the eye."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return None
    return text if visible(text) == text and "\r" not in text else None


def as_curl(exchange: Exchange) -> str | None:
    """A curl command that sends the same bytes, the key taken from $API_KEY; None for a body too long."""
    body = exchange.sent
    if len(body) > LONGEST_BODY:
        return None
    request = exchange.request
    parts = [f"curl -sS -i -N -X {shlex.quote(visible(request['method']))} {shlex.quote(visible(request['url']))}"]
    for name, value in _headers(exchange):
        header = shlex.quote(f"{visible(name)}: {visible(value)}")
        # The key's variable must be expanded by the shell, the rest must not.
        parts.append("-H " + header.replace(_SECRET, "'\"$API_KEY\"'"))
    text = _plain_text(body)
    if not body:
        return " \\\n  ".join(parts)
    if text is not None:
        return " \\\n  ".join([*parts, f"--data-binary {shlex.quote(text)}"])
    encoded = base64.b64encode(body).decode()
    return f"printf %s {encoded} | base64 -d |\n" + " \\\n  ".join([*parts, "--data-binary @-"])


def as_python(exchange: Exchange) -> str | None:
    """Lines of Python (httpx) that send the same request; None for a body too long.

    A JSON body is shown as a Python value where that sends the same JSON; anything else as the exact bytes.
    """
    body = exchange.sent
    if len(body) > LONGEST_BODY:
        return None
    request = exchange.request
    headers = _headers(exchange)
    lines = ["import os", ""] if any(_SECRET in value for _, value in headers) else []
    lines += ["import httpx", "", "headers = {"]
    for name, value in headers:
        before, secret, _ = value.partition(_SECRET)
        literal = f"{before!a} + os.environ['API_KEY']" if secret else ascii(value)
        lines.append(f"    {name!a}: {literal},")
    lines.append("}")
    parsed = _json_value(body)
    if not body:
        argument = ""
    elif parsed is not None:
        lines.append(f"body = {_python_literal(parsed)}")
        argument = ", json=body"
    else:
        lines.append(f"body = {body!r}")
        argument = ", content=body"
    url = ascii(request["url"])
    lines += [
        f"with httpx.stream({request['method']!a}, {url}, headers=headers{argument}, timeout=120) as answer:",
        "    print(answer.status_code)",
        "    for line in answer.iter_lines():",
        "        print(line)",
    ]
    return "\n".join(lines)


def _json_value(body: bytes) -> object:
    """The body's JSON value if sending that value again gives the same JSON, else None."""
    try:
        value = json.loads(body)
        same = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) and _closed_up(same) == _closed_up(body) else None


def _closed_up(body: bytes) -> bytes:
    return body.replace(b", ", b",").replace(b": ", b":")


def _python_literal(value: object, depth: int = 0) -> str:
    """JSON as Python source, broken over lines where it is long, ASCII only."""
    flat = ascii(value)
    if len(flat) + 4 * depth <= 88 or not isinstance(value, dict | list) or not value:
        return flat
    pad, end = "    " * (depth + 1), "    " * depth
    if isinstance(value, dict):
        inner = [f"{pad}{key!a}: {_python_literal(item, depth + 1)},\n" for key, item in value.items()]
        return "{\n" + "".join(inner) + end + "}"
    return "[\n" + "".join(f"{pad}{_python_literal(item, depth + 1)},\n" for item in value) + end + "]"
