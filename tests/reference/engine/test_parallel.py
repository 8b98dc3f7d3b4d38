"""Two processes that share a model generate what one process generates."""

import asyncio
import json
import os
import socket
import subprocess
import sys

import pytest
import torch

from reference_impl.engine import Engine, GenerationRequest, SamplingParams, parallel
from reference_impl.model.checkpoint import LoadedModel, load_model, randomise
from reference_impl.model.transformer import ModelConfig, Transformer

PROMPTS = [list(range(20, 20 + length)) for length in (5, 40, 70)]


def divisible_model():
    """The built-in tokenizer with a small random transformer whose heads divide by two."""
    base = load_model("tiny-random")
    config = ModelConfig.from_hf(
        {
            "model_type": "qwen3",
            "vocab_size": 1024,
            "hidden_size": 64,
            "intermediate_size": 128,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "head_dim": 16,
            "max_position_embeddings": 256,
            "tie_word_embeddings": True,
        }
    )
    transformer = Transformer(config)
    randomise(transformer, torch.Generator().manual_seed(5))
    transformer.requires_grad_(False)
    return LoadedModel(transformer, None, base.tokenizer, config, frozenset(), None, "split")


async def generate(engine):
    async def one(prompt, temperature):
        params = SamplingParams(max_tokens=12, temperature=temperature, seed=3)
        return [token async for token in engine.submit(GenerationRequest(prompt, params, frozenset()))]

    return await asyncio.gather(*(one(prompt, t) for prompt in PROMPTS for t in (0.0, 1.0)))


async def lead(engine):
    async with engine:
        return await generate(engine)


def one_of_two():
    """What each of the two processes runs; the leader prints the tokens."""
    torch.set_num_threads(1)
    parallel.join("cpu")
    model = divisible_model()
    whole = sum(parameter.numel() for parameter in model.transformer.layers.parameters())
    parallel.split(model)
    local = sum(
        p.to_local().numel() if hasattr(p, "to_local") else p.numel() for p in model.transformer.layers.parameters()
    )
    engine = Engine(model, max_batch=4, prefill_chunks=4)
    if parallel.is_leader():
        answers = asyncio.run(lead(engine))
        sys.stdout.write(json.dumps({"answers": answers, "share": local / whole}) + "\n")
    else:
        engine.follow()
    parallel.end()


@pytest.mark.slow
def test_two_processes_generate_what_one_does(tmp_path):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-c", "from tests.reference.engine.test_parallel import one_of_two; one_of_two()"]
    common = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "2"}
    common["OMP_NUM_THREADS"] = "1"
    processes = []
    for rank in range(2):
        output = (tmp_path / f"{rank}.out").open("w+")
        environment = {**common, "RANK": str(rank), "LOCAL_RANK": str(rank)}
        processes.append((subprocess.Popen(command, env=environment, stdout=output, stderr=output), output))
    try:
        codes = [process.wait(timeout=240) for process, _ in processes]
    finally:
        for process, _ in processes:
            process.kill()
    outputs = []
    for _, output in processes:
        output.seek(0)
        outputs.append(output.read())
        output.close()
    assert codes == [0, 0], outputs
    said = json.loads(next(line for line in outputs[0].splitlines() if line.startswith("{")))
    alone = asyncio.run(lead(Engine(divisible_model(), max_batch=4, prefill_chunks=4)))
    assert said["answers"] == alone
    assert 0.5 <= said["share"] < 0.55  # norms are kept whole, every matrix is halved


def test_model_that_does_not_divide_is_refused(model, monkeypatch):
    """tiny-chat has a single key/value head."""
    monkeypatch.setattr(parallel, "world_size", lambda: 2)
    with pytest.raises(parallel.CannotSplit, match="heads"):
        parallel.split(model)


def test_a_single_process_leads():
    assert parallel.world_size() == 1
    assert parallel.is_leader()
