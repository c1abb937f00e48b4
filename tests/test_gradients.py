"""Gradients are exact: values, lengths and metric, at interior offsets and at the moving end."""

import gc
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
import torch
from naive import search_reference
from pairwise import pairwise
from problems import (
    METRICS,
    SERIES,
    irregular,
    judge,
    make_transform,
    parameters_of,
    ragged,
)
from torch.autograd import gradcheck
from torch.func import functional_call

from genshapelets import (
    GeneralisedShapeletTransform,
    L2Discrepancy,
    RaggedSeries,
    Shapelets,
    interpolate,
)
from genshapelets.evaluation import evaluate
from genshapelets.search import best_offsets

LEVELS = [False, True, "mixed"]
SEARCHES = ["grid", "refined", "exact"]
KINDS = ["irregular", "regular"]
searches = pytest.mark.parametrize("search", SEARCHES)
kinds_and_searches = pytest.mark.parametrize(("kind", "search"), pairwise(KINDS, SEARCHES))


class AtFoundOffsets(torch.nn.Module):
    """A transform that does not search anew: offsets move only as their slopes say."""

    def __init__(self, transform, paths):
        super().__init__()
        self.transform, self.offsets = transform, offsets_of(transform, paths)
        self.found_at = transform.shapelets.lengths.detach().numpy()

    def forward(self, paths):
        shapelets = self.transform.shapelets
        longer = shapelets.lengths.detach().numpy() - self.found_at
        start = self.offsets.start + self.offsets.slope * longer[:, None]
        return evaluate(
            self.transform.discrepancy, paths, shapelets.values, shapelets.lengths,
            self.offsets._replace(start=start), self.transform.backend,
        )  # fmt: skip


STRICT = {"eps": 1e-6, "atol": 1e-6, "rtol": 1e-5}
LOOSE = {"eps": 1e-4, "atol": 1e-4, "rtol": 1e-3}


def assert_gradcheck(transform, paths):
    """Compare with central differences in all parameters; every difference searches anew.

    The exact search finds the least value to 1e-9, so its place to the root of that; a refined place
    is only near a minimum. At places that are kept, their gradients are as exact as those of the grid.
    """
    if transform.search != "refined":
        tolerance = STRICT if transform.search == "grid" else LOOSE
        assert_differences(transform, paths, tolerance)
    if transform.search != "grid":
        assert_differences(AtFoundOffsets(transform, paths), paths, STRICT)


def assert_differences(module, paths, tolerance):
    names, parameters = zip(*module.named_parameters(), strict=True)
    parameters = tuple(p.detach().clone().requires_grad_() for p in parameters)

    def discrepancy(*given):
        found = functional_call(module, dict(zip(names, given, strict=True)), (paths,))
        return getattr(found, "discrepancy", found)

    assert gradcheck(discrepancy, parameters, **tolerance)


def offsets_of(transform, paths):
    shapelets = transform.shapelets
    return best_offsets(
        transform.discrepancy, paths, shapelets.values, shapelets.lengths,
        search=transform.search, backend=transform.backend,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "metric", "level_free", "search"), pairwise(KINDS, METRICS, LEVELS, SEARCHES), ids=str
)
def test_gradcheck(kind, metric, level_free, search):
    metric, per_shapelet = metric
    rng = np.random.default_rng(0)
    paths = interpolate(SERIES[kind](rng, n_series=3, n_times=(10, 20)))
    transform = make_transform(
        rng, n_shapelets=2, n_knots=3, lengths=[1.3, 2.9], metric=metric, per_shapelet=per_shapelet,
        level_free=level_free, search=search,
    )  # fmt: skip
    slope = offsets_of(transform, paths).slope
    assert (slope > -1).any(), "some window must lie inside"
    assert_gradcheck(transform, paths)


