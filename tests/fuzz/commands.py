"""Command lines, with files of every other kind: one clear line if anything is wrong."""

import contextlib
import csv
import io
import json
import math
import os
import sys
import tempfile
from pathlib import Path

from genshapelets.cli import main

from . import models, tables, texts
from .judging import LONGEST, Failure

ODD = [
    "",
    "-1",
    "0",
    "x",
    "1e400",
    "nan",
    "-",
    "a,b",
    "who,who",
    "é",
    "\x1b[31m",
    "x" * 2000,
    ".",
    "/",
    "no/such",
]
FIT = {
    "--shapelets": ["2"], "--epochs": ["1", "2"], "--knots": ["4"], "--procedure": ["paper"],
    "--discrepancy": ["l2", "dtw", "l2=0.5,logsignature=0.5"], "--family": ["bspline", "network"],
    "--interpolation": ["constant", "cubic"], "--minimum": ["soft"], "--length": ["0.2", "0.1,0.3"],
    "--class-weight": ["balanced", "a=2,b=1"], "--gamma": ["0.1"], "--level-free": ["0.5"],
    "--seed": ["3"], "--batch-size": ["4"], "--max-time": ["5s"], "--learning-rate": ["0.01"],
    "--max-channels": ["1"], "--checkpoint": ["state", "damaged.ckpt"],
    "--summaries": ["count", "last,mean", "all", "x"], "--regress": [None], "--sources": [None],
}  # fmt: skip
OTHERS = {
    "predict": {"--proba": [None], "--out": ["out", "data.ts", "no/out", "."], "--force": [None]},
    "transform": {"--out": ["out", "model"], "--force": [None]},
    "evaluate": {"--json": [None]},
    "report": {"--out": ["page.html"], "--max-series": ["2"], "--title": ["é"]},
    "info": {"--json": [None]},
}  # fmt: skip
COLUMNS = {"--series": "who", "--time": "when", "--label": "died", "--channels": "x,y"}


def command_case(random):
    """Arguments and files, as JSON; a file is text whose letters are bytes: (ending, content)."""
    name = random.choice(["fit", "fit", *OTHERS])
    ending, data = random.choice([texts.text_case] * 2 + [tables.text_case, tables.parquet_case])(
        random
    )
    if random.random() < 0.6 and ending == ".ts":
        data = texts.written(random).encode()
    files = {f"data{ending}": data.decode("latin-1")}
    arguments = [name]
    if name != "fit":
        files["model"] = _model(random)
        arguments.append("model")
    if name != "info":
        arguments.append(random.choice([f"data{ending}"] * 20 + ["-", "no such", ".", "model"]))
        if ending != ".ts":
            for option, value in COLUMNS.items():
                arguments += [option, value] if random.random() < 0.95 else []
    usual = FIT if name == "fit" else OTHERS[name]
    if name == "fit":
        arguments += ["--out", "fitted", "--epochs", "1", "--shapelets", "2", "--jobs", "1"]
        files["damaged.ckpt"] = models.checkpoint_case(random)[1].decode("latin-1")
    if name == "report":
        arguments += ["--out", "page.html"]
    for option in random.sample(list(usual), random.randint(0, min(3, len(usual)))):
        value = random.choice(usual[option] if random.random() < 0.8 else ODD)
        arguments += [option] if value is None else [option, value]
    return ".command", json.dumps({"arguments": arguments, "files": files}).encode()


def _model(random):
    whole = [name for name in models.whole_files() if name.endswith(".model")]
    usual = random.choice(whole)
    content = models.whole_files()[usual] if random.random() < 0.8 else models.model_case(random)[1]
    return content.decode("latin-1")


def check_command(file):
    """Run a command in a folder of its own, and look at all that it says and leaves."""
    case = json.loads(Path(file).read_bytes())
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        try:
            os.chdir(folder)
            for name, content in case["files"].items():
                Path(name).write_bytes(content.encode("latin-1"))
            status, said, answer = _run(case["arguments"], next(iter(case["files"])))
            left = [str(path) for path in Path(folder).rglob("*.partial")]
        finally:
            os.chdir(before)
    if left:
        raise Failure("unclear", f"left behind: {left}")
    _check_said(status, said)
    if status == 0 and case["arguments"][0] in ("predict", "transform"):
        _check_numbers(answer)
    return said if status else None


def _run(arguments, standard_input):
    """Exit status, standard error and standard output of a command."""
    out, err = io.StringIO(), io.StringIO()
    usual = sys.stdin
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        open(standard_input, encoding="latin-1") as sys.stdin,
    ):
        try:
            status = main(arguments)
        except SystemExit as end:  # of argparse
            status = end.code
        finally:
            sys.stdin = usual
    return status, err.getvalue(), out.getvalue()


def _check_said(status, said):
    errors = [line for line in said.splitlines() if ": error: " in line]
    if status not in (0, 1, 2) or "Traceback" in said or ": error: unexpected " in said:
        raise Failure("untyped", f"exit status {status}: {said[-400:]}")
    if len(errors) != (status > 0) or max(map(len, [*errors, ""])) > LONGEST:
        raise Failure("unclear", f"exit status {status}: {said[-400:]}")
    if errors and said.splitlines()[-1] != errors[0]:
        raise Failure("unclear", f"more after the error: {said[-400:]}")


def _check_numbers(answer):
    for row in csv.reader(io.StringIO(answer)):
        for cell in row[1:]:
            with contextlib.suppress(ValueError):
                if not math.isfinite(float(cell)):
                    raise Failure("NaN", answer[:300])
