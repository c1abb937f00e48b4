"""The workloads that `benchmarks.transform` times, by the public surface alone, so that an older commit
can run them too: ``python -m benchmarks.workloads NAME`` prints milliseconds of CPU time as JSON.

Standardised random walks against random-walk shapelets, all in float32, one thread. A forward pass is
without gradients; a training step is forward and backward of ``discrepancy.log().sum()``. Paths are made
beforehand. Beside them, in the same process, a bare `torch.nn.functional.conv1d` with as many taps as
the mean length, its forward pass and its own training step.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch

from genshapelets import GeneralisedShapeletTransform, L2Discrepancy, RaggedSeries, interpolate


class Workload(NamedTuple):
    """Series, times and channels; irregular times; few shapelets with one metric ("classic").

    Of the channels, each shapelet sees ``n_active`` alone, if that is not 0.
    """

    n_series: int
    n_times: int
    n_channels: int
    irregular: bool = False
    classic: bool = False
    n_active: int = 0


WORKLOADS = {
    "c": Workload(109, 206, 3),
    "e": Workload(256, 81, 40),
    "vowels": Workload(216, 29, 12),
    "stays": Workload(256, 75, 37, irregular=True),
    "classic e": Workload(1024, 81, 40, classic=True),
    "hours": Workload(256, 75, 37),
    "hours, 3": Workload(256, 75, 37, n_active=3),
    "stays, 3": Workload(256, 75, 37, irregular=True, n_active=3),
}
N_KNOTS = 24


def random_walks(random: np.random.Generator, shape: tuple[int, int, int]) -> np.ndarray:
    walks = random.normal(size=shape).cumsum(axis=2)
    walks -= walks.mean(axis=(0, 2), keepdims=True)
    return (walks / walks.std(axis=(0, 2), keepdims=True)).astype(np.float32)


def make(workload: Workload) -> tuple[RaggedSeries, GeneralisedShapeletTransform, float]:
    """Series, a transform as the default procedure starts it, and the mean length in samples."""
    n_series, n_times, n_channels, irregular, classic, n_active = workload
    random = np.random.default_rng(0)
    walks, times = random_walks(random, (n_series, n_channels, n_times)), None
    if irregular:
        times = np.sort(random.uniform(0.0, n_times - 1.0, (n_series, n_times)), axis=1)
        times[:, 0], times[:, -1] = 0.0, n_times - 1.0
    n_shapelets = 40 if classic else 200
    shapelets = random_walks(random, (n_shapelets, n_channels, N_KNOTS))
    discrepancy = L2Discrepancy(n_channels)
    if classic:
        lengths = 0.3 * (n_times - 1) * (1.0 + 0.02 * random.standard_normal(n_shapelets))
    else:
        share = np.exp(random.uniform(np.log(0.05), np.log(0.8), n_shapelets))
        lengths = np.maximum(share * (n_times - 1), 2.0)
        level_free = (np.arange(n_shapelets) % 2 == 0).tolist()
        discrepancy = L2Discrepancy(n_channels, n_shapelets=n_shapelets, level_free=level_free)
        weights = random.uniform(0.3, 1.5, (n_shapelets, n_channels)).astype(np.float32)
        if n_active:
            weights *= random.random(weights.shape).argsort(axis=1) < n_active
        discrepancy.weight.data = torch.from_numpy(weights)
    transform = GeneralisedShapeletTransform.from_shapelets(
        shapelets, lengths.astype(np.float32), discrepancy=discrepancy, max_length=n_times - 1.0
    )
    return RaggedSeries.from_arrays(walks, times), transform, float(lengths.mean())


def least_time(run: Callable[[], object], seconds: float = 3.0) -> float:
    """Milliseconds of CPU time, the least of as many runs as the time allows, at least four."""
    run()
    best, begun, n_runs = float("inf"), time.perf_counter(), 0
    while n_runs < 4 or time.perf_counter() - begun < seconds:
        start = time.process_time()
        run()
        best, n_runs = min(best, time.process_time() - start), n_runs + 1
    return 1e3 * best


def measure(name: str) -> dict[str, float]:
    torch.set_num_threads(1)
    workload = WORKLOADS[name]
    series, transform, mean_length = make(workload)
    paths = interpolate(series)
    n_taps = round(mean_length) + 1
    taps = torch.randn(transform.shapelets.n_shapelets, workload.n_channels, n_taps)
    taps.requires_grad_()
    values = torch.randn(workload.n_series, workload.n_channels, workload.n_times)

    def forward() -> object:
        with torch.no_grad():
            return transform(paths)

    def step() -> None:
        transform.zero_grad()
        transform(paths).discrepancy.log().sum().backward()

    def convolve() -> object:
        with torch.no_grad():
            return torch.nn.functional.conv1d(values, taps)

    def convolution_step() -> None:
        taps.grad = None
        torch.nn.functional.conv1d(values, taps).square().sum().backward()

    runs = {
        "forward": forward,
        "step": step,
        "conv1d": convolve,
        "conv1d step": convolution_step,
    }
    return {name: least_time(run) for name, run in runs.items()}


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1])))
