"""Commands and options, and the examples that ``--help`` shows."""

from __future__ import annotations

import argparse
import csv
from typing import Any, NoReturn

from .. import __version__
from ..names import CHOICES
from .terminal import shortened

EPILOGS = {
    "": """examples:
  genshapelets fit train.ts --out model.gs
  genshapelets evaluate model.gs test.ts
  genshapelets predict model.gs new.ts --out predictions.csv
  genshapelets report model.gs test.ts --out report.html
  genshapelets COMMAND --help

DATA may be -, standard input: see --format.
exit status: 0 done, 1 bad data or files, 2 wrong usage, 130 interrupted by Ctrl-C,
143 terminated by SIGTERM""",
    "fit": """Ctrl-C ends the training: the best model so far is written, and the exit status is 130.
A fit with --checkpoint that was killed goes on when the same command is run
again; one that Ctrl-C ended, with --force. Ctrl-C and SIGTERM write the checkpoint
at once, so that no whole epoch is lost.

examples:
  genshapelets fit train.ts --out model.gs
  genshapelets fit train.ts --out model.gs --procedure paper --length 0.2 --seed 7
  genshapelets fit train.ts --out model.gs --checkpoint training.state --jobs 4
  genshapelets fit stays.csv --out model.gs --series patient --time hour --label died
  genshapelets fit stays.parquet --out model.gs --series patient --time hour --label days \
--regress --channels pulse,pressure
  genshapelets fit events.csv --out model.gs --series patient --time hour --label died \
--variable test --value result
  genshapelets fit words --out model.gs
  genshapelets fit clips --out model.gs --labels clips.csv --resample

What is compiled the first time, which takes a minute, is kept: see genshapelets warmup.""",
    "predict": """Writes CSV: series, prediction and, with --proba, the probability of each class.
Labels in DATA are ignored. Channels with names are found by name.

examples:
  genshapelets predict model.gs new.ts --proba --out predictions.csv
  genshapelets predict model.gs stays.csv --series patient --time hour | head
  genshapelets predict model.gs - --series patient --time hour < stays.csv
  genshapelets predict model.gs - --format ts < new.ts
  genshapelets predict model.gs new_words --out predictions.csv""",
    "transform": """Writes CSV: series, and discrepancy from each shapelet.
Labels in DATA are ignored. Channels with names are found by name.

examples:
  genshapelets transform model.gs new.ts --out features.csv
  genshapelets transform model.gs events.csv --series patient --time hour --variable test \
--value result""",
    "evaluate": """For classes: accuracy, areas under the ROC and precision-recall curves (for more than
two classes the mean, each against the rest), log loss, expected calibration
error, recall of each class, confusion matrix. For numbers: R2, root of the mean
squared error, mean absolute error.

examples:
  genshapelets evaluate model.gs test.ts
  genshapelets evaluate model.gs test.ts --json
  genshapelets evaluate model.gs stays.csv --series patient --time hour --label died
  genshapelets evaluate model.gs clips --labels test.csv --series file --label word""",
    "report": """Writes one HTML page that needs no network: how good the model is, what it
looks for, why it predicts what it does. Without labels in DATA (for a table:
without --label) it does not say how good.

examples:
  genshapelets report model.gs test.ts --out report.html
  genshapelets report model.gs test.ts --out report.html --title "Ward 7" --max-series 200 --force
  genshapelets report model.gs stays.csv --out report.html --series patient --time hour --label died""",
    "warmup": """Compiles all that fits and predictions may need, which otherwise happens when it is
first needed, and keeps it on disk: a minute or two the first time, seconds the
next. For an image or a cluster: run it where the package is installed.
Compiled code is kept beside the package or, if that cannot be written, in
~/.cache/genshapelets or in a temporary folder; NUMBA_CACHE_DIR names another.

examples:
  genshapelets warmup
  NUMBA_CACHE_DIR=kernels genshapelets warmup""",
    "info": """examples:
  genshapelets info model.gs
  genshapelets info model.gs --json""",
}


