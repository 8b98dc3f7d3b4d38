"""A head start: fresh weights that can already copy.

What a small model needs longest for are the heads that continue a text by what followed the same two tokens before:
some note at each token which ones stand before it, another looks for a place that was reached by the same two tokens
and predicts what stands there. They are written into the first two layers here, among random weights, and training
is free to change them. On much the same data an ordinary start had not learned to copy after 1,700 steps.
"""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor

from reference_impl.model.transformer import Block, Transformer, rotary_frequencies

TOKEN_WIDTH = 96
"""Dimensions of the stream that hold a token; the first of them is the same for all tokens."""

NOTE_WIDTH = 48
"""Dimensions that hold the token before, and as many again for the one before that."""

SCALE = 0.03
"""Standard deviation of the token dimensions."""

FAST_PAIRS = 4
"""Rotary pairs, fast ones, by which the noting heads find their distance."""

SLOW_PAIRS = range(14, 32)
"""Rotary pairs, slow ones, in which the predicting head compares tokens whatever their distance."""

SHARPNESS = 1.8
"""Gain of query and key norms: large enough that attention falls on one token."""


def prepare_copying(transformer: Transformer, generator: torch.Generator) -> None:
    """Overwrite part of freshly initialised weights: a Qwen3 model of width 192 with heads of width 64."""
    with torch.no_grad():
        embedding = transformer.embed_tokens.weight
        embedding.normal_(0.0, SCALE, generator=generator)
        embedding[:, 0] = 8 * SCALE
        embedding[:, TOKEN_WIDTH:] = 0
        reading, values = (_projection(transformer, generator) for _ in range(2))
        _note_the_two_before(cast(Block, transformer.layers[0]), rotary_frequencies(transformer.config), reading)
        _predict_what_followed(cast(Block, transformer.layers[1]), reading, values)


def _note_the_two_before(block: Block, frequencies: Tensor, reading: Tensor) -> None:
    """Layer 0, heads 0 and 1: look one and two tokens back, and write what is there to the free dimensions."""
    attention, width = block.self_attn, block.self_attn.head_dim
    fast = torch.arange(FAST_PAIRS)
    # The constant first dimension gives a constant key, and queries that are turned back by one or two positions.
    _clear(attention.k_proj.weight[:width], fast, width)
    attention.k_proj.weight[fast, 0] = 1.0
    for head, distance in enumerate((1, 2)):
        query = attention.q_proj.weight[head * width : (head + 1) * width]
        _clear(query, fast, width)
        query[fast, 0] = (distance * frequencies[:FAST_PAIRS]).cos()
        query[fast + width // 2, 0] = -(distance * frequencies[:FAST_PAIRS]).sin()
        output = attention.o_proj.weight[:, head * width : (head + 1) * width]
        output.zero_()
        start = TOKEN_WIDTH + head * NOTE_WIDTH
        output[start : start + NOTE_WIDTH, :NOTE_WIDTH] = 1.5 * SCALE * torch.eye(NOTE_WIDTH)
    attention.v_proj.weight.copy_(reading)
    _sharpen(block)


def _predict_what_followed(block: Block, reading: Tensor, values: Tensor) -> None:
    """Layer 1, head 0: where the two tokens before are the present one and its neighbour, take what stands there."""
    attention, width = block.self_attn, block.self_attn.head_dim
    slow = torch.tensor(SLOW_PAIRS)
    slots, count = torch.cat((slow, slow + width // 2)), len(slow)
    query, key = attention.q_proj.weight[:width], attention.k_proj.weight[:width]
    _clear(query, slow, width)
    _clear(key, slow, width)
    # Even slots compare the present token with the one before the place, odd ones the two tokens further left.
    notes = torch.arange(count)
    key[slots[0::2], TOKEN_WIDTH + notes] = 3.0
    query[slots[0::2]] = 3.0 * reading[:count]
    key[slots[1::2], TOKEN_WIDTH + NOTE_WIDTH + notes] = 3.0
    query[slots[1::2], TOKEN_WIDTH + notes] = 3.0
    attention.v_proj.weight.copy_(values)
    attention.o_proj.weight[:, :width] = 10 * SCALE * values.T
    _sharpen(block)


def _clear(weight: Tensor, pairs: Tensor, width: int) -> None:
    """Make room in the rows of these rotary pairs, and quieten the others."""
    weight.mul_(0.3)
    weight[pairs] = 0
    weight[pairs + width // 2] = 0


def _projection(transformer: Transformer, generator: torch.Generator) -> Tensor:
    """Orthonormal rows that read only what differs between tokens: [hd,D]."""
    width, stream = transformer.config.head_dim, transformer.config.hidden_size
    rows, _ = torch.linalg.qr(torch.randn(TOKEN_WIDTH - 1, width, generator=generator))
    projection = torch.zeros(width, stream)
    projection[:, 1:TOKEN_WIDTH] = rows.T
    return projection


def _sharpen(block: Block) -> None:
    for norm in (block.self_attn.q_norm, block.self_attn.k_norm):
        if norm is not None:
            norm.weight.fill_(SHARPNESS)
