"""Shapes, causality, and that a cache changes nothing."""

from __future__ import annotations

import pytest
import torch

from reference_impl.model.checkpoint import load_model
from reference_impl.model.transformer import ModelConfig, Transformer, UnsupportedModelError, causal_attention
from reference_impl.model.vision import IMAGE_TOKENS
from reference_impl.training.greedy import GrowingCache

BASE = {
    "model_type": "qwen3",
    "vocab_size": 50,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "max_position_embeddings": 64,
}


@pytest.fixture(scope="module")
def random_model():
    return load_model("tiny-random")


def states(transformer, ids):
    positions = torch.arange(ids.shape[1]).expand(ids.shape)
    return transformer(transformer.embed(ids), positions, causal_attention)


def test_shapes(random_model):
    ids = torch.randint(0, 1024, (3, 7))
    transformer = random_model.transformer
    assert transformer.embed(ids).shape == (3, 7, 192)
    hidden = states(transformer, ids)
    assert hidden.shape == (3, 7, 192)
    logits = transformer.logits(hidden[:, -1])
    assert logits.shape == (3, 1024)
    assert logits.dtype == torch.float32


def test_logits_are_float32_in_bfloat16_too():
    model = load_model("tiny-random", dtype=torch.bfloat16)
    hidden = states(model.transformer, torch.tensor([[1, 2, 3]]))
    assert hidden.dtype == torch.bfloat16
    assert model.transformer.logits(hidden).dtype == torch.float32
    assert model.transformer.turns.dtype == torch.float32


def test_attention_callable_sees_rotated_grouped_heads():
    transformer = Transformer(ModelConfig.from_hf(BASE))
    seen = []

    def attention(layer, q, k, v):
        seen.append((layer, q.shape, k.shape, v.shape))
        return causal_attention(layer, q, k, v)

    transformer(torch.randn(2, 5, 32), torch.arange(5).expand(2, 5), attention)
    assert seen == [(layer, (2, 4, 5, 16), (2, 2, 5, 16), (2, 2, 5, 16)) for layer in (0, 1)]


def test_a_later_token_changes_nothing_earlier(random_model):
    ids = torch.randint(0, 1024, (1, 12))
    other = ids.clone()
    other[0, 8] = (other[0, 8] + 1) % 1024
    before, after = states(random_model.transformer, ids), states(random_model.transformer, other)
    torch.testing.assert_close(before[:, :8], after[:, :8])
    assert not torch.allclose(before[:, 8:], after[:, 8:])


def test_only_distances_between_positions_matter(random_model):
    transformer, ids = random_model.transformer, torch.randint(0, 1024, (1, 9))
    near = transformer(transformer.embed(ids), torch.arange(9)[None], causal_attention)
    far = transformer(transformer.embed(ids), torch.arange(3000, 3009)[None], causal_attention)
    torch.testing.assert_close(near, far, atol=1e-4, rtol=1e-3)


def test_a_cache_gives_the_states_of_the_whole(random_model):
    transformer, ids = random_model.transformer, torch.randint(0, 1024, (1, 10))
    whole, cache = states(transformer, ids), GrowingCache()
    pieces = [transformer(transformer.embed(ids[:, :6]), torch.arange(6)[None], cache)]
    for position in range(6, 10):
        one = transformer.embed(ids[:, position : position + 1])
        pieces.append(transformer(one, torch.tensor([[position]]), cache))
    torch.testing.assert_close(torch.cat(pieces, dim=1), whole, atol=1e-5, rtol=1e-4)


def test_vision_gives_one_vector_per_placeholder(random_model):
    vectors = random_model.vision(torch.rand(2, 3, 64, 64))
    assert vectors.shape == (2, IMAGE_TOKENS, 192)
    assert not torch.allclose(vectors[0], vectors[1])


def test_a_picture_is_encoded_alike_alone_and_in_company(random_model):
    pictures = torch.rand(3, 3, 64, 64)
    together = random_model.vision(pictures)
    torch.testing.assert_close(random_model.vision(pictures[1:2])[0], together[1], atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model_type": "gpt2"}, "model_type 'gpt2'"),
        ({"model_type": None}, "model_type None"),
        ({"hidden_act": "gelu"}, "hidden_act 'gelu'"),
        ({"use_sliding_window": True}, "sliding window"),
        ({"layer_types": ["full_attention", "sliding_attention"]}, "sliding window"),
        ({"rope_scaling": {"rope_type": "yarn", "factor": 4.0}}, "rotary scaling 'yarn'"),
        ({"rope_scaling": {"type": "dynamic", "factor": 4.0}}, "rotary scaling 'dynamic'"),
    ],
)
def test_what_is_not_computed_is_refused(change, message):
    with pytest.raises(UnsupportedModelError, match=message):
        ModelConfig.from_hf({**BASE, **change})


def test_older_and_newer_names_of_the_rotary_base_mean_the_same():
    old = ModelConfig.from_hf({**BASE, "rope_theta": 12345.0})
    new = ModelConfig.from_hf({**BASE, "rope_parameters": {"rope_type": "default", "rope_theta": 12345.0}})
    assert old == new
    assert old.rope_theta == 12345.0


def test_head_width_and_key_heads_follow_from_the_rest_when_absent():
    bare = {key: value for key, value in BASE.items() if key not in ("head_dim", "num_key_value_heads")}
    config = ModelConfig.from_hf({**bare, "model_type": "llama"})
    assert (config.head_dim, config.kv_heads, config.qkv_bias, config.qk_norm) == (8, 4, False, False)
