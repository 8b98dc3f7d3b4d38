"""Loading: built-ins, folders, and refusals that a user can act on."""

from __future__ import annotations

import json
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

from reference_impl.model import checkpoint
from reference_impl.model.checkpoint import BUILTIN_FOLDER, CheckpointError, load_model
from reference_impl.model.transformer import UnsupportedModelError


@pytest.fixture
def folder(tmp_path):
    """A copy of tiny-chat that may be damaged."""
    for name in ("config.json", "tokenizer.json", "model.safetensors", "vision.safetensors"):
        shutil.copy(BUILTIN_FOLDER / name, tmp_path / name)
    return tmp_path


def change_config(folder, **changes):
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_random_weights_are_the_same_every_time():
    first, second = load_model("tiny-random"), load_model("tiny-random")
    for ours, theirs in zip(first.transformer.parameters(), second.transformer.parameters(), strict=True):
        assert torch.equal(ours, theirs)
    assert first.name == "tiny-random"


def test_random_model_has_the_shape_and_tokenizer_of_tiny_chat():
    trained, random = load_model("tiny-chat"), load_model("tiny-random")
    assert trained.config == random.config
    assert trained.tokenizer.to_str() == random.tokenizer.to_str()
    assert trained.eos_ids == random.eos_ids
    assert not torch.equal(trained.transformer.embed_tokens.weight, random.transformer.embed_tokens.weight)


def test_what_the_engine_needs_is_there():
    model = load_model("tiny-chat")
    assert model.eos_ids == {model.tokenizer.token_to_id("<|im_end|>"), model.tokenizer.token_to_id("<|endoftext|>")}
    assert model.image_token_id == model.tokenizer.token_to_id("<|image_pad|>")
    assert model.config.max_positions == 4096
    assert not any(parameter.requires_grad for parameter in model.transformer.parameters())
    assert not model.transformer.training
    assert model.chat_template is None


def test_stored_weights_are_small_and_bfloat16():
    tensors = load_file(BUILTIN_FOLDER / "model.safetensors") | load_file(BUILTIN_FOLDER / "vision.safetensors")
    assert {tensor.dtype for tensor in tensors.values()} == {torch.bfloat16}
    assert sum(tensor.numel() for tensor in tensors.values()) < 2.5e6


def test_a_folder_without_vision_has_no_image_token(folder):
    config = json.loads((folder / "config.json").read_text())
    del config["vision_config"]
    (folder / "config.json").write_text(json.dumps(config))
    model = load_model(str(folder))
    assert model.vision is None
    assert model.image_token_id is None
    assert model.name == folder.name


def test_weights_in_two_files_are_joined(folder):
    tensors = load_file(folder / "model.safetensors")
    names = sorted(tensors)
    for number, part in enumerate((names[:10], names[10:]), start=1):
        save_file({name: tensors[name] for name in part}, folder / f"model-0000{number}-of-00002.safetensors")
    (folder / "model.safetensors").unlink()
    joined, whole = load_model(str(folder)), load_model("tiny-chat")
    assert torch.equal(
        joined.transformer.layers[3].mlp.down_proj.weight, whole.transformer.layers[3].mlp.down_proj.weight
    )


def test_end_tokens_come_from_every_place_that_names_them(folder):
    change_config(folder, eos_token_id=77)
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": [88, 99]}))
    model = load_model(str(folder))
    assert {77, 88, 99, model.tokenizer.token_to_id("<|im_end|>")} <= model.eos_ids


def test_a_template_is_found_in_either_place(folder):
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": "inner"}))
    assert load_model(str(folder)).chat_template == "inner"
    (folder / "chat_template.jinja").write_text("outer")
    assert load_model(str(folder)).chat_template == "outer"


def test_missing_folder_is_named():
    with pytest.raises(CheckpointError, match=r"nowhere has no config\.json"):
        load_model("/nowhere")


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors", "vision.safetensors"])
def test_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(CheckpointError, match=rf"{name.split('.')[0]}"):
        load_model(str(folder))


@pytest.mark.parametrize(("text", "message"), [("{", "is not JSON"), ("[]", "is not a JSON object")])
def test_broken_configuration_is_explained(folder, text, message):
    (folder / "config.json").write_text(text)
    with pytest.raises(CheckpointError, match=message):
        load_model(str(folder))


def test_weights_of_another_size_are_refused(folder):
    change_config(folder, hidden_size=96)
    with pytest.raises(CheckpointError, match="do not fit"):
        load_model(str(folder))


def test_another_family_is_refused(folder):
    change_config(folder, model_type="mamba")
    with pytest.raises(UnsupportedModelError, match="mamba"):
        load_model(str(folder))


def test_untrained_tiny_chat_says_how_to_train_it(folder, monkeypatch):
    (folder / "model.safetensors").unlink()
    monkeypatch.setattr(checkpoint, "BUILTIN_FOLDER", folder)
    with pytest.raises(CheckpointError, match=r"python -m reference_impl\.training"):
        load_model("tiny-chat")
