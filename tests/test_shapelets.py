"""Shapelets: learnt values and lengths that stay in their bounds."""

import copy
import math

import numpy as np
import pytest
import torch

from genshapelets import Shapelets


def make(lengths=(1.0, 2.0, 3.0), dtype=torch.float64, **kwargs):
    values = torch.arange(len(lengths) * 8, dtype=dtype).reshape(len(lengths), 2, 4)
    return Shapelets(values, torch.tensor(lengths, dtype=dtype), **kwargs)


def test_round_trip():
    shapelets = make((0.3, 2.0, 5.0), max_length=5.0)
    torch.testing.assert_close(
        shapelets.lengths, torch.tensor([0.3, 2.0, 5.0], dtype=torch.float64), rtol=1e-15, atol=0
    )
    assert (shapelets.n_shapelets, shapelets.n_channels, shapelets.n_knots) == (3, 2, 4)
    assert torch.equal(shapelets.values, torch.arange(24, dtype=torch.float64).reshape(3, 2, 4))


def test_the_default_bound_is_twice_the_longest():
    assert make().max_length.item() == 6.0


def test_one_length_serves_all_shapelets():
    shapelets = Shapelets(torch.zeros(3, 1, 2), torch.tensor(4.0))
    torch.testing.assert_close(shapelets.lengths, torch.full((3,), 4.0))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_lengths_stay_in_their_bounds_whatever_the_parameter(dtype):
    shapelets = make((1.0,) * 9, dtype=dtype, max_length=7.0)
    with torch.no_grad():
        shapelets.raw_lengths.copy_(torch.tensor([-80.0, -3, -1e-9, -0.0, 0.0, 1e-9, 0.5, 3, 80]))
    assert (shapelets.lengths > 0).all() and (shapelets.lengths <= 7.0).all()


def test_a_length_never_underflows_to_nothing():
    shapelets = make((1.0, 1.0), dtype=torch.float32)
    with torch.no_grad():
        shapelets.raw_lengths.copy_(torch.tensor([-1e4, 1e4]))
    assert (shapelets.lengths > 0).all()


def test_the_formula_on_both_sides():
    shapelets = make((1.0, 1.0, 1.0), max_length=8.0)
    with torch.no_grad():
        shapelets.raw_lengths.copy_(torch.tensor([-1.0, 0.0, 2.0]))
    want = torch.tensor([8 * math.exp(-1), 8.0, 8 * math.exp(-2)], dtype=torch.float64)
    torch.testing.assert_close(shapelets.lengths, want, rtol=1e-15, atol=0)


def test_the_longest_length_is_reached_exactly_and_can_be_left():
    shapelets = make((5.0, 1.0), max_length=5.0)
    assert shapelets.lengths[0].item() == 5.0
    shapelets.lengths.sum().backward()
    assert shapelets.raw_lengths.grad[0].item() == 5.0
    optimiser = torch.optim.SGD(shapelets.parameters(), lr=0.01)
    optimiser.step()
    assert 4.0 < shapelets.lengths[0].item() < 5.0