@pytest.mark.parametrize("kind", KINDS)
def test_gradcheck_of_the_generic_backend(kind):
    rng = np.random.default_rng(1)
    paths = interpolate(SERIES[kind](rng, n_series=3, n_times=(10, 20)))
    transform = make_transform(
        rng, n_shapelets=2, n_knots=3, lengths=[1.3, 2.9], level_free="mixed", backend="generic"
    )
    assert_gradcheck(transform, paths)


def rising(kind, n_channels=2):
    """Paths that come closest to the level 10 at their end, rising all the way."""
    rng = np.random.default_rng(2)
    times = [np.arange(9.0), np.arange(12.0)]
    if kind == "irregular":
        times = [np.cumsum(rng.uniform(0.3, 1.7, 9)), np.cumsum(rng.uniform(0.3, 1.7, 12))]
    values = [np.tile(np.cumsum(rng.uniform(0.1, 0.9, len(t))), (n_channels, 1)) for t in times]
    return interpolate(RaggedSeries.from_arrays(values, times))


@pytest.mark.parametrize(("kind", "metric", "search"), pairwise(KINDS, METRICS, SEARCHES), ids=str)
def test_gradcheck_at_the_moving_end(kind, metric, search):
    metric, per_shapelet = metric
    rng = np.random.default_rng(3)
    paths = rising(kind)
    transform = make_transform(
        rng, n_shapelets=2, n_knots=3, lengths=[2.3, 3.0 + 1e-3], metric="none", search=search
    )
    discrepancy = L2Discrepancy(2, metric, n_shapelets=2 if per_shapelet else None).double()
    if metric != "none":
        discrepancy.weight.data += 0.1 * torch.from_numpy(rng.normal(size=discrepancy.weight.shape))
    transform.discrepancy = discrepancy
    transform.shapelets.values.data += 10.0
    assert (offsets_of(transform, paths).slope == -1.0).all()
    end = paths.origin[:, None] + paths.spans[:, None] - parameters_of(transform)[1]
    np.testing.assert_allclose(transform(paths).start, end, rtol=1e-14)
    assert_gradcheck(transform, paths)


@kinds_and_searches
def test_gradcheck_at_the_moving_end_whatever_the_level(kind, search):
    # A shape met only at the end: flat, then bent.
    times = (
        np.arange(10.0) if kind == "regular" else np.arange(10.0) + 0.1 * np.sin(np.arange(10.0))
    )
    values = np.array([[0, 0, 0, 0, 0, 0, 0, 0, 1, 4], [0, 0, 0, 0, 0, 0, 0, 0, 2, -1]], float)
    paths = interpolate(RaggedSeries.from_arrays([values], [times]))
    transform = make_transform(
        np.random.default_rng(4),
        n_shapelets=1,
        n_knots=3,
        lengths=[2.3],
        level_free=True,
        search=search,
    )
    transform.shapelets.values.data[0] = torch.tensor([[0.0, 3.0, 9.0], [0.0, 3.0, -5.0]])
    assert (offsets_of(transform, paths).slope == -1.0).all()
    assert_gradcheck(transform, paths)


@pytest.mark.parametrize(("kind", "level_free", "search"), pairwise(KINDS, LEVELS, SEARCHES))
def test_gradcheck_of_series_shorter_than_the_shapelet(kind, level_free, search):
    rng = np.random.default_rng(5)
    times = [np.arange(4.0), np.arange(2.0), [3.0], np.arange(6.0)]
    if kind == "irregular":
        times = [[0.0, 0.7, 3.0], [0.0, 1.0], [3.0], [0.0, 0.1, 4.0, 5.0]]
    values = [rng.normal(size=(2, len(t))) for t in times]
    paths = interpolate(RaggedSeries.from_arrays(values, times))
    transform = make_transform(
        rng, n_shapelets=2, n_knots=4, lengths=[5.3, 7.9], level_free=level_free, search=search
    )
    assert (transform(paths).start.numpy() == paths.origin[:, None]).all()
    assert_gradcheck(transform, paths)


