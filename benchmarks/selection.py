"""What a choice does to accuracy, in pairs: ``python -m benchmarks.selection --data DIR --out FILE``.

Folds of training files are scored, never a test file: of the nine sets of the UEA archive
(``uea/<Name>/<Name>_TRAIN.ts``) and of those of the UCR archive (``ucr_train/<Name>_TRAIN.ts``) in DIR
(or the variable GENSHAPELETS_DATA). Every repetition has folds and seeds of its own, and every choice
sees the same ones. Differences from the first choice are averaged over the folds of a set first; the
standard error is that of their mean over sets.

A choice is "default" or settings of `ShapeletClassifier`, such as ``own_class=False``; several are
joined by commas. Names with a dot are settings of the default procedure: ``later.dropout=0.3``.
``@REV`` in front takes the package of another commit: ``@da024ac default``.

Results go to FILE, a line of JSON each, as they come. What is there already is not computed again, so
an interrupted run is resumed by the same command, and ``--show`` prints the table alone.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from pathlib import Path
from typing import Any

MOST_SERIES = 1500  # of a training file, so that large sets do not take most of the time


def measure(file: str, choice: str, repeat: int, fold: int, folds: int) -> dict[str, Any]:
    """Fit on all folds but one of a training file and score that one."""
    import dataclasses

    import numpy as np
    import torch
    from sklearn.metrics import log_loss
    from sklearn.model_selection import StratifiedKFold

    from benchmarks.accuracy import setting
    from genshapelets import ShapeletClassifier, procedures
    from genshapelets.datasets import read_ts

    torch.set_num_threads(1)
    X, y = read_ts(file)
    random = np.random.default_rng(repeat)
    some = np.sort(random.permutation(len(y))[:MOST_SERIES])
    names, counts = np.unique(y[some], return_counts=True)
    some = some[np.isin(y[some], names[counts >= folds])]  # a class in every fold
    X, y = X[some], y[some]
    train, test = list(StratifiedKFold(folds, shuffle=True, random_state=repeat).split(y, y))[fold]
    _, settings = split_choice(choice)
    arguments: dict[str, Any] = {}
    for name, value in map(setting, settings):
        head, _, field = name.rpartition(".")
        default = procedures.PROCEDURES["default"]
        if head == "procedure":
            default = dataclasses.replace(default, **{field: value})
        elif head:
            part = dataclasses.replace(getattr(default, head), **{field: value})
            default = dataclasses.replace(default, **{head: part})
        else:
            arguments[name] = value
        procedures.PROCEDURES["default"] = default
    model = ShapeletClassifier(random_state=folds * repeat + fold, n_jobs=1, **arguments)
    begun = time.process_time()
    model.fit(X[train], y[train])
    found = {"seconds": time.process_time() - begun}
    found |= {"size": model.model_.transform.shapelets.n_shapelets}
    found |= {"accuracy": model.score(X[test], y[test])}
    found |= {"loss": log_loss(y[test], model.predict_proba(X[test]), labels=model.classes_)}
    sizes = getattr(model, "fitted_", {})
    if len(sizes) > 1:
        found["curve"] = {n: model.pruned(n).score(X[test], y[test]) for n in sizes}
    return found


def split_choice(choice: str) -> tuple[str | None, list[str]]:
    """Take apart the revision and the settings of a choice."""
    revision = None
    if choice.startswith("@"):
        revision, _, choice = choice[1:].partition(" ")
    return revision, [] if choice in ("", "default") else choice.split(",")


def tasks(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Everything to be computed, one set after the other, all choices of a fold together."""
    for repeat in range(options.repeats):
        for fold in range(options.folds):
            for name in options.sets:
                for choice in options.choices:
                    yield {"set": name, "choice": choice, "repeat": repeat, "fold": fold}


def known(out: Path) -> list[dict[str, Any]]:
    """What has been computed; a last line that was not finished is left out."""
    lines = out.read_text().splitlines(keepends=True) if out.exists() else []
    return [json.loads(line) for line in lines if line.endswith("}\n")]


def key(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("set", "choice", "repeat", "fold"))


