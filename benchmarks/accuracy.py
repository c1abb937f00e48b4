"""Accuracy on nine data sets of the UEA archive: ``python -m benchmarks.accuracy --data DIR``.

DIR (or the variable GENSHAPELETS_DATA) holds ``uea/<Name>/<Name>_{TRAIN,TEST}.ts`` as the archive's
download does. Every model is fitted on the whole training file with the estimator's default settings
and scored on the whole test file, once for each seed.

``--procedure paper`` trains by the paper's procedure with its hyperparameters, with the learnt L2 and
with the classical discrepancy, and prints the paper's own figures beside.

Beside accuracy stand the number of shapelets and, measured on the training file, how many of them carry
90 % of an answer, in how many channels 90 % of a shapelet's metric are, how far it is from its nearest
training segment (relative to random ones), the share of its knots outside the data's range, and how
many of the classes have a top shapelet of their own whose nearest training series is of that class.

``--folds 3`` never opens a test file: it scores folds of the training file. Settings were chosen so;
``--with name=value`` tries another one.
"""

from __future__ import annotations

import argparse
import ast
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold

from benchmarks.timing import REPOSITORY, provenance
from genshapelets import RaggedSeries, ShapeletClassifier
from genshapelets.datasets import read_ts


class DataSet(NamedTuple):
    """A data set: the best known figure, and the paper's settings and figures."""

    best: float
    n_shapelets: int
    length: float
    paper: dict[str, tuple[float, float]]


def _paper(l2: float, l2_std: float, classical: float, classical_std: float) -> dict:
    return {"l2": (l2, l2_std), "classical": (classical, classical_std)}


DATA_SETS = {
    "BasicMotions": DataSet(100.0, 12, 0.5, _paper(90.8, 1.4, 96.7, 5.8)),
    "ERing": DataSet(99.3, 12, 0.5, _paper(82.6, 6.3, 67.2, 11.8)),
    "Epilepsy": DataSet(100.0, 20, 0.5, _paper(88.4, 3.0, 72.9, 5.4)),
    "Handwriting": DataSet(64.7, 30, 0.5, _paper(10.3, 2.6, 6.5, 3.7)),
    "JapaneseVowels": DataSet(99.5, 18, 0.5, _paper(97.2, 1.1, 91.5, 4.1)),
    "Libras": DataSet(97.8, 30, 1.0, _paper(67.0, 9.4, 62.2, 2.4)),
    "LSST": DataSet(70.3, 28, 1.0, _paper(36.1, 0.2, 33.5, 0.5)),
    "PenDigits": DataSet(98.9, 30, 0.5, _paper(97.3, 0.1, 97.5, 0.6)),
    "RacketSports": DataSet(93.4, 12, 0.5, _paper(79.6, 0.7, 79.6, 2.4)),
}

Split = tuple[RaggedSeries, np.ndarray]


def splits(folder: Path, name: str, folds: int, pad: bool) -> Iterator[tuple[Split, Split]]:
    """Training and scoring parts: the archive's own, or folds of the training file alone."""
    series, labels = read_ts(folder / name / f"{name}_TRAIN.ts")
    length = int(series.lengths.max())
    series = padded(series, length) if pad else series
    if not folds:
        test, test_labels = read_ts(folder / name / f"{name}_TEST.ts")
        length = max(length, int(test.lengths.max()))
        yield (series, labels), (padded(test, length) if pad else test, test_labels)
        return
    for train, test in StratifiedKFold(folds, shuffle=True, random_state=0).split(labels, labels):
        yield (series[train], labels[train]), (series[test], labels[test])


def padded(series: RaggedSeries, length: int) -> RaggedSeries:
    """Hold every series at its last value up to one length, as the paper does."""
    return RaggedSeries.from_arrays(
        [np.pad(x, ((0, 0), (0, max(length - x.shape[1], 0))), mode="edge") for _, x in series]
    )


def scores(
    folder: Path, name: str, settings: dict[str, Any], seeds: list[int], folds: int
) -> tuple[list[float], list[float], list[ShapeletClassifier]]:
    """Percentages of right answers, seconds that each fit took, and the models."""
    found, seconds, models = [], [], []
    for train, test in splits(folder, name, folds, pad=settings["procedure"] == "paper"):
        for seed in seeds:
            model = ShapeletClassifier(random_state=seed, **settings)
            begun = time.perf_counter()
            model.fit(*train)
            seconds.append(time.perf_counter() - begun)
            models.append(model)
            found.append(100 * model.score(*test))
            print(
                f"  {name} seed {seed}: {found[-1]:.1f} in {seconds[-1]:.0f} s",
                file=sys.stderr,
                flush=True,
            )
    return found, seconds, models


