"""A decoder-only transformer of the Llama, Qwen2 and Qwen3 family, in plain torch.

Letters in the shape comments: B sequences, T positions of each, D model width, H query heads, KV key/value
heads, hd width of one head, F feed-forward width, V vocabulary. Sub-modules carry the names that Hugging Face
checkpoints use, so that a state dict loads without renaming anything but the outer ``model.`` prefix.

The model owns neither the key/value cache nor the mask: the caller hands in an ``attention`` callable.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention
from torch import Tensor, nn

Attention = Callable[[int, Tensor, Tensor, Tensor], Tensor]
"""``(layer, q [B,H,T,hd], k [B,KV,T,hd], v [B,KV,T,hd]) -> [B,H,T,hd]``; q and k are already rotated."""

FAMILIES = ("llama", "qwen2", "qwen3")


class UnsupportedModelError(ValueError):
    """A checkpoint asks for something that this transformer does not compute."""


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """Sizes and switches of one transformer, read from a Hugging Face ``config.json``."""

    family: str
    vocab_size: int
    hidden_size: int
    intermediate_size: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    max_positions: int
    rope_theta: float
    rope_scaling: Mapping[str, Any] | None
    norm_eps: float
    tied_embeddings: bool
    qkv_bias: bool
    output_bias: bool
    mlp_bias: bool
    qk_norm: bool

    @classmethod
    def from_hf(cls, config: Mapping[str, Any]) -> ModelConfig:
        """Read a ``config.json`` that transformers wrote (old ``rope_theta`` or new ``rope_parameters``).

        Raises UnsupportedModelError for another model family, activation, sliding windows or rotary scaling
        than plain, ``linear`` and ``llama3``.
        """
        family = config.get("model_type")
        if family not in FAMILIES:
            raise UnsupportedModelError(f"model_type {family!r} is not one of {', '.join(FAMILIES)}")
        if config.get("hidden_act", "silu") != "silu":
            raise UnsupportedModelError(f"hidden_act {config['hidden_act']!r} is not supported, only 'silu'")
        if config.get("use_sliding_window") or "sliding_attention" in (config.get("layer_types") or ()):
            raise UnsupportedModelError("sliding window attention is not supported")
        rope = dict(config.get("rope_parameters") or config.get("rope_scaling") or {})
        kind = rope.get("rope_type", rope.get("type", "default"))
        if kind not in ("default", "linear", "llama3"):
            raise UnsupportedModelError(f"rotary scaling {kind!r} is not supported")
        heads = config["num_attention_heads"]
        bias = bool(config.get("attention_bias", False))
        return cls(
            family=family,
            vocab_size=config["vocab_size"],
            hidden_size=config["hidden_size"],
            intermediate_size=config["intermediate_size"],
            layers=config["num_hidden_layers"],
            heads=heads,
            kv_heads=config.get("num_key_value_heads") or heads,
            head_dim=config.get("head_dim") or config["hidden_size"] // heads,
            max_positions=config.get("max_position_embeddings", 2048),
            rope_theta=float(rope.get("rope_theta") or config.get("rope_theta") or 10000.0),
            rope_scaling=rope if kind != "default" else None,
            norm_eps=float(config.get("rms_norm_eps", 1e-6)),
            tied_embeddings=bool(config.get("tie_word_embeddings", False)),
            qkv_bias=family == "qwen2" or bias,
            output_bias=family != "qwen2" and bias,
            mlp_bias=bool(config.get("mlp_bias", False)),
            qk_norm=family == "qwen3",
        )


def rotary_frequencies(config: ModelConfig) -> Tensor:
    """Angle per position of each rotated pair, in radians: Float[hd/2]."""
    exponent = torch.arange(0, config.head_dim, 2, dtype=torch.float32) / config.head_dim
    plain: Tensor = 1.0 / config.rope_theta**exponent
    scaling = config.rope_scaling
    if scaling is None:
        return plain
    factor = float(scaling["factor"])
    if scaling.get("rope_type", scaling.get("type")) == "linear":
        return plain / factor
    # llama3: long waves are slowed down, short ones kept, those between are blended.
    low, high = float(scaling["low_freq_factor"]), float(scaling["high_freq_factor"])
    original = float(scaling["original_max_position_embeddings"])
    turns = original * plain / (2 * math.pi)
    keep = ((turns - low) / (high - low)).clamp(0.0, 1.0)
    return torch.lerp(plain / factor, plain, keep)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotate the pairs (i, i + hd/2) of ``x`` [B,n,T,hd] by the angles of ``cos``, ``sin`` [B,1,T,hd].

    The first half of ``sin`` is negative: a cos - b sin, b cos + a sin.
    """
    return torch.addcmul(x * cos, x.roll(x.shape[-1] // 2, dims=-1), sin)


def causal_attention(layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Plain causal attention over whole sequences without a cache, for training and tests.

    Padding has to be on the right, where no real position can see it.
    """
    length = q.shape[2]
    groups = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(groups, dim=1), v.repeat_interleave(groups, dim=1)  # [B,H,T,hd]
    scores = (q @ k.transpose(-1, -2)).float() * q.shape[-1] ** -0.5  # [B,H,T,T]
    hidden = torch.ones(length, length, dtype=torch.bool, device=q.device).triu(1)
    weights: Tensor = scores.masked_fill(hidden, float("-inf")).softmax(dim=-1).to(v.dtype)
    return weights @ v


class RMSNorm(nn.Module):
    """Root-mean-square norm over the last axis with a learned gain."""

    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """[..., width] -> [..., width]."""
        return F.rms_norm(x, (self.weight.shape[0],), self.weight.to(x.dtype), self.eps)


class SelfAttention(nn.Module):
    """Projections around the attention callable, with grouped key/value heads."""

    def __init__(self, config: ModelConfig, layer: int) -> None:
        super().__init__()
        self.layer = layer
        self.head_dim = config.head_dim
        queries, keys = config.heads * config.head_dim, config.kv_heads * config.head_dim
        self.q_proj = nn.Linear(config.hidden_size, queries, bias=config.qkv_bias)
        self.k_proj = nn.Linear(config.hidden_size, keys, bias=config.qkv_bias)
        self.v_proj = nn.Linear(config.hidden_size, keys, bias=config.qkv_bias)
        self.o_proj = nn.Linear(queries, config.hidden_size, bias=config.output_bias)
        self.q_norm = RMSNorm(config.head_dim, config.norm_eps) if config.qk_norm else None
        self.k_norm = RMSNorm(config.head_dim, config.norm_eps) if config.qk_norm else None

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, attention: Attention) -> Tensor:
        """[B,T,D] -> [B,T,D]."""
        batch, length = x.shape[:2]
        # -1 for the heads: under tensor parallelism each rank holds only its share of them.
        q = self.q_proj(x).view(batch, length, -1, self.head_dim)
        k = self.k_proj(x).view(batch, length, -1, self.head_dim)
        v = self.v_proj(x).view(batch, length, -1, self.head_dim)
        if self.q_norm is not None and self.k_norm is not None:
            q, k = self.q_norm(q), self.k_norm(k)
        q = rotate(q.transpose(1, 2), cos, sin)  # [B,H,T,hd]
        k = rotate(k.transpose(1, 2), cos, sin)  # [B,KV,T,hd]
        mixed = attention(self.layer, q, k, v.transpose(1, 2))  # [B,H,T,hd]
        return cast(Tensor, self.o_proj(mixed.transpose(1, 2).reshape(batch, length, -1)))


class FeedForward(nn.Module):
    """SwiGLU: a gated pair of projections and one back."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        width, inner = config.hidden_size, config.intermediate_size
        self.gate_proj = nn.Linear(width, inner, bias=config.mlp_bias)
        self.up_proj = nn.Linear(width, inner, bias=config.mlp_bias)
        self.down_proj = nn.Linear(inner, width, bias=config.mlp_bias)

    def forward(self, x: Tensor) -> Tensor:
        """[B,T,D] -> [B,T,D]."""
        return cast(Tensor, self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x)))


class Block(nn.Module):
    """One layer: attention and feed-forward, each behind a norm and added to its input."""

    def __init__(self, config: ModelConfig, layer: int) -> None:
        super().__init__()
        self.input_layernorm = RMSNorm(config.hidden_size, config.norm_eps)
        self.self_attn = SelfAttention(config, layer)
        self.post_attention_layernorm = RMSNorm(config.hidden_size, config.norm_eps)
        self.mlp = FeedForward(config)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, attention: Attention) -> Tensor:
        """[B,T,D] -> [B,T,D]."""
        x = x + self.self_attn(self.input_layernorm(x), cos, sin, attention)
        return cast(Tensor, x + self.mlp(self.post_attention_layernorm(x)))


