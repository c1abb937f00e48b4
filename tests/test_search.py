"""The L2 search on what is awkward for it: ties, short shapelets, bursts, very different lengths."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from problems import (
    SERIES,
    as_paths,
    bursts,
    fine_grid,
    irregular,
    judge,
    make_transform,
    offsets_of,
    reconfigured,
)

from genshapelets import (
    GeneralisedShapeletTransform,
    L2Discrepancy,
    RaggedSeries,
    ShapeletClassifier,
    SoftMinimum,
    interpolate,
    kernels,
)
from genshapelets.search import l2, prepare_paths


def discrepancies(transform, paths, **settings):
    with torch.no_grad():
        return reconfigured(transform, **settings)(paths).discrepancy.numpy()


# ------------------------------------------------------------------ ties


@pytest.mark.parametrize("level_free", [False, True])
def test_of_equal_windows_the_earliest_is_taken(level_free):
    """A flat stretch has many windows that are the same to the last bit."""
    values = 5.0 + np.random.default_rng(0).random(size=(3, 2, 60)).cumsum(axis=2)
    values[:, :, 25:45] = 0.7
    values[2, :, 50:] = 0.7  # and once more, at its end
    transform = GeneralisedShapeletTransform.from_shapelets(
        np.full((2, 2, 3), 0.3), [4.0, 7.5], discrepancy=L2Discrepancy(2, level_free=level_free)
    )
    assert (transform(values).start == 25.0).all()


def test_a_repeated_series_is_found_where_it_comes_first():
    once = np.random.default_rng(1).normal(size=(4, 1, 30))
    twice = np.concatenate([once, once, once], axis=2)
    transform = make_transform(
        np.random.default_rng(2), n_channels=1, lengths=[3.0, 5.5, 9.1, 20.0]
    )
    matches = transform(twice)
    assert (matches.start <= 30.0).all()
    np.testing.assert_allclose(matches.discrepancy.detach(), judge(transform, _series(twice))[0])


def _series(values):
    return RaggedSeries.from_arrays(values)


# ------------------------------------------------------------------ the true minimum


@pytest.mark.parametrize("level_free", [False, True])
@pytest.mark.parametrize("longest", [0.3, 1.5, 8.0])
@pytest.mark.parametrize("kind", ["regular", "irregular", "bursts"])
def test_exact_is_below_every_offset(kind, longest, level_free):
    rng = np.random.default_rng(3)
    series = bursts(rng, 12, 0.5) if kind == "bursts" else SERIES[kind](rng, n_channels=1)
    lengths = rng.uniform(0.2 * longest, longest, 4)
    transform = make_transform(rng, n_channels=1, lengths=lengths, level_free=level_free)
    paths = interpolate(series)
    exact, fine = discrepancies(transform, paths, search="exact"), fine_grid(transform, paths)
    assert (exact <= fine * (1 + 1e-9) + 1e-12).all()
    # So fine a grid is not far above it: the exact search does not promise what is not there.
    assert (fine - exact <= 0.02 * fine + 1e-3).all()


@pytest.mark.parametrize("level_free", [False, True])
@pytest.mark.parametrize("lengths", [(0.02, 0.3), (0.3, 1.5), (1.5, 6.0)])
def test_refined_is_near_the_true_minimum(lengths, level_free):
    """Of shapelets shorter than a gap, too: the mean gap is 0.4."""
    rng = np.random.default_rng(4)
    paths = interpolate(irregular(rng, 20, missing=0.0))
    transform = make_transform(
        rng, n_shapelets=8, lengths=rng.uniform(*lengths, 8), level_free=level_free
    )
    refined = discrepancies(transform, paths, search="refined")
    exact = discrepancies(transform, paths, search="exact")
    grid = discrepancies(transform, paths, search="grid")
    excess = refined / exact - 1
    assert excess.min() > -1e-9 and excess.mean() < 5e-3
    assert excess.mean() < 0.1 * (grid / exact - 1).mean()


# ------------------------------------------------------------------ batches, chunks, lengths


@pytest.mark.parametrize("kind", SERIES)
@pytest.mark.parametrize("search", ["auto", "refined"])
def test_chunks_and_slices_change_nothing(kind, search, monkeypatch):
    rng = np.random.default_rng(5)
    series = SERIES[kind](rng)
    transform = make_transform(rng, level_free="mixed", per_shapelet=True, search=search)
    want = discrepancies(transform, interpolate(series))
    monkeypatch.setattr(l2, "CHUNK_ELEMENTS", 1)  # each path by itself
    np.testing.assert_allclose(discrepancies(transform, interpolate(series)), want, rtol=1e-9)
    monkeypatch.undo()
    paths = interpolate(series)
    prepare_paths(transform.discrepancy, paths, search)
    monkeypatch.setattr(l2, "_lay_group", lambda *_: pytest.fail("prepared again"))
    chosen = rng.permutation(len(paths))[: len(paths) // 2 + 1]
    np.testing.assert_allclose(discrepancies(transform, paths[chosen]), want[chosen], rtol=1e-9)


@pytest.mark.parametrize("level_free", [False, True])
def test_shapelets_that_outlast_a_series(level_free):
    """On the lattice, beyond what is held of a path, and beyond every path."""
    rng = np.random.default_rng(6)
    values = [rng.normal(size=(2, size)) for size in (3, 9, 40)]
    paths = as_paths(RaggedSeries.from_arrays(values))
    lengths = [1.5, 2.2, 8.2, 20.0, 39.1, 63.5, 70.0, 200.0]  # of which some meet samples
    transform = make_transform(rng, n_shapelets=8, lengths=lengths, level_free=level_free)
    found, gradients = {}, {}
    for backend in ("auto", "generic"):
        transform.zero_grad()
        found[backend] = reconfigured(transform, backend=backend)(paths).discrepancy
        found[backend].square().sum().backward()
        gradients[backend] = [x.grad.clone() for x in transform.parameters()]
    torch.testing.assert_close(found["auto"], found["generic"], rtol=1e-12, atol=0)
    torch.testing.assert_close(gradients["auto"], gradients["generic"], rtol=1e-9, atol=1e-12)


ONE_LONG_SERIES = """
import resource

