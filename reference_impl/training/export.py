"""Writes a trained model as a Hugging Face Qwen3 folder, with the vision encoder in a file of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer
from torch import Tensor, nn

from reference_impl.chat.format import END_OF_TEXT, IM_END

CONFIG: dict[str, Any] = {
    "architectures": ["Qwen3ForCausalLM"],
    "model_type": "qwen3",
    "vocab_size": 1024,
    "hidden_size": 192,
    "intermediate_size": 512,
    "num_hidden_layers": 4,
    "num_attention_heads": 3,
    "num_key_value_heads": 1,
    "head_dim": 64,
    "max_position_embeddings": 4096,
    "rope_theta": 10000.0,
    "rms_norm_eps": 1e-6,
    "hidden_act": "silu",
    "attention_bias": False,
    "tie_word_embeddings": True,
    "torch_dtype": "bfloat16",
    "vision_config": {
        "hidden_size": 96,
        "intermediate_size": 384,
        "num_hidden_layers": 2,
        "num_attention_heads": 3,
        "out_hidden_size": 192,
    },
}
"""The ``config.json`` of tiny-chat, before the ids of its end tokens are known."""


def export(folder: Path, language: Mapping[str, Tensor], vision: Mapping[str, Tensor], tokenizer: Tokenizer) -> None:
    """Write configuration, tokenizer and bfloat16 weights; each file appears whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    named = {f"model.{name}": tensor for name, tensor in language.items() if name != "lm_head.weight"}
    for name, tensors in (("model", named), ("vision", dict(vision))):
        stored = {key: tensor.detach().to("cpu", torch.bfloat16).contiguous() for key, tensor in tensors.items()}
        save_file(stored, folder / f"{name}.partial", metadata={"format": "pt"})
        (folder / f"{name}.partial").chmod(0o644)
        (folder / f"{name}.partial").replace(folder / f"{name}.safetensors")
    ends = [tokenizer.token_to_id(IM_END), tokenizer.token_to_id(END_OF_TEXT)]
    config = {**CONFIG, "bos_token_id": None, "eos_token_id": ends, "pad_token_id": ends[1]}
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n", "utf-8")
    tokenizer.save(str(folder / "tokenizer.json"))


def initialise(module: nn.Module, layers: int, generator: torch.Generator) -> None:
    """Normal weights; what is added to the residual stream starts smaller the deeper the model is."""
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if parameter.ndim > 1:
                smaller = name.endswith(("o_proj.weight", "down_proj.weight", "out.weight", "down.weight"))
                deviation = 0.02 / (2 * layers) ** 0.5 if smaller else 0.02 if "embed" in name else 0.03
                parameter.normal_(0.0, deviation, generator=generator)
            elif name.endswith("bias"):
                parameter.zero_()
