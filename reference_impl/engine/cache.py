"""The paged key-value cache and the two attention callables that read and write it.

Letters as in `model/transformer.py`, and: S positions attended to (a whole number of blocks),
C chunks of BLOCK positions in one prefill pass, G = H / KV query heads that share one key/value head.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own name
from torch import Tensor

from reference_impl.engine.blocks import BLOCK


class KeyValueCache:
    """Keys and values of all layers, addressed by block; block 0 takes the writes of padding rows."""

    def __init__(
        self,
        *,
        layers: int,
        kv_heads: int,
        head_dim: int,
        blocks: int,
        device: torch.device,
        dtype: torch.dtype,
    ) -> None:
        self.kv_heads = kv_heads
        self.head_dim = head_dim
        width = kv_heads * head_dim
        shape = (layers, 2, (blocks + 1) * BLOCK, width)
        # Written to at once: memory is taken now, and not little by little while the server runs.
        pool = torch.empty(shape, device=device, dtype=dtype).zero_()
        # Views made once: a decode step of a small model is mostly the cost of calls.
        self._positions = [(keys, values) for keys, values in pool]  # each [slots, KV*hd]
        self._blocks = [
            (keys.view(-1, BLOCK * width), values.view(-1, BLOCK * width)) for keys, values in pool
        ]  # each [blocks, BLOCK*KV*hd]

    def write(self, layer: int, slots: Tensor, k: Tensor, v: Tensor) -> None:
        """Store k, v [n,KV*hd] at `slots` Long[n] (block * BLOCK + offset)."""
        keys, values = self._positions[layer]
        keys.index_copy_(0, slots, k)
        values.index_copy_(0, slots, v)

    def read(self, layer: int, table: Tensor, rows: int) -> tuple[Tensor, Tensor]:
        """The blocks of `table` Long[rows * S/BLOCK] as keys and values, each [rows,KV,S,hd]."""
        keys, values = self._blocks[layer]
        return self._gather(keys, table, rows), self._gather(values, table, rows)

    def _gather(self, blocks: Tensor, table: Tensor, rows: int) -> Tensor:
        taken = blocks.index_select(0, table)
        return taken.view(rows, -1, self.kv_heads, self.head_dim).transpose(1, 2)


def attend(q: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    """Grouped attention without copying keys: q [B,H,T,hd], keys/values [B,KV,S,hd], mask [B,1,G*T,S]."""
    batch, heads, length, width = q.shape
    kv_heads = keys.shape[1]
    grouped = q.reshape(batch, kv_heads, heads // kv_heads * length, width)
    mixed = F.scaled_dot_product_attention(grouped, keys, values, attn_mask=mask)
    return mixed.reshape(batch, heads, length, width)


@dataclass(slots=True)
class DecodeAttention:
    """One new position for each of B sequences. slots Long[B], table Long[B*S/BLOCK], mask [B,1,G,S]."""

    cache: KeyValueCache
    slots: Tensor
    table: Tensor
    mask: Tensor

    def __call__(self, layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Write the new keys and values, then attend to everything up to them."""
        rows = q.shape[0]
        self.cache.write(layer, self.slots, k.reshape(rows, -1), v.reshape(rows, -1))
        keys, values = self.cache.read(layer, self.table, rows)
        return attend(q, keys, values, self.mask)


@dataclass(slots=True)
class PrefillAttention:
    """C chunks of BLOCK positions, in runs that belong to one sequence each.

    Every chunk is a batch row of its own whose queries number exactly BLOCK, so a position's result is the
    same whichever chunks are computed beside it. runs holds (first row, past row, table Long[S/BLOCK],
    mask [rows,1,G*BLOCK,S]); slots is Long[C*BLOCK].
    """

    cache: KeyValueCache
    slots: Tensor
    runs: list[tuple[int, int, Tensor, Tensor]]

    def __call__(self, layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Write all chunks' keys and values, then attend run by run."""
        positions = self.slots.shape[0]
        k, v = k.transpose(1, 2).reshape(positions, -1), v.transpose(1, 2).reshape(positions, -1)
        self.cache.write(layer, self.slots, k, v)
        parts = []
        for first, past, table, mask in self.runs:
            keys, values = self.cache.read(layer, table, 1)
            rows = past - first
            keys, values = keys.expand(rows, -1, -1, -1), values.expand(rows, -1, -1, -1)
            parts.append(attend(q[first:past], keys, values, mask))
        return torch.cat(parts) if len(parts) > 1 else parts[0]
