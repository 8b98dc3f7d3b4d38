"""Folders that transformers wrote load here and give the same greedy tokens."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest
import torch

from reference_impl.chat.format import Encoded
from reference_impl.engine import Engine, GenerationRequest, SamplingParams
from reference_impl.engine.packed import fits_half
from reference_impl.model.checkpoint import BUILTIN_FOLDER, load_model
from reference_impl.model.transformer import causal_attention
from reference_impl.training.greedy import greedy

transformers = pytest.importorskip("transformers", reason="compares with transformers, which is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # its deprecations are not ours to fix
]

SIZES = {
    "vocab_size": 300,
    "hidden_size": 64,
    "intermediate_size": 160,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 256,
    "initializer_range": 0.15,  # far enough from flat logits that rounding decides nothing
    "bos_token_id": None,
    "eos_token_id": None,
    "pad_token_id": None,
}
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 500000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 32,
}
CASES = {
    "qwen2": ("Qwen2", {}),
    "qwen2-tied": ("Qwen2", {"tie_word_embeddings": True}),
    "qwen3": ("Qwen3", {"head_dim": 32}),
    "qwen3-tied": ("Qwen3", {"head_dim": 16, "tie_word_embeddings": True}),
    "llama": ("Llama", {}),
    "llama-biased": ("Llama", {"attention_bias": True, "mlp_bias": True}),
    "llama-llama3-rope": ("Llama", {"rope_parameters": LLAMA3}),
    "llama-linear-rope": ("Llama", {"rope_parameters": {"rope_type": "linear", "factor": 4.0, "rope_theta": 1e4}}),
}
ROUNDED = ("qwen2", "qwen3-tied", "llama-biased")
"""Also with numbers that bfloat16 holds, which the engine packs in another way."""
PROMPTS = ([5, 17, 201, 33], [9] * 12, list(range(40, 80)), [299, 0, 150])


@pytest.fixture(params=[*CASES, *(f"{case}, bfloat16" for case in ROUNDED)])
def pair(request, tmp_path):
    """A random model of transformers and the same weights loaded here from the folder it wrote."""
    case, _, rounded = request.param.partition(", ")
    family, changes = CASES[case]
    torch.manual_seed(11)
    config = getattr(transformers, f"{family}Config")(**{**SIZES, **changes})
    theirs = getattr(transformers, f"{family}ForCausalLM")(config).eval()
    with torch.no_grad():  # biases and gains start as 0 and 1, where an error in them would not show
        for parameter in theirs.parameters():
            if parameter.ndim == 1:
                parameter.add_(torch.randn_like(parameter) * 0.2)
            if rounded:
                parameter.copy_(parameter.bfloat16().float())
    # Small shards, so that several files have to be joined.
    theirs.save_pretrained(tmp_path, max_shard_size="100KB")
    (tmp_path / "tokenizer.json").write_bytes((BUILTIN_FOLDER / "tokenizer.json").read_bytes())
    ours = load_model(str(tmp_path))
    assert fits_half(ours.transformer.layers[0].mlp.up_proj.weight) is bool(rounded)
    return theirs, ours


def test_logits_agree(pair):
    theirs, ours = pair
    for prompt in PROMPTS:
        ids = torch.tensor([prompt])
        with torch.inference_mode():
            expected = theirs(ids).logits
            states = ours.transformer(ours.transformer.embed(ids), torch.arange(len(prompt))[None], causal_attention)
            got = ours.transformer.logits(states)
        torch.testing.assert_close(got, expected, atol=2e-4, rtol=2e-4)


def by_the_engine(model, prompts, count):
    async def generate():
        async with Engine(model, context=128) as engine:
            params = SamplingParams(max_tokens=count, temperature=0.0)
            asked = [engine.submit(GenerationRequest(list(prompt), params, frozenset())) for prompt in prompts]
            return [[token async for token in generation] for generation in asked]

    return asyncio.run(generate())


def test_greedy_tokens_are_the_same(pair):
    theirs, ours = pair
    ours = replace(ours, eos_ids=frozenset())  # transformers is given no end token either
    different: set[int] = set()
    made_here = []
    for prompt in PROMPTS:
        ids = torch.tensor([prompt])
        with torch.inference_mode():
            made = theirs.generate(
                ids, attention_mask=torch.ones_like(ids), max_new_tokens=32, do_sample=False, pad_token_id=0
            )
        expected = made[0, len(prompt) :].tolist()
        assert len(expected) == 32
        assert greedy(ours, Encoded(prompt, []), [], 32) == expected
        made_here.append(expected)
        different.update(expected)
    assert len(different) > 10, "constant replies would show little"
    assert by_the_engine(ours, PROMPTS, 32) == made_here  # last: the engine packs the model's layers


def test_tiny_chat_is_an_ordinary_qwen3_folder(tmp_path):
    """Our own export opens in transformers, which then says the same."""
    ours = load_model("tiny-chat")
    config = json.loads((BUILTIN_FOLDER / "config.json").read_text())
    assert config["model_type"] == "qwen3"
    theirs = transformers.Qwen3ForCausalLM.from_pretrained(BUILTIN_FOLDER, dtype=torch.float32).eval()
    ids = ours.tokenizer.encode("<|im_start|>user\nCount from 1 to 5.<|im_end|>\n<|im_start|>assistant\n").ids
    with torch.inference_mode():
        made = theirs.generate(torch.tensor([ids]), max_new_tokens=32, do_sample=False, pad_token_id=0)
    expected = made[0, len(ids) :].tolist()
    assert greedy(ours, Encoded(ids, []), [], 32) == [token for token in expected if token not in ours.eos_ids]
