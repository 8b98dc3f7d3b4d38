"""The benchmark runs and prints each of its lines; no speed is asserted, machines differ."""

import re
import sys

import pytest
import torch

from reference_impl import bench
from reference_impl.model.checkpoint import load_model


@pytest.fixture
def without_transformers(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)


@pytest.mark.slow
@pytest.mark.usefixtures("without_transformers")
def test_prints_every_line_and_says_what_is_left_out(capsys, monkeypatch):
    monkeypatch.setattr(bench, "_PRODUCT_BYTES", 1 << 20)
    assert bench.main(["--model", "tiny-random", "--rounds", "1", "--steps", "2", "--only", "first"]) == 0
    text = capsys.readouterr().out
    assert "transformers is not installed" in text
    assert len(re.findall(r"decode, batch  1 +\d+ tokens/", text)) == 2
    assert len(re.findall(r"decode, batch 16 +\d+ tokens/", text)) == 2
    assert re.search(r"first token after 128 prompt tokens +[\d.]+ ms", text)
    assert re.search(r"server: \d+ CPU-us per streamed token, of which the engine \d+", text)
    assert "ratio" not in text


def test_the_limit_counts_a_tied_embedding_once():
    """Every matrix is read once a step; a tied embedding table is read as the output head."""
    model = load_model("tiny-random")  # fresh: an engine takes the weights of a shared one over
    total = sum(parameter.numel() for parameter in model.transformer.parameters())
    assert model.config.tied_embeddings
    assert bench.weight_bytes(model) == 4 * total


def test_random_model_has_a_tenth_of_a_billion_parameters(model):
    large = bench.random_model("cpu", torch.bfloat16, model)
    count = sum(parameter.numel() for parameter in large.transformer.parameters())
    assert 0.09e9 < count < 0.11e9
    assert large.transformer.turns.dtype == torch.float32
