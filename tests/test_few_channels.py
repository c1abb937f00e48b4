"""Channels of weight 0 are left out by the L2 search and evaluation, and nothing else changes."""

import numpy as np
import pytest
import torch
from problems import (
    assert_agrees,
    distances_at,
    evaluated,
    irregular,
    make_transform,
    offsets_of,
    ragged,
    reconfigured,
    regular,
)
from torch.autograd import gradcheck
from torch.func import functional_call

from genshapelets import interpolate
from genshapelets.evaluation import l2 as evaluation
from genshapelets.evaluation.l2_problem import narrowed, pose, spread
from genshapelets.search import l2 as search_module

N_CHANNELS = 12
SERIES = {"regular": regular, "irregular": irregular}
# Numbers of channels: below the share at which the scan leaves channels out, above it, and mixed.
NUMBERS = {"few": [2] * 8, "several": [5] * 8, "mixed": [0, 1, 2, 3, 0, 1, 12, 4], "all": [12] * 8}
FLAGS = {"level_free": [k % 3 == 1 for k in range(8)], "scale_free": [k % 3 == 2 for k in range(8)]}


def sparse_transform(rng, numbers, **settings):
    """A transform whose shapelets see so many channels each, chosen at random."""
    settings = {"n_shapelets": len(numbers), "n_channels": N_CHANNELS, **FLAGS} | settings
    transform = make_transform(rng, per_shapelet=True, **settings)
    rank = rng.permuted(np.tile(np.arange(settings["n_channels"]), (len(numbers), 1)), axis=1)
    transform.discrepancy.weight.data *= torch.from_numpy(rank < np.array(numbers)[:, None])
    return transform


def dense(monkeypatch):
    """Let the kernels work on all channels."""
    for module in (evaluation, search_module):
        monkeypatch.setattr(module, "narrowed", lambda shapes: shapes)


def gradients(transform, paths, offsets):
    """Discrepancies at given offsets, and gradients of a weighted sum of them."""
    found = evaluated(transform, paths, offsets)
    factors = torch.linspace(0.5, 2.0, found.numel(), dtype=found.dtype).view(found.shape)
    transform.zero_grad()
    (found * factors).sum().backward()
    return [found.detach(), *(x.grad.clone() for x in transform.parameters())]


def assert_close(got, want):
    """Same up to the order in which float64 numbers are added."""
    for one, other in zip(got, want, strict=True):
        scale = float(other.abs().max())
        torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12 * scale)


@pytest.mark.parametrize("numbers", NUMBERS)
@pytest.mark.parametrize("kind", [*SERIES, "ragged"])
@pytest.mark.parametrize("n_best", [1, 3])
def test_the_twin_on_all_channels_agrees(kind, numbers, n_best, monkeypatch):
    rng = np.random.default_rng(1)
    make = ragged if kind == "ragged" else SERIES[kind]
    paths = interpolate(make(rng, n_channels=N_CHANNELS))
    transform = sparse_transform(rng, NUMBERS[numbers])
    offsets = offsets_of(transform, paths, n_best)
    got = gradients(transform, paths, offsets)
    dense(monkeypatch)
    assert_close(got, gradients(transform, paths, offsets))
    want = offsets_of(transform, paths, n_best)
    # The scan rounds otherwise: how many minima there are on a constant path is rounding, and on
    # irregular paths they are followed to about 1e-4 only.
    if kind == "regular":
        np.testing.assert_array_equal(offsets.count, want.count)
    found, best = (evaluated(transform, paths, x).detach().numpy() for x in (offsets, want))
    if kind == "ragged":
        found, best = found.min(axis=2), best.min(axis=2)
    np.testing.assert_allclose(found, best, rtol=1e-12 if kind == "regular" else 1e-3, atol=1e-12)


@pytest.mark.parametrize("kind", SERIES)
def test_if_all_channels_count_nothing_is_copied(kind):
    rng = np.random.default_rng(2)
    paths = interpolate(SERIES[kind](rng, n_channels=3))
    transform = make_transform(rng, n_channels=3, per_shapelet=True)
    shapes = transform.shapelets
    (problem,) = pose(transform.discrepancy, paths, shapes.values, shapes.lengths)
    assert narrowed(problem.shapes) is problem.shapes
    assert spread(problem.shapes.weights, problem.shapes, 3) is problem.shapes.weights


