"""What a newcomer waits for: ``python -m benchmarks.first_call``.

Seconds from ``import genshapelets`` to the first `transform` and to the first fitted small model, in a
new process, on regular and on irregular series; with nothing compiled yet, and again with what the
first process has left on disk.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from benchmarks.timing import REPOSITORY, provenance

SCRIPT = """
import sys, time
begun = time.perf_counter()
import numpy as np
from genshapelets import GeneralisedShapeletTransform, RaggedSeries, ShapeletClassifier
imported = time.perf_counter()
random = np.random.default_rng(0)
X, y = random.normal(size=(30, 2, 40)).cumsum(axis=2), np.arange(30) % 2
if "irregular" in sys.argv:
    X = RaggedSeries.from_arrays(X, np.sort(random.uniform(0.0, 40.0, (30, 40)), axis=1))
if "transform" in sys.argv:
    GeneralisedShapeletTransform.from_shapelets(np.eye(4)[:, None].repeat(2, 1), 5.0)(X)
else:
    ShapeletClassifier(n_shapelets=10, max_epochs=2, random_state=0).fit(X, y).predict(X)
print(imported - begun, time.perf_counter() - begun)
"""


def seconds(cache: str, *arguments: str) -> tuple[float, float]:
    """Seconds to the import, and in all, with compiled code in a folder."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT, *arguments],
        capture_output=True,
        text=True,
        env=os.environ | {"NUMBA_CACHE_DIR": cache},
        cwd=REPOSITORY,
        check=True,
    )
    imported, total = map(float, done.stdout.split())
    return imported, total


def main() -> None:
    print(", ".join(f"{name} {value}" for name, value in provenance().items()))
    print(f"{'seconds to the first':32}{'cold':>8}{'second process':>16}{'of it import':>14}")
    for what in ("transform", "fitted model"):
        for kind in ("regular", "irregular"):
            with tempfile.TemporaryDirectory() as cache:
                _, cold = seconds(cache, what, kind)
                imported, second = min(seconds(cache, what, kind) for _ in range(3))
            print(
                f"{f'{what}, {kind} series':32}{cold:8.1f}{second:16.1f}{imported:14.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
