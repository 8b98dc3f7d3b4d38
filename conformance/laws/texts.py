"""The text of an answer, piece by piece as it came, for laws that look at characters and not at meaning."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from conformance.reply import reply_of
from conformance.wire.exchange import Exchange


def pieces_of(x: Exchange) -> Iterator[tuple[str, str]]:
    """Every text that the model wrote, with its place: whole messages, or each delta by itself."""
    if x.is_event_stream:
        for number, chunk in enumerate(x.chunks, 1):
            for choice in objects(chunk.get("choices")):
                yield from _texts(choice.get("delta"), f"chunk {number}, delta")
    elif isinstance(x.json.value, dict):
        for choice in objects(x.json.value.get("choices")):
            yield from _texts(choice.get("message"), "message")


def _texts(message: Any, place: str) -> Iterator[tuple[str, str]]:
    if not isinstance(message, dict):
        return
    for name in ("content", "reasoning"):
        if isinstance(message.get(name), str):
            yield f"{place}.{name}", message[name]
    for call in objects(message.get("tool_calls")):
        function = call.get("function")
        if isinstance(function, dict) and isinstance(function.get("arguments"), str):
            yield f"{place}.tool_calls.function.arguments", function["arguments"]


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects among the items of a value that should be an array of objects."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def visible_text(x: Exchange) -> str:
    """The joined content of all choices."""
    reply = reply_of(x)
    return "\n".join(choice.content for choice in reply.choices.values()) if reply else ""


def asked_text(x: Exchange) -> str:
    """The request as text with every escape undone, to see what its answer may merely repeat."""
    return json.dumps(x.asked, ensure_ascii=False)


def asked_to_write(x: Exchange, text: str) -> bool:
    """Whether the request itself holds this text, so that finding it in the answer says nothing."""
    return text in asked_text(x) or text in json.dumps(x.asked)
