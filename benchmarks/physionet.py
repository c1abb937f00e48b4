"""Intensive-care stays: ``python -m benchmarks.physionet --data DIR``.

DIR (or the variable GENSHAPELETS_DATA) holds PhysioNet's challenge of 2012 as it is published:
``physionet2012/set-a/<RecordID>.txt`` and ``Outcomes-a.txt``, and the same of set b. Models of
in-hospital death are fitted to set a and scored on set b: areas under the ROC and the precision-recall
curve, time and memory. Shapelets alone, with static descriptors, with how often each channel was
measured, with both; beside logistic regression and gradient boosting on summaries of each channel and
the static descriptors.
With ``--folds N`` nothing of set b is read: N folds of set a.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.accuracy import setting
from benchmarks.timing import REPOSITORY, provenance
from genshapelets import RaggedSeries, ShapeletClassifier

STATIC = ["Age", "Gender", "Height", "ICUType", "Weight"]
SUMMARIES = ["count", "first", "last", "mean", "min", "max", "std"]
OURS = {
    "shapelets": {},
    "shapelets + static": {"static": True},
    "shapelets + counts": {"summaries": "count"},
    "shapelets + static + counts": {"static": True, "summaries": "count"},
    "shapelets + static + summaries": {"static": True, "summaries": "all"},
}
RIVALS = {
    "logistic regression on summaries": lambda: make_pipeline(
        SimpleImputer(), StandardScaler(), LogisticRegression(C=0.01, max_iter=2000)
    ),
    "gradient boosting on summaries": lambda: HistGradientBoostingClassifier(
        learning_rate=0.03, max_iter=300, random_state=0
    ),
}


class Stays:
    """Stays with a time series: these, in hours, what is known of each patient, and who died."""

    def __init__(self, folder: Path, part: str, most: int | None) -> None:
        outcomes = pd.read_csv(folder / f"Outcomes-{part}.txt", index_col="RecordID")
        records = sorted(outcomes.index)[:most]
        tables = [
            pd.read_csv(folder / f"set-{part}" / f"{record}.txt").assign(record=record)
            for record in records
        ]
        rows = pd.concat(tables).dropna(subset="Parameter")
        rows = rows[(rows["Value"] >= 0) & (rows["Parameter"] != "RecordID")]
        clock = rows["Time"].str.split(":", expand=True).astype(int)
        rows["hours"] = clock[0] + clock[1] / 60
        # A weight is a descriptor on admission and a channel later.
        is_static = rows["Parameter"].isin(STATIC) & (rows["Time"] == "00:00")
        is_static |= rows["Parameter"].isin(set(STATIC) - {"Weight"})
        known = rows[is_static].pivot_table("Value", "record", "Parameter", aggfunc="first")
        self.long = rows[~is_static].drop_duplicates(["record", "hours", "Parameter"], keep="last")
        self.series = RaggedSeries.from_long(
            self.long, series="record", time="hours", variable="Parameter", value="Value"
        )
        static = known.reindex(self.series.series_ids)[STATIC]
        self.static = static.assign(ICUType=static["ICUType"].map("unit {:.0f}".format))
        self.died = outcomes.loc[self.series.series_ids, "In-hospital_death"].to_numpy()

    def summaries(self) -> np.ndarray:
        """Numbers that describe each stay, for other models."""
        by = self.long.sort_values("hours").groupby(["record", "Parameter"])["Value"]
        table = by.agg(SUMMARIES).unstack("Parameter").reindex(self.series.series_ids)
        table["count"] = table["count"].fillna(0.0)
        return np.hstack([table.to_numpy(), pd.get_dummies(self.static).to_numpy(float)])


def runs(
    stays: Stays, others: Stays | None, folds: int, seeds: int, names: list[str]
) -> Iterator[tuple[str, int, Stays, Any, Stays, Any]]:
    """Names, seeds, and the stays to train on and to score."""
    every = np.arange(len(stays.died))
    for seed in range(seeds):
        parts = [(every, None)]
        if others is None:
            split = StratifiedKFold(folds, shuffle=True, random_state=seed)
            parts = list(split.split(stays.died, stays.died))
        for training, test in parts:
            for name in names:
                if others is None:
                    yield name, seed, stays, training, stays, test
                else:
                    yield name, seed, stays, training, others, np.arange(len(others.died))


def fitted_answers(
    name: str, seed: int, options: argparse.Namespace, a: Stays, training: Any, b: Stays, test: Any
) -> tuple[np.ndarray, str]:
    """Probabilities of death, and what there is to say of the model."""
    if name in RIVALS:
        model = RIVALS[name]().fit(a.summaries()[training], a.died[training])
        return model.predict_proba(b.summaries()[test])[:, 1], ""
    settings = dict(OURS[name])
    has_static = settings.pop("static", False)
    X, Z = (
        (some.series.with_static(some.static) if has_static else some.series)[chosen]
        for some, chosen in ((a, training), (b, test))
    )
    model = ShapeletClassifier(
        random_state=seed, n_jobs=options.jobs, **settings, **dict(options.settings)
    )
    model.fit(X, a.died[training])
    return model.predict_proba(Z)[:, 1], f", {len(model.lengths_)} shapelets"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("GENSHAPELETS_DATA"))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--folds", type=int, default=0, help="of set a; default: set b is scored")
    parser.add_argument("--jobs", type=int, help="threads")
    parser.add_argument("--stays", type=int, help="only so many of each set")
    parser.add_argument("--models", nargs="*", choices=[*OURS, *RIVALS], default=[*RIVALS, *OURS])
    parser.add_argument(
        "--with", dest="settings", nargs="*", type=setting, default=[], metavar="NAME=VALUE"
    )
    options = parser.parse_args()
    if options.data is None:
        parser.error("say where the data are: --data DIR, or the variable GENSHAPELETS_DATA")
    folder = Path(options.data) / "physionet2012"
    facts = provenance()
    where = f"--folds {options.folds}" if options.folds else "set b"
    lines = [
        ", ".join(f"{name} {value}" for name, value in facts.items()),
        f"benchmarks.physionet, {where}, {options.seeds} seeds; settings {dict(options.settings)}",
    ]
    print("\n".join(lines))
    stays = Stays(folder, "a", options.stays)
    others = None if options.folds else Stays(folder, "b", options.stays)
    scores: dict[str, list[tuple[float, float]]] = {}
    for name, seed, *parts in runs(stays, others, options.folds, options.seeds, options.models):
        begun, cpu = time.perf_counter(), time.process_time()
        with warnings.catch_warnings(action="ignore"):
            answers, more = fitted_answers(name, seed, options, *parts)
        taken, cpu = time.perf_counter() - begun, time.process_time() - cpu
        true = parts[2].died[parts[3]]
        both = roc_auc_score(true, answers), average_precision_score(true, answers)
        scores.setdefault(name, []).append(both)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        lines.append(
            f"{name}, seed {seed}: AUROC {both[0]:.3f}, AUPRC {both[1]:.3f}{more}; {taken:.0f} s, "
            f"{cpu:.0f} s of CPU, at most {memory:.1f} GiB so far"
        )
        print(lines[-1], flush=True)
    for name, found in scores.items():
        mean, spread = np.mean(found, axis=0), np.std(found, axis=0)
        lines.append(
            f"{name:<36} AUROC {mean[0]:.3f} ± {spread[0]:.3f}  AUPRC {mean[1]:.3f} ± {spread[1]:.3f}"
        )
        print(lines[-1])
    if not (options.stays or options.folds):
        stem = f"{facts['date']}-{facts['commit']}-physionet.txt"
        (REPOSITORY / "benchmarks" / "results" / stem).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
