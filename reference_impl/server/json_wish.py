"""Asking the model for JSON: a sentence behind the caller's own system text, or a system message of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reference_impl.chat.signatures import json_request


def wishing_for_json(messages: list[dict[str, Any]], schema: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """The conversation with the wish in it; `schema` is what the JSON should look like."""
    wish = json_request(schema)
    if not messages or messages[0]["role"] != "system":
        return [{"role": "system", "content": wish}, *messages]
    first, *rest = messages
    own = first["content"]
    content = [*own, {"type": "text", "text": f"\n{wish}"}] if isinstance(own, list) else f"{own}\n{wish}"
    return [{**first, "content": content}, *rest]
