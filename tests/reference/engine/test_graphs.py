"""Decode steps replayed from CUDA graphs give the tokens of the plain forward pass."""

import asyncio

import pytest
import torch

from reference_impl.engine import Engine, GenerationRequest, SamplingParams
from reference_impl.model.checkpoint import load_model

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device on this machine"),
]


def generate(model, prompts):
    async def main():
        async with Engine(model, context=512) as engine:

            async def one(prompt):
                params = SamplingParams(max_tokens=40, temperature=0.0)
                return [token async for token in engine.submit(GenerationRequest(prompt, params, frozenset()))]

            alone = [await one(prompt) for prompt in prompts]
            return alone, list(await asyncio.gather(*map(one, prompts)))

    return asyncio.run(main())


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_company_changes_nothing_on_a_gpu(dtype):
    prompts = [list(range(20, 20 + length)) for length in (3, 40, 100, 130, 7)]
    alone, crowd = generate(load_model("tiny-random", device="cuda", dtype=dtype), prompts)
    assert crowd == alone


def test_gpu_and_cpu_agree_in_float32():
    prompts = [list(range(20, 60))]
    on_gpu, _ = generate(load_model("tiny-random", device="cuda", dtype=torch.float32), prompts)
    on_cpu, _ = generate(load_model("tiny-random"), prompts)
    assert on_gpu[0][:10] == on_cpu[0][:10]