class Transformer(nn.Module):
    """Token embeddings, layers, final norm and vocabulary head."""

    turns: Tensor
    """Cosines and sines as `rotate` wants them, [max_positions, 2hd]."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(Block(config, layer) for layer in range(config.layers))
        self.norm: nn.Module = RMSNorm(config.hidden_size, config.norm_eps)
        self.lm_head: nn.Module = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        if config.tied_embeddings:
            self.lm_head.weight = self.embed_tokens.weight
        angles = torch.outer(torch.arange(config.max_positions, dtype=torch.float32), rotary_frequencies(config))
        cos, sin = angles.cos(), angles.sin()
        # These stay in float32 whatever the weights' type: bfloat16 cannot tell far positions apart.
        self.register_buffer("turns", torch.cat((cos, cos, -sin, sin), dim=-1), persistent=False)

    def embed(self, ids: Tensor) -> Tensor:
        """Long[B,T] -> [B,T,D]."""
        return cast(Tensor, self.embed_tokens(ids))

    def forward(self, x: Tensor, positions: Tensor, attention: Attention) -> Tensor:
        """Embeddings [B,T,D] at ``positions`` Long[B,T] -> hidden states [B,T,D] after the final norm."""
        cos, sin = F.embedding(positions, self.turns).unsqueeze(1).to(x.dtype).chunk(2, dim=-1)  # [B,1,T,hd]
        for block in self.layers:
            x = block(x, cos, sin, attention)
        return cast(Tensor, self.norm(x))

    def logits(self, hidden: Tensor) -> Tensor:
        """[..., D] -> float32 [..., V]."""
        return cast(Tensor, self.lm_head(hidden)).float()
