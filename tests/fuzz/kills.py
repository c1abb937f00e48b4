"""Fits killed at random moments, each in a fresh process, go on bit for bit.

``python -m tests.fuzz.kills --times 100``
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from random import Random

import numpy as np

import genshapelets
from genshapelets import ShapeletClassifier
from genshapelets.saving import read_file

BEGUN = "begun"
FITS = {
    "stages": {"max_epochs": 20},  # whose number of shapelets is chosen
    "epochs": {
        "max_epochs": 100,
        "procedure": "paper",
        "n_shapelets": 4,
    },  # which take most of the time
}


def data():
    """Noise; every third series has a bump of either sign, some values are missing."""
    random = np.random.default_rng(0)
    X = random.normal(scale=0.3, size=(60, 2, 24))
    y = np.arange(60) % 3
    for n in np.flatnonzero(y):
        start = random.integers(0, 16)
        X[n, 0, start : start + 8] += (2, -2)[y[n] - 1] * np.sin(np.linspace(0, np.pi, 8))
    X[random.random(X.shape) < 0.1] = np.nan
    return X, y


def fit(name, checkpoint, n_jobs, **settings):
    """One of the fits that are killed."""
    settings = FITS[name] | {"batch_size": 64, "random_state": 0} | settings
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ShapeletClassifier(
            **settings, n_jobs=n_jobs, checkpoint=checkpoint, checkpoint_interval=0.0
        ).fit(*data())


def figures(model):
    """All numbers of a model, for a comparison bit for bit."""
    tensors = {name: x.numpy().tobytes() for name, x in model.model_.state_dict().items()}
    history = {name: np.array(values).tobytes() for name, values in model.history_.items()}
    return tensors | history | {"proba": model.predict_proba(data()[0]).tobytes()}


def begun(name, path, n_jobs):
    """A fresh process that is about to begin the fit."""
    places = [str(Path(genshapelets.__file__).parents[1]), str(Path(__file__).parents[1])]
    child = subprocess.Popen(
        [sys.executable, "-m", "fuzz.kills", "--fit", name, str(path), str(n_jobs)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(places)}, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    if child.stdout.readline().strip() != BEGUN:
        raise RuntimeError("the fit did not begin")
    return child


def killed(name, path, n_jobs, seconds):
    """Begin a fit in a fresh process, kill it after a time; tell whether it was still at work."""
    with begun(name, path, n_jobs) as child:
        time.sleep(seconds)
        at_work = child.poll() is None
        child.kill()
    return at_work


def resumed_alike(times, seed, longest=None, tell=print):
    """Kill fits, each before so many seconds; return how many were at work, and went on bit for bit."""
    random = Random(seed)
    whole = {name: figures(fit(name, None, 1)) for name in FITS}
    at_work = alike = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "checkpoint")
        seconds = {name: longest or _seconds(name, Path(folder, name)) for name in FITS}
        while at_work < times:
            path.unlink(missing_ok=True)
            name, n_jobs = list(FITS)[at_work % 2], 1 + at_work // 2 % 2
            after = random.uniform(0, seconds[name])
            if not killed(name, path, n_jobs, after):
                continue
            at_work += 1
            told = f"{name}, {n_jobs} threads, after {after:.2f} s{_left(path)}"
            same = figures(fit(name, path, n_jobs)) == whole[name]
            alike += same
            tell(f"{at_work}: {told}: {'bit for bit' if same else 'DIFFERENT'}", flush=True)
    return at_work, alike


def _seconds(name, path):
    start = time.monotonic()
    fit(name, path, 1)
    return time.monotonic() - start


def _left(path):
    """Where a checkpoint says that a fit was."""
    if not path.exists():
        return ", no file yet"
    contents = read_file(path, "checkpoint")[0]
    if contents.get("stage") is None:
        return f", {len(contents['over'])} stages over"
    return f", in epoch {contents['state']['epoch']} of a stage"


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.kills", description=__doc__)
    parser.add_argument("--times", type=int, default=100, help="kills; default: 100")
    parser.add_argument("--seed", type=int, default=0, help="default: 0")
    parser.add_argument("--fit", nargs=3, help=argparse.SUPPRESS)  # in the process to be killed
    args = parser.parse_args(argv)
    if args.fit:
        name, path, n_jobs = args.fit
        fit(name, None, int(n_jobs), max_epochs=1)  # kernels are there when the time begins
        print(BEGUN, flush=True)
        fit(name, path, int(n_jobs))
        return 0
    at_work, alike = resumed_alike(args.times, args.seed)
    print(f"seed {args.seed}: {alike} of {at_work} killed fits went on bit for bit")
    return int(alike < at_work)


if __name__ == "__main__":
    sys.exit(main())
