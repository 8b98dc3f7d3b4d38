"""Loads a model from a Hugging Face folder (safetensors, ``tokenizer.json``) or by the name of a built-in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor, nn

from reference_impl.model.transformer import ModelConfig, Transformer
from reference_impl.model.vision import VisionConfig, VisionEncoder

BUILTIN_FOLDER = Path(__file__).resolve().parents[1] / "weights" / "tiny-chat"
BUILTINS = ("tiny-chat", "tiny-random")
IMAGE_TOKEN = "<|image_pad|>"  # noqa: S105 - markup, not a secret
END_TOKENS = ("<|im_end|>", "<|endoftext|>", "<|eot_id|>", "</s>")
RANDOM_SEED = 20261129


class CheckpointError(ValueError):
    """A model folder is missing, incomplete or does not fit its own configuration; the message says how."""


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """Everything the engine and the chat format need of one model."""

    transformer: Transformer
    vision: VisionEncoder | None
    tokenizer: Tokenizer
    config: ModelConfig
    eos_ids: frozenset[int]
    image_token_id: int | None
    name: str
    chat_template: str | None = None
    """The folder's own jinja2 template, where it has one."""
    bos_token: str = ""
    """What such a template puts at the start of the text."""


def load_model(path_or_builtin: str, device: str = "cpu", dtype: torch.dtype = torch.float32) -> LoadedModel:
    """Load ``tiny-chat``, ``tiny-random`` or a folder, in evaluation mode and without gradients.

    ``tiny-random`` has the shape and the tokenizer of ``tiny-chat`` and seeded random weights. Raises
    CheckpointError or UnsupportedModelError with a sentence that can be shown to the user.
    """
    folder = BUILTIN_FOLDER if path_or_builtin in BUILTINS else Path(path_or_builtin)
    raw = _read_json(folder / "config.json")
    config = ModelConfig.from_hf(raw)
    transformer = Transformer(config)
    vision = VisionEncoder(VisionConfig.from_hf(raw["vision_config"])) if "vision_config" in raw else None
    if path_or_builtin == "tiny-random":
        generator = torch.Generator().manual_seed(RANDOM_SEED)
        for part in (transformer, vision):
            if part is not None:
                randomise(part, generator)
    else:
        _fill(transformer, _language_weights(folder), folder)
        if vision is not None:
            _fill(vision, load_file(_existing(folder / "vision.safetensors")), folder)
    tokenizer = Tokenizer.from_file(str(_existing(folder / "tokenizer.json")))
    for part in (transformer, vision):
        if part is not None:
            part.requires_grad_(False)
            part.eval()
            _cast(part, device, dtype)
    return LoadedModel(
        transformer=transformer,
        vision=vision,
        tokenizer=tokenizer,
        config=config,
        eos_ids=_end_ids(folder, raw, tokenizer),
        image_token_id=tokenizer.token_to_id(IMAGE_TOKEN) if vision is not None else None,
        name=path_or_builtin if path_or_builtin in BUILTINS else folder.resolve().name,
        chat_template=_chat_template(folder),
        bos_token=_bos_token(folder),
    )


def randomise(module: nn.Module, generator: torch.Generator) -> None:
    """Fill every matrix with small normal values from ``generator``; gains stay 1 and biases 0."""
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if parameter.ndim > 1:
                parameter.normal_(0.0, 0.02, generator=generator)
            elif name.endswith("bias"):
                parameter.zero_()


def _cast(module: nn.Module, device: str, dtype: torch.dtype) -> None:
    """Move to ``device``; parameters become ``dtype``, while the rotary angles keep their float32."""
    module.to(device)
    for parameter in module.parameters():
        parameter.data = parameter.data.to(dtype)


def _language_weights(folder: Path) -> dict[str, Tensor]:
    files = sorted(folder.glob("model*.safetensors"))
    if not files:
        hint = "; train it with: python -m reference_impl.training" if folder == BUILTIN_FOLDER else ""
        raise CheckpointError(f"{folder.name} has no model*.safetensors{hint}")
    tensors: dict[str, Tensor] = {}
    for file in files:
        tensors.update(load_file(file))
    return dict(_renamed(tensors))


def _renamed(tensors: dict[str, Tensor]) -> Iterator[tuple[str, Tensor]]:
    for name, tensor in tensors.items():
        if not name.endswith("rotary_emb.inv_freq"):  # computed here; some old checkpoints store it
            yield name.removeprefix("model."), tensor


def _fill(module: nn.Module, tensors: dict[str, Tensor], folder: Path) -> None:
    if isinstance(module, Transformer) and module.config.tied_embeddings:
        tensors.setdefault("lm_head.weight", tensors.get("embed_tokens.weight", torch.empty(0)))
    try:
        module.load_state_dict({name: tensor.float() for name, tensor in tensors.items()})
    except RuntimeError as error:
        raise CheckpointError(f"the weights in {folder.name} do not fit its config.json: {error}") from error


def _end_ids(folder: Path, raw: dict[str, Any], tokenizer: Tokenizer) -> frozenset[int]:
    """Ids that end a reply: those the folder declares, and the end-of-turn tokens of its tokenizer."""
    declared: list[int] = []
    generation = folder / "generation_config.json"
    for source in (raw, _read_json(generation) if generation.is_file() else {}):
        value = source.get("eos_token_id")
        declared += value if isinstance(value, list) else [] if value is None else [value]
    known = (tokenizer.token_to_id(token) for token in END_TOKENS)
    return frozenset(declared) | frozenset(token for token in known if token is not None)


def _chat_template(folder: Path) -> str | None:
    separate = folder / "chat_template.jinja"
    if separate.is_file():
        return separate.read_text("utf-8")
    template = _tokenizer_settings(folder).get("chat_template")
    return template if isinstance(template, str) else None


def _bos_token(folder: Path) -> str:
    token = _tokenizer_settings(folder).get("bos_token") or ""
    return str(token["content"] if isinstance(token, dict) else token)


def _tokenizer_settings(folder: Path) -> dict[str, Any]:
    settings = folder / "tokenizer_config.json"
    return _read_json(settings) if settings.is_file() else {}


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise CheckpointError(f"{path.parent.name} has no {path.name}")
    return path


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(_existing(path).read_text("utf-8"))
    except json.JSONDecodeError as error:
        raise CheckpointError(f"{path.parent.name}/{path.name} is not JSON: {error}") from error
    if not isinstance(content, dict):
        raise CheckpointError(f"{path.parent.name}/{path.name} is not a JSON object")
    return content
