"""Rounds of fit, predict, explain, save and load: memory, threads and open files stay as they are.

``python -m tests.fuzz.soak --rounds 10000``
"""

import argparse
import gc
import os
import resource
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np

from genshapelets import ShapeletClassifier, load

MOST = 20.0  # MB that memory may grow by after the first tenth


class Use(NamedTuple):
    """What a process holds."""

    memory: float  # MB
    threads: int
    files: int


def use():
    """What this process holds now."""
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as file:
        pages = int(file.read().split()[1])
    memory = pages * resource.getpagesize() / 1e6
    return Use(memory, len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd")))


def one_round(number, folder):
    """Learn other series each time; with one thread and with two; write to one of three files."""
    random = np.random.default_rng(number)
    X = random.normal(size=(8, 2, 10 + number % 5)).cumsum(axis=2)
    X[random.random(X.shape) < 0.1] = np.nan
    path = Path(folder, f"{number % 3}.model")
    model = ShapeletClassifier(
        procedure="paper", n_shapelets=2, n_knots=4, max_epochs=1, random_state=0, n_jobs=1 + number % 2
    ).fit(X, np.arange(8) % 2)  # fmt: skip
    proba = model.predict_proba(X)
    model.explain(X[:1]).to_frame(series=0)
    model.save(path)
    if not np.array_equal(load(path).predict_proba(X), proba):
        raise RuntimeError(f"round {number}: the saved model answers otherwise")


def soak(rounds, tell=print):
    """Run rounds; return what the process held after a tenth of them, and at the end."""
    tenth, start = max(1, rounds // 10), time.monotonic()
    seen = []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(rounds):
            one_round(number, folder)
            if (number + 1) % tenth == 0:
                seen.append(use())
                now = (
                    f"{seen[-1].memory:.0f} MB, {seen[-1].threads} threads, {seen[-1].files} files"
                )
                tell(f"{number + 1} rounds, {time.monotonic() - start:.0f} s: {now}", flush=True)
    return seen[0], seen[-1]


def is_flat(before, after):
    """Whether a process holds no more than before, but for a little memory."""
    return after[1:] == before[1:] and after.memory - before.memory < MOST


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.soak", description=__doc__)
    parser.add_argument("--rounds", type=int, default=10_000, help="default: 10000")
    args = parser.parse_args(argv)
    flat = is_flat(*soak(args.rounds))
    print("flat" if flat else "NOT FLAT")
    return int(not flat)


if __name__ == "__main__":
    sys.exit(main())
