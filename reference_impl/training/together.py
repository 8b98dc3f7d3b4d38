"""Several processes that train one model, each on dialogues of its own: gradients are averaged over gloo.

Alone, every function here leaves things as they are.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.multiprocessing.spawn import spawn

STREAM = 1_000_000
"""Between the seeds of two processes' dialogues, far beyond any seed that a person picks."""


def work_together(count: int, threads: int, work: Callable[..., None], *arguments: Any) -> None:
    """Call ``work(*arguments)`` in ``count`` processes that know of each other; returns when all are done.

    ``work`` and its arguments are pickled. Raises torch's ProcessRaisedException if one of them fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        meeting = (Path(folder) / "meeting").as_uri()
        spawn(_one_of_them, args=(count, threads, meeting, work, arguments), nprocs=count)  # type: ignore[no-untyped-call]


def _one_of_them(
    rank: int, count: int, threads: int, meeting: str, work: Callable[..., None], arguments: tuple[Any, ...]
) -> None:
    torch.set_num_threads(threads)
    dist.init_process_group("gloo", init_method=meeting, rank=rank, world_size=count)
    try:
        work(*arguments)
    finally:
        sys.stdout.flush()
        dist.destroy_process_group()


def rank() -> int:
    """This process's number; 0 also alone."""
    return dist.get_rank() if dist.is_initialized() else 0


def processes() -> int:
    """How many work together; 1 alone."""
    return dist.get_world_size() if dist.is_initialized() else 1


def own_seed(seed: int) -> int:
    """The seed of this process's dialogues and pictures."""
    return seed + STREAM * rank()


def agree(value: float) -> float:
    """The mean of all processes' values, so that clocks which differ end nobody's loop alone."""
    if not dist.is_initialized():
        return value
    mean = torch.tensor(value, dtype=torch.float64)
    dist.all_reduce(mean)
    return float(mean) / processes()


def first_says(value: Any) -> Any:
    """What process 0 has; the others' values are dropped."""
    if not dist.is_initialized():
        return value
    said = [value]
    dist.broadcast_object_list(said, src=0)
    return said[0]


def average_gradients(parameters: Iterable[nn.Parameter]) -> None:
    """Give every process the mean of all processes' gradients; one that has none counts as 0."""
    if not dist.is_initialized():
        return
    learning = [parameter for parameter in parameters if parameter.requires_grad]
    gradients: list[Tensor] = []
    for parameter in learning:
        if parameter.grad is None:
            parameter.grad = torch.zeros_like(parameter)
        gradients.append(parameter.grad)
    joined = torch.cat([gradient.flatten() for gradient in gradients])
    dist.all_reduce(joined)
    joined /= processes()
    parts = torch.split(joined, [gradient.numel() for gradient in gradients])
    for gradient, part in zip(gradients, parts, strict=True):
        gradient.copy_(part.view_as(gradient))
