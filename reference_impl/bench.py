"""Speed of the engine, side by side with what it could be: `python -m reference_impl.bench`.

Measured in one process and in turns, so that a busy machine disturbs all columns alike:
decode tokens per second through the engine (scheduler, sampling and hand-over to the event loop included),
transformers' `generate` with the same weights in the same type where transformers is installed, and the
bandwidth of a matrix-vector product of the same type, plain or with packed weights, whichever is faster. A
decode step has to read every weight once, so that bandwidth divided by the weights' bytes is the most steps per
second that a batch of one can take; a larger batch multiplies more than it reads. The bytes are those of the
type that the model was loaded in, also where `engine/packed.py` reads fewer.
The best of the rounds is printed: on a shared machine the others tell about the neighbours. Each figure is
given per second and per second of CPU time (all threads of the process), which a busy machine distorts less.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own name
from torch import Tensor

from reference_impl.bench_server import cost_per_event
from reference_impl.engine import Engine, GenerationRequest, SamplingParams
from reference_impl.engine.packed import packing_available
from reference_impl.model.checkpoint import BUILTINS, CheckpointError, LoadedModel, load_model, randomise
from reference_impl.model.transformer import ModelConfig, Transformer

BATCHES = (1, 16)
PROMPT = 16
FIRST_TOKEN_PROMPT = 128
_NO_END: frozenset[int] = frozenset()
_PRODUCT_BYTES = 128 << 20

SMALL = {  # 0.1 B parameters, the shape of a small Qwen3
    "model_type": "qwen3",
    "vocab_size": 32_000,
    "hidden_size": 768,
    "intermediate_size": 2048,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "num_key_value_heads": 4,
    "head_dim": 64,
    "max_position_embeddings": 4096,
    "tie_word_embeddings": True,
}


@dataclass(frozen=True, slots=True)
class Rate:
    """An amount per second of wall-clock time and per second of CPU time."""

    wall: float
    cpu: float


class Stopwatch:
    """Wall-clock and CPU seconds since it was made."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def seconds(self) -> tuple[float, float]:
        """(wall, CPU) so far."""
        return time.perf_counter() - self._wall, time.process_time() - self._cpu

    def rate(self, amount: float) -> Rate:
        """`amount` per second so far."""
        wall, cpu = self.seconds()
        return Rate(amount / wall, amount / max(cpu, 1e-9))


@dataclass(slots=True)
class Measurement:
    """All rounds of one model: tokens by batch size, bytes of the product, seconds to the first token."""

    model: str
    dtype: str
    weight_bytes: int
    engine: dict[int, list[Rate]] = field(default_factory=dict)
    transformers: dict[int, list[Rate]] = field(default_factory=dict)
    bandwidth: list[Rate] = field(default_factory=list)
    first_token: list[float] = field(default_factory=list)


