"""Pictures from data URLs: decoded safely, and off the event loop.

A picture becomes a float tensor (3, 64, 64) with values in [0, 1], the shape that the vision encoder takes.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import io
import re
import warnings
from typing import Final

import torch
from PIL import Image, ImageOps

SIDE: Final = 64
MAX_PIXELS: Final = 16_000_000
FORMATS: Final = ("PNG", "JPEG", "WEBP", "GIF")
MEDIA_TYPES: Final = ("image/png", "image/jpeg", "image/jpg", "image/webp", "image/gif")

_DATA_URL = re.compile(r"data:([^;,]*)((?:;[^;,]*)*),", re.IGNORECASE)


class BadImage(ValueError):
    """The picture cannot be used; the message is a sentence for the client."""


def is_data_url(url: str) -> bool:
    """Whether the URL has the data: scheme (RFC 2397)."""
    return url[:5].lower() == "data:"


def data_url_bytes(url: str) -> bytes:
    """The bytes that a base64 data URL of a supported picture type holds."""
    head = _DATA_URL.match(url)
    if head is None:
        raise BadImage("The image is not a valid data URL.")
    if head[1].lower() not in MEDIA_TYPES:
        raise BadImage("The image must be a PNG, JPEG, WebP or GIF.")
    if "base64" not in head[2].lower().split(";"):
        raise BadImage("The image's data URL must be base64.")
    try:
        # validate: without it b64decode skips what is not of the alphabet
        return base64.b64decode(url[head.end() :], validate=True)
    except (binascii.Error, ValueError):
        raise BadImage("The image's data URL is not valid base64.") from None


async def decode(data: bytes) -> torch.Tensor:
    """The picture's pixels, float (3, 64, 64) in [0, 1]; decoded in a worker thread."""
    return await asyncio.to_thread(decode_now, data)


def decode_now(data: bytes) -> torch.Tensor:
    """What `decode` does, in the calling thread."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data), formats=FORMATS) as picture:
                # the header is enough to refuse a picture that would fill the memory
                if picture.width * picture.height > MAX_PIXELS:
                    raise BadImage("The image has too many pixels.")
                picture.draft("RGB", (SIDE * 2, SIDE * 2))
                upright = ImageOps.exif_transpose(picture).convert("RGBA")
    except BadImage:
        raise
    except (Image.DecompressionBombWarning, Image.DecompressionBombError):
        raise BadImage("The image has too many pixels.") from None
    except Exception as error:  # Pillow's decoders raise nearly anything on damaged files
        raise BadImage("The image could not be decoded.") from error
    ground = Image.new("RGBA", upright.size, "white")
    ground.alpha_composite(upright)
    square = ground.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BILINEAR)
    pixels = torch.frombuffer(bytearray(square.tobytes()), dtype=torch.uint8)
    return pixels.view(SIDE, SIDE, 3).permute(2, 0, 1).float().div_(255).contiguous()
