"""The transformer's layers rearranged for decoding on a CPU: fewer, larger products and fewer small steps.

Two things are done to a loaded model, in place and without changing what it computes beyond rounding:
projections of the same input are joined into one (queries, keys and values; gate and up), and every
weight matrix is packed once into oneDNN's own layout. Packing also makes rows independent of how many rows
there are: `torch.nn.functional.linear` picks its kernel by the row count, and the kernels differ in the last
bits, so the same token could come out differently alone and in a batch. oneDNN with packed weights gave the
same bits for every row count that was tried (and, in bfloat16, ran twice as fast for few rows).
`runner.py` verifies this at start for the model at hand instead of believing it.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own name
from torch import Tensor, nn

from reference_impl.model.transformer import Attention, Block, RMSNorm, Transformer


class PackedLinear:
    """Linear layers over the same input as one, with packed weights; inference only, CPU only."""

    def __init__(self, *parts: nn.Linear) -> None:
        weight = torch.cat([part.weight.detach() for part in parts]).contiguous()
        biases = [part.bias for part in parts if part.bias is not None]
        self._weight = torch.ops.mkldnn._reorder_linear_weight(weight)
        self._bias = torch.cat([bias.detach() for bias in biases]) if biases else None
        self._product = torch.ops.mkldnn._linear_pointwise.default

    def __call__(self, x: Tensor) -> Tensor:
        """[..., in] -> [..., out of all parts]."""
        product: Tensor = self._product(x, self._weight, self._bias, "none", [], "")
        return product


class PackedNorm:
    """A root-mean-square norm as a layer norm of ``[x, -x]``, whose mean is zero: one kernel instead of eight."""

    def __init__(self, norm: RMSNorm) -> None:
        weight = norm.weight.detach()
        self._width = len(weight)
        self._gain = torch.cat((weight, weight))
        self._eps = norm.eps

    def __call__(self, x: Tensor) -> Tensor:
        """[..., width] -> [..., width]."""
        both = torch.cat((x, -x), dim=-1)
        return F.layer_norm(both, (2 * self._width,), self._gain.to(x.dtype), None, self._eps)[..., : self._width]


class PackedHead(nn.Module):
    """The vocabulary head, packed."""

    def __init__(self, head: nn.Linear) -> None:
        super().__init__()
        self._packed = PackedLinear(head)

    def forward(self, x: Tensor) -> Tensor:
        """[..., D] -> [..., V]."""
        return self._packed(x)


class PackedBlock(nn.Module):
    """One layer, computing what `Block` computes from the same weights."""

    def __init__(self, block: Block) -> None:
        super().__init__()
        attention, mlp = block.self_attn, block.mlp
        self.layer = attention.layer
        self.head_dim = attention.head_dim
        self.queries = attention.q_proj.out_features // self.head_dim
        self.keys = attention.k_proj.out_features // self.head_dim
        self.eps = block.input_layernorm.eps
        self.before = PackedNorm(block.input_layernorm)
        self.between = PackedNorm(block.post_attention_layernorm)
        self.gains: Tensor | None = None
        if attention.q_norm is not None and attention.k_norm is not None:
            rows = [attention.q_norm.weight] * self.queries + [attention.k_norm.weight] * self.keys
            gains = torch.stack([row.detach() for row in rows])[:, None]
            self.gains = torch.cat((gains, gains), dim=-1)  # [H+KV,1,2hd]
        self.qkv = PackedLinear(attention.q_proj, attention.k_proj, attention.v_proj)
        self.out = PackedLinear(attention.o_proj)
        self.gate_up = PackedLinear(mlp.gate_proj, mlp.up_proj)
        self.down = PackedLinear(mlp.down_proj)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, attention: Attention) -> Tensor:
        """[B,T,D] -> [B,T,D]; cos and sin [B,1,T,hd]."""
        batch, length = x.shape[:2]
        heads = self.qkv(self.before(x)).view(batch, length, -1, self.head_dim)
        heads = heads.transpose(1, 2)  # [B,H+2KV,T,hd]
        turning = heads[:, : self.queries + self.keys]
        both = torch.cat((turning, -turning), dim=-1)  # the pairs (a, b) as a, b, -a, -b
        if self.gains is not None:  # the norm of queries and keys, as in PackedNorm
            both = F.layer_norm(both, (2 * self.head_dim,), None, None, self.eps) * self.gains
        half = self.head_dim // 2
        across = both[..., half : half + self.head_dim]  # b, -a
        turned = torch.addcmul(both[..., : self.head_dim] * cos, across, sin, value=-1)
        mixed = attention(
            self.layer,
            turned[:, : self.queries],
            turned[:, self.queries :],
            heads[:, self.queries + self.keys :],
        )
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, -1))
        gate, up = self.gate_up(self.between(x)).chunk(2, dim=-1)
        return x + self.down(F.silu(gate) * up)


def packing_available() -> bool:
    """Whether this torch build can pack weights; without it plain linears and padding are used."""
    built_in: bool = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    return built_in and hasattr(torch.ops.mkldnn, "_linear_pointwise")


def pack(transformer: Transformer) -> None:
    """Rearrange a transformer in place; harmless when it has been done."""
    for index, block in enumerate(transformer.layers):
        if isinstance(block, Block):
            transformer.layers[index] = PackedBlock(block)
    if isinstance(transformer.lm_head, nn.Linear):
        head: nn.Module = PackedHead(transformer.lm_head)
        transformer.lm_head = head  # type: ignore[assignment]
