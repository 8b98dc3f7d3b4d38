"""Tiny pictures of one plain colour, as PNG files and as message parts, and data that is no picture."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Mapping
from typing import Any

RGB = tuple[int, int, int]
COLOURS: Mapping[str, RGB] = {
    "red": (255, 0, 0),
    "green": (0, 255, 0),
    "blue": (0, 0, 255),
    "yellow": (255, 255, 0),
    "black": (0, 0, 0),
    "white": (255, 255, 255),
    "cyan": (0, 255, 255),
    "purple": (128, 0, 128),
    "grey": (128, 128, 128),
}
SIDE = 32
#: A small public picture that has stood at its address for decades.
REMOTE = "https://www.w3.org/Icons/w3c_home.png"


def png(colour: RGB, width: int = SIDE, height: int = SIDE) -> bytes:
    """A PNG file (RFC 2083) of one colour: 8 bits for each of red, green and blue."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = (b"\x00" + bytes(colour) * width) * height
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def data_url(data: bytes, media_type: str = "image/png") -> str:
    """A base64 `data:` URL (RFC 2397)."""
    return f"data:{media_type};base64,{base64.b64encode(data).decode('ascii')}"


def image_part(url: str) -> dict[str, Any]:
    """A message part that shows the picture at a URL."""
    return {"type": "image_url", "image_url": {"url": url}}


def picture(colour: str = "red") -> dict[str, Any]:
    """A message part with a plain picture of a named colour."""
    return image_part(data_url(png(COLOURS[colour])))


def text_part(text: str) -> dict[str, Any]:
    """A message part with text."""
    return {"type": "text", "text": text}


def pictures(count: int) -> list[dict[str, Any]]:
    """That many parts with pictures, each file different from the others."""
    names = list(COLOURS)
    sizes = range(SIDE, SIDE + count)
    return [
        image_part(data_url(png(COLOURS[names[position % len(names)]], size, size)))
        for position, size in enumerate(sizes)
    ]


def broken_pictures() -> dict[str, str]:
    """URLs of data that is no picture, by what is wrong with them."""
    return {
        "the base64 text decodes to words and not to a picture": data_url(b"this is not a picture at all"),
        "the PNG file ends in the middle": data_url(png(COLOURS["red"])[:40]),
        "the data is not base64": "data:image/png;base64,@@@@not-base64@@@@",
    }
