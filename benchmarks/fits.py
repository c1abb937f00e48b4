"""How long default fits take, beside an older commit: ``python -m benchmarks.fits --data DIR``.

Seconds of CPU time of `ShapeletClassifier().fit` on the training files of nine data sets of the UEA
archive, on one thread, each in a new process that has compiled its kernels before. ``--beside REV`` runs
an older commit in turn. DIR holds ``uea/<Name>/<Name>_TRAIN.ts``.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

SETS = (
    "BasicMotions", "ERing", "Epilepsy", "Handwriting", "JapaneseVowels", "Libras", "LSST", "PenDigits",
    "RacketSports",
)  # fmt: skip


def measure(file: str) -> dict[str, float]:
    import torch

    from genshapelets import ShapeletClassifier
    from genshapelets.datasets import read_ts

    torch.set_num_threads(1)
    X, y = read_ts(file)
    ShapeletClassifier(max_epochs=1, n_jobs=1, random_state=0).fit(X, y)
    begun = time.process_time()
    ShapeletClassifier(n_jobs=1, random_state=0).fit(X, y)
    return {"seconds": time.process_time() - begun}


def main() -> None:
    from benchmarks.timing import provenance, run_in, sources

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("GENSHAPELETS_DATA"))
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--beside", metavar="REV", help="an older commit to time in turn")
    options = parser.parse_args()
    if options.data is None:
        parser.error("say where the data are: --data DIR, or the variable GENSHAPELETS_DATA")
    print(", ".join(f"{name} {value}" for name, value in provenance().items()))
    print("seconds of CPU time of a default fit, one thread, seed 0")
    totals: dict[str, float] = {}
    with sources(options.beside) as folders:
        print(f"{'':16}" + "".join(f"{name:>10}" for name in folders))
        for name in options.sets:
            file = str(Path(options.data) / "uea" / name / f"{name}_TRAIN.ts")
            line = f"{name:16}"
            for kind, source in folders.items():
                seconds = run_in(source, "fits.py", "--measure", file)["seconds"]
                totals[kind] = totals.get(kind, 0.0) + seconds
                line += f"{seconds:10.2f}"
            print(line, flush=True)
    print(f"{'in all':16}" + "".join(f"{seconds:10.2f}" for seconds in totals.values()))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure(sys.argv[2])))
    else:
        main()
