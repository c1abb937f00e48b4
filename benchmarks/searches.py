"""What finer searches buy: ``python -m benchmarks.searches --data DIR``.

On folds of the training files of four data sets, once as they are (regularly sampled) and once with 30 %
of the times of each series dropped (irregular): accuracy of the default model with each search, and how
far its discrepancies lie above the true minimum, for the shapelets that a fit ends with. DIR holds
``uea/<Name>/<Name>_TRAIN.ts``; no test file is opened.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import numpy as np
import torch
from sklearn.model_selection import StratifiedKFold

from benchmarks.timing import provenance
from genshapelets import RaggedSeries, ShapeletClassifier
from genshapelets.datasets import read_ts

SETS = ("JapaneseVowels", "Libras", "RacketSports", "Epilepsy")
SEARCHES = ("grid", "refined", "exact")


def dropped(series: RaggedSeries, share: float) -> RaggedSeries:
    """The series without a share of their times, drawn at random; at least two stay."""
    random = np.random.default_rng(0)
    values, times = [], []
    for one in series:
        n_kept = max(2, round((1 - share) * len(one.times)))
        kept = np.sort(random.choice(len(one.times), n_kept, replace=False))
        values.append(one.values[:, kept])
        times.append(one.times[kept])
    return RaggedSeries.from_arrays(values, times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", default=os.environ.get("GENSHAPELETS_DATA"), required=False)
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1])
    parser.add_argument(
        "--searches", nargs="+", choices=SEARCHES, default=SEARCHES, help="to fit by"
    )
    parser.add_argument("--shapelets", type=int, help="default: the estimator's")
    parser.add_argument("--epochs", type=int, help="default: the estimator's")
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(", ".join(f"{name} {value}" for name, value in provenance().items()))
    print(
        f"accuracy on 2 folds of the training file, mean of seeds {options.seeds}; sigma/exact - 1; "
        f"{options.shapelets or 'default'} shapelets, {options.epochs or 'default'} epochs"
    )
    print(
        f"{'':30}{'search':10}{'accuracy':>10}{'seconds':>9}{'mean':>10}{'99 %':>10}{'largest':>10}"
    )
    for name in options.sets:
        whole, y = read_ts(Path(options.data) / "uea" / name / f"{name}_TRAIN.ts")
        for kind, X in (("regular", whole), ("30 % dropped", dropped(whole, 0.3))):
            # "grid" on irregular series is the slow reference: only its discrepancies are compared.
            fitted = [s for s in options.searches if kind == "regular" or s != "grid"]
            scores: dict[str, list[float]] = {search: [] for search in fitted}
            spent = dict.fromkeys(fitted, 0.0)
            for seed in options.seeds:
                folds = StratifiedKFold(2, shuffle=True, random_state=seed)
                for train, test in folds.split(np.zeros(len(y)), y):
                    for search in fitted:
                        begun = time.perf_counter()
                        model = ShapeletClassifier(
                            n_shapelets=options.shapelets,
                            max_epochs=options.epochs,
                            search=search,
                            random_state=seed,
                        ).fit(X[train], y[train])
                        scores[search].append(100 * model.score(X[test], y[test]))
                        spent[search] += time.perf_counter() - begun
            some = X[:40]
            sigma = {}
            for search in SEARCHES:
                model.model_.transform.search = search
                sigma[search] = model.transform(some).astype(np.float64)
            for search in SEARCHES:
                excess = sigma[search] / np.maximum(sigma["exact"], 1e-12) - 1
                figures = (
                    f"{excess.mean():10.1e}{np.quantile(excess, 0.99):10.1e}{excess.max():10.1e}"
                )
                score, seconds = "", ""
                if search in fitted:
                    score, seconds = f"{np.mean(scores[search]):.1f}", f"{spent[search]:.0f}"
                print(
                    f"{name + ', ' + kind:30}{search:10}{score:>10}{seconds:>9}{figures}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
