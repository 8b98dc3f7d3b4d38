"""CUDA graphs for decode steps: the whole forward pass as one launch, once for each shape in use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

_WARM_UPS = 2


class DecodeGraphs:
    """Captures `forward(inputs, size, width)` the first time a shape is met, and replays it afterwards.

    All graphs share one memory pool. What `run` returns is overwritten by the next run of the same shape.
    """

    def __init__(self, forward: Callable[[Tensor, int, int], Tensor]) -> None:
        self._forward = forward
        self._captured: dict[tuple[int, int], tuple[torch.cuda.CUDAGraph, Tensor, Tensor]] = {}
        self._pool: Any = None

    def run(self, inputs: Tensor, size: int, width: int) -> Tensor:
        """Logits for `inputs`, a Long vector in the host's memory."""
        if (size, width) not in self._captured:
            self._captured[size, width] = self._capture(inputs.to("cuda"), size, width)
        graph, static_inputs, logits = self._captured[size, width]
        static_inputs.copy_(inputs.pin_memory(), non_blocking=True)
        graph.replay()
        return logits

    def _capture(self, inputs: Tensor, size: int, width: int) -> tuple[torch.cuda.CUDAGraph, Tensor, Tensor]:
        # Lazily made handles and workspaces must exist before the capture, which forbids making them.
        side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(_WARM_UPS):
                self._forward(inputs, size, width)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self._pool):
            logits = self._forward(inputs, size, width)
        self._pool = self._pool or graph.pool()
        return graph, inputs, logits
