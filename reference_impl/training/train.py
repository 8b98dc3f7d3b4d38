"""The training run: fresh dialogues all the time, text and pictures together, for a given number of minutes.

Before that the vision encoder has lessons of its own. The learning rate warms up, stays, and falls
over the last third of the time; what is exported is a running average of the weights, usable at any moment.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention
from tokenizers import Tokenizer
from torch import Tensor, nn

from reference_impl.model.checkpoint import load_model
from reference_impl.model.transformer import ModelConfig, Transformer, causal_attention
from reference_impl.model.vision import VisionConfig, VisionEncoder
from reference_impl.training.circuit import prepare_copying
from reference_impl.training.corpus import Example, examples, plain_texts
from reference_impl.training.export import CONFIG, export, initialise
from reference_impl.training.optimizers import optimizers, set_rates
from reference_impl.training.seeing import learn_to_see
from reference_impl.training.together import agree, average_gradients, first_says, own_seed, processes, rank
from reference_impl.training.tokenizer import train_tokenizer

POOL = 4096
"""Dialogues that are sorted by length together, so that a batch has little padding."""

LONGEST = 2048
"""Tokens of the longest dialogue in training; attention in full needs memory that grows with the square."""

LESSONS = 8_000
"""Dialogues over which plain copying gives way to the whole mixture."""

AVERAGE_DECAY = 0.995


@dataclass(frozen=True, slots=True)
class Settings:
    """One run. ``batch_tokens`` is the size of a step, of each process; ``export_minutes`` the time between exports.

    ``seeing_minutes`` come before: lessons for the vision encoder alone (``seeing.py``).
    ``steps``, where given, ends the run instead of ``minutes``.
    ``start`` is a folder of an earlier run to go on from; give another seed then, so that its dialogues are new.
    """

    minutes: float
    out: Path
    seed: int = 1
    device: str = "cpu"
    batch_tokens: int = 3072
    seeing_minutes: float = 6.0
    export_minutes: float = 10.0
    compiled: bool = True
    start: Path | None = None
    steps: int | None = None


@dataclass(slots=True)
class Batch:
    """B padded dialogues: ids and learn [B,T], pictures [N,3,64,64], and where their vectors go [B,T]."""

    ids: Tensor
    learn: Tensor
    pictures: Tensor | None
    places: Tensor


def say(line: str) -> None:
    """Print a line of a run at once."""
    print(line, flush=True)


def train(settings: Settings, report: Callable[[str], None] = say) -> None:
    """Run and export to ``settings.out``; in several processes the first one reports and exports."""
    torch.manual_seed(settings.seed)
    first = rank() == 0
    if not first:
        report = _nothing
    if settings.start is None:
        texts = train_tokenizer(plain_texts(settings.seed, 8000), CONFIG["vocab_size"]).to_str() if first else ""
        tokenizer = Tokenizer.from_str(first_says(texts))
        transformer, vision = _fresh_model(settings)
    else:
        tokenizer, transformer, vision = _earlier_model(settings)
    if settings.seeing_minutes:
        learn_to_see(vision, own_seed(settings.seed), settings.seeing_minutes, report)
    # A few pictures a step would make Muon, whose steps are as large for faint gradients, walk at random.
    vision.requires_grad_(False)
    parts = nn.ModuleList([transformer, vision])
    average = [parameter.detach().clone() for parameter in parts.parameters()]
    teachers = optimizers(parts)
    hidden = torch.compile(transformer, dynamic=True) if settings.compiled else transformer
    report(f"{sum(p.numel() for p in parts.parameters()) / 1e6:.2f} M parameters")

    started = exported = time.monotonic()
    each = f" by each of {processes()}" if processes() > 1 else ""
    step = seen = learned = 0
    smooth = 0.0
    for batch in _batches(settings, tokenizer):
        elapsed = time.monotonic() - started
        share = agree(step / settings.steps if settings.steps else elapsed / (60 * settings.minutes))
        if share >= 1:
            break
        set_rates(teachers, step, share)
        with torch.autocast(settings.device.split(":")[0], torch.bfloat16):
            loss = _loss(batch, transformer, vision, hidden)
        loss.backward()  # type: ignore[no-untyped-call]
        average_gradients(parts.parameters())
        nn.utils.clip_grad_norm_(parts.parameters(), 1.0)
        for optimizer in teachers:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        decay = min(AVERAGE_DECAY, (step + 1) / (step + 10))
        torch._foreach_lerp_(average, [p.detach() for p in parts.parameters()], 1 - decay)

        if step == 0:  # the first step compiles, which takes a minute that is no training
            started = exported = time.monotonic()
        step += 1
        seen += batch.ids.numel()
        learned += int(batch.learn.sum())
        smooth = loss.item() if step == 1 else 0.97 * smooth + 0.03 * loss.item()
        if step % 50 == 0:
            elapsed = time.monotonic() - started
            report(
                f"step {step} at {elapsed:.0f} s: loss {smooth:.4f}, {seen / 1e6:.2f} M tokens seen{each}, "
                f"{learned / 1e6:.2f} M learned, {seen / elapsed:.0f} tokens/s"
            )
        if first and time.monotonic() - exported > 60 * settings.export_minutes:
            exported = time.monotonic()
            _export(settings.out, parts, average, tokenizer)
            report(f"exported at step {step}")
    if first:
        _export(settings.out, parts, average, tokenizer)
    report(
        f"done: {step} steps, {seen / 1e6:.2f} M tokens seen{each}, {learned / 1e6:.2f} M learned, loss {smooth:.4f}"
    )


def _nothing(line: str) -> None:
    """What the other processes report."""


def _fresh_model(settings: Settings) -> tuple[Transformer, VisionEncoder]:
    generator = torch.Generator().manual_seed(settings.seed)
    transformer = Transformer(ModelConfig.from_hf(CONFIG))
    vision = VisionEncoder(VisionConfig.from_hf(CONFIG["vision_config"]))
    initialise(transformer, transformer.config.layers, generator)
    prepare_copying(transformer, generator)
    initialise(vision, vision.config.layers, generator)
    return transformer.to(settings.device), vision.to(settings.device)


def _earlier_model(settings: Settings) -> tuple[Tokenizer, Transformer, VisionEncoder]:
    loaded = load_model(str(settings.start), settings.device)
    if loaded.vision is None:
        raise ValueError(f"{settings.start} has no vision encoder to go on from")
    parts = nn.ModuleList([loaded.transformer, loaded.vision]).train()
    parts.requires_grad_(True)
    return loaded.tokenizer, loaded.transformer, loaded.vision


def _loss(batch: Batch, transformer: Transformer, vision: VisionEncoder, hidden: Callable[..., Tensor]) -> Tensor:
    """Mean cross entropy, in nats, over the tokens to be learned."""
    x = transformer.embed(batch.ids)  # [B,T,D]
    if batch.pictures is not None:
        vectors = vision(batch.pictures).flatten(0, 1)  # [N*16,D]
        x = x.masked_scatter(batch.places.unsqueeze(-1), vectors.to(x.dtype))
    positions = torch.arange(batch.ids.shape[1], device=x.device).expand(batch.ids.shape)
    x = x.to(torch.bfloat16)  # the whole stream in half the memory: twice as fast on a CPU
    states = hidden(x, positions, causal_attention)[:, :-1]
    wanted = batch.learn[:, 1:]
    return F.cross_entropy(transformer.logits(states[wanted]), batch.ids[:, 1:][wanted])


def _batches(settings: Settings, tokenizer: Tokenizer) -> Iterator[Batch]:
    seed = own_seed(settings.seed)
    source = examples(seed, tokenizer, LONGEST, LESSONS if settings.start is None else 0)
    rng = random.Random(seed)  # noqa: S311 - an order, not a secret
    while True:
        pool = sorted((next(source) for _ in range(POOL)), key=lambda made: len(made.ids))
        groups: list[list[Example]] = [[]]
        for made in pool:
            if groups[-1] and (len(groups[-1]) + 1) * len(made.ids) > settings.batch_tokens:
                groups.append([])
            groups[-1].append(made)
        rng.shuffle(groups)
        for group in groups:
            yield _padded(group, settings.device)


def _padded(group: list[Example], device: str) -> Batch:
    width = max(len(made.ids) for made in group)
    ids = torch.zeros(len(group), width, dtype=torch.long)
    learn = torch.zeros(len(group), width, dtype=torch.bool)
    places = torch.zeros(len(group), width, dtype=torch.bool)
    for row, made in enumerate(group):
        ids[row, : len(made.ids)] = torch.tensor(made.ids)
        learn[row, : len(made.ids)] = torch.tensor(made.learn)
        for start, stop in made.places:
            places[row, start:stop] = True
    pictures = [picture for made in group for picture in made.pictures]
    stacked = torch.stack(pictures).to(device) if pictures else None
    return Batch(ids.to(device), learn.to(device), stacked, places.to(device))


def _export(out: Path, parts: nn.ModuleList, average: list[Tensor], tokenizer: Tokenizer) -> None:
    averaged = iter(average)
    states = [{name: next(averaged) for name, _ in part.named_parameters()} for part in parts]
    export(out, states[0], states[1], tokenizer)
