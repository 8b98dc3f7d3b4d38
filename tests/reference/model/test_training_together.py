"""Processes that train together hold the same weights, though each learns from dialogues of its own."""

import json

import pytest
import torch
from torch import nn

from reference_impl.model.checkpoint import load_model
from reference_impl.training.seeing import learn_to_see
from reference_impl.training.together import agree, average_gradients, first_says, own_seed, rank, work_together
from reference_impl.training.train import Settings, train


def meet(folder):
    """What one process sees of the others."""
    weights = [nn.Parameter(torch.zeros(2, 3)), nn.Parameter(torch.zeros(4)), nn.Parameter(torch.zeros(1))]
    weights[0].grad = torch.full((2, 3), 1.0 + rank())
    if rank() == 1:
        weights[1].grad = torch.arange(4.0)
    weights[2].requires_grad_(False)
    average_gradients(weights)
    seen = {
        "gradients": [None if weight.grad is None else weight.grad.flatten().tolist() for weight in weights],
        "agreed": agree(0.5 * rank()),
        "said": first_says(f"by {rank()}"),
        "seed": own_seed(7),
    }
    (folder / f"{rank()}.json").write_text(json.dumps(seen))


@pytest.mark.slow
def test_two_processes_agree(tmp_path):
    work_together(2, 1, meet, tmp_path)
    first, second = (json.loads((tmp_path / f"{number}.json").read_text()) for number in range(2))
    assert first["gradients"] == [[1.5] * 6, [0.0, 0.5, 1.0, 1.5], None]
    assert first["agreed"] == 0.25
    assert first["said"] == "by 0"
    assert first.pop("seed") == 7 != second.pop("seed")
    assert second == first


def test_alone_nothing_changes():
    weight = nn.Parameter(torch.zeros(2))
    weight.grad = torch.ones(2)
    average_gradients([weight])
    assert weight.grad.tolist() == [1.0, 1.0]
    assert (rank(), own_seed(3), agree(0.25), first_says("me")) == (0, 3, 0.25, "me")


def see(folder):
    """A few lessons in seeing, each process from pictures of its own."""
    vision = load_model("tiny-chat").vision.requires_grad_(True)
    torch.manual_seed(1)
    learn_to_see(vision, own_seed(1), minutes=0.02, report=lambda line: None)
    torch.save(vision.state_dict(), folder / f"{rank()}.pt")


@pytest.mark.slow
def test_what_two_processes_learn_is_the_same(tmp_path):
    work_together(2, 1, see, tmp_path)
    first, second = (torch.load(tmp_path / f"{number}.pt") for number in range(2))
    before = load_model("tiny-chat").vision.state_dict()
    assert not torch.equal(first["patch.weight"], before["patch.weight"])
    assert all(torch.equal(first[name], second[name]) for name in first)


@pytest.mark.slow
def test_a_run_of_two_processes_exports_a_model(tmp_path):
    settings = Settings(minutes=0, out=tmp_path, steps=4, seeing_minutes=0.01, batch_tokens=256, compiled=False)
    work_together(2, 1, train, settings)
    assert load_model(str(tmp_path)).vision is not None
