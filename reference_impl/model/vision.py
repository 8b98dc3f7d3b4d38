"""A tiny vision transformer: one 64 x 64 picture becomes 16 vectors that stand in for placeholder tokens.

Shapes: N pictures, 64 patches of 8 x 8 pixels each, W inner width, D width of the language model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention
from torch import Tensor, nn

IMAGE_SIZE = 64
"""Height and width of the input in pixels."""

IMAGE_TOKENS = 16
"""Vectors per picture, and so placeholder tokens per picture in the prompt."""

PATCH = 8


@dataclass(frozen=True, slots=True)
class VisionConfig:
    """Sizes of the encoder; ``output_size`` is the language model's width."""

    hidden_size: int
    intermediate_size: int
    layers: int
    heads: int
    output_size: int

    @classmethod
    def from_hf(cls, config: Mapping[str, Any]) -> VisionConfig:
        """Read the ``vision_config`` member of a ``config.json`` written by ``reference_impl.training``."""
        return cls(
            hidden_size=config["hidden_size"],
            intermediate_size=config["intermediate_size"],
            layers=config["num_hidden_layers"],
            heads=config["num_attention_heads"],
            output_size=config["out_hidden_size"],
        )


class VisionBlock(nn.Module):
    """Full (not causal) attention over the patches and a GELU feed-forward, each behind a norm."""

    def __init__(self, config: VisionConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.norm1 = nn.LayerNorm(config.hidden_size)
        self.qkv = nn.Linear(config.hidden_size, 3 * config.hidden_size)
        self.out = nn.Linear(config.hidden_size, config.hidden_size)
        self.norm2 = nn.LayerNorm(config.hidden_size)
        self.up = nn.Linear(config.hidden_size, config.intermediate_size)
        self.down = nn.Linear(config.intermediate_size, config.hidden_size)

    def forward(self, x: Tensor) -> Tensor:
        """[N,64,W] -> [N,64,W]."""
        count, patches, width = x.shape
        qkv = self.qkv(self.norm1(x)).view(count, patches, 3, self.heads, width // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)  # each [N,heads,64,W/heads]
        scores = (q @ k.transpose(-1, -2)).float() * q.shape[-1] ** -0.5
        mixed = scores.softmax(dim=-1).to(v.dtype) @ v
        x = x + self.out(mixed.transpose(1, 2).reshape(count, patches, width))
        return cast(Tensor, x + self.down(F.gelu(self.up(self.norm2(x)))))


class VisionEncoder(nn.Module):
    """Patches, a few blocks, and a merge of every 2 x 2 patches into one vector of the language model."""

    def __init__(self, config: VisionConfig) -> None:
        super().__init__()
        self.config = config
        side = IMAGE_SIZE // PATCH
        self.patch = nn.Linear(3 * PATCH * PATCH, config.hidden_size)
        self.position = nn.Parameter(torch.zeros(side * side, config.hidden_size))
        self.blocks = nn.ModuleList(VisionBlock(config) for _ in range(config.layers))
        self.norm = nn.LayerNorm(config.hidden_size)
        self.merge = nn.Linear(4 * config.hidden_size, config.output_size)

    def forward(self, pixels: Tensor) -> Tensor:
        """Float[N,3,64,64] with values from 0 to 1 (RGB) -> [N,16,D]."""
        count, side, width = pixels.shape[0], IMAGE_SIZE // PATCH, self.config.hidden_size
        x = (pixels * 2 - 1).reshape(count, 3, side, PATCH, side, PATCH)
        x = x.permute(0, 2, 4, 1, 3, 5).reshape(count, side * side, 3 * PATCH * PATCH)
        x = self.patch(x) + self.position  # [N,64,W]
        for block in self.blocks:
            x = block(x)
        x = self.norm(x).view(count, side // 2, 2, side // 2, 2, width)
        x = x.permute(0, 1, 3, 2, 4, 5).reshape(count, IMAGE_TOKENS, 4 * width)
        return cast(Tensor, self.merge(x))