@searches
def test_gradcheck_of_a_batch_of_every_kind(search):
    rng = np.random.default_rng(6)
    transform = make_transform(
        rng, n_shapelets=3, n_knots=4, level_free="mixed", per_shapelet=True, search=search
    )
    paths = interpolate(ragged(rng))
    # Constant series tie everywhere.
    assert_gradcheck(transform, paths[[i for i in range(len(paths)) if np.ptp(paths[[i]].values)]])


@pytest.mark.parametrize("kind", ["irregular", "regular"])
def test_gradient_agrees_with_differences_of_the_slow_search(kind):
    rng = np.random.default_rng(7)
    paths = interpolate(SERIES[kind](rng))
    transform = make_transform(
        rng, level_free="mixed", metric="full", per_shapelet=True, search="grid"
    )
    transform(paths).discrepancy.sum().backward()
    values, lengths, metric, *flags = parameters_of(transform)
    shapelets = transform.shapelets
    # From the raw length to the length.
    of_lengths = (shapelets.raw_lengths.grad / shapelets.lengths.detach()).numpy()
    of_values = shapelets.values.grad.numpy()
    of_metric = transform.discrepancy.weight.grad.numpy()
    step = 1e-6

    def difference(**direction):
        ends = [
            search_reference(
                paths,
                values + sign * step * direction.get("values", 0.0),
                lengths + sign * step * direction.get("lengths", 0.0),
                metric + sign * step * direction.get("metric", 0.0),
                *flags,
            )[0].sum()
            for sign in (1, -1)
        ]
        return (ends[0] - ends[1]) / (2 * step)

    for name, gradient in (("values", of_values), ("lengths", of_lengths), ("metric", of_metric)):
        for _ in range(4):
            direction = rng.normal(size=gradient.shape)
            want = difference(**{name: direction})
            assert (gradient * direction).sum() == pytest.approx(want, rel=1e-5)


# Perfect matches


@pytest.mark.parametrize(("kind", "level_free", "search"), pairwise(KINDS, [False, True], SEARCHES))
def test_a_perfect_match_gives_a_finite_gradient(kind, level_free, search):
    rng = np.random.default_rng(8)
    times = np.arange(12.0) if kind == "regular" else np.arange(12.0) ** 1.1
    values = rng.normal(size=(2, 12))
    paths = interpolate(RaggedSeries.from_arrays([np.zeros((2, 12)), values], [times] * 2))
    transform = make_transform(
        rng, n_shapelets=1, n_knots=3, lengths=[3.0], metric="full", level_free=level_free,
        search=search,
    )  # fmt: skip
    transform.shapelets.values.data[:] = 0.0
    matches = transform(paths)
    assert matches.discrepancy[0].item() == 0.0
    matches.discrepancy.sum().backward()
    alone = [p.grad.clone() for p in transform.parameters()]
    assert all(torch.isfinite(gradient).all() for gradient in alone)
    # It leaves a perfect match be: the gradient is that of the other series.
    transform.zero_grad()
    transform(paths[1:]).discrepancy.sum().backward()
    for gradient, parameter in zip(alone, transform.parameters(), strict=True):
        torch.testing.assert_close(gradient, parameter.grad, rtol=1e-12, atol=1e-12)


def test_a_perfect_match_up_to_rounding_gives_a_finite_gradient():
    series = np.random.default_rng(9).normal(size=(1, 2, 30))
    transform = GeneralisedShapeletTransform.from_shapelets(series[:, :, 7:15] + 1e-15, [7.0])
    matches = transform(series)
    assert matches.start.item() == 7.0 and matches.discrepancy.item() < 1e-14
    torch.log(matches.discrepancy + 1e-5).sum().backward()
    assert all(torch.isfinite(p.grad).all() for p in transform.parameters())


# Where gradients go


def test_upstream_gradients_are_weights():
    rng = np.random.default_rng(10)
    paths, transform = interpolate(ragged(rng)), make_transform(rng)
    matches = transform(paths)
    upstream = torch.from_numpy(rng.normal(size=matches.discrepancy.shape))
    (matches.discrepancy * upstream).sum().backward()
    summed = transform.shapelets.values.grad.clone()
    by_row = 0.0
    for i in range(len(paths)):
        transform.zero_grad()
        (transform(paths[[i]]).discrepancy * upstream[i]).sum().backward()
        by_row = by_row + transform.shapelets.values.grad
    torch.testing.assert_close(summed, by_row, rtol=1e-11, atol=1e-12)