def default_table(folder: Path, arguments: argparse.Namespace) -> Iterator[str]:
    settings = {"procedure": "default", "n_jobs": arguments.jobs, **arguments.settings}
    yield (
        f"{'data set':16}{'mean':>7}{'std':>6}{'best':>7}{'s/fit':>7}{'size':>6}{'carry':>7}"
        f"{'channels':>9}{'close':>7}{'outside':>9}{'own':>6}  each"
    )
    rows = []
    for name in arguments.sets:
        found, seconds, models = scores(folder, name, settings, arguments.seeds, arguments.folds)
        series, labels = read_ts(folder / name / f"{name}_TRAIN.ts")
        read = np.mean([readability(model, series, labels) for model in models], axis=0)
        rows.append([np.mean(found), *read])
        size, carry, channels, close, outside, own = read
        yield (
            f"{name:16}{rows[-1][0]:7.1f}{np.std(found):6.1f}{DATA_SETS[name].best:7.1f}"
            f"{np.mean(seconds):7.0f}{size:6.0f}{carry:7.1f}{channels:9.1f}{close:7.2f}{outside:9.2%}"
            f"{own:6.0%}  {' '.join(f'{score:.1f}' for score in found)}"
        )
    mean, size, carry, channels, close, outside, own = np.mean(rows, axis=0)
    yield (
        f"{'mean':16}{mean:7.2f}{'':20}{size:6.0f}{carry:7.1f}{channels:9.1f}{close:7.2f}{outside:9.2%}"
        f"{own:6.0%}  median size {np.median(np.array(rows)[:, 1]):.0f}"
    )


def readability(model: ShapeletClassifier, series: RaggedSeries, labels: np.ndarray) -> list[float]:
    """Size and the measures of interpretability, on the training file."""
    found = model.interpretability(series, labels)
    assert found.unique is not None and found.own is not None
    return [
        found.n_shapelets, found.sparsity, found.channels, found.closeness, found.outside,
        min(found.unique, found.own),
    ]  # fmt: skip


def paper_table(folder: Path, arguments: argparse.Namespace) -> Iterator[str]:
    yield f"{'data set':16}{'discrepancy':>12}{'ours':>14}{'the paper':>14}{'s/fit':>7}  within a std"
    for name in arguments.sets:
        known = DATA_SETS[name]
        for discrepancy, (mean, std) in known.paper.items():
            settings = {
                "procedure": "paper",
                "discrepancy": discrepancy,
                "n_shapelets": known.n_shapelets,
                "initial_length": known.length,
                "n_jobs": arguments.jobs,
                **arguments.settings,
            }
            found, seconds, _ = scores(folder, name, settings, arguments.seeds, arguments.folds)
            reached = "yes" if np.mean(found) >= mean - std else "NO"
            yield (
                f"{name:16}{discrepancy:>12}{np.mean(found):8.1f} ± {np.std(found):3.1f}"
                f"{mean:8.1f} ± {std:<4.1f}{np.mean(seconds):6.1f}  {reached}"
            )


def setting(text: str) -> tuple[str, Any]:
    """Parse name=value."""
    name, _, value = text.partition("=")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=os.environ.get("GENSHAPELETS_DATA"))
    parser.add_argument("--procedure", choices=("default", "paper"), default="default")
    parser.add_argument("--sets", nargs="+", choices=DATA_SETS, default=list(DATA_SETS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--folds", type=int, default=0, help="score folds of the training file")
    parser.add_argument("--jobs", type=int, help="threads")
    parser.add_argument(
        "--with", dest="settings", nargs="*", type=setting, default=[], metavar="NAME=VALUE"
    )
    arguments = parser.parse_args()
    if arguments.data is None:
        parser.error("say where the data are: --data DIR, or the variable GENSHAPELETS_DATA")
    arguments.settings = dict(arguments.settings)
    part = f"{arguments.folds} folds of the training file" if arguments.folds else "test file"
    facts = provenance()
    lines = [
        ", ".join(f"{name} {value}" for name, value in facts.items()),
        f"python -m benchmarks.accuracy --procedure {arguments.procedure}",
        f"scored on the {part}; seeds {arguments.seeds}; settings {arguments.settings or 'default'}",
        "",
    ]
    print("\n".join(lines), flush=True)
    table = paper_table if arguments.procedure == "paper" else default_table
    for line in table(Path(arguments.data) / "uea", arguments):
        print(line, flush=True)
        lines.append(line)
    if not arguments.folds:
        chosen = "".join(f"-{name}-{value}" for name, value in arguments.settings.items())
        stem = f"{facts['date']}-{facts['commit']}-accuracy-{arguments.procedure}{chosen}.txt"
        (REPOSITORY / "benchmarks" / "results" / stem).write_text("\n".join(lines) + "\n")
        print(f"\nWritten: benchmarks/results/{stem}")


if __name__ == "__main__":
    main()
