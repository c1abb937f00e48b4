"""What a newcomer waits for: ``python -m benchmarks.first_call``.

Seconds from ``import genshapelets`` to the first `transform` and to the first fitted small model, in a
new process, on regular and on irregular series; with nothing compiled yet, and again with what the
first process has left on disk. Before that, CPU seconds of the imports and of ``--help``, those of torch
and scikit-learn beside them (``--imports``: these alone).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

import numpy as np

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


STARTS = {
    "import torch, sklearn": ["-c", "import torch, sklearn"],
    "import genshapelets": ["-c", "import genshapelets"],
    "the first name of it": ["-c", "from genshapelets import ShapeletClassifier"],
    "genshapelets --help": ["-m", "genshapelets", "--help"],
    "genshapelets fit --help": ["-m", "genshapelets", "fit", "--help"],
}


def cpu_seconds(arguments: list[str]) -> float:
    """CPU seconds of a Python process, all of it."""
    before = os.times()
    subprocess.run([sys.executable, *arguments], capture_output=True, cwd=REPOSITORY, check=True)
    after = os.times()
    both = after.children_user + after.children_system
    return both - before.children_user - before.children_system


def print_starts(repeats: int = 7) -> None:
    """Medians; what is compared takes turns, so that it meets the same machine."""
    rounds = [[cpu_seconds(arguments) for arguments in STARTS.values()] for _ in range(repeats + 1)]
    medians = np.median(rounds[1:], axis=0)  # the first round writes byte code
    print(f"{'CPU seconds':32}{'median':>8}{'of torch and sklearn':>24}")
    for what, median in zip(STARTS, medians):
        print(f"{what:32}{median:8.2f}{median / medians[0]:23.0%}")


def main() -> None:
    print(", ".join(f"{name} {value}" for name, value in provenance().items()))
    print_starts()
    if "--imports" in sys.argv:
        return
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
