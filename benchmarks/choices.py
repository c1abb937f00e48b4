"""What choices do to accuracy: ``python -m benchmarks.choices --data DIR``.

DIR (or the variable GENSHAPELETS_DATA) holds ``uea/<Name>/<Name>_TRAIN.ts`` as the archive's download
does. Folds of the training files are scored, never a test file, with few shapelets and few epochs: it
shows what suits which data, not how good a model can be.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.accuracy import DATA_SETS, scores
from benchmarks.timing import REPOSITORY, provenance

CHOICES: dict[str, dict[str, Any]] = {
    "l2": {},
    "scale_free=0.5": {"scale_free": 0.5},
    "logsignature": {"discrepancy": "logsignature"},
    "l2 + logsignature": {"discrepancy": {"l2": 0.5, "logsignature": 0.5}},
    "dtw": {"discrepancy": "dtw"},
    "classical": {"discrepancy": "classical"},
    "initial=search": {"initial": "search"},
    "search, learn=head": {"initial": "search", "learn": "head"},
    "initial=kmeans": {"initial": "kmeans"},
    "shapelets=bspline": {"shapelets": "bspline"},
    "shapelets=fourier": {"shapelets": "fourier"},
    "shapelets=legendre": {"shapelets": "legendre"},
    "shapelets=network": {"shapelets": "network"},
    "minimum=soft": {"minimum": "soft"},
    "minimum=softmin": {"minimum": "softmin"},
}
SETS = ["BasicMotions", "Libras", "RacketSports", "Epilepsy"]


def table(folder: Path, arguments: argparse.Namespace) -> Iterator[str]:
    """One line for each data set and choice: mean, spread, median of seconds, and each score."""
    yield f"{'data set':16}{'choice':22}{'mean':>6}{'std':>6}{'s/fit':>7}  each"
    for name in arguments.sets:
        for choice in arguments.choices:
            settings = {
                "procedure": "default",
                "n_shapelets": arguments.shapelets,
                "max_epochs": arguments.epochs,
                "n_jobs": 1,
                **CHOICES[choice],
            }
            found, seconds, _ = scores(folder, name, settings, arguments.seeds, arguments.folds)
            yield (
                f"{name:16}{choice:22}{np.mean(found):6.1f}{np.std(found):6.1f}"
                f"{np.median(seconds):7.1f}  {' '.join(f'{score:.1f}' for score in found)}"
            )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=os.environ.get("GENSHAPELETS_DATA"))
    parser.add_argument("--sets", nargs="+", choices=DATA_SETS, default=SETS)
    parser.add_argument("--choices", nargs="+", choices=CHOICES, default=list(CHOICES))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1])
    parser.add_argument("--folds", type=int, default=2)
    parser.add_argument("--shapelets", type=int, default=20)
    parser.add_argument("--epochs", type=int, default=20)
    arguments = parser.parse_args()
    if arguments.data is None:
        parser.error("say where the data are: --data DIR, or the variable GENSHAPELETS_DATA")
    if arguments.folds < 2:
        parser.error("--folds must be at least 2: test files are not opened here")
    facts = provenance()
    lines = [
        ", ".join(f"{name} {value}" for name, value in facts.items()),
        f"sets {', '.join(arguments.sets)}; choices {'; '.join(arguments.choices)}",
        f"{arguments.folds} folds of the training file; seeds {arguments.seeds}",
        f"{arguments.shapelets} shapelets, {arguments.epochs} epochs, one thread; else as by default",
        "",
    ]
    print("\n".join(lines), flush=True)
    for line in table(Path(arguments.data) / "uea", arguments):
        print(line, flush=True)
        lines.append(line)
    stem = f"{facts['date']}-{facts['commit']}-choices.txt"
    (REPOSITORY / "benchmarks" / "results" / stem).write_text("\n".join(lines) + "\n")
    print(f"\nWritten: benchmarks/results/{stem}")


if __name__ == "__main__":
    main()
