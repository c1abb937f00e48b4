"""Long tables in CSV and Parquet files, read a second time by the csv module and by pyarrow."""

import csv
import datetime
import gzip
import io
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from genshapelets.datasets import read_table

from .edits import edit_bytes, edit_lines
from .judging import Failure
from .models import ask
from .plain import compare, of_table, second

MISSING = ("", "?", "NA", "NaN", "nan", "null")
CELLS = [
    *MISSING, "1", "01", "1.0", "-0.0", " 2", "1e400", "inf", "-inf", "1e308", "1e-320", "1e39", "x",
    "True", "9007199254740993", "18446744073709551616", "0.1" + "0" * 400, "9" * 5000, "1_0", "0x1F",
    "1,5", '"', '""', '"a', 'a"b', "é", "\x00", "\u0663", "2011-04-05 10:00", "2011-04-05T10:00+02:00",
    "1500-01-01", "2011-13-05", "None", "who", "when", "x" * 3000, "=1+1", "\x1b[31m", "a\tb", "#", "'",
]  # fmt: skip
DAY = datetime.datetime(2011, 4, 5)


def rows_of(random):
    """Rows of (who, when, x, y, died), in any order, and whether times are dates."""
    are_dates = random.random() < 0.3
    names = random.choice([["a", "b", "c"], [3, 1, 2], [0.5, 1.5, 2.5], ["Å, b", 'c"d', "e f"]])
    rows = []
    for label, name in enumerate(names[: random.randint(1, 3)]):
        for step in range(random.randint(9, 13)):
            when = step if random.random() < 0.5 else step + random.choice([0.25, 0.5])
            when = DAY + datetime.timedelta(hours=when) if are_dates else when
            values = [None if random.random() < 0.1 else _value(random) for _ in "xy"]
            rows.append([name, when, *values, label])
    if random.random() < 0.5:
        random.shuffle(rows)
    return rows


def _value(random):
    value = random.gauss(0, 1) * 10 ** random.choice([0, 0, 0, 3, -3, 12])
    return random.choice([value, round(value, 3), round(value)])


# ------------------------------------------------------------------ CSV


def text_case(random):
    """A CSV file, edited or not, perhaps compressed: (ending, content)."""
    out = io.StringIO()
    ending = random.choice([".csv", ".csv", ".csv", ".tsv", ".csv.gz", ".tsv.gz"])
    quoting = random.choice([csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC])
    separator = "\t" if "tsv" in ending else ","
    writer = csv.writer(out, delimiter=separator, quoting=quoting, lineterminator="\n")
    writer.writerow(["who", "when", "x", "y", "died"])
    writer.writerows(
        [random.choice(MISSING) if x is None else x for x in row] for row in rows_of(random)
    )
    content = edit_lines(out.getvalue(), random, CELLS).encode()
    if random.random() < 0.1:
        content = edit_bytes(content, random)
    if ending.endswith("gz"):
        content = gzip.compress(content, mtime=0)
        content = edit_bytes(content, random) if random.random() < 0.5 else content
    return ending, content


def check_text(file):
    """Read a table, compare what it holds with what the csv module reads, and ask a model."""
    _check(file, by_csv)


def by_csv(file):
    """Columns of a CSV file by name, as lists of what its cells say."""
    file = Path(file)
    content = file.read_bytes()
    text = (gzip.decompress(content) if file.suffix == ".gz" else content).decode("utf-8-sig")
    rows = csv.reader(
        io.StringIO(text, newline=""), delimiter="\t" if ".tsv" in file.suffixes else ","
    )
    names, *rows = [row for row in rows if len(row) > 1 or "".join(row).strip()]
    rows = [row + [""] * (len(names) - len(row)) for row in rows]
    return {
        name: _typed([None if cell in MISSING else cell for cell in cells])
        for name, cells in zip(names, zip(*rows, strict=True), strict=True)
    }


def _typed(cells):
    """Numbers if all are; else text."""
    try:
        return [None if cell is None else _number(cell) for cell in cells]
    except ValueError:
        return list(cells)