FORMATS = ("ts", "csv", "tsv", "parquet")
SHORT = "refuse series too short for the model (default), or hold their last value"


class _Parser(argparse.ArgumentParser):
    """One whose errors are short, however long what they quote."""

    def error(self, message: str) -> NoReturn:
        super().error(shortened(message))


def make_parser() -> argparse.ArgumentParser:
    """Make the parser of all commands."""
    debug = argparse.ArgumentParser(add_help=False)
    debug.add_argument(
        "--debug", action="store_true", default=argparse.SUPPRESS, help="show where an error arose"
    )
    looks: dict[str, Any] = {
        "formatter_class": argparse.RawDescriptionHelpFormatter,
        "allow_abbrev": False,
        "parents": [debug],
    }
    parser = _Parser(
        "genshapelets",
        description="Classify or predict time series by learnt shapelets.",
        epilog=EPILOGS[""],
        **looks,
    )
    parser.add_argument("--version", action="version", version=f"genshapelets {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    def command(name: str, run: str, what: str) -> Any:
        one = commands.add_parser(name, help=what, description=what, epilog=EPILOGS[name], **looks)
        one.set_defaults(run=run)  # by name: what it needs is loaded when it runs
        if name not in ("fit", "warmup"):
            one.add_argument("model", metavar="MODEL", help="file written by fit")
        if name not in ("info", "warmup"):
            _add_data(one)
            one.add_argument("--short-series", choices=CHOICES["short_series"], help=SHORT)
        if name in ("predict", "transform"):
            one.add_argument("--out", metavar="FILE", help="write here, not to standard output")
        if name in ("fit", "report", "predict", "transform"):
            one.add_argument("--force", action="store_true", help="replace the file if it exists")
        if name in ("evaluate", "info"):
            one.add_argument("--json", action="store_true", help="write JSON")
        return one

    fitting = command("fit", "fit", "Learn a model from series and their labels.")
    predicting = command("predict", "predict", "Predict the label of each series.")
    command("transform", "transform", "Give the discrepancy of each series from each shapelet.")
    command("evaluate", "evaluate", "Compare predictions with labels.")
    reporting = command("report", "make_report", "Write a page about a model and its predictions.")
    command("info", "info", "Say what a model is.")
    command("warmup", "warm_up", "Compile beforehand what fits and predictions need.")
    predicting.add_argument(
        "--proba", action="store_true", help="give probabilities of the classes"
    )
    _add_training(fitting)
    reporting.add_argument("--out", metavar="FILE", required=True, help="page to write, as HTML")
    reporting.add_argument("--title", metavar="TEXT", help="of the page")
    reporting.add_argument(
        "--max-series", metavar="N", type=_count, default=1000,
        help="explain no more series than this, chosen at random; default: 1000",
    )  # fmt: skip
    reporting.add_argument("--time-unit", metavar="TEXT", help="of times that are numbers, as h")
    reporting.add_argument(
        "--channel-units", metavar="NAME=UNIT,...", type=_pairs, help="of values, as HR=bpm"
    )
    return parser


def _add_data(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "data", metavar="DATA",
        help="a .ts, .csv[.gz], .tsv[.gz] or .parquet file, a folder of sound files, or - for "
        "standard input",
    )  # fmt: skip
    parser.add_argument(
        "--format", choices=FORMATS,
        help="of standard input, or of a file whose ending does not say; default: if columns are "
        "named, what its beginning says, else ts",
    )  # fmt: skip
    table = parser.add_argument_group("columns of a table (CSV, TSV or Parquet)")
    table.add_argument("--series", metavar="COL", help="which series a row belongs to")
    table.add_argument("--time", metavar="COL", help="when: numbers or ISO date-times")
    table.add_argument("--label", metavar="COL", help="label, the same in all rows of a series")
    table.add_argument(
        "--channels", metavar="A,B,C", type=_names, help="values; default: all numbers"
    )
    table.add_argument("--variable", metavar="COL", help="which channel, if a row is one value")
    table.add_argument("--value", metavar="COL", help="that value")
    table.add_argument(
        "--aggregate", choices=CHOICES["aggregate"], help="what repeated observations become"
    )
    parser.add_argument(
        "--static", metavar="TABLE",
        help="CSV, TSV or Parquet with what is known of each series as a whole, such as age: rows by "
        "its column --series or, if series have no names, in their order",
    )  # fmt: skip
    sound = parser.add_argument_group("a folder of sound files (WAV, FLAC, OGG or Opus)")
    sound.add_argument(
        "--labels", metavar="TABLE",
        help="CSV or TSV with the label of each file; its columns: --series and --label, or the "
        "first two. Default: a sub-folder for each label",
    )  # fmt: skip
    sound.add_argument(
        "--sample-rate", metavar="N", type=_count, help="samples a second; default: 16000"
    )
    sound.add_argument(
        "--resample", action="store_true", help="convert files of another rate; else refuse them"
    )
    parser.add_argument("--jobs", dest="n_jobs", metavar="N", type=int, help="threads; -1: all")


def _add_training(fit: argparse.ArgumentParser) -> None:
    fit.add_argument("--out", metavar="MODEL", required=True, help="file to write the model to")
    fit.add_argument("--regress", action="store_true", help="predict numbers (a .ts file tells)")
    for name, what in {
        "procedure": "how to train: ours, that of Kidger, Morrill and Lyons (2020), or that of "
        "Grabocka et al. (2014)",
        "metric": "what a discrepancy learns: nothing, a scale for each channel (default), or a matrix",
        "search": "where shapelets are laid: on a grid, refined from there, or at the very best "
        "place; default: grid for regularly sampled series, else refined",
    }.items():
        fit.add_argument(f"--{name}", choices=CHOICES[name], help=what)
    fit.add_argument(
        "--discrepancy", metavar="NAME[=SHARE],...", type=_shares,
        help=f"one or several of {', '.join(CHOICES['discrepancy'])}; default: l2",
    )  # fmt: skip
    fit.add_argument(
        "--family", dest="shapelets", choices=CHOICES["shapelets"],
        help="how shapelets are drawn; default: knots",
    )  # fmt: skip
    for name, what in {
        "interpolation": "how gaps are filled; default: linear",
        "minimum": "how the best places become one number; default: min",
        "initial": "how shapelets start; default: windows",
        "learn": "head: keep shapelets as they start; default: all",
    }.items():
        fit.add_argument(f"--{name}", choices=CHOICES[name], help=what)
    fit.add_argument(
        "--shapelets", dest="n_shapelets", metavar="N", type=_count_or_auto, default="auto",
        help="number of shapelets in the end; default: auto, chosen on a part of the data",
    )  # fmt: skip
    fit.add_argument(
        "--max-channels", dest="max_channels", metavar="N", type=_count,
        help="how many channels a shapelet sees at most",
    )  # fmt: skip
    fit.add_argument(
        "--epochs", dest="max_epochs", metavar="N", type=_count, help="passes through the data"
    )
    fit.add_argument(
        "--max-time", metavar="TIME", help="how long to train, such as 90s, 10min or 1h30m"
    )
    fit.add_argument(
        "--length", dest="initial_length", metavar="F[,F]", type=_fractions,
        help="where lengths start, as fractions of the longest series",
    )  # fmt: skip
    fit.add_argument(
        "--knots",
        dest="n_knots",
        metavar="N",
        type=_count,
        help="points a shapelet is drawn through",
    )
    fit.add_argument("--gamma", metavar="G", type=float, help="strength of regularisation")
    for name, what in {
        "level-free": "share of the shapelets that ignore the level of a window, by l2",
        "scale-free": "share of those that ignore its scale as well",
        "learning-rate": "of training",
    }.items():
        fit.add_argument(f"--{name}", metavar="F", type=float, help=what)
    fit.add_argument("--batch-size", metavar="N", type=_count, help="series in a step of training")
    for name, what in {
        "shared-metric": "one metric for all shapelets, or one for each",
        "own-class": "likeness to a shapelet speaks only for the class it resembles, or for any",
    }.items():
        fit.add_argument(f"--{name}", action=argparse.BooleanOptionalAction, help=what)
    fit.add_argument(
        "--summaries", metavar="NAME,...", type=_summaries,
        help=f"numbers for each channel that count, too: {', '.join(CHOICES['summaries'])}, or all",
    )  # fmt: skip
    fit.add_argument("--device", help="where torch computes; default: cpu")
    fit.add_argument(
        "--preprocessing", choices=[*CHOICES["preprocessing"], "none"],
        help="turn sound into mel-frequency cepstra (default for a folder), or take series as given",
    )  # fmt: skip
    fit.add_argument(
        "--class-weight", metavar="CLASS=W,...", type=_weights,
        help="weights of classes, or balanced: rare classes get more",
    )  # fmt: skip
    fit.add_argument("--checkpoint", metavar="FILE", help="keep the state of training here")
    fit.add_argument(
        "--checkpoint-interval", metavar="SECONDS", type=float,
        help="time between two writings of it; default: 10",
    )  # fmt: skip
    fit.add_argument(
        "--sources", action="store_true",
        help="keep in MODEL the pieces of training series that shapelets stand for",
    )  # fmt: skip
    fit.add_argument(
        "--seed", dest="random_state", metavar="N", type=int, default=0, help="default: 0"
    )
    fit.add_argument("--quiet", action="store_true", help="show no progress")


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"must be a whole number above 0; got {text!r}")
    return int(text)