@contextmanager
def quiet_collector() -> Iterator[None]:
    """Keep the garbage collector out of a measurement."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def random_model(device: str, dtype: torch.dtype, tokenizer_of: LoadedModel) -> LoadedModel:
    """The 0.1 B model with seeded random weights; its tokenizer is borrowed and never used."""
    transformer = Transformer(ModelConfig.from_hf(SMALL))
    randomise(transformer, torch.Generator().manual_seed(0))
    transformer.requires_grad_(False)
    transformer.to(device)
    for parameter in transformer.parameters():
        parameter.data = parameter.data.to(dtype)
    return LoadedModel(
        transformer, None, tokenizer_of.tokenizer, transformer.config, _NO_END, None, "random Qwen3 0.1 B"
    )


def weight_bytes(model: LoadedModel) -> int:
    """Bytes a decode step reads: every weight once, the embedding table only as a tied output head."""
    parameters = model.transformer.named_parameters()
    tied = model.config.tied_embeddings
    kept = (p for name, p in parameters if tied or not name.startswith("embed_tokens"))
    return sum(parameter.numel() * parameter.element_size() for parameter in kept)


def product_bandwidth(dtype: torch.dtype, device: str) -> Rate:
    """Bytes per second of the best of a few products of one row with a large matrix, plain and packed."""
    columns = 8192
    matrix = torch.ones(_PRODUCT_BYTES // columns // dtype.itemsize, columns, dtype=dtype, device=device)
    row = torch.ones(1, columns, dtype=dtype, device=device)
    products: list[Callable[[], Tensor]] = [lambda: F.linear(row, matrix)]
    if device == "cpu" and packing_available():
        packed = torch.ops.mkldnn._reorder_linear_weight(matrix)
        products.append(lambda: torch.ops.mkldnn._linear_pointwise.default(row, packed, None, "none", [], ""))
    rates = []
    for product in products * 8:
        watch = Stopwatch()
        product()
        if device.startswith("cuda"):
            torch.cuda.synchronize()
        rates.append(watch.rate(matrix.numel() * dtype.itemsize))
    return best(rates)


def best(rates: list[Rate]) -> Rate:
    """The best of each clock."""
    return Rate(max(rate.wall for rate in rates), max(rate.cpu for rate in rates))


async def engine_rate(engine: Engine, batch: int, steps: int) -> Rate:
    """Decode tokens per second for `batch` greedy generations at once, first tokens left out."""
    vocabulary = engine.model.config.vocab_size
    watch = Stopwatch()
    waiting_for = batch

    async def one(number: int) -> None:
        nonlocal watch, waiting_for
        prompt = [(number * 131 + place * 17) % (vocabulary - 100) + 50 for place in range(PROMPT)]
        params = SamplingParams(max_tokens=steps + 1, temperature=0.0)
        generation = engine.submit(GenerationRequest(prompt, params, _NO_END))
        await anext(generation)
        waiting_for -= 1
        if waiting_for == 0:
            watch = Stopwatch()
        async for _ in generation:
            pass

    with quiet_collector():
        await asyncio.gather(*(one(number) for number in range(batch)))
        return watch.rate(batch * steps)


async def first_token_seconds(engine: Engine, salt: int) -> float:
    """From submission to the first token of a prompt that no cache knows."""
    vocabulary = engine.model.config.vocab_size
    prompt = [(salt * 977 + place * 31) % (vocabulary - 100) + 50 for place in range(FIRST_TOKEN_PROMPT)]
    params = SamplingParams(max_tokens=1, temperature=0.0)
    began = time.perf_counter()
    await anext(engine.submit(GenerationRequest(prompt, params, _NO_END)))
    return time.perf_counter() - began


def transformers_twin(model: LoadedModel) -> Any:
    """The same weights in transformers' Qwen3, or None with a message where it is not installed."""
    try:
        from transformers import Qwen3Config, Qwen3ForCausalLM
    except ImportError:
        sys.stdout.write("transformers is not installed: its columns are left out\n")
        return None
    config = model.config
    twin: Any = Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=config.vocab_size,
            hidden_size=config.hidden_size,
            intermediate_size=config.intermediate_size,
            num_hidden_layers=config.layers,
            num_attention_heads=config.heads,
            num_key_value_heads=config.kv_heads,
            head_dim=config.head_dim,
            max_position_embeddings=config.max_positions,
            rms_norm_eps=config.norm_eps,
            rope_parameters={"rope_type": "default", "rope_theta": config.rope_theta},
            tie_word_embeddings=config.tied_embeddings,
        )
    )
    weight = model.transformer.embed_tokens.weight
    state = {f"model.{name}": value for name, value in model.transformer.state_dict().items()}
    state["lm_head.weight"] = state.pop("model.lm_head.weight")
    twin.to(device=weight.device, dtype=weight.dtype).load_state_dict(state)
    return twin.eval()


def transformers_rate(twin: Any, batch: int, steps: int) -> Rate:
    """Decode tokens per second of `generate`: the time for many tokens less the time for one."""
    ids = torch.randint(50, 900, (batch, PROMPT), device=twin.device)
    options = {"do_sample": False, "pad_token_id": 0, "eos_token_id": None}

    def seconds(count: int) -> tuple[float, float]:
        watch = Stopwatch()
        twin.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=count, min_new_tokens=count, **options)
        if twin.device.type == "cuda":
            torch.cuda.synchronize()
        return watch.seconds()

    with quiet_collector(), torch.inference_mode():
        (many, many_cpu), (one, one_cpu) = seconds(steps + 1), seconds(1)
        return Rate(batch * steps / (many - one), batch * steps / (many_cpu - one_cpu))


