"""Faults of pictures: dropped, miscounted, refused, or answered where they should be refused."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from reference_impl.faults.edits import Message, Pieces, crash, image_url, messages_of, parts_of, refuse, rewritten
from reference_impl.faults.hooks import Exchange
from reference_impl.faults.registry import also, fault
from reference_impl.server.pieces import Finished
from reference_impl.server.strict_json import Json


@fault(
    "bad-image-empty-200",
    "request",
    both=["images.broken-image-is-refused", "finish.length-means-limit", "finish.length-has-output"],
)
def bad_image_empty_200(data: Json, exchange: Exchange) -> Json:
    """A picture that cannot be read is swallowed: the reply is empty."""
    if not isinstance(data, dict) or not any(_is_broken(part) for part in parts_of(data)):
        return data
    exchange.induce = "broken picture"

    def change(message: Message) -> Message:
        content = message.get("content")
        return {**message, "content": "picture"} if isinstance(content, list) else message

    return rewritten(data, change)


@also("bad-image-empty-200", "pieces")
async def _swallowed(pieces: Pieces, exchange: Exchange) -> Pieces:
    async for piece in pieces:
        if exchange.induce == "broken picture":
            yield Finished("length")
            return
        yield piece


@fault("images-dropped", "request", both=["images.reach-the-model"])
def images_dropped(data: Json, exchange: Exchange) -> Json:
    """Pictures are accepted and never reach the model."""

    def change(message: Message) -> Message:
        content = message.get("content")
        if not isinstance(content, list):
            return message
        return {**message, "content": [part for part in content if not image_url(part) or _is_broken(part)]}

    return rewritten(data, change)


@fault("image-to-text-model-500", "request", both=["images.text-model-refuses", "errors.client-mistakes-are-not-5xx"])
def image_to_text_model_500(data: Json, exchange: Exchange) -> Json:
    """A picture sent to a text-only model raises 500."""
    if isinstance(data, dict) and str(data.get("model")).endswith("-text") and any(map(image_url, parts_of(data))):
        crash("no vision tower")
    return data


@fault("data-urls-refused", "request", both=["images.data-url-is-accepted"])
def data_urls_refused(data: Json, exchange: Exchange) -> Json:
    """Pictures as data URLs are refused."""
    if isinstance(data, dict) and any((image_url(part) or "").startswith("data:") for part in parts_of(data)):
        refuse("The image URL must be https.", "messages[0].content[1].image_url.url")
    return data


@fault("remote-image-answered", "request", serenity_edge=["images.remote-url-is-400"])
def remote_image_answered(data: Json, exchange: Exchange) -> Json:
    """A remote picture is dropped, and the rest answered."""

    def change(message: Message) -> Message:
        content = message.get("content")
        if not isinstance(content, list):
            return message
        return {**message, "content": [part for part in content if not (image_url(part) or "").startswith("http")]}

    return rewritten(data, change)


@fault("file-url-answered", "request", both=["images.file-url-is-refused"])
def file_url_answered(data: Json, exchange: Exchange) -> Json:
    """A picture with a file: URL is dropped, and the rest answered."""

    def change(message: Message) -> Message:
        content = message.get("content")
        if not isinstance(content, list):
            return message
        return {**message, "content": [part for part in content if not (image_url(part) or "").startswith("file:")]}

    return rewritten(data, change)


@fault("too-many-images-answered", "request", serenity_edge=["images.too-many-are-400"])
def too_many_images_answered(data: Json, exchange: Exchange) -> Json:
    """Pictures beyond the limit are dropped, and the rest answered."""
    left = 8

    def change(message: Message) -> Message:
        nonlocal left
        content = message.get("content")
        if not isinstance(content, list):
            return message
        kept = []
        for part in content:
            if image_url(part):
                left -= 1
                if left < 0:
                    continue
            kept.append(part)
        return {**message, "content": kept}

    return rewritten(data, change)


@fault("images-limit-per-message", "request", serenity_edge=["images.counted-over-the-conversation"])
def images_limit_per_message(data: Json, exchange: Exchange) -> Json:
    """Pictures are counted in each message, not over the conversation."""
    counts = [
        sum(1 for part in message["content"] if isinstance(part, dict) and image_url(part))
        for message in messages_of(data)
        if isinstance(message.get("content"), list)
    ]
    return too_many_images_answered(data, exchange) if counts and max(counts) <= 8 else data


@fault("images-fewer-than-listed", "request", serenity_edge=["images.up-to-the-limit-are-accepted"])
def images_fewer_than_listed(data: Json, exchange: Exchange) -> Json:
    """More than two pictures are refused although the list of models says eight."""
    if isinstance(data, dict) and 2 < sum(1 for part in parts_of(data) if image_url(part)) <= 8:
        refuse("At most 2 images are read.", "messages")
    return data


@fault("too-many-images-code", "refusal", serenity_edge=["images.too-many-code"])
def too_many_images_code(refused: Any, exchange: Exchange) -> Any:
    """The refusal of too many pictures has a general code."""
    if refused.body["error"]["code"] == "too_many_images":
        refused.body["error"]["code"] = "invalid_value"
    return refused


@fault("listing-without-image-limit", "models", serenity_edge=["images.listing-gives-the-limit"])
def listing_without_image_limit(listing: Json, exchange: Exchange) -> Json:
    """The list of models gives a limit of pictures outside the documented range."""
    for entry in listing.get("data", [listing]):
        if "references" in entry:
            entry["references"] = {"max": 20}
    return listing


def _is_broken(part: Message) -> bool:
    """Whether a part is a picture as a data URL whose data does not begin like one."""
    url = image_url(part)
    if url is None or not url.startswith("data:"):
        return False
    try:
        data = base64.b64decode(url.partition(",")[2], validate=True)
    except (binascii.Error, ValueError):
        return True
    return not data.startswith((b"\x89PNG", b"\xff\xd8", b"RIFF", b"GIF8")) or len(data) < 60
