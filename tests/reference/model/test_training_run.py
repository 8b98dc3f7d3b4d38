"""A short run makes a folder that loads, and that is better than chance."""

from __future__ import annotations

import itertools
import random

import pytest
import torch
import torch.nn.functional as F

from reference_impl.model.checkpoint import load_model
from reference_impl.model.transformer import ModelConfig, Transformer, causal_attention
from reference_impl.training import dialogues
from reference_impl.training.circuit import prepare_copying
from reference_impl.training.corpus import example, examples
from reference_impl.training.export import CONFIG, initialise
from reference_impl.training.pictures import COLOURS, SHAPES
from reference_impl.training.seeing import labelled, learn_to_see
from reference_impl.training.train import Settings, train
from reference_impl.training.vocabulary import WORDS


@pytest.mark.slow
def test_a_few_seconds_of_training(tmp_path):
    lines: list[str] = []
    settings = Settings(
        minutes=0, out=tmp_path, steps=60, seeing_minutes=0.02, batch_tokens=1024, compiled=False, export_minutes=0.01
    )
    train(settings, lines.append)
    assert "2.09 M parameters" in lines[0]
    assert any(line.startswith("exported") for line in lines)
    assert lines[-1].startswith("done: ")
    trained, random = load_model(str(tmp_path)), load_model("tiny-random")
    assert loss(trained) < loss(random) - 1
    assert not list(tmp_path.glob("*.partial"))


@torch.inference_mode()
def loss(model):
    """Mean loss over learned tokens of text dialogues that the run has not seen."""
    total, count = 0.0, 0
    for made in itertools.islice(examples(99, model.tokenizer, 200), 40):
        if made.pictures:
            continue
        ids, learn = torch.tensor([made.ids]), torch.tensor(made.learn)[1:]
        states = model.transformer(model.transformer.embed(ids), torch.arange(ids.shape[1])[None], causal_attention)
        logits = model.transformer.logits(states)[0, :-1][learn]
        total += float(F.cross_entropy(logits, ids[0, 1:][learn], reduction="sum"))
        count += int(learn.sum())
    return total / count


def test_labels_say_what_is_in_a_picture():
    rng = random.Random(3)
    for _ in range(200):
        picture, (ground, colour, shape, number) = labelled(rng)
        colours = len(picture.flatten(1).unique(dim=1).T)
        assert 0 <= ground < len(COLOURS)
        assert (colour == len(COLOURS)) == (shape == len(SHAPES)) == (number == 0) == (colours == 1)


def test_lessons_in_seeing_change_the_encoder_alone():
    model = load_model("tiny-chat")
    before = model.vision.patch.weight.clone()
    model.vision.requires_grad_(True)
    learn_to_see(model.vision, seed=1, minutes=0.02, report=lambda line: None)
    assert not torch.equal(model.vision.patch.weight, before)
    assert all(parameter.isfinite().all() for parameter in model.vision.parameters())


@torch.inference_mode()
def test_fresh_weights_already_copy():
    """The head start works before any training: most known words of a sentence are repeated in order."""
    generator = torch.Generator().manual_seed(1)
    transformer = Transformer(ModelConfig.from_hf(CONFIG))
    initialise(transformer, transformer.config.layers, generator)
    chance = copied(transformer)
    prepare_copying(transformer, generator)
    assert chance < 0.05
    assert copied(transformer) > 0.4


def copied(transformer):
    """Share of tokens predicted rightly while a sentence of random known words is repeated."""
    tokenizer, rng = load_model("tiny-random").tokenizer, random.Random(3)
    right = total = 0
    for _ in range(10):
        words = " ".join(rng.sample(WORDS, 12))
        made = example(dialogues.Dialogue([dialogues.user(f"Repeat exactly: {words}")], words), tokenizer)
        ids, learn = torch.tensor([made.ids]), torch.tensor(made.learn)[1:]
        states = transformer(transformer.embed(ids), torch.arange(ids.shape[1])[None], causal_attention)
        chosen = transformer.logits(states)[0, :-1][learn].argmax(-1)
        right += int((chosen == ids[0, 1:][learn]).sum())
        total += int(learn.sum())
    return right / total
