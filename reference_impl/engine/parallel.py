"""Tensor parallelism: every process holds a share of each layer, and the first one leads.

Under `torchrun --nproc-per-node N` each process calls `join`, loads the model, calls `split`, and makes an
`Engine` with the same options. The leader (rank 0) starts its engine as usual; the others call
`Engine.follow`, which repeats every forward pass that the leader announces. Scheduling and sampling happen
on the leader only. Sums over shares have another order than sums over the whole, so tokens are
reproducible for one number of processes, not between numbers.
"""

from __future__ import annotations

import os
import sys
from typing import Any, NoReturn

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

from reference_impl.engine.runner import Chunk, Row, Runner
from reference_impl.model.checkpoint import LoadedModel


class CannotSplit(ValueError):
    """The model's heads or feed-forward width do not divide by the number of processes."""


def join(device: str) -> None:
    """Join the other processes, as torchrun's environment describes them; gloo on a CPU, else NCCL."""
    dist.init_process_group("cpu:gloo,cuda:nccl" if device.startswith("cuda") else "gloo")


def leave() -> None:
    """Part from the other processes."""
    if dist.is_initialized():
        dist.destroy_process_group()


def end() -> NoReturn:
    """Part from the other processes and end this one, with status 0.

    Not by the interpreter's own way: gloo's threads, which the model's mesh keeps alive, now and then abort it
    (pytorch/pytorch#179291 describes it).
    """
    leave()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def world_size() -> int:
    """How many processes share the model; 1 without tensor parallelism."""
    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1


def is_leader() -> bool:
    """Whether this process schedules and samples."""
    return world_size() == 1 or dist.get_rank() == 0


def split(model: LoadedModel) -> None:
    """Keep this process's share of every layer, in place. Raises CannotSplit."""
    config, shares = model.config, world_size()
    for name in ("heads", "kv_heads", "intermediate_size", "vocab_size"):
        if getattr(config, name) % shares:
            raise CannotSplit(f"{name} {getattr(config, name)} does not divide by {shares} processes")
    kind = model.transformer.embed_tokens.weight.device.type
    mesh = init_device_mesh(kind, (shares,))
    plan: dict[str, Any] = {f"self_attn.{name}_proj": ColwiseParallel() for name in ("q", "k", "v")}
    plan |= {f"mlp.{name}_proj": ColwiseParallel() for name in ("gate", "up")}
    plan |= {"self_attn.o_proj": RowwiseParallel(), "mlp.down_proj": RowwiseParallel()}
    for block in model.transformer.layers:
        parallelize_module(block, mesh, plan)
    parallelize_module(model.transformer, mesh, {"lm_head": ColwiseParallel(output_layouts=Replicate())})
    model.transformer.requires_grad_(False)


class LeadingRunner(Runner):
    """A runner that tells the followers what it is about to compute."""

    def decode(self, rows: list[Row]) -> Tensor:
        """See `Runner.decode`."""
        _announce("decode", rows)
        return super().decode(rows)

    def prefill(self, chunks: list[Chunk], wanted: list[tuple[int, int]]) -> Tensor:
        """See `Runner.prefill`."""
        _announce("prefill", chunks, wanted)
        return super().prefill(chunks, wanted)

    def close(self) -> None:
        """Let the followers go."""
        _announce("close")


def follow(runner: Runner) -> None:
    """Repeat the leader's forward passes until it closes."""
    while True:
        call: list[Any] = [None]
        dist.broadcast_object_list(call, src=0, device=torch.device("cpu"))
        name, arguments = call[0]
        if name == "close":
            return
        getattr(runner, name)(*arguments)


def _announce(name: str, *arguments: Any) -> None:
    dist.broadcast_object_list([(name, arguments)], src=0, device=torch.device("cpu"))
