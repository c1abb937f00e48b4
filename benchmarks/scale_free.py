"""Scale-free L2 beside level-free L2: see `benchmarks.discrepancies`."""

from __future__ import annotations

from collections.abc import Callable

import torch

from benchmarks.workloads import WORKLOADS, least_time, make
from genshapelets import interpolate

SECONDS, TURNS = 1.0, 3


def scale_free() -> None:
    """Forward passes and training steps, all shapelets scale-free, beside all of them level-free."""
    print("scale-free beside level-free L2: forward / training step, ms")
    for name, workload in WORKLOADS.items():
        series, transform, _ = make(workload)
        paths = interpolate(series)
        every = torch.ones(transform.shapelets.n_shapelets, dtype=torch.bool)

        def forward() -> None:
            with torch.no_grad():
                transform(paths)  # noqa: B023

        def step() -> None:
            transform.zero_grad()  # noqa: B023
            transform(paths).discrepancy.log().sum().backward()  # noqa: B023

        best: dict[tuple[str, Callable[[], None]], float] = {}
        for _ in range(TURNS):
            for kind in ("level", "scale"):
                transform.discrepancy.level_free = every
                transform.discrepancy.scale_free = every & (kind == "scale")
                for run in (forward, step):
                    least = least_time(run, SECONDS)
                    best[kind, run] = min(least, best.get((kind, run), float("inf")))
        level, scale = ([best[kind, run] for run in (forward, step)] for kind in ("level", "scale"))
        print(
            f"{name:10} level-free {level[0]:7.1f} /{level[1]:7.1f}   scale-free {scale[0]:7.1f} /"
            f"{scale[1]:7.1f}   ratio {scale[0] / level[0]:.2f} / {scale[1] / level[1]:.2f}",
            flush=True,
        )
