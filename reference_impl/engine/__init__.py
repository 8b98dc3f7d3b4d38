"""The engine of the reference implementation: continuous batching, paged cache, sampling, constraints.

It knows token ids only; `text.py` and `grammar.py` are for the dialects around it.
"""

from reference_impl.engine.engine import Engine, EngineStats
from reference_impl.engine.generation import Generation
from reference_impl.engine.request import (
    EngineFailure,
    GenerationRequest,
    PromptTooLong,
    QueueFull,
    SamplingParams,
)

__all__ = [
    "Engine",
    "EngineFailure",
    "EngineStats",
    "Generation",
    "GenerationRequest",
    "PromptTooLong",
    "QueueFull",
    "SamplingParams",
]
