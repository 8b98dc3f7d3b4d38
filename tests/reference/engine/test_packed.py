"""Packed layers compute what the plain ones do, in the smallest form that loses nothing, row by row."""

import pytest
import torch
from torch import nn

from reference_impl.engine.packed import PackedLinear, PackedNorm, fits_half, packing_available
from reference_impl.model.transformer import RMSNorm

pytestmark = pytest.mark.skipif(not packing_available(), reason="this torch build cannot pack weights")


def linear(inner, outer, *, bias=False, scale=0.05, dtype=torch.float32):
    layer = nn.Linear(inner, outer, bias=bias, dtype=dtype).requires_grad_(False)
    layer.weight.normal_(0.0, scale, generator=torch.Generator().manual_seed(inner))
    return layer


def rounded(layer):
    layer.weight.copy_(layer.weight.bfloat16().float())
    return layer


def exact(layer, x):
    product = x.double() @ layer.weight.double().T
    return product if layer.bias is None else product + layer.bias.double()


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("change", [rounded, lambda layer: layer], ids=["float16", "float32"])
def test_joined_products_are_those_of_the_parts(change, bias):
    parts = [change(linear(48, outer, bias=bias)) for outer in (40, 7)]
    x = torch.randn(5, 3, 48, generator=torch.Generator().manual_seed(1))
    expected = torch.cat([exact(part, x) for part in parts], dim=-1)
    torch.testing.assert_close(PackedLinear(*parts)(x).double(), expected, atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("change", [rounded, lambda layer: layer], ids=["float16", "float32"])
def test_a_row_does_not_depend_on_how_many_there_are(change):
    packed = PackedLinear(change(linear(192, 320)))
    x = torch.randn(64, 192, generator=torch.Generator().manual_seed(2))
    whole = packed(x)
    for rows in (1, 2, 3, 5, 8, 16, 33):
        assert torch.equal(packed(x[:rows].clone()), whole[:rows])


def test_bfloat16_layers_stay_bfloat16():
    layer = linear(32, 16, dtype=torch.bfloat16)
    x = torch.randn(2, 32, generator=torch.Generator().manual_seed(3)).bfloat16()
    product = PackedLinear(layer)(x)
    assert product.dtype == torch.bfloat16
    torch.testing.assert_close(product.double(), exact(layer, x), atol=1e-2, rtol=1e-2)


@pytest.mark.parametrize(
    ("number", "fits"),
    [
        (0.0, True),
        (1.5, True),
        (65504.0, True),  # the largest float16
        (65536.0, False),
        (1e30, False),
        (1 + 2.0**-10, True),
        (1 + 2.0**-11, False),  # one bit more than float16 has
        (2.0**-24, True),
        (2.0**-25, True),  # rounds to 0: half of its smallest step is lost
        (1.2e-7, True),
        (float("nan"), False),
        (float("inf"), False),
    ],
)
def test_what_float16_holds(number, fits):
    weight = torch.full((2, 2), 0.25)
    weight[1, 0] = number
    assert fits_half(weight) is fits


def test_only_float32_is_packed_in_float16():
    assert not fits_half(torch.ones(2, 2, dtype=torch.bfloat16))
    assert not fits_half(torch.ones(2, 2, dtype=torch.float64))


@pytest.mark.parametrize("scale", [1e-4, 1.0, 300.0])
def test_the_norm_is_the_root_mean_square_one(scale):
    norm = RMSNorm(24, 1e-6).requires_grad_(False)
    norm.weight.normal_(generator=torch.Generator().manual_seed(4))
    x = torch.randn(3, 2, 24, generator=torch.Generator().manual_seed(5)) * scale + scale
    torch.testing.assert_close(PackedNorm(norm.weight, norm.eps)(x), norm(x), atol=2e-6, rtol=2e-6)