def test_float32_gradients_are_the_float64_ones_rounded():
    rng = np.random.default_rng(11)
    paths, single = interpolate(ragged(rng)), make_transform(rng, dtype=torch.float32)
    values, lengths, *_ = parameters_of(single)
    discrepancy = L2Discrepancy(2).double()
    discrepancy.weight.data.copy_(single.discrepancy.weight)
    double = GeneralisedShapeletTransform.from_shapelets(
        values, lengths, discrepancy=discrepancy, max_length=float(single.shapelets.max_length)
    )
    for transform in (single, double):
        transform(paths).discrepancy.sum().backward()
    for one, other in zip(single.parameters(), double.parameters(), strict=True):
        assert one.grad.dtype == torch.float32
        scale = other.grad.abs().max().item()
        torch.testing.assert_close(one.grad.double(), other.grad, rtol=1e-5, atol=1e-6 * scale)


def test_only_what_asks_for_a_gradient_gets_one():
    rng = np.random.default_rng(12)
    paths, transform = interpolate(ragged(rng)), make_transform(rng)
    for frozen in transform.parameters():
        for parameter in transform.parameters():
            parameter.requires_grad_(parameter is not frozen)
        transform.zero_grad()
        transform(paths).discrepancy.sum().backward()
        for parameter in transform.parameters():
            assert (parameter.grad is None) == (parameter is frozen)


@pytest.mark.parametrize("n_channels", [1, 2])
def test_a_step_between_forward_and_backward_does_not_change_the_gradient(n_channels):
    rng = np.random.default_rng(13)
    paths = interpolate(ragged(rng, n_channels=n_channels))
    transform = make_transform(rng, n_channels)
    transform(paths).discrepancy.sum().backward()
    want = [p.grad.clone() for p in transform.parameters()]
    transform.zero_grad()
    total = transform(paths).discrepancy.sum()
    with torch.no_grad():
        for parameter in transform.parameters():
            parameter += 0.5
    total.backward()
    for parameter, gradient in zip(transform.parameters(), want, strict=True):
        torch.testing.assert_close(parameter.grad, gradient, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize(("kind", "metric"), [("irregular", "diagonal"), ("regular", "full")])
def test_the_backward_pass_reads_only_the_best_windows(kind, metric):
    rng = np.random.default_rng(14)
    paths = interpolate(SERIES[kind](rng, n_times=(30, 40)))
    transform = make_transform(rng, n_shapelets=2, lengths=[1.1, 1.7], metric=metric)
    transform(paths).discrepancy.sum().backward()
    want = [p.grad.clone() for p in transform.parameters()]
    transform.zero_grad()
    matches = transform(paths)
    start = matches.start.numpy() - paths.origin[:, None]
    end = start + parameters_of(transform)[1]
    read = np.zeros(len(paths.knots), bool)
    for i in range(len(paths)):
        first, last = paths.row_offsets[i], paths.row_offsets[i + 1]
        knots = paths.knots[first:last]
        for s, e in zip(start[i], end[i], strict=True):
            left = np.searchsorted(knots, s + 1e-9, side="right") - 1
            right = np.searchsorted(knots, e - 1e-9, side="left")
            # One row to spare on either side, against rounding.
            read[max(first, first + left - 1) : min(first + right + 2, last)] = True
    assert read.mean() < 0.6
    paths.values[~read] = np.nan
    matches.discrepancy.sum().backward()
    for parameter, gradient in zip(transform.parameters(), want, strict=True):
        torch.testing.assert_close(parameter.grad, gradient, rtol=1e-14, atol=1e-14)


def test_no_grad_keeps_nothing():
    rng = np.random.default_rng(15)
    paths, transform = interpolate(ragged(rng)), make_transform(rng)
    with torch.no_grad():
        matches = transform(paths)
        assert matches.discrepancy.grad_fn is None and not matches.discrepancy.requires_grad
        grown = []
        tracemalloc.start()
        try:
            for _ in range(4):
                gc.collect()
                before = tracemalloc.get_traced_memory()[0]
                for _ in range(20):
                    transform(paths)
                gc.collect()
                grown.append(tracemalloc.get_traced_memory()[0] - before)
        finally:
            tracemalloc.stop()
    # A thread that joins in late makes its buffers once; what calls keep grows every time.
    assert min(grown) < 8_000  # 20 small arrays have more


def test_start_is_not_differentiated():
    rng = np.random.default_rng(16)
    assert not make_transform(rng)(irregular(rng)).start.requires_grad


MEMORY = """
import resource
import sys

import numpy as np

from genshapelets import GeneralisedShapeletTransform, RaggedSeries, interpolate

rng = np.random.default_rng(0)
n, t, d, k, m = 150, 200, 3, 10, 40


def problem(n):
    times = np.arange(t) if sys.argv[1] == "regular" else np.sort(rng.uniform(0, t, (n, t)), axis=1)
    return interpolate(RaggedSeries.from_arrays(rng.normal(size=(n, d, t)), times))


transform = GeneralisedShapeletTransform.from_shapelets(rng.normal(size=(k, d, m)), np.full(k, 70.0))
transform(problem(2)).discrepancy.sum().backward()  # compiles
paths = problem(n)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
transform(paths).discrepancy.sum().backward()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.parametrize("kind", ["irregular", "regular"])
def test_a_training_step_keeps_no_graph_of_all_offsets(kind):
    """All offsets' differences would take 150 * 10 * 130 * 70 * 3 * 8 bytes = 330 MB."""
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, kind],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert int(done.stdout) < 80_000  # kB