def table(rows: list[dict[str, Any]], choices: list[str]) -> Iterator[str]:
    """Means over sets, and differences from the first choice with their standard errors."""
    import numpy as np

    scores: dict[str, dict[tuple[Any, ...], dict[str, Any]]] = defaultdict(dict)
    for row in rows:
        scores[row["choice"]][row["set"], row["repeat"], row["fold"]] = row
    common = set.intersection(*(set(scores[choice]) for choice in choices))
    names = sorted({task[0] for task in common})
    yield f"{len(common)} folds of {len(names)} sets have all choices"
    if not common:
        return

    def by_set(choice: str, figure: str) -> np.ndarray:
        of_sets = defaultdict(list)
        for task in sorted(common):
            of_sets[task[0]].append(scores[choice][task][figure])
        return np.array([np.mean(of_sets[name]) for name in names])

    yield f"{'choice':44}{'accuracy':>9}{'difference':>18}{'loss':>7}{'size':>6}{'s/fit':>7}"
    first = 100 * by_set(choices[0], "accuracy")
    for choice in choices:
        accuracy = 100 * by_set(choice, "accuracy")
        worse = accuracy - first
        error = worse.std(ddof=1) / np.sqrt(len(names)) if len(names) > 1 else np.nan
        size = np.median([scores[choice][task]["size"] for task in common])
        yield (
            f"{choice:44}{accuracy.mean():9.2f}{worse.mean():+9.2f} ± {error:4.2f}  "
            f"{by_set(choice, 'loss').mean():7.3f}{size:6.0f}{by_set(choice, 'seconds').mean():7.1f}"
        )
    yield ""
    yield f"{'set':30}" + "".join(f"{'(' + str(n) + ')':>8}" for n in range(len(choices)))
    columns = [100 * by_set(choice, "accuracy") for choice in choices]
    for place, name in enumerate(names):
        yield f"{name:30}" + "".join(f"{column[place]:8.1f}" for column in columns)


def files(folder: Path) -> dict[str, Path]:
    """Training files by the names of their sets."""
    found = [*sorted(folder.glob("uea/*/*_TRAIN.ts")), *sorted(folder.glob("ucr_train/*_TRAIN.ts"))]
    return {file.name.removesuffix("_TRAIN.ts"): file for file in found}


def main() -> None:
    from benchmarks.timing import provenance, run_in, sources

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=os.environ.get("GENSHAPELETS_DATA"))
    parser.add_argument("--out", type=Path, required=True, help="file of results, kept and resumed")
    parser.add_argument("--choices", nargs="+", default=["default"])
    parser.add_argument("--sets", nargs="+", help="default: all that are found")
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count(), help="processes, of a thread each"
    )
    parser.add_argument("--show", action="store_true", help="compute nothing")
    options = parser.parse_args()
    if options.data is None:
        parser.error("say where the data are: --data DIR, or the variable GENSHAPELETS_DATA")
    if options.folds < 2:
        parser.error("--folds must be at least 2: test files are not opened here")
    found = files(Path(options.data))
    options.sets = options.sets or list(found)
    missing = [name for name in options.sets if name not in found]
    if missing:
        parser.error(f"no training file of {', '.join(missing)} in {options.data}")
    rows = known(options.out)
    done = {key(row) for row in rows}
    left = [] if options.show else [task for task in tasks(options) if key(task) not in done]
    with ExitStack() as stack:
        revisions = {split_choice(choice)[0] for choice in options.choices}
        folders = {
            revision: stack.enter_context(sources(revision))["older" if revision else "here"]
            for revision in revisions
        }
        pool = stack.enter_context(ThreadPoolExecutor(options.jobs))
        out = stack.enter_context(options.out.open("a"))

        def run(task: dict[str, Any]) -> dict[str, Any]:
            source = folders[split_choice(task["choice"])[0]]
            order = task | {"set": str(found[task["set"]]), "folds": options.folds}
            return task | run_in(source, "selection.py", "--measure", json.dumps(order))

        running = [pool.submit(run, task) for task in left]
        try:
            for count, finished in enumerate(as_completed(running), start=1):
                row = finished.result()
                rows.append(row)
                out.write(json.dumps(row) + "\n")
                out.flush()
                print(
                    f"\r{count}/{len(left)} {row['set']} {row['choice']}: "
                    f"{100 * row['accuracy']:.1f}".ljust(79),
                    end="",
                    file=sys.stderr,
                )
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    print(file=sys.stderr)
    print(", ".join(f"{name} {value}" for name, value in provenance().items()))
    print(f"{options.folds} folds of training files, {options.repeats} repetitions")
    for line in table(rows, options.choices):
        print(line)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
        order = json.loads(sys.argv[2])
        file = order.pop("set")
        print(json.dumps(measure(file, **order)))
    else:
        main()