def _count_or_auto(text: str) -> int | str:
    return text if text == "auto" else _count(text)


def _shares(text: str) -> str | dict[str, float]:
    """One name, or several with their shares of the shapelets, 1 if not given."""
    pairs = [part.partition("=") for part in text.split(",")]
    try:
        shares = {name.strip(): float(share) if equals else 1.0 for name, equals, share in pairs}
    except ValueError:
        raise argparse.ArgumentTypeError(f"shares must be numbers; got {text!r}") from None
    for name, share in shares.items():
        if name not in CHOICES["discrepancy"] or not share > 0:
            raise argparse.ArgumentTypeError(
                f"must be one or several of {', '.join(CHOICES['discrepancy'])}, as in l2=0.5,dtw=0.5; "
                f"got {text!r}"
            )
    return next(iter(shares)) if len(shares) == 1 else shares


def _fractions(text: str) -> float | tuple[float, ...]:
    try:
        ends = tuple(map(float, text.split(",")))
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be one or two numbers; got {text!r}") from None
    return ends if len(ends) > 1 else ends[0]


def _summaries(text: str) -> str | list[str]:
    names = _names(text)
    for name in names:
        if name not in (*CHOICES["summaries"], "all"):
            known = ", ".join(CHOICES["summaries"])
            raise argparse.ArgumentTypeError(f"must be of {known}, or all; got {name!r}")
    return "all" if "all" in names else names


def _pairs(text: str) -> dict[str, str]:
    pairs = [part.rpartition("=") for part in _names(text)]
    if not all(name and value for name, _, value in pairs):
        raise argparse.ArgumentTypeError(f"must be NAME=... with commas between; got {text!r}")
    return {name.strip(): value.strip() for name, _, value in pairs}


def _weights(text: str) -> str | dict[str, float]:
    if text == "balanced":
        return text
    try:
        return {name: float(weight) for name, weight in _pairs(text).items()}
    except ValueError:
        raise argparse.ArgumentTypeError(f"weights must be numbers; got {text!r}") from None


def _names(text: str) -> list[str]:
    if not text.strip():
        raise argparse.ArgumentTypeError("must be names of columns; got nothing")
    return next(csv.reader([text], skipinitialspace=True))  # a name with a comma may be quoted
