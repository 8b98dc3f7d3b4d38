"""Matrix products whose rows do not depend on how many rows there are.

On a CPU `torch.nn.functional.linear` picks its kernel by the number of rows, and the kernels differ in the
last bits: the same token could come out differently alone and in a batch. oneDNN with weights packed
once gives the same bits for every row count that was tried (and, in bfloat16, runs about twice as fast for
few rows). `runner.py` verifies this at start for the model at hand instead of believing it.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class PackedLinear(nn.Module):
    """A linear layer with weights in oneDNN's own layout; inference only, CPU only."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        super().__init__()
        # Plain attributes: a packed weight is opaque to state dicts and to `module.to`.
        self._weight = torch.ops.mkldnn._reorder_linear_weight(weight.detach().contiguous())
        self._bias = None if bias is None else bias.detach()

    def forward(self, x: Tensor) -> Tensor:
        """[..., in] -> [..., out]."""
        product: Tensor = torch.ops.mkldnn._linear_pointwise(x, self._weight, self._bias, "none", [], "")
        return product


def packing_available() -> bool:
    """Whether this torch build can pack weights; without it plain linears and padding are used."""
    built_in: bool = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    return built_in and hasattr(torch.ops.mkldnn, "_linear_pointwise")


def pack_linears(module: nn.Module) -> None:
    """Replace every `nn.Linear` inside `module` by its packed form, in place."""
    for name, child in list(module.named_children()):
        if type(child) is nn.Linear:
            setattr(module, name, PackedLinear(child.weight, child.bias))
        else:
            pack_linears(child)