@pytest.mark.parametrize("kind", SERIES)
def test_a_shapelet_is_that_of_its_channels_alone(kind):
    rng = np.random.default_rng(3)
    series = SERIES[kind](rng, n_channels=N_CHANNELS, missing=0.0)
    transform = sparse_transform(rng, NUMBERS["few"], search="exact", scale_free=False)
    whole = transform(series).discrepancy
    for k, weight in enumerate(transform.discrepancy.weight.detach()):
        own = weight.nonzero().ravel()
        alone = make_transform(rng, n_channels=len(own), n_shapelets=1, search="exact",
                               lengths=transform.shapelets.lengths.detach()[[k]],
                               level_free=FLAGS["level_free"][k])  # fmt: skip
        alone.discrepancy.weight.data = weight[None, own]
        alone.shapelets.values.data = transform.shapelets.values.data[[k]][:, own]
        paths = interpolate(series)
        paths = paths.__class__(
            paths.knots, np.ascontiguousarray(paths.values[:, own]), paths.row_offsets,
            paths.origin, paths.step,
        )  # fmt: skip
        torch.testing.assert_close(alone(paths).discrepancy[:, 0], whole[:, k])


def test_the_slow_search_agrees():
    rng = np.random.default_rng(4)
    series = regular(rng, n_series=3, n_channels=N_CHANNELS)
    assert_agrees(sparse_transform(rng, NUMBERS["mixed"], search="grid"), series)


@pytest.mark.parametrize("kind", SERIES)
@pytest.mark.parametrize("numbers", ["few", "mixed"])
def test_channels_of_weight_0_get_no_gradient(kind, numbers):
    rng = np.random.default_rng(5)
    paths = interpolate(SERIES[kind](rng, n_channels=N_CHANNELS))
    transform = sparse_transform(rng, NUMBERS[numbers], scale_free=False)
    transform(paths).discrepancy.sum().backward()
    unseen = transform.discrepancy.weight == 0
    assert (transform.shapelets.values.grad[unseen] == 0).all()
    assert (transform.discrepancy.weight.grad[unseen] == 0).all()
    assert (transform.shapelets.values.grad[~unseen] != 0).all()
    assert (transform.discrepancy.weight.grad[~unseen] != 0).all()


@pytest.mark.parametrize("kind", SERIES)
def test_gradcheck(kind):
    rng = np.random.default_rng(6)
    paths = interpolate(SERIES[kind](rng, n_series=2, n_channels=6, n_times=(8, 12)))
    transform = sparse_transform(
        rng, [1, 2, 1], n_channels=6, n_knots=3, lengths=[1.3, 2.9, 2.2],
        level_free=[False, True, False], scale_free=[False, False, True],
    )  # fmt: skip
    offsets = offsets_of(transform, paths)
    names, parameters = zip(*transform.named_parameters(), strict=True)

    class AtOffsets(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.own = transform

        def forward(self):
            return evaluated(self.own, paths, offsets._replace(slope=np.zeros_like(offsets.slope)))

    names = [f"own.{name}" for name in names]
    at_offsets = AtOffsets()
    assert gradcheck(
        lambda *given: functional_call(at_offsets, dict(zip(names, given, strict=True)), ()),
        parameters,
    )


@pytest.mark.parametrize("search", ["auto", "refined", "exact"])
@pytest.mark.parametrize("kind", [*SERIES, "ragged"])
def test_a_shapelet_that_sees_nothing_is_at_no_distance(kind, search):
    rng = np.random.default_rng(7)
    make = ragged if kind == "ragged" else SERIES[kind]
    series = make(rng, n_channels=3)
    flags = {} if search == "exact" else FLAGS
    transform = sparse_transform(
        rng, [0] * 8, **({"n_channels": 3, "scale_free": False} | flags), search=search
    )
    matches = transform(series)
    assert (matches.discrepancy == 0).all()
    assert torch.isfinite(matches.start).all()
    matches.discrepancy.sum().backward()
    assert all((x.grad == 0).all() for x in transform.parameters())


def test_one_metric_of_few_channels():
    rng = np.random.default_rng(8)
    transform = make_transform(rng, n_channels=N_CHANNELS)
    transform.discrepancy.weight.data[:, 2:] = 0.0
    for series in (regular(rng, n_channels=N_CHANNELS), irregular(rng, n_channels=N_CHANNELS)):
        matches = reconfigured(transform, search="auto")(series)
        want = distances_at(transform, series, matches.start.numpy())
        np.testing.assert_allclose(matches.discrepancy.detach().numpy(), want, rtol=1e-9)
