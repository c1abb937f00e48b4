"""Random problems, and the slow search that judges every other."""

import numpy as np
import torch
from naive import grid, l2_distance, search_reference

from genshapelets import GeneralisedShapeletTransform, L2Discrepancy, RaggedSeries, interpolate
from genshapelets.evaluation import evaluate
from genshapelets.offsets import Offsets
from genshapelets.search import best_offsets

LEVELS = [False, True, "mixed"]
METRICS = [
    ("none", False),
    ("diagonal", False),
    ("diagonal", True),
    ("full", False),
    ("full", True),
]


def irregular(rng, n_series=6, n_channels=2, n_times=(15, 35), span=10.0, missing=0.2):
    """Series with their own random times, some values missing, of different lengths and origins."""
    values, times = [], []
    for _ in range(n_series):
        size = int(rng.integers(*n_times))
        inner = np.sort(rng.uniform(0.0, span, size - 2))
        times.append(rng.normal(0.0, 5.0) + np.concatenate([[0.0], inner, [span]]))
        values.append(_lose(rng, rng.normal(size=(n_channels, size)).cumsum(axis=1) / 2, missing))
    return RaggedSeries.from_arrays(values, times)


def regular(rng, n_series=6, n_channels=2, n_times=(15, 35), step=0.4, missing=0.2):
    """Series sampled with one common step, of different lengths and origins."""
    values, times = [], []
    for _ in range(n_series):
        size = int(rng.integers(*n_times))
        times.append(rng.normal(0.0, 5.0) + step * np.arange(size))
        values.append(_lose(rng, rng.normal(size=(n_channels, size)).cumsum(axis=1) / 2, missing))
    return RaggedSeries.from_arrays(values, times)


def odd(rng, n_channels=2, step=0.4):
    """The awkward ones: one observation, two, a short one, a constant, a channel never observed."""
    values = [rng.normal(size=(n_channels, size)) for size in (1, 2, 4, 20, 20)]
    values[3][:] = 0.7
    if n_channels > 1:
        values[4][0] = np.nan
    times = [step * np.arange(x.shape[1]) + 3.0 for x in values]
    return RaggedSeries.from_arrays(values, times)


def ragged(rng, n_channels=2):
    """Regular, irregular and awkward series in one batch."""
    parts = [
        irregular(rng, 3, n_channels),
        regular(rng, 3, n_channels),
        odd(rng, n_channels),
        regular(rng, 2, n_channels, step=0.27),
    ]
    return RaggedSeries.concatenate(parts)


def bursts(rng, n_times, width):
    """Two bursts of observations, far apart."""
    times = np.concatenate([rng.uniform(0.0, width, n_times), rng.uniform(9.0, 10.0, n_times)])
    return RaggedSeries.from_arrays([rng.normal(size=(1, 2 * n_times))], [np.sort(times)])


SERIES = {"irregular": irregular, "regular": regular, "ragged": ragged, "odd": odd}


def _lose(rng, values, missing):
    lost = rng.random(values.shape) < missing
    lost[0, 0] = False  # something is always observed
    return np.where(lost, np.nan, values)


def make_transform(
    rng,
    n_channels=2,
    n_shapelets=4,
    n_knots=5,
    lengths=None,
    metric="diagonal",
    per_shapelet=False,
    level_free=False,
    scale_free=False,
    dtype=torch.float64,
    **kwargs,
):
    """A transform with random parameters; by default the last shapelet outruns a short series."""
    if lengths is None:
        lengths = rng.uniform(1.0, 4.0, n_shapelets)
        lengths[-1] = 8.3
    if level_free == "mixed":
        level_free = [k % 2 == 0 for k in range(n_shapelets)]
    discrepancy = L2Discrepancy(
        n_channels,
        metric,
        n_shapelets=n_shapelets if per_shapelet else None,
        level_free=level_free,
        scale_free=scale_free,
    ).to(dtype)
    if metric != "none":
        weight = discrepancy.weight
        noise = torch.from_numpy(rng.normal(size=weight.shape)).to(dtype)
        weight.data += 0.4 * noise
    values = torch.from_numpy(rng.normal(size=(n_shapelets, n_channels, n_knots))).to(dtype)
    return GeneralisedShapeletTransform.from_shapelets(
        values, torch.as_tensor(np.asarray(lengths)), discrepancy=discrepancy, **kwargs
    )


