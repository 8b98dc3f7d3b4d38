"""`python -m reference_impl`: what it prints, what it refuses, how it ends."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import httpx
import pytest
import torch
from safetensors.torch import save_file

from reference_impl.cli import main
from reference_impl.model.checkpoint import load_model, randomise
from reference_impl.model.transformer import ModelConfig, Transformer
from tests.reference.dialects.endpoint import events_of
from tests.reference.process import started

DIVISIBLE = {
    "model_type": "qwen3",
    "vocab_size": 1024,
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "max_position_embeddings": 2048,
    "tie_word_embeddings": True,
}


@pytest.mark.parametrize(("dialect", "model"), [("ark", "reference/tiny-random"), ("serenity-edge", "tiny-random")])
def test_it_says_where_it_listens_and_ends_on_a_signal(dialect: str, model: str) -> None:
    with started("--dialect", dialect, "--api-key-env", "A_KEY", A_KEY="right") as (url, process):
        body = {"model": model, "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 3}
        refused = httpx.post(f"{url}/chat/completions", json=body, timeout=30, trust_env=False)
        headers = {"authorization": "Bearer right"}
        answered = httpx.post(f"{url}/chat/completions", json=body, headers=headers, timeout=30, trust_env=False)
        process.send_signal(signal.SIGTERM)
        status = process.wait(30)

    assert (refused.status_code, answered.status_code) == (401, 200)
    assert url.endswith("/api/v1" if dialect == "ark" else "/v1")
    assert status in (0, -signal.SIGTERM)


def test_a_fault_is_planted_for_every_request() -> None:
    with started("--dialect", "ark", "--fault", "done-missing") as (url, _):
        body = {"model": "reference/tiny-random", "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 3}
        for _ in range(2):
            reply = httpx.post(f"{url}/chat/completions", json={**body, "stream": True}, timeout=30, trust_env=False)
            assert "[DONE]" not in reply.text


def test_larger_chunks_have_the_same_text() -> None:
    texts, counts = [], []
    for tokens in ("1", "5"):
        with started("--dialect", "serenity-edge", "--tokens-per-chunk", tokens) as (url, _):
            messages = [{"role": "user", "content": "Hi"}]
            body = {"model": "tiny-random", "messages": messages, "max_tokens": 23, "seed": 3}
            reply = httpx.post(f"{url}/chat/completions", json={**body, "stream": True}, timeout=60, trust_env=False)
        chunks = [chunk for chunk in events_of(reply.text) if chunk != "[DONE]"]
        deltas = [choice["delta"] for chunk in chunks for choice in chunk["choices"]]
        written = [delta.get("content") or delta.get("reasoning") for delta in deltas]
        texts.append("".join(text for text in written if text))
        counts.append(sum(bool(text) for text in written))
    assert texts[0] == texts[1]
    assert counts[1] <= 5 < counts[0]


@pytest.fixture
def divisible_folder(tmp_path: Path) -> str:
    """A checkpoint whose heads two processes can share."""
    transformer = Transformer(ModelConfig.from_hf(DIVISIBLE))
    randomise(transformer, torch.Generator().manual_seed(5))
    (tmp_path / "config.json").write_text(json.dumps(DIVISIBLE))
    weights = {f"model.{name}": value for name, value in transformer.state_dict().items() if "lm_head" not in name}
    save_file(weights, tmp_path / "model.safetensors")
    load_model("tiny-random").tokenizer.save(str(tmp_path / "tokenizer.json"))
    return str(tmp_path)


@pytest.mark.slow
def test_two_processes_serve_one_model(divisible_folder: str) -> None:
    texts = []
    for options in ((), ("--tensor-parallel", "2")):
        with started("--dialect", "serenity-edge", *options, model=divisible_folder) as (url, _):
            served, *_ = httpx.get(f"{url}/models", timeout=30, trust_env=False).json()["data"]
            messages = [{"role": "user", "content": "Hi"}]
            body = {"model": served["id"], "messages": messages, "max_tokens": 12, "temperature": 0}
            reply = httpx.post(f"{url}/chat/completions", json=body, timeout=60, trust_env=False)
            texts.append(reply.json()["choices"][0]["message"]["content"])
    assert texts[0] == texts[1] != ""


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ([], "--dialect is needed"),
        (["--dialect", "nobody"], "invalid choice"),
        (["--dialect", "ark", "--api-key-env", "NOT_SET_ANYWHERE"], "NOT_SET_ANYWHERE"),
        (["--dialect", "ark", "--fault", "nonsense"], "nonsense"),
        (["--dialect", "ark", "--model-path", "no-such-folder"], "no-such-folder"),
        (["--dialect", "ark", "--host", "203.0.113.7"], "cannot listen"),
    ],
)
def test_wrong_usage_is_status_2_with_a_reason(
    options: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(options)

    assert ended.value.code == 2
    assert complaint in capsys.readouterr().err