import numpy as np

from genshapelets import GeneralisedShapeletTransform

rng = np.random.default_rng(0)
short = [rng.normal(size=(3, 12)) for _ in range(1000)]


def step(series):
    transform = GeneralisedShapeletTransform.from_shapelets(
        rng.normal(size=(4, 3, 6)), [3.0, 8.0, 2e4, 4e4]
    )
    transform(series).discrepancy.sum().backward()


step(short + [rng.normal(size=(3, 60))])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
step(short + [rng.normal(size=(3, 50_000))])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_one_long_series_costs_no_memory_for_all():
    done = subprocess.run(
        [sys.executable, "-c", ONE_LONG_SERIES],
        capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip
    # kB; all series as long as the longest would take 600,000 and more.
    assert int(done.stdout) < 150_000


def test_the_search_finds_as_many_candidates_as_there_are():
    """Of a series with one place to go, there is one; further ones repeat it."""
    transform = make_transform(np.random.default_rng(7), lengths=[2.0] * 4)
    paths = interpolate(RaggedSeries.from_arrays([np.zeros((2, 2)), np.ones((2, 3))]))
    found = offsets_of(transform, paths, n_best=3)
    assert found.start.shape == (2, 4, 3) and (found.count == 1).all()
    assert (found.start == found.start[..., :1]).all()


@pytest.mark.parametrize("spike", [1e3, 1e6])
def test_a_soft_minimum_beside_a_wild_value(spike):
    rng = np.random.default_rng(8)
    values = rng.normal(size=(4, 2, 60))
    values[:, 1, 20] = spike
    transform = make_transform(rng, level_free="mixed", minimum=SoftMinimum(3))
    want = discrepancies(transform, _series(values), backend="generic")
    np.testing.assert_allclose(
        discrepancies(transform, _series(values), backend="auto"), want, rtol=1e-9
    )


@pytest.mark.parametrize("search", ["auto", "refined", "exact"])
@pytest.mark.parametrize("kind", ["regular", "irregular"])
def test_a_shapelet_a_rounding_shorter_than_the_series(kind, search):
    """There is one offset, and almost a second one."""
    rng = np.random.default_rng(9)
    times = np.arange(30.0) if kind == "regular" else np.sort(rng.uniform(0.0, 29.0, 30))
    series = RaggedSeries.from_arrays(rng.normal(size=(1, 1, 30)), times)
    span = float(series.spans[0])
    lengths = [np.nextafter(span, 0.0), span, np.nextafter(span, 99.0), span - 1e-13]
    transform = make_transform(rng, n_channels=1, lengths=lengths)
    got = discrepancies(transform, series, search=search)
    np.testing.assert_allclose(
        got, discrepancies(transform, series, backend="generic", search="grid")
    )


def test_series_of_many_different_steps():
    """Each step has a lattice of its own, but nothing of the size of the whole batch."""
    rng = np.random.default_rng(10)
    values = [rng.normal(size=(2, 20 + n)).cumsum(axis=1) for n in range(12)]
    times = [np.linspace(0.0, 10.0, x.shape[1]) for x in values]
    paths = interpolate(RaggedSeries.from_arrays(values, times))
    assert len(np.unique(paths.step)) == 12
    transform = make_transform(rng, level_free="mixed", per_shapelet=True)
    gradients = []
    for backend in ("auto", "generic"):
        transform.zero_grad()
        reconfigured(transform, backend=backend)(paths).discrepancy.sum().backward()
        gradients.append([x.grad.clone() for x in transform.parameters()])
    torch.testing.assert_close(*gradients, rtol=1e-9, atol=1e-12)
    alone = [discrepancies(transform, paths[[n]], backend="auto") for n in range(12)]
    np.testing.assert_array_equal(discrepancies(transform, paths), np.concatenate(alone))


# ------------------------------------------------------------------ modes of torch


def test_a_call_in_inference_mode_spoils_no_later_one():
    rng = np.random.default_rng(11)
    series, transform = irregular(rng), make_transform(rng)
    with torch.inference_mode():
        want = transform(series).discrepancy
    got = transform(series).discrepancy
    got.sum().backward()
    torch.testing.assert_close(got.detach(), want, rtol=0, atol=0)


def test_predictions_use_as_many_threads_as_transforms(monkeypatch):
    X, y = np.random.default_rng(12).normal(size=(12, 1, 15)), np.arange(12) % 2
    model = ShapeletClassifier(n_shapelets=3, max_epochs=1, random_state=0).fit(X, y)
    before, seen = torch.get_num_threads(), []
    run = kernels.run
    monkeypatch.setattr(l2, "run", lambda *a: (seen.append(kernels.threads_allowed()), run(*a)))
    torch.set_num_threads(3)
    try:
        model.transform(X), model.predict(X)
    finally:
        torch.set_num_threads(before)
    assert set(seen) == {3}