# Threads


@pytest.mark.parametrize(
    ("kind", "search"), [("irregular", "refined"), ("regular", "grid"), ("ragged", "exact")]
)
def test_the_number_of_threads_changes_no_bit(kind, search):
    rng = np.random.default_rng(17)
    series = RaggedSeries.concatenate([SERIES[kind](rng) for _ in range(4)])
    paths = interpolate(series)
    transform = make_transform(rng, metric="full", level_free="mixed", search=search)
    before, results = torch.get_num_threads(), []
    try:
        for n_threads in (1, 2):
            torch.set_num_threads(n_threads)
            transform.zero_grad()
            matches = transform(paths)
            matches.discrepancy.square().sum().backward()
            gradients = [p.grad.clone() for p in transform.parameters()]
            results.append([matches.discrepancy.detach(), matches.start, *gradients])
    finally:
        torch.set_num_threads(before)
    for one, two in zip(*results, strict=True):
        assert torch.equal(one, two)


def test_the_length_is_learnt_through_its_raw_parameter():
    rng = np.random.default_rng(18)
    paths = interpolate(irregular(rng))
    values = torch.from_numpy(rng.normal(size=(2, 2, 4)))
    shapelets = Shapelets(values, torch.tensor([2.0, 3.0]), max_length=3.0)
    transform = GeneralisedShapeletTransform(shapelets, L2Discrepancy(2).double())
    transform(paths).discrepancy.sum().backward()
    assert (shapelets.raw_lengths.grad != 0).all(), "at the longest length too"
    before = judge(transform, paths)[0].sum()
    with torch.no_grad():
        shapelets.raw_lengths -= 1e-5 * shapelets.raw_lengths.grad
    assert judge(transform, paths)[0].sum() < before


def test_second_derivatives_are_refused_even_under_a_plain_sum():
    transform = make_transform(np.random.default_rng(40))
    total = transform(irregular(np.random.default_rng(41))).discrepancy.sum()
    with pytest.raises(RuntimeError, match="no second derivatives"):
        torch.autograd.grad(total, transform.shapelets.values, create_graph=True)
