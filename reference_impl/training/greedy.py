"""Greedy decoding of one prompt at a time with a plain cache: for scores and tests, not for serving."""

from __future__ import annotations

import torch
from torch import Tensor

from reference_impl.chat.format import Encoded
from reference_impl.model.checkpoint import LoadedModel
from reference_impl.model.transformer import causal_attention


class GrowingCache:
    """Keys and values of every layer so far; an attention callable for one sequence."""

    def __init__(self) -> None:
        self.keys: dict[int, Tensor] = {}
        self.values: dict[int, Tensor] = {}

    def __call__(self, layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """A whole prompt first, then one position at a time: q [1,H,T,hd] -> [1,H,T,hd]."""
        if layer not in self.keys:
            self.keys[layer], self.values[layer] = k, v
            return causal_attention(layer, q, k, v)
        self.keys[layer] = torch.cat((self.keys[layer], k), dim=2)
        self.values[layer] = torch.cat((self.values[layer], v), dim=2)
        groups = q.shape[1] // k.shape[1]
        keys = self.keys[layer].repeat_interleave(groups, dim=1)
        scores = (q @ keys.transpose(-1, -2)).float() * q.shape[-1] ** -0.5
        weights: Tensor = scores.softmax(dim=-1).to(v.dtype)
        return weights @ self.values[layer].repeat_interleave(groups, dim=1)


@torch.inference_mode()
def greedy(model: LoadedModel, prompt: Encoded, pictures: list[Tensor], limit: int) -> list[int]:
    """At most ``limit`` new ids; the end token, which stops it, is not among them."""
    transformer, cache = model.transformer, GrowingCache()
    x = transformer.embed(torch.tensor([prompt.ids]))
    if pictures and model.vision is not None:
        for (start, stop), vectors in zip(prompt.images, model.vision(torch.stack(pictures)), strict=True):
            x[0, start:stop] = vectors
    positions = torch.arange(len(prompt.ids)).unsqueeze(0)
    made: list[int] = []
    while len(made) < limit:
        hidden = transformer(x, positions, cache)
        chosen = int(transformer.logits(hidden[:, -1]).argmax())
        if chosen in model.eos_ids:
            break
        made.append(chosen)
        x, positions = transformer.embed(torch.tensor([[chosen]])), positions[:, -1:] + 1
    return made
