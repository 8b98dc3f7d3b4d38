"""Pictures: data URLs, limits, damage, and the fetcher that is off by default."""

from __future__ import annotations

import asyncio
import base64
import io

import pytest
import torch
from PIL import Image

from reference_impl.server.fetch import fetch_image, public_address
from reference_impl.server.images import BadImage, data_url_bytes, decode_now
from tests.reference.dialects.endpoint import Endpoint


def png(colour: str = "red", size: tuple[int, int] = (20, 30), kind: str = "PNG") -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", size, colour).save(stream, kind)
    return stream.getvalue()


def part(data: bytes, media_type: str = "image/png") -> dict:
    url = f"data:{media_type};base64,{base64.b64encode(data).decode()}"
    return {"type": "image_url", "image_url": {"url": url}}


def user(*parts: dict) -> dict:
    return {"role": "user", "content": [{"type": "text", "text": "What colour?"}, *parts]}


def test_images_reach_the_model(either: Endpoint) -> None:
    without = either.whole(messages=[user()])["usage"]["prompt_tokens"]
    one = either.whole(messages=[user(part(png()))])["usage"]["prompt_tokens"]
    two = either.whole(messages=[user(part(png())), user(part(png("blue", kind="JPEG"), "image/jpeg"))])

    assert one > without
    assert two["usage"]["prompt_tokens"] > one


@pytest.mark.parametrize("stream", [False, True])
def test_more_than_eight_images_are_refused_however_they_are_spread(serenity: Endpoint, stream: bool) -> None:
    eight = [user(part(png()), part(png()))] * 4

    assert serenity.post(messages=eight, max_tokens=1).status_code == 200
    for messages in ([*eight, user(part(png()))], [user(*[part(png())] * 9)]):
        error = serenity.error(400, messages=messages, stream=stream)
        assert (error["code"], error["param"]) == ("too_many_images", "messages")


def test_remote_urls(ark: Endpoint, serenity: Endpoint) -> None:
    remote = user({"type": "image_url", "image_url": {"url": "https://example.com/a.png"}})
    local = user({"type": "image_url", "image_url": {"url": "file:///etc/passwd"}})

    assert serenity.error(400, messages=[remote])["param"] == "messages[0].content[1].image_url.url"
    for endpoint in (ark, serenity):
        assert endpoint.error(400, messages=[local])["param"] == "messages[0].content[1].image_url.url"


def test_a_text_only_model_refuses_images(either: Endpoint) -> None:
    text_only = f"{either.model}-text"

    assert either.error(400, model=text_only, messages=[user(part(png()))])["param"] == "messages"
    assert either.post(model=text_only).status_code == 200


@pytest.mark.parametrize(
    "url",
    [
        "data:image/png;base64,aGVs*bG8=",
        "data:image/png;base64,",
        "data:image/png,abc",
        "data:text/plain;base64,aGVsbG8=",
        "data:image/svg+xml;base64,PHN2Zy8+",
        "data:image/png;base64," + base64.b64encode(png()[:40]).decode(),
        "data:image/png;base64," + base64.b64encode(b"not a picture").decode(),
        "data:",
    ],
)
def test_broken_pictures_are_refused(either: Endpoint, url: str) -> None:
    error = either.error(400, messages=[user({"type": "image_url", "image_url": {"url": url}})])

    assert error["message"]


def test_a_picture_that_would_fill_the_memory_is_refused_by_its_header() -> None:
    stream = io.BytesIO()
    Image.new("1", (10_000, 10_000)).save(stream, "PNG")

    with pytest.raises(BadImage, match="too many pixels"):
        decode_now(stream.getvalue())


def test_pixels_are_red_green_blue_from_0_to_1() -> None:
    pixels = decode_now(data_url_bytes(part(png("red"))["image_url"]["url"]))

    assert pixels.shape == (3, 64, 64)
    assert pixels.dtype == torch.float32
    assert torch.allclose(pixels[:, 10, 10], torch.tensor([1.0, 0.0, 0.0]))


def test_transparency_is_white() -> None:
    stream = io.BytesIO()
    Image.new("RGBA", (9, 9), (0, 0, 0, 0)).save(stream, "PNG")

    assert decode_now(stream.getvalue()).min() == 1.0


@pytest.mark.parametrize("host", ["127.0.0.1", "10.0.0.1", "169.254.1.1", "::1", "localhost", "224.0.0.1"])
def test_the_fetcher_refuses_addresses_that_are_not_public(host: str) -> None:
    with pytest.raises(BadImage, match="public"):
        asyncio.run(public_address(host, 443))


@pytest.mark.parametrize("url", ["http://example.com/a", "https:///a", "https://u:p@example.com/a", "https://[::1]/a"])
def test_the_fetcher_refuses_urls_that_are_not_plain_https(url: str) -> None:
    with pytest.raises(BadImage):
        asyncio.run(fetch_image(url))
