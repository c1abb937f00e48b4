"""Dynamic time warping beside a bare loop: see `benchmarks.discrepancies`."""

from __future__ import annotations

import numpy as np
import torch
from numba import njit

from benchmarks.workloads import Workload, least_time, random_walks
from genshapelets import (
    DTWDiscrepancy,
    GeneralisedShapeletTransform,
    RaggedSeries,
    interpolate,
)
from genshapelets.kernels import FAST_MATH
from genshapelets.search.generic import grid


@njit(fastmath=FAST_MATH)
def bare_dtw(windows, shapelet, band, n_windows):
    """Least sums of warping, one window after another, over and over: nothing but cells."""
    n, n_channels = shapelet.shape
    sums, total = np.empty((2, n + 1)), 0.0
    for number in range(n_windows):
        window = windows[number % len(windows)]
        sums[:] = np.inf
        sums[0, 0] = 0.0
        for i in range(n):
            before, here = sums[i % 2], sums[1 - i % 2]
            left = np.inf
            for j in range(max(i - band, 0), min(i + band + 1, n)):
                cost = 0.0
                for d in range(n_channels):
                    cost += (window[i, d] - shapelet[j, d]) ** 2
                left = cost + min(left, before[j], before[j + 1])
                here[j + 1] = left
            before[0] = np.inf
        total += sums[n % 2, n]
    return total


def dtw() -> None:
    """A training step of dynamic time warping beside a bare loop over as many cells.

    The loop visits every cell within the band for every offset of the grid, series and shapelet; the
    windows are there already, and nothing is given up, refined or differentiated. "random" shapelets are
    random walks like the series; "drawn" ones are windows of the series, as a fit begins with.
    """
    workloads = {
        "c": (Workload(109, 206, 3), 20),
        "vowels": (Workload(216, 29, 12), 18),
        "one channel": (Workload(100, 100, 1), 20),
        "stays": (Workload(64, 75, 37, irregular=True), 10),
    }
    print("dynamic time warping, 32 points; ms: forward, forward and backward, bare loop")
    print(
        f"{'':28}{'band':>6}{'forward':>10}{'step':>10}{'bare':>10}{'forward/bare':>14}{'step/bare':>11}"
    )
    for name, (workload, n_shapelets) in workloads.items():
        for kind in ("random", "drawn"):
            for band in (0.1, 1.0):
                paths, transform = _dtw_problem(workload, n_shapelets, band, kind == "drawn")

                def forward(transform=transform, paths=paths):
                    with torch.no_grad():
                        transform(paths)

                def step(transform=transform, paths=paths):
                    transform.zero_grad()
                    transform(paths).discrepancy.log().sum().backward()

                lengths = transform.shapelets.lengths.detach().double()
                room = (float(paths.spans[0]) - lengths).clamp(min=0)
                tried, _ = grid(int(paths.lengths[0]), float(paths.step[0]), room)
                n_windows = len(paths) * sum(len(column.unique()) for column in tried.T)
                random = np.random.default_rng(1)
                windows = random.normal(size=(101, 32, workload.n_channels))
                n_band, shapelet = transform.discrepancy.n_band, windows[-1].copy()
                times = [
                    least_time(run, seconds=2.0)
                    for run in (
                        forward,
                        step,
                        lambda w=windows, s=shapelet, b=n_band, n=n_windows: bare_dtw(w, s, b, n),
                    )
                ]
                print(
                    f"{name + ', ' + kind:28}{band:6.1f}"
                    + "".join(f"{ms:10.1f}" for ms in times)
                    + f"{times[0] / times[2]:14.2f}{times[1] / times[2]:11.2f}",
                    flush=True,
                )


def _dtw_problem(workload, n_shapelets, band, drawn):
    """Standardised random walks, of one length, and shapelets of 5 to 80 % of it."""
    n_series, n_times, n_channels, irregular, _ = workload
    random = np.random.default_rng(0)
    walks, times = random_walks(random, (n_series, n_channels, n_times)), None
    if irregular:
        times = np.sort(random.uniform(0.0, n_times - 1.0, (n_series, n_times)), axis=1)
        times[:, 0], times[:, -1] = 0.0, n_times - 1.0
    paths = interpolate(RaggedSeries.from_arrays(walks, times))
    share = np.exp(random.uniform(np.log(0.05), np.log(0.8), n_shapelets))
    lengths = np.maximum(share * (n_times - 1), 2.0)
    shapelets = random_walks(random, (n_shapelets, n_channels, 24))
    if drawn:
        for k, length in enumerate(lengths):
            begin = random.uniform(0.0, n_times - 1.0 - length)
            n = random.integers(n_series)
            shapelets[k] = paths[[n]].evaluate(np.linspace(begin, begin + length, 24))[0]
            shapelets[k] += 0.1 * random.normal(size=shapelets[k].shape)
    transform = GeneralisedShapeletTransform.from_shapelets(
        shapelets, lengths.astype(np.float32), discrepancy=DTWDiscrepancy(n_channels, band=band)
    )
    return paths, transform
