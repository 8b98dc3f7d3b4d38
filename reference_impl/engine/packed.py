"""The transformer's layers rearranged for decoding on a CPU: fewer, larger products and fewer small steps.

Two things are done to a loaded model, in place and without changing what it computes beyond rounding:
projections of the same input are joined into one (queries, keys and values; gate and up), and every
weight matrix is packed once into the layout of a library's own. Packing also makes rows independent of how many
rows there are: `torch.nn.functional.linear` picks its kernel by the row count, and the kernels differ in the last
bits, so the same token could come out differently alone and in a batch. With packed weights every row count that
was tried gave the same bits. `runner.py` verifies this at start for the model at hand instead of believing it.

float32 models whose weights float16 can hold (all that were saved as such, and bfloat16 but for its tiniest
numbers) are packed by FBGEMM in float16 and multiplied in float32: half the bytes, and a call that costs less than
the product. Others are packed by oneDNN, whose calls cost more (20 us were measured) but take any weights.
"""

from __future__ import annotations

import warnings

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own name
from torch import Tensor, nn

from reference_impl.model.transformer import Attention, Block, RMSNorm, Transformer, rotate

_HALF_STEP = 2.0**-25  # half the distance of float16's smallest numbers


class PackedLinear:
    """Linear layers over the same input as one, with packed weights; inference only, CPU only."""

    def __init__(self, *parts: nn.Linear) -> None:
        weight = torch.cat([part.weight.detach() for part in parts]).contiguous()
        biases = [part.bias for part in parts if part.bias is not None]
        self._bias = torch.cat([bias.detach() for bias in biases]) if biases else None
        self._half = _half_available() and fits_half(weight)
        if self._half:
            with warnings.catch_warnings():
                # Announced to go some day: where they are gone, oneDNN takes over. Said once, at the first product.
                warnings.filterwarnings("ignore", "fbgemm_.* is deprecated", UserWarning)
                self._weight = torch.fbgemm_pack_gemm_matrix_fp16(weight)
                self(weight.new_zeros(1, weight.shape[1]))
        else:
            self._weight = torch.ops.mkldnn._reorder_linear_weight(weight)

    def __call__(self, x: Tensor) -> Tensor:
        """[..., in] -> [..., out of all parts]."""
        if self._half:
            return torch.fbgemm_linear_fp16_weight_fp32_activation(x, self._weight, self._bias)
        product: Tensor = torch.ops.mkldnn._linear_pointwise.default(x, self._weight, self._bias, "none", [], "")
        return product


class PackedNorm:
    """A root-mean-square norm over the last axis, in few steps: ``x g sqrt(n) / sqrt(|x|^2 + n eps)``.

    gain: [..., width], against which x is broadcast.
    """

    def __init__(self, gain: Tensor, eps: float) -> None:
        width = gain.shape[-1]
        self._gain = gain.detach().float() * width**0.5
        self._floor = self._gain.new_tensor((width * eps) ** 0.5)

    def __call__(self, x: Tensor) -> Tensor:
        """[..., width] -> [..., width]."""
        length = torch.linalg.vector_norm(x.float(), dim=-1, keepdim=True)
        normed: Tensor = x * self._gain / torch.hypot(length, self._floor)
        return normed.to(x.dtype)


class Packed(nn.Module):
    """Holds one of the above where the transformer keeps a module."""

    def __init__(self, packed: PackedLinear | PackedNorm) -> None:
        super().__init__()
        self._packed = packed

    def forward(self, x: Tensor) -> Tensor:
        """As what it holds."""
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
        self.inner = mlp.gate_proj.out_features
        before, between = block.input_layernorm, block.post_attention_layernorm
        self.before = PackedNorm(before.weight, before.eps)
        self.between = PackedNorm(between.weight, between.eps)
        self.norm: PackedNorm | None = None
        if attention.q_norm is not None and attention.k_norm is not None:
            gains = attention.q_norm.weight.expand(self.queries, -1), attention.k_norm.weight.expand(self.keys, -1)
            self.norm = PackedNorm(torch.cat(gains)[:, None], attention.q_norm.eps)  # [H+KV,1,hd]
        self.qkv = PackedLinear(attention.q_proj, attention.k_proj, attention.v_proj)
        self.out = PackedLinear(attention.o_proj)
        self.gate_up = PackedLinear(mlp.gate_proj, mlp.up_proj)
        self.down = PackedLinear(mlp.down_proj)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, attention: Attention) -> Tensor:
        """[B,T,D] -> [B,T,D]; cos and sin [B,1,T,hd]."""
        # `narrow` where brackets would do: a small model's step is mostly the cost of calls.
        batch, length, _ = x.shape
        turning = self.queries + self.keys
        heads = self.qkv(self.before(x)).view(batch, length, -1, self.head_dim).transpose(1, 2)  # [B,H+2KV,T,hd]
        turned = heads.narrow(1, 0, turning)
        if self.norm is not None:
            turned = self.norm(turned)
        turned = rotate(turned, cos, sin)
        mixed = attention(
            self.layer,
            turned.narrow(1, 0, self.queries),
            turned.narrow(1, self.queries, self.keys),
            heads.narrow(1, turning, self.keys),
        )
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, -1))
        gate_up = self.gate_up(self.between(x))
        gate, up = gate_up.narrow(-1, 0, self.inner), gate_up.narrow(-1, self.inner, self.inner)
        return x + self.down(F.silu(gate) * up)


def fits_half(weight: Tensor) -> bool:
    """Whether float16 holds these float32 numbers: exactly, or, below its smallest, to half a step (3e-8)."""
    return weight.dtype == torch.float32 and bool((weight - weight.half().float()).abs().max() <= _HALF_STEP)


def _half_available() -> bool:
    """Whether this torch build and CPU have FBGEMM's float16 products."""
    return "fbgemm" in torch.backends.quantized.supported_engines and hasattr(
        torch, "fbgemm_linear_fp16_weight_fp32_activation"
    )


def packing_available() -> bool:
    """Whether this torch build can pack weights; without it plain linears and padding are used."""
    built_in: bool = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    return built_in and hasattr(torch.ops.mkldnn, "_linear_pointwise")


def pack(transformer: Transformer) -> None:
    """Rearrange a transformer in place; harmless when it has been done."""
    for index, block in enumerate(transformer.layers):
        if isinstance(block, Block):
            transformer.layers[index] = PackedBlock(block)
    if isinstance(transformer.norm, RMSNorm):
        transformer.norm = Packed(PackedNorm(transformer.norm.weight, transformer.norm.eps))
    if isinstance(transformer.lm_head, nn.Linear):
        transformer.lm_head = Packed(PackedLinear(transformer.lm_head))
