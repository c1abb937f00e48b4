"""What each command does."""

from __future__ import annotations

import argparse
import csv
import itertools
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

import numpy as np

from .. import MelFrequencyCepstrum, ShapeletClassifier, ShapeletRegressor, load, warmup
from ..datasets import read
from ..datasets.parsing import existing_file
from ..datasets.tables import TEXT_SUFFIXES, read_columns
from ..estimators.files import save
from ..estimators.parameters import check_parameters
from ..explain.report import write_report
from ..saving import check_saving
from ..shown import count
from ..writing import check_writable
from .terminal import UsageError, output, report, say

COLUMNS = ("series", "time", "label", "channels", "variable", "value", "aggregate")
OF_FOLDERS = ("labels", "sample_rate", "resample")


def fit(args: argparse.Namespace) -> None:
    """Train a model and write it to a file."""
    _check_out(args, args.data, args.checkpoint, args.labels, args.static)
    _check_plain(args.out)
    check_saving(args.out)
    names = set(ShapeletClassifier().get_params()) - {"preprocessing"}
    chosen = {k: v for k, v in vars(args).items() if k in names and v is not None}
    preprocessing = args.preprocessing or ("mfc" if os.path.isdir(args.data) else "none")
    if preprocessing != "none":
        rate = args.sample_rate
        chosen["preprocessing"] = MelFrequencyCepstrum(sample_rate=rate) if rate else preprocessing
    check_parameters(ShapeletClassifier(**chosen))  # before what takes time
    series, labels = _read(args, labelled=True)
    numbers = labels.dtype.kind == "f"
    in_table = args.label or args.labels
    if in_table and not args.regress and numbers and (labels % 1 != 0).any():
        column = f"column {args.label!r}" if args.label else "the second column"
        file = args.labels or _named(args.data)
        raise UsageError(f"{column} of {file} holds numbers, not classes. Add --regress.")
    estimator: Any = ShapeletClassifier
    if args.regress or (numbers and not in_table):
        estimator = ShapeletRegressor
        for name in ("class_weight", "own_class"):
            if chosen.pop(name, None) is not None:
                option = name.replace("_", "-")
                raise UsageError(f"--{option} is for classes; the targets here are numbers.")
    if isinstance(chosen.get("class_weight"), dict):
        chosen["class_weight"] = _by_class(chosen["class_weight"], labels)
    model = estimator(**chosen, verbose=int(not args.quiet))
    with _about(args.data):
        model.fit(series, labels)
    model.set_params(n_jobs=None, verbose=0)  # these were for this run
    path = _save(model, args)
    if not args.quiet or path != args.out:
        say(f"wrote {path}, a {estimator.__name__} after {count(model.n_iter_, 'epoch')}.")


def _save(model: Any, args: argparse.Namespace) -> str:
    """Write the model, under another name if somebody else has written a file of this one meanwhile."""
    root, ending = os.path.splitext(args.out)
    paths = itertools.chain([args.out], (f"{root}-{n}{ending}" for n in itertools.count(2)))
    for path in paths:
        with suppress(FileExistsError):
            save(model, path, sources=args.sources, replace=args.force)
            break
    return path


def predict(args: argparse.Namespace) -> None:
    """Write predictions as CSV."""
    _check_out(args, args.model, args.data, args.static)
    model = _load(args, predicts=True)
    if args.proba and not hasattr(model, "classes_"):
        raise UsageError(f"--proba is for classes; the model {args.model} predicts numbers.")
    series, _ = _read(args, model)
    names, columns = ["prediction"], []
    with _about(args.data):
        if args.proba:
            probability = model.predict_proba(series)
            columns = [model.classes_[probability.argmax(axis=1)].tolist(), *probability.T.tolist()]
            names += [f"probability_{name}" for name in model.classes_.tolist()]
        else:
            columns = [model.predict(series).tolist()]
    _write_csv(args, series, names, columns)


def transform(args: argparse.Namespace) -> None:
    """Write discrepancies as CSV."""
    _check_out(args, args.model, args.data, args.static)
    model = _load(args)
    series, _ = _read(args, model)
    with _about(args.data):
        columns = model.transform(series).T.tolist()
    _write_csv(args, series, model.get_feature_names_out().tolist(), columns)


def evaluate(args: argparse.Namespace) -> None:
    """Report how well predictions agree with labels."""
    model = _load(args, predicts=True)
    series, labels = _read(args, model, labelled=True)
    with _about(args.data):
        scores = model.evaluate(series, _as_learnt(labels, model))
    if args.json:
        report(scores.to_dict(), as_json=True)
    else:
        sys.stdout.write(f"{scores}\n")


def make_report(args: argparse.Namespace) -> None:
    """Write a page about a model and what it predicts."""
    _check_out(args, args.model, args.data, args.labels, args.static)
    _check_plain(args.out)
    model = _load(args, predicts=True)
    series, labels = _read(args, model, labelled=args.label is not None)
    chosen = ("title", "max_series", "time_unit", "channel_units")
    with _about(args.data):
        write_report(
            model,
            args.out,
            series,
            None if labels is None else _as_learnt(labels, model),
            replace=args.force,
            **{name: getattr(args, name) for name in chosen},
        )
    say(f"wrote {args.out}: open it in a browser.")


