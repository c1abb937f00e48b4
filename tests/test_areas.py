"""Signed areas: worked by hand, against the log-signature, and the loops that are filled."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from genshapelets import LogSignatureDiscrepancy
from genshapelets.explain.areas import loops, signed_area

SQUARE = np.array([[0.0, 1.0, 1.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
curves = st.integers(1, 14).flatmap(
    lambda n: arrays(np.float64, (2, n), elements=st.floats(-50, 50, width=16))
)


def test_a_square_and_an_eight():
    assert signed_area(*SQUARE) == 1.0  # its chord closes it
    assert signed_area(*SQUARE[:, ::-1]) == -1.0
    assert signed_area(*(SQUARE + 100.0)) == pytest.approx(1.0)  # the level does not count
    eight = np.array([[0.0, 2.0, 2.0, 0.0], [0.0, 2.0, 0.0, 2.0]])
    assert signed_area(*eight) == 0.0
    parts = loops(*eight)
    assert sorted(signed_area(*loop.T) for loop in parts) == pytest.approx([-1.0, 1.0])
    for loop in parts:
        np.testing.assert_allclose(loop[0], [1.0, 1.0] if loop[0, 0] else [0.0, 0.0])


def test_a_line_there_and_back_has_no_loops():
    assert loops(np.array([0.0, 1.0, 0.0]), np.array([0.0, 1.0, 0.0])) == []
    assert loops(np.array([3.0]), np.array([1.0])) == []


def test_round_twice_is_two_loops():
    turn = np.linspace(0, 4 * np.pi, 41)
    size = np.linspace(1.0, 2.0, 41)
    parts = loops(size * np.cos(turn), size * np.sin(turn))
    assert len(parts) == 2 and all(signed_area(*loop.T) > 0 for loop in parts)


@given(curves)
def test_the_area_is_that_of_the_log_signature(curve):
    if curve.shape[1] < 2:
        assert signed_area(*curve) == 0.0
        return
    measure = LogSignatureDiscrepancy(2, depth=2, metric="none", include_time=False)
    values = torch.from_numpy(curve.T.copy())[None]
    area = measure.coordinates(torch.arange(curve.shape[1]).double()[None], values)[0, 2]
    np.testing.assert_allclose(signed_area(*curve), area.item(), rtol=1e-9, atol=1e-9)


@given(curves)
def test_loops_have_the_area_of_the_curve(curve):
    parts = loops(*curve)
    sizes = [signed_area(*loop.T) for loop in parts]
    left_out = 20 * 1e-6 * (np.abs(sizes).sum() + 1e-6)
    np.testing.assert_allclose(sum(sizes), signed_area(*curve), atol=left_out)
