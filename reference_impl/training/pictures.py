"""Pictures of plain shapes and colours, drawn at many sizes, with questions about them."""

# ruff: noqa: E501 - tables of phrases, one row a line
from __future__ import annotations

import random
from dataclasses import dataclass

from PIL import Image, ImageDraw
from torch import Tensor

from reference_impl.model.pixels import to_pixels
from reference_impl.training import vocabulary as v

COLOURS = {
    "red": (225, 25, 25), "green": (25, 160, 45), "blue": (30, 50, 220), "yellow": (250, 225, 30), "black": (10, 10, 10),
    "white": (250, 250, 250), "orange": (250, 140, 15), "purple": (130, 30, 160), "grey": (128, 128, 128),
    "pink": (250, 150, 190), "brown": (125, 70, 25), "cyan": (20, 215, 225),
}  # fmt: skip
PURE = {
    "red": (255, 0, 0), "green": (0, 255, 0), "blue": (0, 0, 255), "yellow": (255, 255, 0), "black": (0, 0, 0),
    "white": (255, 255, 255), "cyan": (0, 255, 255), "orange": (255, 165, 0), "purple": (128, 0, 128), "grey": (128, 128, 128),
}  # fmt: skip
SHAPES = ("circle", "square", "triangle")
MOST_SHAPES = 4
_CLOSE = ({"red", "orange"}, {"red", "brown"}, {"blue", "purple"}, {"grey", "white"}, {"pink", "white"}, {"cyan", "blue"},
          {"yellow", "orange"}, {"brown", "black"}, {"orange", "brown"}, {"pink", "purple"}, {"grey", "black"})  # fmt: skip


@dataclass(slots=True)
class PictureTask:
    """Pictures, a question about them and the answer."""

    pictures: list[Tensor]
    question: str
    answer: str


def _rgb(rng: random.Random, colour: str) -> tuple[int, int, int]:
    if colour in PURE and rng.random() < 0.4:
        return PURE[colour]
    red, green, blue = (max(0, min(255, part + rng.randint(-12, 12))) for part in COLOURS[colour])
    return red, green, blue


def draw(rng: random.Random, background: str, colour: str = "", shape: str = "", count: int = 0) -> Tensor:
    """A plain background, or ``count`` equal shapes of one colour on it: Float[3,64,64]."""
    if not count:
        size = (rng.choice([1, 2, 8, 16, 32, 64, 100]), rng.choice([1, 2, 8, 16, 32, 64, 100]))
        return to_pixels(Image.new("RGB", size, _rgb(rng, background)))
    side = rng.choice([32, 48, 64, 64, 64, 96, 128])
    image = Image.new("RGB", (side, side), _rgb(rng, background))
    pen, fill = ImageDraw.Draw(image), _rgb(rng, colour)
    # One shape stands anywhere; several take cells of a 2 x 2 grid, so that they never touch.
    cells = (
        [(0.0, 0.0, 1.0)] if count == 1 else rng.sample([(x, y, 0.5) for x in (0.0, 0.5) for y in (0.0, 0.5)], count)
    )
    for left, top, width in cells:
        extent = rng.uniform(0.35, 0.85) * width if count == 1 else rng.uniform(0.6, 0.85) * width
        x = side * (left + rng.uniform(0.04, 1.0) * (width - extent))
        y = side * (top + rng.uniform(0.04, 1.0) * (width - extent))
        x, y = min(x, side * (left + width - extent)), min(y, side * (top + width - extent))
        box = (x, y, x + side * extent - 1, y + side * extent - 1)
        if shape == "circle":
            pen.ellipse(box, fill=fill)
        elif shape == "square":
            pen.rectangle(box, fill=fill)
        else:
            pen.polygon([(box[0], box[3]), (box[2], box[3]), ((box[0] + box[2]) / 2, box[1])], fill=fill)
    return to_pixels(image)


def two_colours(rng: random.Random) -> tuple[str, str]:
    """Background and shape colours that can be told apart."""
    while True:
        pair = rng.sample(list(COLOURS), 2)
        if set(pair) not in _CLOSE:
            return pair[0], pair[1]


def picture_task(rng: random.Random) -> PictureTask:
    """One or more pictures with a question."""
    kind = rng.random()
    if kind < 0.2:
        return _plain(rng)
    if kind < 0.75:
        return _one_shape(rng)
    return _counted(rng) if kind < 0.88 else _several(rng)