def _number(cell):
    if "_" in cell or not cell.isascii():
        raise ValueError("a number for Python alone")
    return float(cell)


def _time(cell):
    if isinstance(cell, str):
        try:
            return datetime.datetime.fromisoformat(cell.strip())
        except ValueError:
            return float(cell)
    return cell


# ------------------------------------------------------------------ Parquet

TYPES = {
    "who": ["string", "large_string", "dictionary", "int64", "uint8", "double", "binary", "bool_"],
    "when": ["double", "int64", "int32", "float32", "timestamp", "zone", "date32", "string", "duration"],
    "x": ["double", "float32", "float16", "int64", "uint64", "int8", "decimal", "string", "list"],
    "y": ["double", "double", "float32", "int64", "null"],
    "died": ["int64", "bool_", "string", "dictionary", "double"],
}  # fmt: skip
ARROW = {
    "dictionary": pa.dictionary(pa.int8(), pa.string()), "timestamp": pa.timestamp("us"),
    "zone": pa.timestamp("ns", "America/New_York"), "decimal": pa.decimal128(38, 6),
    "duration": pa.duration("s"), "double": pa.float64(), "list": pa.list_(pa.float64()),
}  # fmt: skip


def parquet_case(random):
    """A Parquet file of any types, damaged or not: (ending, content)."""
    columns = dict(zip(TYPES, map(list, zip(*rows_of(random), strict=True)), strict=True))
    arrays = {
        name: _arrow(cells, random.choice(TYPES[name][: random.choice([1, 99])]))
        for name, cells in columns.items()
    }
    if random.random() < 0.1:
        name, other = random.choice(list(arrays)), random.choice(["x", "y", "who", "", "z"])
        arrays[other] = arrays.pop(name)
    table = pa.table(arrays)
    if {"who", "when"} <= set(
        arrays
    ) and random.random() < 0.2:  # as pandas writes it, with notes of its own
        table = pa.Table.from_pandas(table.to_pandas().set_index(["who", "when"]))
    out = io.BytesIO()
    compression = random.choice(["snappy", "none", "gzip", "zstd"])
    parquet.write_table(table, out, compression=compression, use_dictionary=random.random() < 0.5)
    content = out.getvalue()
    return ".parquet", edit_bytes(content, random) if random.random() < 0.4 else content


def _arrow(cells, kind):
    """A column of a type, or of whatever Arrow takes the cells for if they do not go into it."""
    kind = ARROW[kind] if kind in ARROW else getattr(pa, kind)()
    if pa.types.is_string(kind) or pa.types.is_dictionary(kind) or pa.types.is_large_string(kind):
        cells = [None if cell is None else str(cell) for cell in cells]
    try:
        return pa.array(cells, kind)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        try:
            return pa.array(
                [None if cell is None else int(float(cell)) % 100 for cell in cells]
            ).cast(kind)
        except (pa.ArrowException, TypeError, ValueError):
            return pa.array([None if cell is None else str(cell) for cell in cells])


def check_parquet(file):
    """Read a table, compare what it holds with the lists that pyarrow makes, and ask a model."""
    _check(file, by_arrow)


def by_arrow(file):
    """Columns of a Parquet file by name, as lists."""
    table = parquet.ParquetFile(file).read()
    return {name: table[name].to_pylist() for name in table.column_names}


# ------------------------------------------------------------------ both


def _check(file, read):
    options = {"series": "who", "time": "when", "label": "died"}
    try:
        series, labels = read_table(file, **options, channels=["x", "y"])
    finally:
        whole, _ = read_table(file, **options)  # the columns that hold numbers
    columns = second(read, file)
    for batch, names in ((series, ["x", "y"]), (whole, whole.channel_names)):
        compare(batch, second(_cases, columns, names))
    if len(labels) != len(series):
        raise Failure("differs", f"{len(labels)} labels of {len(series)} series")
    ask(series)


def _cases(columns, names):
    times = [_time(time) for time in columns["when"]]
    return of_table(columns["who"], times, [columns[name] for name in names])
