"""Every kind of picture becomes the same kind of tensor."""

from __future__ import annotations

import pytest
import torch
from PIL import Image

from reference_impl.model.pixels import to_pixels


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L", "LA", "P", "1", "CMYK", "I;16", "F"])
@pytest.mark.parametrize("size", [(1, 1), (64, 64), (300, 20)])
def test_shape_and_range(mode, size):
    pixels = to_pixels(Image.new(mode, size))
    assert pixels.shape == (3, 64, 64)
    assert pixels.dtype == torch.float32
    assert pixels.min() >= 0
    assert pixels.max() <= 1


def test_channels_are_red_green_blue():
    pixels = to_pixels(Image.new("RGB", (8, 8), (255, 51, 0)))
    torch.testing.assert_close(pixels[:, 10, 10], torch.tensor([1.0, 0.2, 0.0]))


def test_what_is_transparent_is_white():
    clear = to_pixels(Image.new("RGBA", (8, 8), (0, 0, 0, 0)))
    assert torch.equal(clear, torch.ones(3, 64, 64))
    opaque = to_pixels(Image.new("RGBA", (8, 8), (0, 0, 0, 255)))
    assert torch.equal(opaque, torch.zeros(3, 64, 64))


def test_rows_run_from_the_top():
    image = Image.new("RGB", (64, 64), "black")
    image.paste("white", (0, 0, 64, 32))
    pixels = to_pixels(image)
    assert pixels[0, 5, 5] == 1
    assert pixels[0, 60, 5] == 0


def test_the_same_picture_gives_the_same_tensor():
    image = Image.effect_noise((50, 70), 40)
    assert torch.equal(to_pixels(image), to_pixels(image.copy()))