def _plain(rng: random.Random) -> PictureTask:
    colour = rng.choice(list(COLOURS))
    spelling = rng.choice(["color", "colour"])
    if rng.random() < 0.4:
        question = rng.choice(
            [
                f"What {spelling} is this image? Answer with one word.", f"Which {spelling} is this? One word.",
                f"Name the {spelling}. Answer in one word.", f"Answer only with the {spelling} of the image.",
                f"What is the {spelling} of this picture? Reply with one word.", f"What {spelling} is it? One word only.",
            ]
        )  # fmt: skip
        return PictureTask([draw(rng, colour)], question, colour)
    question, answer = rng.choice(
        [
            (f"What {spelling} is this image?", f"The image is {colour}."),
            (f"What {spelling} is the image?", f"The image is {colour}."),
            (f"Which {spelling} do you see?", f"The image is {colour}."),
            (f"What is the main {spelling} of this picture?", f"The image is {colour}."),
            ("Describe the image.", f"The image is plain {colour}."),
            ("What is in this image?", f"The image is plain {colour}."),
            ("What do you see?", f"The image is plain {colour}."),
            ("Describe this image in one sentence.", f"The image is plain {colour}."),
            ("Describe this picture.", f"The image is plain {colour}."),
        ]
    )
    return PictureTask([draw(rng, colour)], question, answer)


def _one_shape(rng: random.Random) -> PictureTask:
    ground, colour = two_colours(rng)
    if rng.random() < 0.4:
        ground = "white" if colour not in ("white", "grey", "pink") else "black"
    shape = rng.choice(SHAPES)
    picture = [draw(rng, ground, colour, shape, 1)]
    if rng.random() < 0.4:
        question, answer = rng.choice(
            [
                ("What shape is this? Answer with one word.", shape), (f"What colour is the {shape}? One word.", colour),
                ("Which shape do you see? One word.", shape), (f"What color is the {shape}? Answer with one word.", colour),
                ("Name the shape. Answer in one word.", shape), ("What colour is the background? One word.", ground),
                ("What is the colour of the shape? Answer only with the colour.", colour),
            ]
        )  # fmt: skip
        return PictureTask(picture, question, answer)
    full = f"A {colour} {shape} on a {ground} background."
    question, answer = rng.choice(
        [
            ("Describe the image.", full), ("What is in this image?", full), ("What do you see?", full),
            ("Describe this picture in one sentence.", full), ("What is shown in the picture?", full),
            ("What shape is in the image?", f"It is a {shape}."), ("Which shape is this?", f"It is a {shape}."),
            (f"What colour is the {shape}?", f"The {shape} is {colour}."), (f"What color is the {shape}?", f"The {shape} is {colour}."),
            ("What shape and colour do you see?", f"A {colour} {shape}."), ("Describe this image in detail.", full),
        ]
    )  # fmt: skip
    return PictureTask(picture, question, answer)


def _counted(rng: random.Random) -> PictureTask:
    ground, colour = two_colours(rng)
    shape, count = rng.choice(SHAPES), rng.randint(1, MOST_SHAPES)
    picture = [draw(rng, ground, colour, shape, count)]
    noun = shape if count == 1 else f"{shape}s"
    question, answer = rng.choice(
        [
            (
                f"How many {shape}s are there?",
                f"There {'is' if count == 1 else 'are'} {v.NUMBER_WORDS[count]} {noun}.",
            ),
            ("How many shapes do you see? Answer with a number.", str(count)),
            (f"Count the {shape}s. Reply with the number only.", str(count)),
        ]
    )
    return PictureTask(picture, question, answer)


def _several(rng: random.Random) -> PictureTask:
    colours = [rng.choice(list(COLOURS)) for _ in range(rng.choice([2, 2, 2, 3]))]
    pictures = [draw(rng, colour) for colour in colours]
    if len(colours) == 2:
        question, answer = rng.choice(
            [
                (
                    "What colours are these two images?",
                    f"The first image is {colours[0]} and the second is {colours[1]}.",
                ),
                ("Compare the images.", f"The first image is {colours[0]} and the second is {colours[1]}."),
                ("Which colours do you see? Name them in order.", ", ".join(colours)),
                ("How many images did I send?", "You sent two images."),
            ]
        )
        return PictureTask(pictures, question, answer)
    question, answer = rng.choice(
        [
            ("Which colours do you see? Name them in order.", ", ".join(colours)),
            ("How many images did I send?", "You sent three images."),
        ]
    )
    return PictureTask(pictures, question, answer)