def as_paths(series):
    return interpolate(series) if isinstance(series, RaggedSeries) else series


def parameters_of(transform):
    """values, lengths, metrics, level_free and scale_free of a transform, as (float64) arrays."""
    shapelets, discrepancy = transform.shapelets, transform.discrepancy
    n_shapelets, n_channels, _ = shapelets.values.shape
    matrix = discrepancy.matrix().detach().double().numpy()
    return (
        shapelets.values.detach().double().numpy(),
        shapelets.lengths.detach().double().numpy(),
        np.broadcast_to(matrix, (n_shapelets, n_channels, n_channels)),
        discrepancy.ignores_level(n_shapelets).numpy(),
        discrepancy.ignores_scale(n_shapelets).numpy(),
    )


def judge(transform, series, offsets=grid):
    """Smallest discrepancy and its start by the slow search, each (series, shapelets)."""
    paths = as_paths(series)
    discrepancy, start = search_reference(paths, *parameters_of(transform), offsets=offsets)
    return discrepancy, start + paths.origin[:, None]


def distance_at(transform, paths, i, k, start):
    """Discrepancy of shapelet k from path i at one start, in the path's own time."""
    values, lengths, metrics, level_free, scale_free = parameters_of(transform)
    rows = slice(paths.row_offsets[i], paths.row_offsets[i + 1])
    return l2_distance(
        paths.knots[rows], paths.values[rows].T, start - paths.origin[i], values[k], lengths[k],
        metrics[k], bool(level_free[k]), bool(scale_free[k]),
    )  # fmt: skip


def distances_at(transform, series, start):
    """Discrepancies at given starts (series, shapelets), by the slow formula."""
    paths = as_paths(series)
    return np.array(
        [
            [distance_at(transform, paths, i, k, start[i, k]) for k in range(start.shape[1])]
            for i in range(start.shape[0])
        ]
    )


def assert_agrees(transform, series, rtol=1e-9, atol=1e-12, want=None):
    """Check a transform against the slow search: same values, taken where it says.

    Its starts may differ where two offsets tie.
    """
    paths = as_paths(series)
    matches = transform(paths)
    got = matches.discrepancy.detach().double().numpy()
    best, _ = judge(transform, paths) if want is None else want
    np.testing.assert_allclose(got, best, rtol=rtol, atol=atol)
    there = distances_at(transform, paths, matches.start.numpy())
    np.testing.assert_allclose(got, there, rtol=rtol, atol=atol)
    return matches


def reconfigured(transform, **settings):
    """The same transform with another search, backend or minimum."""
    for name, value in settings.items():
        setattr(transform, name, value)
    return transform


def offsets_of(transform, paths, n_best=1, **settings):
    """What the search of a transform finds."""
    settings = {"search": transform.search, "backend": transform.backend} | settings
    shapelets = transform.shapelets
    return best_offsets(
        transform.discrepancy, paths, shapelets.values, shapelets.lengths, n_best=n_best, **settings
    )


def evaluated(transform, paths, offsets, backend="auto"):
    """Discrepancies (series, shapelets, candidates) at given offsets."""
    shapelets = transform.shapelets
    return evaluate(
        transform.discrepancy, paths, shapelets.values, shapelets.lengths, offsets, backend
    )


def offsets_at(start, slope=0.0):
    """Offsets (series, shapelets, candidates) as if a search had found them."""
    start = np.array(start, dtype=np.float64)
    slope = np.array(np.broadcast_to(slope, start.shape), dtype=np.float64)
    return Offsets(start, slope, np.full(start.shape[:2], start.shape[2]), "")


def fine_grid(transform, paths, n_offsets=3001):
    """Least discrepancy over many evenly spaced offsets, (series, shapelets)."""
    lengths = transform.shapelets.lengths.detach().double().numpy()
    room = np.maximum(paths.spans[:, None] - lengths, 0.0)
    start = room[..., None] * np.linspace(0.0, 1.0, n_offsets)
    with torch.no_grad():
        return evaluated(transform, paths, offsets_at(start)).double().numpy().min(axis=-1)
