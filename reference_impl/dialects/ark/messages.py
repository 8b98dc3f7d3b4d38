"""Reads ARK's messages (rows role to tool_calls), and brings their pictures in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from torch import Tensor

from reference_impl.server.fields import Fields, Invalid, wrong_type
from reference_impl.server.images import BadImage, data_url_bytes, decode, is_data_url

ROLES = ("system", "developer", "user", "assistant", "tool")
MAX_MESSAGES = 4_096
MAX_PARTS = 1_024
MAX_CALLS = 256
MAX_IMAGES = 64

Fetch = Callable[[str], Awaitable[bytes]]


def read_messages(body: Fields) -> list[dict[str, Any]]:
    """The messages in the chat format's shape, with developer read as system; raises Invalid."""
    body.require("messages")
    if body.members["messages"] is None:
        raise wrong_type("messages", "an array", None)
    return [_read_message(message) for message in body.objects("messages", min_items=1, max_items=MAX_MESSAGES)]


def _read_message(message: Fields) -> dict[str, Any]:
    role = message.required_string("role", one_of=ROLES)
    read: dict[str, Any] = {
        "role": "system" if role == "developer" else role,
        "content": _read_content(message),
        "name": message.string("name"),
    }
    calls = _read_calls(message)
    call_id = message.string("tool_call_id")
    if role == "assistant":
        legacy = message.object("function_call")
        if legacy is not None and not calls:
            calls = [_call("", legacy.string("name") or "", legacy.string("arguments") or "")]
        read["tool_calls"] = calls
    if role == "tool":
        read["tool_call_id"] = call_id or ""
    return read


def _read_content(message: Fields) -> str | list[dict[str, Any]]:
    content = message.members.get("content")
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise wrong_type(message.at("content"), "a string or an array of parts", content)
    return [_read_part(part) for part in message.objects("content", max_items=MAX_PARTS)]


def _read_part(part: Fields) -> dict[str, Any]:
    if part.required_string("type", one_of=("text", "image_url")) == "text":
        return {"type": "text", "text": part.required_string("text")}
    image = part.required_object("image_url")
    url = image.required_string("url")
    if not (is_data_url(url) or url[:8].lower() == "https://"):
        raise Invalid(
            f"'{image.at('url')}' must be an https or base64 data: URL.", image.at("url"), constraint="pattern"
        )
    return {"type": "image_url", "url": url, "param": image.at("url")}


def _read_calls(message: Fields) -> list[dict[str, Any]]:
    """Past calls; the document leaves their members open, so only their types are looked at."""
    calls = []
    for call in message.objects("tool_calls", max_items=MAX_CALLS):
        call_id = call.string("id") or ""
        custom = call.object("custom")
        function = call.object("function")
        if custom is not None:
            calls.append(_call(call_id, custom.string("name") or "", custom.string("input") or ""))
        elif function is not None:
            calls.append(_call(call_id, function.string("name") or "", function.string("arguments") or ""))
        else:
            calls.append(_call(call_id, call.string("name") or "", call.string("arguments") or ""))
    return calls


def _call(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def image_parts(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The image parts of a conversation, in order."""
    return [
        part
        for message in messages
        if isinstance(message["content"], list)
        for part in message["content"]
        if part["type"] == "image_url"
    ]


async def load_images(messages: list[dict[str, Any]], fetch: Fetch | None) -> None:
    """Put the pixels of every picture into its part; raises Invalid for one that cannot be used."""
    parts = [part for part in image_parts(messages) if "pixels" not in part]
    if len(parts) > MAX_IMAGES:
        raise Invalid(f"At most {MAX_IMAGES} images are read.", "messages", "too_many_images")
    for part in parts:
        try:
            part["pixels"] = await _pixels(part.pop("url"), fetch)
        except BadImage as problem:
            raise Invalid(str(problem), part["param"], "invalid_image") from problem


async def _pixels(url: str, fetch: Fetch | None) -> Tensor:
    if is_data_url(url):
        return await decode(data_url_bytes(url))
    if fetch is None:
        raise BadImage("This server does not fetch images; send a base64 data: URL.")
    return await decode(await fetch(url))
