"""The one way from a picture to the vision encoder's input, shared by training and serving."""

from __future__ import annotations

import torch
from PIL import Image
from torch import Tensor

from reference_impl.model.vision import IMAGE_SIZE


def to_pixels(image: Image.Image) -> Tensor:
    """Any picture -> Float[3,64,64] from 0 to 1: on white where transparent, RGB, stretched to the square."""
    if image.mode != "RGB":
        layered = image.convert("RGBA")
        image = Image.new("RGBA", layered.size, "white")
        image.alpha_composite(layered)
        image = image.convert("RGB")
    image = image.resize((IMAGE_SIZE, IMAGE_SIZE), Image.Resampling.BILINEAR)
    raw = torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8)
    return raw.view(IMAGE_SIZE, IMAGE_SIZE, 3).permute(2, 0, 1).float() / 255