async def measure(model: LoadedModel, *, rounds: int, steps: int, threads: int, checked: bool) -> Measurement:
    """Take turns between the engine, transformers and the bare product."""
    weight = model.transformer.embed_tokens.weight
    device, dtype = weight.device.type, weight.dtype
    result = Measurement(model.name, str(dtype).removeprefix("torch."), weight_bytes(model))
    twin = transformers_twin(model)
    async with Engine(model, threads=threads, context=1024, deterministic=checked) as engine:
        await engine_rate(engine, max(BATCHES), 8)
        for turn in range(rounds):
            result.bandwidth.append(product_bandwidth(dtype, device))
            for batch in BATCHES:
                result.engine.setdefault(batch, []).append(await engine_rate(engine, batch, steps))
                if twin is not None:
                    result.transformers.setdefault(batch, []).append(transformers_rate(twin, batch, steps))
            result.first_token.append(await first_token_seconds(engine, turn))
    return result


def report(result: Measurement, write: Callable[[str], object]) -> None:
    """Print the best of the rounds, with the share of what the bandwidth allows."""
    limit = best(result.bandwidth)
    write(f"\n{result.model}, {result.dtype}, {result.weight_bytes / 1e6:.1f} MB of weights a step\n")
    for clock in ("wall", "cpu"):
        unit = "s" if clock == "wall" else "CPU-s"
        bandwidth = getattr(limit, clock)
        write(f"  matrix-vector product       {bandwidth / 1e9:9.1f} GB/{unit}\n")
        for batch, rates in result.engine.items():
            rate = getattr(best(rates), clock)
            share = rate / batch * result.weight_bytes / bandwidth
            line = f"  decode, batch {batch:2d}            {rate:9.0f} tokens/{unit}, {share:4.0%} of the limit"
            if batch in result.transformers:
                theirs = getattr(best(result.transformers[batch]), clock)
                line += f"; transformers {theirs:7.0f}, ratio {rate / theirs:.2f}"
            write(line + "\n")
    write(f"  first token after {FIRST_TOKEN_PROMPT} prompt tokens {min(result.first_token) * 1e3:7.1f} ms\n")


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark; exit status 0."""
    parser = argparse.ArgumentParser(prog="python -m reference_impl.bench", description=__doc__)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=64, help="tokens per generation and round")
    parser.add_argument("--model", default="tiny-chat", help="a built-in or a folder, beside the 0.1 B model")
    parser.add_argument("--only", choices=("first", "random"), help="just --model, or just the 0.1 B model")
    parser.add_argument(
        "--unchecked", action="store_true", help="skip the check that rows do not depend on their company"
    )
    chosen = parser.parse_args(arguments)
    torch.set_num_threads(chosen.threads)
    # Small models are fastest in float32 on a CPU; larger ones are read faster in bfloat16.
    first_type = torch.bfloat16 if chosen.device.startswith("cuda") else torch.float32
    try:
        first = load_model(chosen.model, chosen.device, first_type)
    except CheckpointError as error:
        sys.stdout.write(f"{error}: tiny-random stands in\n")
        first = load_model("tiny-random", chosen.device, first_type)
    sys.stdout.write(f"torch {torch.__version__}, {chosen.device}, {chosen.threads} threads\n")
    models = [] if chosen.only == "random" else [first]
    if chosen.only != "first":
        models.append(random_model(chosen.device, torch.bfloat16, first))
    for model in models:
        measured = asyncio.run(
            measure(
                model,
                rounds=chosen.rounds,
                steps=chosen.steps,
                threads=chosen.threads,
                checked=not chosen.unchecked,
            )
        )
        report(measured, sys.stdout.write)
    if chosen.device == "cpu" and chosen.only != "random" and first.name in BUILTINS:
        through, alone = asyncio.run(cost_per_event(first.name))
        sys.stdout.write(
            f"\nserver: {through * 1e6:.0f} CPU-us per streamed token, of which the engine {alone * 1e6:.0f}\n"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
