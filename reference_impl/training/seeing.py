"""Lessons in seeing, before the dialogues: the vision encoder learns what is in a picture from labels of its own.

From dialogues alone it learns colours, but for shapes one word in a hundred tokens teaches too little. Heads
over the mean of the encoder's vectors name the background, the colour, the shape and the number of shapes; they
are thrown away afterwards.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention
from torch import Tensor, nn

from reference_impl.model.vision import VisionEncoder
from reference_impl.training.optimizers import optimizers, set_rates
from reference_impl.training.pictures import COLOURS, MOST_SHAPES, SHAPES, draw, two_colours
from reference_impl.training.together import agree, average_gradients

BATCH = 96
NAMES = ("background", "colour", "shape", "number")
CLASSES = (len(COLOURS), len(COLOURS) + 1, len(SHAPES) + 1, MOST_SHAPES + 1)
"""Backgrounds, colours or none, shapes or none, and how many."""


def labelled(rng: random.Random) -> tuple[Tensor, tuple[int, ...]]:
    """A picture Float[3,64,64] and its class under each head; a quarter of them are plain."""
    colours = list(COLOURS)
    if rng.random() < 0.25:
        ground = rng.choice(colours)
        return draw(rng, ground), (colours.index(ground), len(colours), len(SHAPES), 0)
    ground, colour = two_colours(rng)
    shape, count = rng.choice(SHAPES), rng.choice([1, 1, 1, *range(2, MOST_SHAPES + 1)])
    labels = (colours.index(ground), colours.index(colour), SHAPES.index(shape), count)
    return draw(rng, ground, colour, shape, count), labels


def learn_to_see(vision: VisionEncoder, seed: int, minutes: float, report: Callable[[str], None]) -> None:
    """Train the encoder in place for so many minutes."""
    rng = random.Random(seed)  # noqa: S311 - a corpus, not a secret
    device = vision.position.device
    heads = nn.Linear(vision.config.output_size, sum(CLASSES), device=device)
    both = nn.ModuleDict({"vision": vision, "heads": heads})
    teachers = optimizers(both)
    started, step = time.monotonic(), 0
    right = torch.zeros(len(CLASSES))
    while (share := agree((time.monotonic() - started) / (60 * minutes))) < 1:
        pictures, labels = zip(*(labelled(rng) for _ in range(BATCH)), strict=True)
        wanted = torch.tensor(labels, device=device)  # [BATCH, heads]
        said = heads(vision(torch.stack(pictures).to(device)).mean(dim=1)).split(CLASSES, dim=-1)
        set_rates(teachers, step, share)
        loss: Tensor = torch.stack([F.cross_entropy(one, wanted[:, i]) for i, one in enumerate(said)]).sum()
        loss.backward()  # type: ignore[no-untyped-call]
        average_gradients(both.parameters())
        for teacher in teachers:
            teacher.step()
            teacher.zero_grad(set_to_none=True)
        step += 1
        hits = torch.stack([(one.argmax(-1) == wanted[:, i]).float().mean() for i, one in enumerate(said)])
        right.lerp_(hits.cpu(), max(0.03, 1 / step))
        if step % 100 == 0:
            shares = ", ".join(f"{name} {share:.1%}" for name, share in zip(NAMES, right.tolist(), strict=True))
            report(f"seeing, step {step} at {time.monotonic() - started:.0f} s: {shares}")
