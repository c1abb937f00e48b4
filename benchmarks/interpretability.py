"""How readable models of PenDigits are: ``python -m benchmarks.interpretability --data DIR``.

DIR (or the variable GENSHAPELETS_DATA) is that of `benchmarks.accuracy`. Models are fitted on the whole
training file and measured on it by `ShapeletClassifier.interpretability`; the test file is not opened.
The paper says of its PenDigits model that each class has a top shapelet of its own, and that its nearest
training series is of that class: 10 of 10 and 10 of 10 for the generalised method.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from benchmarks.accuracy import DATA_SETS
from benchmarks.timing import REPOSITORY, provenance
from genshapelets import ShapeletClassifier
from genshapelets.datasets import read_ts
from genshapelets.explain import Interpretability, explain_model, measure

NAME = "PenDigits"
PAPER = {
    "procedure": "paper",
    "n_shapelets": DATA_SETS[NAME].n_shapelets,
    "initial_length": DATA_SETS[NAME].length,
}
MODELS: dict[str, dict[str, Any]] = {
    "default": {},
    "default, own_class=False": {"own_class": False},
    "paper": PAPER,
    "paper, own_class=True": PAPER | {"own_class": True},
    "paper, classical": PAPER | {"discrepancy": "classical"},
}


def row(name: str, seed: int, by: str, found: Interpretability) -> str:
    assert found.unique is not None and found.own is not None
    unique, own = (round(share * found.n_classes) for share in (found.unique, found.own))
    return (
        f"{name:26}{seed:>4}{by:>8}{unique:>8}/{found.n_classes}{own:>8}/{found.n_classes}"
        f"{found.closeness:11.2f}{found.sparsity:10.1f}/{found.n_shapelets}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=os.environ.get("GENSHAPELETS_DATA"))
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--jobs", type=int, help="threads")
    arguments = parser.parse_args()
    if arguments.data is None:
        parser.error("say where the data are: --data DIR, or the variable GENSHAPELETS_DATA")
    series, labels = read_ts(Path(arguments.data) / "uea" / NAME / f"{NAME}_TRAIN.ts")
    facts = provenance()
    lines = [
        ", ".join(f"{name} {value}" for name, value in facts.items()),
        "python -m benchmarks.interpretability",
        f"{NAME}, fitted and measured on the training file; top: the shapelet of the most negative",
        "weight, or effect (weight times deviation of the feature)",
        "",
        (
            f"{'model':26}{'seed':>4}{'top by':>8}{'unique':>11}{'own class':>11}{'closeness':>10}"
            f"{'carry 90 %':>14}"
        ),
    ]
    print("\n".join(lines), flush=True)
    for name in arguments.models:
        for seed in arguments.seeds:
            model = ShapeletClassifier(random_state=seed, n_jobs=arguments.jobs, **MODELS[name])
            learnt = explain_model(model.fit(series, labels), series, labels)
            for by in ("weight", "effect"):
                lines.append(row(name, seed, by, measure(learnt, by=by)))
                print(lines[-1], flush=True)
    stem = f"{facts['date']}-{facts['commit']}-interpretability.txt"
    (REPOSITORY / "benchmarks" / "results" / stem).write_text("\n".join(lines) + "\n")
    print(f"\nWritten: benchmarks/results/{stem}")


if __name__ == "__main__":
    main()
