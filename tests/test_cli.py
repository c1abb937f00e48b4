"""The command line, as a shell user meets it."""

import csv
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import soundfile
from pages import contents_of
from sklearn.metrics import average_precision_score, log_loss, roc_auc_score

from genshapelets import (
    ShapeletClassifier,
    ShapeletRegressor,
    ShapeletTransformer,
    __version__,
    load,
)
from genshapelets.cli import main
from genshapelets.cli.options import EPILOGS, FORMATS, make_parser
from genshapelets.datasets.audio import AUDIO_SUFFIXES
from genshapelets.datasets.tables import TEXT_SUFFIXES
from genshapelets.saving import read_file

TINY = ["--shapelets", "3", "--epochs", "3", "--jobs", "1"]
COLUMNS = ["--series", "who", "--time", "when"]
posix = pytest.mark.skipif(os.name != "posix", reason="needs signals and pipes")


def bumps(n, n_channels=1, seed=0):
    """Noise of differing lengths; every second series has a bump in channel 0."""
    random = np.random.default_rng(seed)
    series = [
        random.normal(scale=0.1, size=(n_channels, random.integers(16, 20))) for _ in range(n)
    ]
    for one in series[1::2]:
        one[0, 5:10] += 1.0
    return series


def write_ts(file, series, labels, header="@classLabel true flat bump"):
    lines = [
        ":".join(",".join(map(repr, channel.tolist())) for channel in one) + f":{label}"
        for one, label in zip(series, labels, strict=True)
    ]
    dimensions = f"@dimensions {len(series[0])}\n"
    file.write_text(f"{dimensions}{header}\n@data\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return str(file)


def frame(n, days=False):
    """Long table of two channels, with ids that a CSV file must quote."""
    parts = [
        pd.DataFrame(
            {
                "who": f'stay "{i}", ward',
                "when": np.arange(one.shape[1]),
                "pulse": one[0],
                "pressure": one[1],
                "died": i % 2,
                "days": 1.5 + i % 2,
            }
        )
        for i, one in enumerate(bumps(n, 2))
    ]
    table = pd.concat(parts, ignore_index=True)
    if days:
        table["when"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(table["when"], "D")
    return table


def events(table):
    return table.melt(["who", "when", "died", "days"], var_name="test", value_name="result")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cli")


@pytest.fixture(scope="module")
def data(folder):
    return write_ts(folder / "train.ts", bumps(8), ["flat", "bump"] * 4)


@pytest.fixture(scope="module")
def model(folder, data):
    assert main(["fit", data, "--out", str(folder / "model.gs"), "--quiet", *TINY]) == 0
    return str(folder / "model.gs")


@pytest.fixture(scope="module")
def table_model(folder):
    frame(8).to_csv(folder / "stays.csv", index=False)
    out = str(folder / "stays.gs")
    columns = [*COLUMNS, "--label", "died", "--channels", "pulse,pressure"]
    assert main(["fit", str(folder / "stays.csv"), *columns, "--out", out, "--quiet", *TINY]) == 0
    return out


@pytest.fixture
def run(capsys):
    """Run a command; return its status, standard output and standard error."""

    def run(*arguments):
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as stop:  # argparse
            status = stop.code
        out, err = capsys.readouterr()
        return status, out, err

    return run


@pytest.fixture
def fails(run):
    """Run a command that must fail in one line; return the line."""

    def fails(*arguments, status=1):
        got, out, err = run(*arguments)
        assert (got, out) == (status, "")
        assert err.startswith("genshapelets: error: ") and err.count("\n") == 1, err
        return err

    return fails


def rows_of(text):
    return list(csv.reader(io.StringIO(text)))


# ------------------------------------------------------------------ what the commands do


def test_fit_says_what_it_does_on_standard_error(run, data, tmp_path):
    status, out, err = run("fit", data, "--out", tmp_path / "m", *TINY)
    assert (status, out) == (0, "")
    assert "epoch 3/3" in err and f"wrote {tmp_path / 'm'}" in err
    assert run("fit", data, "--out", tmp_path / "q", "--quiet", *TINY) == (0, "", "")
    one, other = load(tmp_path / "m"), load(tmp_path / "q")  # both of seed 0
    np.testing.assert_array_equal(one.shapelets_, other.shapelets_)


def test_fit_hands_its_options_to_the_estimator(fails, data, tmp_path, monkeypatch):
    parameters = {}

    def fit(estimator, *_):
        parameters.update(estimator.get_params())
        raise ValueError("enough")

    monkeypatch.setattr("genshapelets.ShapeletClassifier.fit", fit)
    wanted = {
        "--procedure paper": ("procedure", "paper"),
        "--shapelets 5": ("n_shapelets", 5),
        "--epochs 6": ("max_epochs", 6),
        "--max-time 90s": ("max_time", "90s"),
        "--length 0.2,0.3": ("initial_length", (0.2, 0.3)),
        "--metric full": ("metric", "full"),
        "--discrepancy l2": ("discrepancy", "l2"),
        "--search exact": ("search", "exact"),
        "--gamma 0.5": ("gamma", 0.5),
        "--class-weight balanced": ("class_weight", "balanced"),
        "--checkpoint state": ("checkpoint", "state"),
        "--checkpoint-interval 3": ("checkpoint_interval", 3.0),
        "--knots 9": ("n_knots", 9),
        "--batch-size 4": ("batch_size", 4),
        "--learning-rate 0.1": ("learning_rate", 0.1),
        "--level-free 0.25": ("level_free", 0.25),
        "--shared-metric": ("shared_metric", True),
        "--no-own-class": ("own_class", False),
        "--device cpu": ("device", "cpu"),
        "--short-series hold": ("short_series", "hold"),
        "--seed 7": ("random_state", 7),
        "--jobs 2": ("n_jobs", 2),
        "--quiet": ("verbose", 0),
    }
    fails("fit", data, "--out", tmp_path / "m", *" ".join(wanted).split())
    assert {name: parameters[name] for name, _ in wanted.values()} == dict(wanted.values())
    fails("fit", data, "--out", tmp_path / "m", "--length", "0.2")
    assert (parameters["initial_length"], parameters["random_state"]) == (0.2, 0)


NOT_SAYABLE = {"head"}  # a module


@pytest.mark.parametrize("estimator", [ShapeletClassifier, ShapeletRegressor])
def test_every_parameter_has_an_option(estimator):
    """Say a new one by an option of fit whose dest is its name."""
    sayable = vars(make_parser().parse_args(["fit", "data.ts", "--out", "model"]))
    said_otherwise = {"verbose"}  # by --quiet
    assert set(estimator().get_params()) - set(sayable) == NOT_SAYABLE | said_otherwise


@pytest.mark.parametrize(("labels", "two"), [("flat bump", "bump"), ("0 1", 1)])
def test_weights_of_classes_are_given_by_name(fails, tmp_path, monkeypatch, labels, two):
    parameters = {}

    def fit(estimator, *_):
        parameters.update(estimator.get_params())
        raise ValueError("enough")

    monkeypatch.setattr("genshapelets.ShapeletClassifier.fit", fit)
    table = frame(4)
    table["died"] = [labels.split()[died] for died in table["died"]]
    table.to_csv(tmp_path / "t.csv", index=False)
    command = ["fit", tmp_path / "t.csv", *COLUMNS, "--label", "died", "--out", tmp_path / "m"]
    fails(*command, "--class-weight", f"{two}=2.5")
    assert parameters["class_weight"] == {two: 2.5}
    err = fails(*command, "--class-weight", "dent=2", status=2)
    assert "--class-weight names 'dent'; the classes are" in err


def test_predict_writes_csv(run, model, data, tmp_path):
    status, out, err = run("predict", model, data, "--proba")
    assert (status, err) == (0, "")
    header, *rows = rows_of(out)
    assert header == ["series", "prediction", "probability_bump", "probability_flat"]
    assert [row[0] for row in rows] == [str(i) for i in range(8)]
    fitted = load(model)
    series = [one[0].tolist() for one in bumps(8)]
    np.testing.assert_array_equal(
        np.array([row[2:] for row in rows], float), fitted.predict_proba(series)
    )
    assert [row[1] for row in rows] == fitted.predict(series).tolist()
    file = tmp_path / "p.csv"
    assert run("predict", model, data, "--out", file) == (0, "", "")
    assert rows_of(file.read_text()) == [row[:2] for row in rows_of(out)]
    assert os.listdir(tmp_path) == ["p.csv"]


def test_transform_writes_a_column_for_each_shapelet(run, model, data):
    status, out, err = run("transform", model, data)
    assert (status, err) == (0, "")
    header, *rows = rows_of(out)
    assert header == ["series", "shapelet_0", "shapelet_1", "shapelet_2"]
    want = load(model).transform([one[0].tolist() for one in bumps(8)])
    np.testing.assert_array_equal(np.array([row[1:] for row in rows], float), want)


def test_evaluate_classes(run, model, tmp_path):
    labels = ["flat", "bump", "flat", "bump", "bump", "bump"]  # one is wrong on purpose
    file = write_ts(tmp_path / "t.ts", bumps(6), labels)
    status, out, err = run("evaluate", model, file, "--json")
    assert (status, err) == (0, "")
    figures = json.loads(out)
    hits = load(model).predict([one[0].tolist() for one in bumps(6)]) == labels
    recall = {name: np.mean(hits[np.array(labels) == name]) for name in ("bump", "flat")}
    assert figures["series"] == 6
    assert figures["accuracy"] == pytest.approx(hits.mean())
    assert figures["balanced_accuracy"] == pytest.approx(np.mean(list(recall.values())))
    assert figures["classes"]["bump"] == {"series": 4, "recall": pytest.approx(recall["bump"])}
    assert figures["classes"]["flat"] == {"series": 2, "recall": pytest.approx(recall["flat"])}
    status, out, _ = run("evaluate", model, file)
    assert status == 0 and "balanced_accuracy:" in out and "bump: series 4, recall" in out
    probability = load(model).predict_proba([one[0].tolist() for one in bumps(6)])
    is_flat = np.array(labels) == "flat"
    assert figures["auroc"] == pytest.approx(roc_auc_score(is_flat, probability[:, 1]))
    assert figures["auprc"] == pytest.approx(average_precision_score(is_flat, probability[:, 1]))
    assert figures["log_loss"] == pytest.approx(log_loss(is_flat, probability[:, 1]))
    assert sum(figures["confusion"]["bump"].values()) == 4 and figures["notes"] == []
    assert "confusion (a row for each label" in out


def test_evaluate_with_labels_that_the_model_does_not_know(run, fails, model, tmp_path):
    other = "@classLabel true flat bump dent"
    file = write_ts(tmp_path / "t.ts", bumps(3), ["flat", "bump", "dent"], other)
    status, out, err = run("evaluate", model, file, "--json")
    assert (status, err) == (0, "")
    figures = json.loads(out)
    assert figures["classes"]["dent"] == {"series": 1, "recall": 0.0}
    assert "the model does not know the labels dent." in figures["notes"]
    assert figures["log_loss"] is None and any("no log_loss" in note for note in figures["notes"])
    file = write_ts(tmp_path / "u.ts", bumps(2), ["dent", "dent"], other)
    err = fails("evaluate", model, file)
    assert "(dent) are not the classes" in err and "(bump, flat)" in err


def test_info(run, model, table_model):
    status, out, err = run("info", model)
    assert (status, err) == (0, "")
    for said in ("ShapeletClassifier", "bump, flat", "max_epochs 3, n_shapelets 3"):
        assert said in out
    status, out, _ = run("info", table_model, "--json")
    figures = json.loads(out)
    assert figures["channels"] == ["pulse", "pressure"] and figures["classes"] == [0, 1]
    assert figures["shapelets"] == figures["epochs"] == 3
    assert 0 < figures["lengths"]["shortest"] <= figures["lengths"]["longest"]
    assert set(figures["last_epoch"]) > {"loss", "accuracy"}
    assert figures["parameters"] == {"n_shapelets": 3, "max_epochs": 3, "random_state": 0}


def test_targets_of_a_ts_file_mean_regression(run, fails, tmp_path):
    targets = [1.0, 2.0] * 4  # whole numbers, too
    file = write_ts(tmp_path / "r.ts", bumps(8), targets, "@targetLabel true")
    out = tmp_path / "m"
    assert run("fit", file, "--out", out, "--quiet", *TINY)[0] == 0
    figures = json.loads(run("evaluate", out, file, "--json")[1])
    fitted, series = load(out), [one[0].tolist() for one in bumps(8)]
    assert figures["r2"] == pytest.approx(fitted.score(series, targets))
    rmse = np.sqrt(np.mean((fitted.predict(series) - targets) ** 2))
    assert figures["rmse"] == pytest.approx(rmse)
    assert figures["mae"] == pytest.approx(np.abs(fitted.predict(series) - targets).mean())
    rows = rows_of(run("predict", out, file)[1])
    assert [float(row[1]) for row in rows[1:]] == fitted.predict(series).tolist()
    assert json.loads(run("info", out, "--json")[1])["model"] == "ShapeletRegressor"
    one = write_ts(tmp_path / "one.ts", bumps(1), [1.0], "@targetLabel true")
    assert json.loads(run("evaluate", out, one, "--json")[1])["r2"] is None  # JSON has no NaN
    assert "--proba is for classes" in fails("predict", out, file, "--proba", status=2)
    for option in (["--class-weight", "balanced"], ["--no-own-class"]):
        assert "for classes" in fails("fit", file, "--out", tmp_path / "n", *option, status=2)


# ------------------------------------------------------------------ tables


def test_a_table_finds_the_channels_of_the_model_by_name(run, table_model, folder, tmp_path):
    status, out, err = run("predict", table_model, folder / "stays.csv", *COLUMNS)
    assert (status, err) == (0, "")
    header, *rows = rows_of(out)
    assert header == ["who", "prediction"]
    assert [row[0] for row in rows] == [f'stay "{i}", ward' for i in range(8)]
    unlabelled = frame(8)[["pressure", "when", "who", "pulse"]].assign(died=np.nan)
    unlabelled.to_csv(tmp_path / "new.csv", index=False)
    for label in ([], ["--label", "died"]):
        assert run("predict", table_model, tmp_path / "new.csv", *COLUMNS, *label)[1] == out
    frame(8).to_parquet(tmp_path / "new.parquet")
    assert run("predict", table_model, tmp_path / "new.parquet", *COLUMNS)[1] == out
    events(frame(8)).to_csv(tmp_path / "events.csv", index=False)
    form = ["--variable", "test", "--value", "result"]
    assert run("predict", table_model, tmp_path / "events.csv", *COLUMNS, *form)[1] == out
    figures = run("evaluate", table_model, folder / "stays.csv", *COLUMNS, "--label", "died")[1]
    assert "0: series 4" in figures and "1: series 4" in figures


def test_repeated_observations_are_merged_if_asked_for(run, fails, table_model, tmp_path):
    once, twice = tmp_path / "once.csv", tmp_path / "twice.csv"
    frame(8).to_csv(once, index=False)
    pd.concat([frame(8), frame(8)]).to_csv(twice, index=False)
    wanted = run("predict", table_model, once, *COLUMNS)[1]
    assert run("predict", table_model, twice, *COLUMNS, "--aggregate", "mean")[1] == wanted
    assert "aggregate" in fails("predict", table_model, twice, *COLUMNS)


def test_static_covariates_come_in_a_table_of_their_own(run, fails, tmp_path):
    stays, static, out = (tmp_path / name for name in ("stays.csv", "static.csv", "model"))
    frame(8).to_csv(stays, index=False)
    known = pd.DataFrame({"who": [f'stay "{i}", ward' for i in range(8)], "age": np.arange(8) % 3})
    known[::-1].to_csv(static, index=False)
    table = [stays, *COLUMNS, "--label", "died"]
    fitting = ["fit", *table, "--channels", "pulse", "--static", static, *TINY]
    fitting += ["--summaries", "count, last"]
    assert run(*fitting, "--quiet", "--out", out)[0] == 0
    assert set(load(out).model_.covariates.names) == {"age", "measurements of pulse", "last pulse"}
    figures = json.loads(run("info", out, "--json")[1])
    assert figures["static"] == ["age"]
    assert figures["summaries"] == ["measurements of pulse", "last pulse"]
    assert run("evaluate", out, *table, "--static", static)[0] == 0
    assert "in the shell: --static" in fails("predict", out, *table)
    known[1:].to_csv(static, index=False)
    message = fails("predict", out, *table, "--static", static)
    assert "static.csv: static has no row for 1 of 8 series" in message


def test_a_table_of_datetimes(run, fails, table_model, tmp_path):
    frame(8, days=True).to_csv(tmp_path / "days.csv", index=False)
    table, out = tmp_path / "days.csv", tmp_path / "m"
    columns = [*COLUMNS, "--channels", "pulse, pressure"]
    status, _, err = run("fit", table, *columns, "--label", "died", "--out", out, *TINY, "--quiet")
    assert (status, err) == (0, "")
    assert run("predict", out, table, *COLUMNS)[0] == 0
    figures = json.loads(run("info", out, "--json")[1])
    assert figures["times"] == "datetimes, lengths in seconds"
    assert 86400 < figures["lengths"]["longest"] < 20 * 86400
    assert "days.csv" in (err := fails("predict", table_model, table, *COLUMNS))
    assert "times are numbers; those of X are datetimes" in err


def test_a_parquet_table_of_variables_and_values(run, fails, tmp_path):
    table, out = tmp_path / "events.parquet", tmp_path / "m"
    long = events(frame(8))
    long["test"] = long["test"].map({"pulse": 2, "pressure": 10})  # names that are numbers
    long.to_parquet(table)
    columns = [*COLUMNS, "--variable", "test", "--value", "result"]
    target = ["--label", "days", "--regress"]
    assert run("fit", table, *columns, *target, "--out", out, "--quiet", *TINY)[0] == 0
    assert load(out).channel_names_ == ("2", "10")
    status, predictions, _ = run("predict", out, table, *columns)
    assert status == 0
    swapped = [*columns, *target, "--channels", "10,2"]
    assert run("fit", table, *swapped, "--out", tmp_path / "s", "--quiet", *TINY)[0] == 0
    assert load(tmp_path / "s").channel_names_ == ("10", "2")
    long[long["test"] == 2].to_parquet(tmp_path / "part.parquet")  # channel 10 is not observed
    assert run("predict", out, tmp_path / "part.parquet", *columns)[0] == 0
    err = fails("fit", table, *columns, *target, "--channels", "2,11", "--out", tmp_path / "n")
    assert "never says '11'" in err
    assert "go together" in fails("predict", out, table, *columns[:-2], status=2)


def test_columns_that_are_wanted_or_not_there(fails, table_model, model, data, folder, tmp_path):
    table, out = folder / "stays.csv", tmp_path / "m"
    err = fails("fit", table, "--out", out, status=2)
    assert "needs --series and --time and --label" in err
    assert "it has who, when, pulse, pressure, died, days" in err
    assert "needs --label" in fails("evaluate", table_model, table, *COLUMNS, status=2)
    err = fails("fit", table, *COLUMNS, "--label", "dead", "--out", out)
    assert "stays.csv has no column 'dead'" in err and "'days'" in err
    assert "is for tables" in fails("fit", data, "--label", "y", "--out", out, status=2)
    frame(4).drop(columns="pulse").to_csv(tmp_path / "less.csv", index=False)
    err = fails("predict", table_model, tmp_path / "less.csv", *COLUMNS)
    assert "less.csv has no column 'pulse'" in err
    err = fails("predict", table_model, table, *COLUMNS, "--channels", "pulse")
    assert "stays.csv: X has 1 channel, but ShapeletClassifier was fitted on 2" in err
    err = fails("fit", table, *COLUMNS, "--label", "days", "--out", out, status=2)
    assert "'days'" in err and "Add --regress" in err
    assert not out.exists()


# ------------------------------------------------------------------ standard input


@pytest.fixture
def stdin(monkeypatch):
    def stdin(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    return stdin


def test_series_from_standard_input(run, model, data, table_model, folder, stdin, tmp_path):
    ts, table = Path(data).read_bytes(), (folder / "stays.csv").read_bytes()
    for options in ([], ["--format", "ts"]):
        stdin(ts)
        assert run("predict", model, "-", *options) == run("predict", model, data)
    want = run("predict", table_model, folder / "stays.csv", *COLUMNS)
    for options in ([], ["--format", "csv"]):
        stdin(table)
        assert run("predict", table_model, "-", *COLUMNS, *options) == want
    for write in (lambda file: frame(8).to_csv(file, index=False, sep="\t"), frame(8).to_parquet):
        write(tmp_path / "piped")
        stdin((tmp_path / "piped").read_bytes())
        assert run("predict", table_model, "-", *COLUMNS) == want
    frame(8).to_csv(tmp_path / "stays.txt", index=False, sep="\t")
    command = ["predict", table_model, tmp_path / "stays.txt", *COLUMNS, "--format", "tsv"]
    assert run(*command) == want
    frame(8).to_parquet(tmp_path / "stays")
    assert run(*command[:2], tmp_path / "stays", *COLUMNS, "--format", "parquet") == want
    for command in (["evaluate", model, "-"], ["transform", model, "-"]):
        stdin(ts)
        assert run(*command) == run(*command[:2], data)


def test_standard_input_that_is_wrong(fails, model, table_model, stdin, monkeypatch, tmp_path):
    stdin(b"")
    assert "standard input is empty" in fails("predict", model, "-")
    stdin(b"@classLabel false\n@data\n1,x\n")
    assert "error: standard input, line 3: " in fails("predict", model, "-")
    stdin(b"who,hour\na,1\n")
    err = fails("predict", table_model, "-", "--series", "who", "--format", "csv", status=2)
    assert "the table standard input needs --time" in err and "it has who, hour" in err
    stdin(b"@classLabel false\n@data\n1,2,3:1,2,3\n")
    assert "standard input: X has 2 channels" in fails("predict", model, "-")
    assert "is a folder" in fails("predict", model, tmp_path, "--format", "csv", status=2)
    assert "No such file" in fails("predict", model, tmp_path / "no", "--format", "csv")
    monkeypatch.setattr(sys, "stdin", None)
    assert "standard input is closed" in fails("predict", model, "-")


# ------------------------------------------------------------------ folders of sound files

RAW = ["--sample-rate", "100", "--preprocessing", "none"]


@pytest.fixture(scope="module")
def sounds(folder):
    """Two clips of each of two words, 0.4 seconds of 100 samples: too few for a cepstrum."""
    for word, pitch in (("low", 5), ("high", 20)):
        (folder / "sounds" / word).mkdir(parents=True)
        for i in range(2):
            wave = 0.5 * np.sin(2 * np.pi * pitch * (np.arange(40) + i) / 100)
            soundfile.write(folder / "sounds" / word / f"{i}.wav", wave, 100)
    return folder / "sounds"


@pytest.fixture(scope="module")
def sound_model(folder, sounds):
    out = str(folder / "sound.gs")
    assert main(["fit", str(sounds), "--out", out, "--quiet", *RAW, *TINY]) == 0
    return out


def test_a_folder_of_sound_files_goes_through_every_command(run, sounds, sound_model, tmp_path):
    rate = ["--sample-rate", "100"]
    fitted = load(sound_model)
    assert fitted.classes_.tolist() == ["high", "low"] and fitted.channel_names_ == ("sound",)
    status, out, err = run("predict", sound_model, f"{sounds}{os.sep}", *rate)
    assert (status, err) == (0, "")
    header, *rows = rows_of(out)
    assert header == ["series", "prediction"]
    assert [row[0] for row in rows] == ["high/0.wav", "high/1.wav", "low/0.wav", "low/1.wav"]
    assert len(rows_of(run("transform", sound_model, sounds, *rate)[1])) == 5
    figures = json.loads(run("evaluate", sound_model, sounds, *rate, "--json")[1])
    assert set(figures["classes"]) == {"high", "low"}
    page = tmp_path / "page.html"
    assert run("report", sound_model, sounds, *rate, "--out", page)[0] == 0
    assert contents_of(page)["scores"]["accuracy"] == pytest.approx(figures["accuracy"])


def test_labels_of_sound_files_from_a_table(run, fails, sounds, sound_model, tmp_path):
    rate, table = ["--sample-rate", "100"], tmp_path / "table.csv"
    table.write_text("fold,clip,word,level\n1,low/0.wav,low,1.5\n1,high/1,high,2.5\n")
    named = ["--labels", table, "--series", "clip"]
    figures = json.loads(
        run("evaluate", sound_model, sounds, *rate, *named, "--label", "word", "--json")[1]
    )
    assert figures["series"] == 2 and figures["classes"].keys() == {"high", "low"}
    rows = rows_of(run("predict", sound_model, sounds, *rate, *named, "--label", "word")[1])
    assert [row[0] for row in rows] == ["clip", "high/1.wav", "low/0.wav"]
    out = ["--out", tmp_path / "m", "--quiet", *RAW, *TINY]
    err = fails("fit", sounds, *named, "--label", "level", *out, status=2)
    assert f"column 'level' of {table} holds numbers" in err and "Add --regress" in err
    assert run("fit", sounds, *named, "--label", "level", "--regress", *out)[0] == 0
    assert "table.csv has no column 'tone'" in fails(
        "fit", sounds, *named, "--label", "tone", *out, "--force"
    )
    table.write_text("clip,level\nlow/0.wav,1.5\nhigh/1,2.5\n")
    err = fails("fit", sounds, "--labels", table, *out, "--force", status=2)
    assert f"the second column of {table} holds numbers" in err
    err = fails("fit", sounds, "--labels", table, "--out", table, "--force", status=2)
    assert "would overwrite another file" in err


def test_sound_files_of_another_rate(run, fails, sounds, sound_model):
    err = fails("predict", sound_model, sounds)
    assert "0.wav has 100 samples a second, not 16000" in err and "--resample" in err
    resampled = ["--sample-rate", "200", "--resample"]
    assert run("predict", sound_model, sounds, *resampled)[0] == 0


def test_options_that_do_not_go_with_a_folder_or_with_a_file(
    fails, sounds, sound_model, data, tmp_path
):
    for option in (["--labels", "t.csv"], ["--sample-rate", "100"], ["--resample"]):
        err = fails("fit", data, "--out", tmp_path / "m", *option, status=2)
        assert f"{option[0]} is for a folder of sound files" in err
    err = fails("predict", sound_model, sounds, "--time", "when", status=2)
    assert "--time is for tables" in err
    err = fails("evaluate", sound_model, sounds, "--label", "word", status=2)
    assert "--label names a column of a table of labels: give it by --labels" in err
    soundfile.write(tmp_path / "loose.wav", np.zeros(40), 100)
    err = fails("fit", tmp_path, "--out", tmp_path / "m", *RAW)
    assert "has no labels: sound files lie in the folder itself" in err and "--labels" in err
    (tmp_path / "empty").mkdir()
    assert "empty has no .wav" in fails("predict", sound_model, tmp_path / "empty")


def test_sound_is_turned_into_cepstra_unless_told_not_to(run, fails, tmp_path):
    """At the rate of the clips, which a model remembers."""
    rng = np.random.default_rng(0)
    for label, pitch in (("low", 300.0), ("high", 900.0)):
        (tmp_path / "clips" / label).mkdir(parents=True)
        for n in range(4):
            t = np.arange(1600 + 100 * n) / 8000
            sound = 0.5 * np.sin(2 * np.pi * pitch * t) + 0.01 * rng.normal(size=len(t))
            soundfile.write(tmp_path / "clips" / label / f"{n}.wav", sound, 8000)
    clips, model = tmp_path / "clips", tmp_path / "model"
    assert "(--sample-rate 8000)" in fails("fit", clips, "--out", model)
    few = ("--shapelets", "3", "--epochs", "2", "--quiet")
    assert run("fit", clips, "--out", model, "--sample-rate", "8000", *few)[0] == 0
    heard = load(model)
    assert heard.preprocessing.sample_rate == 8000 and heard.n_channels_in_ == 40
    assert "accuracy" in run("evaluate", model, clips)[1]
    assert run("report", model, clips, "--out", tmp_path / "page.html")[0] == 0
    assert contents_of(tmp_path / "page.html")["sounds"]["series"]
    raw = tmp_path / "raw"
    rates = ("--sample-rate", "8000", "--preprocessing", "none")
    assert run("fit", clips, "--out", raw, *rates, *few)[0] == 0
    assert load(raw).n_channels_in_ == 1


def test_every_choice_of_a_model(run, fails, data, tmp_path):
    """Discrepancies, families, interpolations, minima, starts: as the estimators have them."""
    chosen = (
        "--discrepancy", "l2=2,logsignature,dtw", "--family", "bspline", "--interpolation", "cubic",
        "--minimum", "soft", "--initial", "search", "--learn", "head",
    )  # fmt: skip
    out = tmp_path / "model"
    assert run("fit", data, "--out", out, *chosen, "--quiet", *TINY)[0] == 0
    model = load(out)
    assert model.discrepancy == {"l2": 2.0, "logsignature": 1.0, "dtw": 1.0}
    assert (model.shapelets, model.interpolation) == ("bspline", "cubic")
    assert (model.minimum, model.initial, model.learn) == ("soft", "search", "head")
    assert "logsignature" in run("info", out)[1]
    assert run("evaluate", out, data)[0] == 0
    for wrong in ("l3", "l2=x", "l2=0", ""):
        err = run("fit", data, "--out", out, "--discrepancy", wrong)[2]
        assert "argument --discrepancy" in err


# ------------------------------------------------------------------ what may be wrong


def test_broken_ts_files_get_the_line_number(fails, data, tmp_path):
    lines = Path(data).read_text(encoding="utf-8").splitlines()
    lines[5] = lines[5].replace(",", ",x", 1)
    broken = tmp_path / "broken.ts"
    broken.write_text("\n".join(lines))
    assert f"{broken}, line 6: " in fails("fit", broken, "--out", tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_another_number_of_channels(fails, model, tmp_path):
    file = write_ts(tmp_path / "two.ts", bumps(2, 2), ["flat", "bump"])
    for command in ("predict", "transform", "evaluate"):
        err = fails(command, model, file)
        assert "two.ts: X has 2 channels, but ShapeletClassifier was fitted on 1" in err


def test_a_failure_leaves_the_output_as_it_was(run, fails, model, data, tmp_path, monkeypatch):
    out = tmp_path / "old.csv"
    out.write_text("old")
    bad = write_ts(tmp_path / "two.ts", bumps(2, 2), ["flat", "bump"])
    fails("predict", model, bad, "--out", out)

    def full(*_):
        raise OSError(28, "No space left on device", str(out))

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        err = fails("predict", model, data, "--out", out, "--force")
        assert err == f"genshapelets: error: cannot write {out}: No space left on device.\n"
        fails("fit", data, "--out", tmp_path / "m", "--force", "--quiet", *TINY)
    assert "old.csv exists. Add --force" in fails("predict", model, data, "--out", out)
    assert out.read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["old.csv", "two.ts"]
    assert run("predict", model, data, "--out", out, "--force")[0] == 0
    assert out.read_text().startswith("series,prediction\n")


def test_fit_replaces_a_file_only_by_force(run, fails, data, tmp_path):
    out = tmp_path / "m"
    out.write_text("precious")
    assert "m exists. Add --force" in fails("fit", data, "--out", out)
    assert out.read_text() == "precious"
    assert "another file of this command" in fails("fit", data, "--out", data, "--force", status=2)
    assert run("fit", data, "--out", out, "--force", "--quiet", *TINY)[0] == 0
    assert load(out).n_iter_ == 3


def test_whether_a_model_can_be_written_is_known_before_training(
    fails, data, tmp_path, monkeypatch
):
    monkeypatch.setattr("genshapelets.ShapeletClassifier.fit", lambda *_: pytest.fail("trained"))
    err = fails("fit", data, "--out", tmp_path / "nowhere" / "m")
    assert f"there is no directory {tmp_path / 'nowhere'}" in err
    assert "is a directory" in fails("fit", data, "--out", tmp_path)
    if os.name == "posix":
        assert "not a plain file" in fails("fit", data, "--out", os.devnull, "--force")
    assert "parameter" in fails(
        "fit", data, "--out", tmp_path / "m", "--search", "exact", "--discrepancy", "classical"
    )


def test_files_that_are_not_what_they_should_be(fails, run, model, data, tmp_path):
    half = tmp_path / "half.gs"
    half.write_bytes(Path(model).read_bytes()[:-100])
    assert f"{half} is not a genshapelets file, or only a part of one" in fails("info", half)
    assert "there is no file" in fails("predict", model, tmp_path / "none.ts")
    assert "there is no file" in fails("predict", tmp_path / "none.gs", data)
    assert "is not a genshapelets file" in fails("predict", data, model)  # the wrong way round
    assert "must end in .ts" in fails("fit", half, "--out", tmp_path / "m")
    empty = tmp_path / "empty.csv"
    empty.touch()
    assert "empty.csv is empty" in fails("predict", model, empty, *COLUMNS)
    file = tmp_path / "bare.ts"
    file.write_text("@classLabel false\n@data\n" + ",".join("1234567890" * 2) + "\n")
    assert "bare.ts has no labels" in fails("fit", file, "--out", tmp_path / "m")
    assert "bare.ts has no labels" in fails("evaluate", model, file)
    assert run("predict", model, file)[0] == 0
    ShapeletTransformer(n_shapelets=2).fit(np.ones((2, 1, 9)).cumsum(2)).save(tmp_path / "t")
    assert "ShapeletTransformer: it does not predict" in fails("predict", tmp_path / "t", file)
    assert run("transform", tmp_path / "t", file)[0] == 0


def test_series_too_short_for_the_model(run, fails, model, tmp_path):
    file = write_ts(tmp_path / "short.ts", [np.ones((1, 2))], ["flat"])
    assert "short.ts: series 0 spans 1, less than every" in fails("predict", model, file)
    assert run("predict", model, file, "--short-series", "hold")[0] == 0


def test_debug_shows_where_an_error_arose(run, tmp_path):
    for arguments in (["info", tmp_path / "x", "--debug"], ["--debug", "info", tmp_path / "x"]):
        status, out, err = run(*arguments)
        assert (status, out) == (1, "")
        assert err.startswith("Traceback") and "genshapelets: error: there is no file" in err


@pytest.mark.parametrize(
    "arguments",
    [
        "",
        "dance",
        "fit train.ts",
        "fit train.ts --out m --shapelets 0",
        "fit train.ts --out m --length half",
        "fit train.ts --out m --metric euclid",
        "fit train.ts --out m --channels=",
        "fit words --out m --preprocessing wavelets",
        "fit words --out m --sample-rate 44.1",
        "predict model.gs",
    ],
)
def test_wrong_usage(run, arguments):
    status, out, err = run(*arguments.split())
    assert (status, out) == (2, "")
    assert err.startswith("usage: genshapelets") and "error: " in err


LONG = "x" * 5000


@pytest.mark.parametrize("name", ["stays.csv", "stays.csv.gz", "stays.parquet", "train.ts", "m.gs"])
def test_damaged_files_are_one_line(fails, run, model, table_model, data, name, tmp_path):
    table, whole, file = frame(8), tmp_path / f"whole-{name}", tmp_path / name
    if name.endswith((".ts", ".gs")):
        whole = Path(data if name.endswith(".ts") else model)
    elif name.endswith("parquet"):
        table.to_parquet(whole, index=False)
    else:
        table.to_csv(whole, index=False)
    content, random = whole.read_bytes(), np.random.default_rng(0)
    damaged = [content[: len(content) // 2], content[:5], content[9:], b"\0" * 99, b"\xff" * 99]
    for place in random.integers(len(content), size=20).tolist():
        damaged.append(content[:place] + random.bytes(9) + content[place + 9 :])
    command = ["predict", table_model, file, *COLUMNS]
    if name.endswith((".ts", ".gs")):
        command = ["predict", model, file] if name.endswith(".ts") else ["info", file]
    n_refused = 0
    for part in damaged:
        file.write_bytes(part)
        status, _, err = run(*command)
        if status:  # a digit of a text may be another without anybody knowing
            n_refused += 1
            assert status == 1 and err.startswith("genshapelets: error: ")
            assert err.count("\n") == 1 and len(err) < 300 and err[:-1].isprintable(), err
    assert n_refused >= (5 if name.endswith((".csv", ".ts")) else 15)


@pytest.mark.parametrize(
    "text",
    [
        f"who,when,pulse,pressure\na,{LONG},1,2\nb,1,2,3\n",
        f"who,when,pulse,pressure\n{LONG},1,1,2\n{LONG},1,2,3\n",
        f"who,{LONG},pulse,pressure\na,1,1,2\n",
        "who,when," + ",".join(map(str, range(1000))) + "\na,1\n",
        "who,when,pulse,pressure\na,1,1,2,3\nb,1,2,3,4\n",
    ],
)
def test_a_long_cell_is_cut(fails, table_model, tmp_path, text):
    file = tmp_path / "long.csv"
    file.write_text(text)
    err = fails("predict", table_model, file, *COLUMNS)
    assert len(err) < 300 and file.name in err  # the folder may be long, too


def test_a_mistake_of_ours_is_one_line(fails, model, monkeypatch):
    monkeypatch.setattr("genshapelets.cli.commands.load", lambda _: {}["x"])
    assert "unexpected KeyError: 'x'. Add --debug to see where" in fails("info", model)


# ------------------------------------------------------------------ what is written


@pytest.mark.parametrize("command", ["fit", "predict", "transform", "report"])
def test_nothing_is_overwritten_unasked(fails, model, data, tmp_path, command):
    out = tmp_path / "out"
    out.write_text("precious")
    link = tmp_path / "link"
    link.symlink_to(out)
    files = [data] if command == "fit" else [model, data]
    for name in (out, link):
        assert f"{name} exists. Add --force to replace it." in fails(command, *files, "--out", name)
    assert out.read_text() == "precious" and link.is_symlink()


def test_a_link_stays_and_leads_to_what_is_written(run, model, data, tmp_path):
    (tmp_path / "there").mkdir()
    link, out = tmp_path / "link", tmp_path / "there" / "out"
    link.symlink_to(out)
    for force in ([], ["--force"]):
        assert run("fit", data, "--out", link, "--quiet", *force, *TINY)[0] == 0
        assert link.is_symlink() and load(out).n_iter_ == 3


def test_two_fits_of_one_name_leave_two_models(run, data, tmp_path, monkeypatch):
    out, fit = tmp_path / "m.gs", ShapeletClassifier.fit

    def slow(estimator, *arguments):
        out.write_text("of the other")
        return fit(estimator, *arguments)

    monkeypatch.setattr(ShapeletClassifier, "fit", slow)
    status, _, err = run("fit", data, "--out", out, "--quiet", *TINY)
    assert status == 0 and f"wrote {tmp_path / 'm-2.gs'}, " in err
    assert out.read_text() == "of the other" and load(tmp_path / "m-2.gs").n_iter_ == 3
    assert sorted(os.listdir(tmp_path)) == ["m-2.gs", "m.gs"]


# ------------------------------------------------------------------ report


def test_report_writes_a_page(run, fails, model, data, tmp_path):
    page = tmp_path / "report.html"
    command = ["report", model, data, "--out", page]
    status, out, err = run(*command, "--title", "A < B", "--max-series", "5")
    assert (status, out) == (0, "") and f"wrote {page}" in err
    assert "<title>A &lt; B</title>" in page.read_text(encoding="utf-8")
    contents = contents_of(page)
    accuracy = json.loads(run("evaluate", model, data, "--json")[1])["accuracy"]
    assert contents["scores"]["accuracy"] == pytest.approx(accuracy, abs=1e-4)
    assert len(contents["cases"]) == 5 and contents["data"]["series"] == 8
    assert "exists. Add --force" in fails(*command)
    assert run(*command, "--force")[0] == 0 and len(contents_of(page)["cases"]) == 8


def test_report_of_a_table_uses_labels_if_it_is_told_where(
    run, fails, table_model, folder, tmp_path
):
    page = tmp_path / "report.html"
    command = ["report", table_model, folder / "stays.csv", *COLUMNS, "--out", page, "--force"]
    assert run(*command)[0] == 0 and contents_of(page)["scores"] is None
    assert run(*command, "--label", "died")[0] == 0
    contents = contents_of(page)
    assert contents["classes"] == ["0", "1"] and sum(contents["data"]["counts"]) == 8
    assert contents["cases"][1]["name"] == 'stay "1", ward'
    assert contents["channelNames"] == ["pulse", "pressure"]
    assert "y must hold classes of the model" in fails(*command, "--label", "days")


def test_report_refuses_before_it_works(run, fails, model, data, tmp_path):
    assert "there is no directory" in fails("report", model, data, "--out", tmp_path / "no" / "p")
    assert "is a directory" in fails("report", model, data, "--out", tmp_path)
    assert "would overwrite" in fails("report", model, data, "--out", model, status=2)
    assert run("report", model, data, "--out", tmp_path / "p", "--max-series", "0")[0] == 2
    assert run("report", model, data)[0] == 2


# ------------------------------------------------------------------ help


def test_version(run):
    assert run("--version") == (0, f"genshapelets {__version__}\n", "")


@pytest.mark.parametrize("command", list(EPILOGS))
def test_help_shows_examples_that_parse(run, command):
    status, out, err = run(*command.split(), "--help")
    assert (status, err) == (0, "") and out.isascii()
    examples = [line for line in out.splitlines() if line.startswith("  genshapelets ")]
    assert len(examples) >= (1 if command == "warmup" else 2)
    for example in examples:
        arguments = shlex.split(re.split("[|<]", example)[0])[1:]
        if arguments != ["COMMAND", "--help"]:
            make_parser().parse_args(arguments)
            assert command in ("", arguments[0])


def test_help_and_readme_name_the_files_that_can_be_read(run):
    out = " ".join(run("predict", "--help")[1].split())
    endings = {".ts", ".parquet", *TEXT_SUFFIXES}
    assert endings == {f".{name}" for name in FORMATS} | {".csv.gz", ".tsv.gz"}
    for ending in endings:
        assert ending.replace(".gz", "[.gz]") in out
    readme = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    shell = readme.partition("## From the shell")[2].partition("\n## ")[0]
    for ending in endings:
        assert f"`{ending}`" in shell
    for ending in AUDIO_SUFFIXES:
        assert ending[1:].upper() in out.upper() and ending[1:].upper() in shell.upper()


def test_warmup_of_the_shell(run, monkeypatch):
    monkeypatch.setattr("genshapelets.warming._use_all", lambda: None)
    status, out, err = run("warmup")
    assert (status, out) == (0, "") and "no kernels had to be compiled; all are kept in" in err


# ------------------------------------------------------------------ a real process

GENSHAPELETS = [sys.executable, "-m", "genshapelets"]


@pytest.fixture
def interruptible():
    """Undo that a job in the background, as the tests may be, ignores Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@posix
@pytest.mark.usefixtures("interruptible")
def test_interrupted_training_saves_the_best_model_so_far(data, tmp_path):
    import pty

    ours, theirs = pty.openpty()  # progress is live on a terminal only
    out = tmp_path / "m"
    endless = ["--shapelets", "3", "--epochs", "1000000", "--jobs", "1"]
    with subprocess.Popen(
        [*GENSHAPELETS, "fit", data, "--out", str(out), *endless],
        stdout=subprocess.PIPE,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        err = b""
        # "epoch 2/1000000 …, about 3 h left": the first is over
        while not re.search(rb"epoch (?!1/)\d+/1000000.* left", err):
            err += os.read(ours, 4096)
        process.send_signal(signal.SIGINT)
        with suppress(OSError):  # when the terminal is closed
            while part := os.read(ours, 4096):
                err += part
        printed = process.stdout.read()
    os.close(ours)
    assert (process.returncode, printed) == (130, b"")
    assert b"warning: training was interrupted after" in err and b"Traceback" not in err
    assert 0 < load(out).n_iter_ < 1000000


@posix
@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_before_training_writes_nothing(run, data, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "genshapelets.cli.commands.read", lambda *_, **__: signal.raise_signal(signal.SIGINT)
    )
    before = signal.getsignal(signal.SIGINT)
    status, out, err = run("fit", data, "--out", tmp_path / "m")
    assert (status, out, err) == (130, "", "genshapelets: interrupted; no file was written.\n")
    assert signal.getsignal(signal.SIGINT) is before and not (tmp_path / "m").exists()


@posix
def test_a_fit_that_is_terminated_leaves_a_checkpoint_that_resumes(data, tmp_path):
    out, checkpoint = tmp_path / "m", tmp_path / "c"
    fit = ["fit", data, "--out", str(out), "--shapelets", "3", "--epochs", "40", "--jobs", "1"]
    fit += ["--checkpoint", str(checkpoint), "--checkpoint-interval", "3600"]
    slowly = (
        "import sys, time; from genshapelets.training import Trainer; epoch = Trainer._epoch\n"
        "def slow(self): epoch(self); print(self.state.epoch, flush=True); time.sleep(0.05)\n"
        "Trainer._epoch = slow\n"
        "from genshapelets.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", slowly, *fit], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        while process.stdout.readline() != b"2\n":
            assert process.poll() is None
        assert not checkpoint.exists()
        process.terminate()
        _, err = process.communicate(timeout=60)
    assert process.returncode == 143 and b"Traceback" not in err and not out.exists()
    assert f"terminated; {checkpoint} keeps the training so far.".encode() in err
    assert read_file(checkpoint, "checkpoint")[0]["state"]["epoch"] >= 1
    assert main([*fit, "--quiet", "--force"]) == 0
    assert load(out).n_iter_ == 40
    whole = [*fit[:3], str(tmp_path / "whole"), *fit[4:-4], "--quiet"]
    assert main(whole) == 0
    assert load(out).history_ == load(tmp_path / "whole").history_


@posix
def test_a_pipe_that_breaks_ends_the_process_quietly(model, data):
    reader, writer = os.pipe()
    os.close(reader)
    predict = [*GENSHAPELETS, "predict", model, data]
    done = subprocess.run(predict, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


def test_an_error_is_one_line_on_standard_error(model, tmp_path):
    predict = [*GENSHAPELETS, "predict", model, str(tmp_path / "none.ts")]
    done = subprocess.run(predict, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"genshapelets: error: there is no file {tmp_path / 'none.ts'}.\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")
@pytest.mark.parametrize("buffering", [-1, 1])  # found out at the end, or in the first line
def test_standard_output_that_is_full(capsys, model, data, monkeypatch, buffering):
    with open("/dev/full", "w", buffering) as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert main(["predict", model, data]) == 1
    assert capsys.readouterr().err == "genshapelets: error: No space left on device\n"
