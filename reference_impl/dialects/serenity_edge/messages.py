"""Reads Serenity Edge's messages (rows `messages[]`): four kinds, each with its own members."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from reference_impl.server.fields import Fields, Invalid, wrong_type
from reference_impl.server.images import BadImage, data_url_bytes, decode, is_data_url

ROLES = ("system", "user", "assistant", "tool")
MAX_MESSAGES = 4_096
MAX_PARTS = 1_024
MAX_CALLS = 256


def read_messages(body: Fields) -> list[dict[str, Any]]:
    """The messages in the chat format's shape; raises Invalid."""
    body.require("messages")
    if body.members["messages"] is None:
        raise wrong_type("messages", "an array", None)
    return [_read_message(message) for message in body.objects("messages", min_items=1, max_items=MAX_MESSAGES)]


def _read_message(message: Fields) -> dict[str, Any]:
    match message.required_string("role", one_of=ROLES):
        case "system":
            content: Any = message.required_string("content")
            return {"role": "system", "content": content, "name": message.string("name")}
        case "user":
            return {"role": "user", "content": _read_content(message), "name": message.string("name")}
        case "assistant":
            return {
                "role": "assistant",
                "content": message.string("content"),
                "name": message.string("name"),
                "tool_calls": [_read_call(call) for call in message.objects("tool_calls", max_items=MAX_CALLS)],
            }
        case _:
            return {
                "role": "tool",
                "content": message.required_string("content"),
                "tool_call_id": message.required_string("tool_call_id"),
            }


def _read_content(message: Fields) -> str | list[dict[str, Any]]:
    content = message.require("content")
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
    image.string("detail")
    if not is_data_url(url):
        message = f"'{image.at('url')}' must be a base64 data: URL; image URLs are not fetched."
        raise Invalid(message, image.at("url"), "invalid_image_url", "pattern")
    return {"type": "image_url", "url": url, "param": image.at("url")}


def _read_call(call: Fields) -> dict[str, Any]:
    function = call.required_object("function")
    return {
        "id": call.required_string("id"),
        "type": call.required_string("type", one_of=("function",)),
        "function": {
            "name": function.required_string("name"),
            "arguments": function.required_string("arguments"),
        },
    }


def image_parts(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The image parts of the whole conversation, in order."""
    return [
        part
        for message in messages
        if isinstance(message["content"], list)
        for part in message["content"]
        if part["type"] == "image_url"
    ]


async def load_images(messages: list[dict[str, Any]]) -> None:
    """Put the pixels of every picture into its part; raises Invalid for one that cannot be used."""
    for part in image_parts(messages):
        try:
            part["pixels"] = await _pixels(part["url"])
        except BadImage as problem:
            raise Invalid(str(problem), part["param"], "invalid_image") from problem


async def _pixels(url: str) -> Tensor:
    return await decode(data_url_bytes(url))