def test_gradient_of_the_lengths():
    shapelets = make((0.5, 2.0), max_length=4.0)

    class Lengths(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = shapelets

        def forward(self):
            return self.inner.lengths

    raw = shapelets.raw_lengths.detach().clone().requires_grad_()
    module = Lengths()
    assert torch.autograd.gradcheck(
        lambda raw: torch.func.functional_call(module, {"inner.raw_lengths": raw}, ()), raw
    )


def test_a_length_that_rounds_above_its_bound_in_float32_is_at_the_bound():
    shapelets = Shapelets(torch.zeros(1, 1, 2), torch.tensor([0.1]), max_length=0.1)
    assert shapelets.lengths.item() == pytest.approx(0.1, rel=1e-6)


def test_the_given_tensors_stay_the_callers():
    values = torch.zeros(1, 1, 2, dtype=torch.float64)
    shapelets = Shapelets(values, torch.tensor([1.0]))
    values += 1.0
    assert shapelets.values.sum().item() == 0.0
    assert set(dict(shapelets.named_parameters())) == {"values", "raw_lengths"}


def test_state_and_copies_carry_the_bound():
    one, other = make(max_length=11.0), make((0.1, 0.1, 0.1), max_length=2.0)
    other.load_state_dict(one.state_dict())
    assert torch.equal(other.lengths, one.lengths) and other.max_length.item() == 11.0
    assert torch.equal(copy.deepcopy(one).lengths, one.lengths)


def test_repr():
    assert "3 shapelets, 2 channels, 4 knots, max_length=6" in repr(make())


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_arrays_and_lists(dtype):
    values = np.arange(12.0).reshape(2, 2, 3).astype(dtype)
    want = Shapelets(torch.from_numpy(values), torch.tensor([1.0, 2.0]))
    big_endian = values.astype(values.dtype.newbyteorder(">"))
    for same in (values, values[:, :, ::-1].copy()[:, :, ::-1], big_endian):
        got = Shapelets(same, [1.0, 2.0])
        assert torch.equal(got.values, want.values) and got.values.dtype == want.values.dtype
        assert torch.equal(got.lengths, want.lengths)
    assert torch.equal(Shapelets(values.tolist(), np.array([1, 2])).values, want.values.double())
    assert Shapelets(values.astype(int), 3).lengths.tolist() == [3.0, 3.0]


GOOD = torch.zeros(2, 1, 3)


REFUSED_VALUES = [
    ([[["a", "b"]]], [1.0], {}, TypeError, "values must be real numbers; got dtype <U1"),
    (GOOD.to(torch.complex64), [1.0, 1.0], {}, TypeError, "values .*got dtype torch.complex64"),
    ([[[0.0, 1.0]], [[0.0]]], [1.0, 1.0], {}, ValueError, "the same channels and knots"),
    (GOOD[0], [1.0], {}, ValueError, r"two knots; got shape \(1, 3\)"),
    (GOOD[:, :, :1], [1.0, 1.0], {}, ValueError, r"two knots; got shape \(2, 1, 1\)"),
    (GOOD[:, :0], [1.0, 1.0], {}, ValueError, "at least one shapelet, one channel"),
    (GOOD[:0], [], {}, ValueError, "at least one shapelet"),
    (torch.full((2, 1, 3), torch.nan), [1.0, 1.0], {}, ValueError, "shapelet 0 must be finite"),
]
REFUSED_LENGTHS = [
    (GOOD, [1.0], {}, ValueError, r"one length for each of the 2 shapelets; got shape \(1,\)"),
    (GOOD, [1.0, 0.0], {}, ValueError, "length of shapelet 1 must be a positive number; got 0.0"),
    (GOOD, [-1.0, 1.0], {}, ValueError, "length of shapelet 0 must be a positive number"),
    (GOOD, [1.0, math.nan], {}, ValueError, "length of shapelet 1 .*got nan"),
    (GOOD, [math.inf, 1.0], {}, ValueError, "length of shapelet 0 .*got inf"),
    (GOOD, ["a", "b"], {}, TypeError, "lengths must be real numbers; got dtype <U1"),
    (GOOD, [1.0, 3.0], {"max_length": 2.0}, ValueError,
     "shapelet 1 is 3.0, above max_length=2.0. Shorten it or raise max_length"),
    (GOOD, [1.0, 3.0], {"max_length": math.inf}, ValueError, "max_length"),
    (GOOD, [1.0, 3.0], {"max_length": math.nan}, ValueError, "max_length"),
]  # fmt: skip


@pytest.mark.parametrize("refused", [REFUSED_VALUES, REFUSED_LENGTHS], ids=["values", "lengths"])
def test_refused(refused):
    for values, lengths, kwargs, error, message in refused:
        with pytest.raises(error, match=message):
            Shapelets(values, lengths, **kwargs)


def test_the_shapelet_that_is_not_finite_is_named():
    values = GOOD.clone()
    values[1, 0, 2] = torch.inf
    with pytest.raises(ValueError, match="values of shapelet 1 must be finite"):
        Shapelets(values, torch.tensor([1.0, 1.0]))
