"""Intensive-care stays: ``python -m benchmarks.stays --data DIR``.

DIR (or the variable GENSHAPELETS_DATA) holds PhysioNet's challenge of 2012 as it is published:
``physionet2012/set-a/<RecordID>.txt`` and ``Outcomes-a.txt``, and the same of set b. A default model of
in-hospital death is fitted to set a and scored on set b: how long that takes, how many shapelets it has,
and the areas under the ROC and the precision-recall curve. Static descriptors are left out.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

from benchmarks.accuracy import setting
from benchmarks.timing import REPOSITORY, provenance
from genshapelets import RaggedSeries, ShapeletClassifier

STATIC = {"RecordID", "Age", "Gender", "Height", "ICUType", "Weight"}


def read(folder: Path, part: str, most: int | None) -> tuple[RaggedSeries, np.ndarray]:
    """Stays that have a time series, in hours, and who died."""
    with (folder / f"Outcomes-{part}.txt").open() as file:
        died = {row["RecordID"]: int(row["In-hospital_death"]) for row in csv.DictReader(file)}
    stays = []
    for record in sorted(died)[:most]:
        seen: dict[str, dict[str, float]] = defaultdict(dict)
        with (folder / f"set-{part}" / f"{record}.txt").open() as file:
            for row in csv.DictReader(file):
                if row["Parameter"] and row["Parameter"] not in STATIC and float(row["Value"]) >= 0:
                    seen[row["Time"]][row["Parameter"]] = float(row["Value"])
        if seen:
            stays.append((record, seen))
    names = sorted({name for _, seen in stays for values in seen.values() for name in values})
    arrays, times = [], []
    for _, seen in stays:
        clock = sorted(seen)
        hours = [60 * int(text[:-3]) + int(text[-2:]) for text in clock]
        times.append(np.array(hours) / 60.0)
        arrays.append(np.array([[seen[t].get(name, np.nan) for t in clock] for name in names]))
    series = RaggedSeries.from_arrays(arrays, times, channel_names=names)
    return series, np.array([died[record] for record, _ in stays])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("GENSHAPELETS_DATA"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, help="threads")
    parser.add_argument("--stays", type=int, help="only so many of each set")
    parser.add_argument(
        "--with", dest="settings", nargs="*", type=setting, default=[], metavar="NAME=VALUE"
    )
    options = parser.parse_args()
    if options.data is None:
        parser.error("say where the data are: --data DIR, or the variable GENSHAPELETS_DATA")
    folder = Path(options.data) / "physionet2012"
    facts = provenance()
    lines = [
        ", ".join(f"{name} {value}" for name, value in facts.items()),
        f"python -m benchmarks.stays --seed {options.seed}; settings {dict(options.settings)}",
    ]
    X, y = read(folder, "a", options.stays)
    model = ShapeletClassifier(
        random_state=options.seed, n_jobs=options.jobs, verbose=1, **dict(options.settings)
    )
    begun, cpu = time.perf_counter(), time.process_time()
    model.fit(X, y)
    taken, cpu = time.perf_counter() - begun, time.process_time() - cpu
    lines.append(
        f"{len(X)} stays, {X.n_channels} channels: fitted in {taken:.0f} s, {cpu:.0f} s of CPU"
    )
    seen = (model.model_.transform.discrepancy.weight != 0).sum(dim=1).double().mean()
    lines.append(f"{len(model.lengths_)} shapelets ({model.path_.rule}), {seen:.1f} channels each")
    X, y = read(folder, "b", options.stays)
    answer = model.predict_proba(X)[:, 1]
    lines.append(
        f"{len(X)} stays of set b: AUROC {roc_auc_score(y, answer):.3f}, AUPRC "
        f"{average_precision_score(y, answer):.3f}"
    )
    print("\n".join(lines))
    if not options.stays:
        stem = f"{facts['date']}-{facts['commit']}-stays.txt"
        (REPOSITORY / "benchmarks" / "results" / stem).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
