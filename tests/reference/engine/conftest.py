"""What the engine's tests share: the built-in random model, and small helpers around generations."""

import pytest
import torch

from reference_impl.engine import GenerationRequest, SamplingParams
from reference_impl.model.checkpoint import load_model

NO_END = frozenset()


@pytest.fixture(scope="session", autouse=True)
def _one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def model():
    return load_model("tiny-random")


@pytest.fixture
def ask():
    """Builds a request; by default greedy, eight tokens, and nothing ends it early."""

    def build(prompt, *, max_tokens=8, eos_ids=NO_END, images=(), grammar=None, min_tokens=0, **sampling):
        params = SamplingParams(max_tokens=max_tokens, **{"temperature": 0.0, **sampling})
        return GenerationRequest(
            prompt=list(prompt),
            sampling=params,
            eos_ids=eos_ids,
            images=list(images),
            grammar=grammar,
            min_tokens=min_tokens,
        )

    return build