def warm_up(args: argparse.Namespace) -> None:  # noqa: ARG001
    """Compile all kernels."""
    warmup()


def info(args: argparse.Namespace) -> None:
    """Report what a model is."""
    model = _load(args)
    default = type(model)().get_params()
    lengths = model.lengths_ / np.timedelta64(1, "s") if model.has_datetimes_ else model.lengths_
    figures = {
        "model": type(model).__name__,
        **_answers(model),
        "channels": list(model.channel_names_ or []) or model.n_channels_in_,
        **_covariates(model),
        "times": "datetimes, lengths in seconds" if model.has_datetimes_ else "numbers",
        "shapelets": len(lengths),
        "lengths": {"shortest": lengths.min(), "longest": lengths.max()},
        "epochs": model.n_iter_,
        "last_epoch": {name: values[-1] for name, values in model.history_.items() if values},
        "parameters": {k: v for k, v in model.get_params().items() if v != default[k]},
    }
    report(figures, args.json)


def _answers(model: Any) -> dict[str, Any]:
    """What a model tells apart, or predicts."""
    if model.target_names_ is not None:
        return {"targets": list(model.target_names_)}
    return {"classes": model.classes_.tolist()} if hasattr(model, "classes_") else {}


def _covariates(model: Any) -> dict[str, Any]:
    """What a model weighs beside its shapelets: columns that --static has to give, and the rest."""
    known = model.model_.covariates
    if known is None:
        return {}
    summaries = [name for name in known.names if name not in known.columns]
    said = {"static": list(known.columns), "summaries": summaries}
    return {name: names for name, names in said.items() if names}


def _load(args: argparse.Namespace, predicts: bool = False) -> Any:
    model = load(args.model)
    if predicts and not hasattr(model, "predict"):
        raise ValueError(f"{args.model} is a {type(model).__name__}: it does not predict.")
    if predicts and model.target_names_ is not None:
        names = model.target_names_
        raise ValueError(
            f"{args.model} predicts {len(names)} targets ({', '.join(names[:9])}), the shell one: in "
            f"Python, save one with load({args.model!r}).for_target({names[0]!r}).save(...)."
        )
    of_run = {name: getattr(args, name, None) for name in ("n_jobs", "short_series")}
    return model.set_params(**{k: v for k, v in of_run.items() if v is not None})


def _read(args: argparse.Namespace, model: Any = None, labelled: bool = False) -> tuple[Any, Any]:
    """Read series, and labels if they are needed; without, a table may lack them.

    Standard input, and a file that does not end in its format, are read from a copy that does.
    """
    if args.data != "-" and args.format is None:
        return _read_file(args, model, labelled)
    if os.path.isdir(args.data):
        raise UsageError(f"--format is for files; {args.data} is a folder.")
    is_table = any(getattr(args, name) is not None for name in COLUMNS)
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "data")
        with open(copy, "wb") as file, _opened(args.data) as source:
            shutil.copyfileobj(source, file)
        ending = args.format or (_kind_of_table(copy) if is_table else "ts")
        copy = shutil.move(copy, f"{copy}.{ending}")
        try:
            return _read_file(argparse.Namespace(**vars(args) | {"data": copy}), model, labelled)
        except (UsageError, ValueError) as error:
            kind = UsageError if isinstance(error, UsageError) else ValueError
            raise kind(str(error).replace(copy, _named(args.data))) from error


def _kind_of_table(path: str) -> str:
    """Tell a table by how it begins."""
    with open(path, "rb") as file:
        first = file.readline(100_000)
    if first.startswith(b"PAR1"):
        return "parquet"
    return "tsv" if first.count(b"\t") > first.count(b",") else "csv"


def _opened(path: str) -> Any:
    if path != "-":
        return open(path, "rb")
    if sys.stdin is None:
        raise OSError("standard input is closed.")
    return nullcontext(sys.stdin.buffer)


def _named(path: str) -> str:
    return "standard input" if path == "-" else path


def _as_learnt(labels: Any, model: Any) -> Any:
    """Labels as those of the model that read the same: files may have text where it has numbers."""
    as_learnt = {str(name): name for name in getattr(model, "classes_", np.empty(0)).tolist()}
    if not as_learnt:
        return labels
    return np.array([as_learnt.get(str(name), name) for name in labels.tolist()], object)


def _by_class(weights: dict[str, float], labels: Any) -> dict[Any, float]:
    """Weights by the classes that labels name."""
    classes = {str(name): name for name in np.unique(labels).tolist()}
    for name in weights:
        if name not in classes:
            raise UsageError(
                f"--class-weight names {name!r}; the classes are {', '.join(classes)}."
            )
    return {classes[name]: weight for name, weight in weights.items()}


