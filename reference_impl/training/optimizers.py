"""What changes the weights: Muon for matrices, AdamW for everything else, and their rates over a run."""

from __future__ import annotations

import torch
from torch import nn

MATRIX_RATE, OTHER_RATE = 0.02, 0.004
WARM_UP_STEPS = 60
STEADY_SHARE = 0.62


def optimizers(parts: nn.Module) -> list[torch.optim.Optimizer]:
    """Both over the parameters of `parts` that learn; embeddings and positions are no matrices in Muon's sense."""
    matrices: list[nn.Parameter] = []
    others: list[nn.Parameter] = []
    for name, parameter in parts.named_parameters():
        if not parameter.requires_grad:
            continue
        hidden_matrix = parameter.ndim == 2 and not any(word in name for word in ("embed", "position", "heads"))
        (matrices if hidden_matrix else others).append(parameter)
    return [
        torch.optim.Muon(matrices, lr=MATRIX_RATE, momentum=0.95, weight_decay=0.01),
        torch.optim.AdamW(others, lr=OTHER_RATE, betas=(0.9, 0.98), weight_decay=0.0),
    ]


def set_rates(optimizers: list[torch.optim.Optimizer], step: int, share: float) -> None:
    """Warm up, stay, and fall over the last part of the run; `share` of it is over."""
    factor = min(1.0, (step + 1) / WARM_UP_STEPS)
    if share > STEADY_SHARE:
        factor *= max(0.02, (1 - share) / (1 - STEADY_SHARE))
    for optimizer, rate in zip(optimizers, (MATRIX_RATE, OTHER_RATE), strict=True):
        for group in optimizer.param_groups:
            group["lr"] = rate * factor