def _read_file(args: argparse.Namespace, model: Any, labelled: bool) -> tuple[Any, Any]:
    columns = {name: getattr(args, name) for name in COLUMNS if getattr(args, name) is not None}
    of_folders = {name: getattr(args, name) for name in OF_FOLDERS if getattr(args, name)}
    is_folder = os.path.isdir(args.data)
    if is_folder:
        if isinstance(getattr(model, "preprocessing", None), MelFrequencyCepstrum):
            of_folders.setdefault("sample_rate", model.preprocessing.sample_rate)
        options = of_folders | _columns_of_labels(args, columns)
    elif of_folders:
        name = next(iter(of_folders)).replace("_", "-")
        raise UsageError(f"--{name} is for a folder of sound files; {args.data} is none.")
    elif args.data.lower().endswith((*TEXT_SUFFIXES, ".parquet")):
        options = _columns_of_table(args, columns, model, labelled)
    elif columns:
        raise UsageError(f"--{next(iter(columns))} is for tables; {args.data} is none.")
    else:
        options = {}
    with _about(args.data):
        series, labels = read(args.data, **options)
    if labelled and labels is None:
        raise ValueError(
            f"{args.data} has no labels: sound files lie in the folder itself. Put each in a "
            "sub-folder named by its label, or give a table of labels by --labels."
            if is_folder
            else f"{args.data} has no labels (@classLabel and @targetLabel are false)."
        )
    if model is None and args.channels and args.variable:
        unseen = np.isnan(series.values).all(axis=0)
        if unseen.any():
            raise ValueError(
                f"column {args.variable!r} of {args.data} never says "
                f"{args.channels[unseen.argmax()]!r}, or always without a value."
            )
    if args.static:
        with _about(args.static):
            known = read_columns(existing_file(args.static))
            if series.series_ids is not None and args.series is None:
                raise UsageError("--static needs --series, the name of its column of series.")
            series = series.with_static(known, by=args.series)
    return series, labels


def _columns_of_table(
    args: argparse.Namespace, columns: dict[str, Any], model: Any, labelled: bool
) -> dict[str, Any]:
    """Check the columns of a table of series; those of the model are found by name."""
    needed = ["series", "time", "label"] if labelled else ["series", "time"]
    missing = [f"--{name}" for name in needed if name not in columns]
    if missing:
        there = ", ".join(map(str, read_columns(existing_file(args.data))))
        raise UsageError(
            f"the table {args.data} needs {' and '.join(missing)}, names of columns; it has {there}."
        )
    if ("variable" in columns) != ("value" in columns):
        raise UsageError("--variable and --value go together.")
    if model is not None and model.channel_names_:
        columns.setdefault("channels", model.channel_names_)
    if not labelled and "channels" in columns:
        columns.pop("label", None)
    return columns


def _columns_of_labels(args: argparse.Namespace, columns: dict[str, Any]) -> dict[str, Any]:
    """Check the columns of a table that labels sound files."""
    other = next((name for name in columns if name not in ("series", "label")), None)
    if other:
        raise UsageError(f"--{other} is for tables; {args.data} is a folder of sound files.")
    if columns and not args.labels:
        raise UsageError(
            f"--{next(iter(columns))} names a column of a table of labels: give it by --labels."
        )
    names = {"series": "file_column", "label": "label_column"}
    return {names[name]: column for name, column in columns.items()}


def _check_out(args: argparse.Namespace, *others: str | None) -> None:
    """Raise what writing would, before any work is done for it; a file is replaced only if asked for."""
    out = args.out
    if out is None:
        return
    for other in filter(None, others):
        if os.path.realpath(out) == os.path.realpath(other):
            raise UsageError(f"--out {out} would overwrite another file of this command.")
    if not os.path.exists(out) or os.path.isfile(out) or os.path.isdir(out):
        check_writable(out)
    if os.path.isfile(out) and not args.force:
        raise FileExistsError(f"{out} exists. Add --force to replace it.")


def _check_plain(out: str) -> None:
    """Refuse a pipe or a device."""
    if os.path.exists(out) and not os.path.isfile(out):
        raise OSError(f"cannot write {out}: it is not a plain file.")


def _write_csv(
    args: argparse.Namespace, series: Any, names: list[str], columns: list[list[Any]]
) -> None:
    ids = np.arange(len(series)) if series.series_ids is None else series.series_ids
    with output(args.out, replace=args.force) as file:
        writer = csv.writer(file, lineterminator="\n")  # writes floats to the last bit
        writer.writerow([args.series or "series", *names])
        writer.writerows(zip(ids.astype(str).tolist(), *columns))


@contextmanager
def _about(path: str) -> Iterator[None]:
    """Name the file in an error that does not."""
    try:
        yield
    except (ValueError, TypeError) as error:
        if os.path.basename(os.path.normpath(path)) in str(error):
            raise
        raise ValueError(f"{_named(path)}: {error}") from error
