"""Reading files: what is in them comes out, and a broken one is refused by file, line and cure."""

import builtins
import gzip
import re
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from genshapelets.datasets import planted_pattern, read, read_table, read_ts
from genshapelets.datasets.parsing import parse_instants, parse_numbers

NAN = np.nan
HEADER = "@problemName x\n@timestamps false\n@dimensions 2\n@classLabel true rest walk\n@data\n"
TIMED = "@timeStamps true\n@dimensions 2\n@targetLabel true\n@data\n"


@pytest.fixture
def write(tmp_path):
    def write(content, name="some.ts"):
        file = tmp_path / name
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file

    return write


def assert_series(series, *expected):
    assert len(series) == len(expected)
    for got, want in zip(series, expected, strict=True):
        np.testing.assert_array_equal(got.values, np.array(want, float))


# ------------------------------------------------------------------ .ts without times


def test_ts_by_hand(write):
    text = HEADER + "1,2.5,-3e-2:4,5,6:walk\n\n# between\n 7 , 8 : 9,10 : rest \n"
    series, labels = read_ts(write(text))
    assert_series(series, [[1, 2.5, -0.03], [4, 5, 6]], [[7, 8], [9, 10]])
    assert labels.tolist() == ["walk", "rest"] and labels.dtype.kind == "U"
    assert series.dtype == np.float64
    assert series[0].times.tolist() == [0, 1, 2]


def test_ts_line_ends_byte_order_mark_and_case_of_tags(write):
    lines = ["% old comment", "#", "@TIMESTAMPS False", "@univariate TRUE", "@ClassLabel true A b"]
    for end, start, last in product(["\n", "\r\n", "\r"], ["", "\ufeff"], [True, False]):
        text = end.join([*lines, "@Data", "1,2:A", "3,4:b"]) + end * last
        series, labels = read_ts(write(start + text))
        assert_series(series, [[1, 2]], [[3, 4]])
        assert labels.tolist() == ["A", "b"]


def test_ts_missing_values_and_short_channels(write):
    text = HEADER + "1,?,NaN:nan,2,?:walk\n1,2,3:4:rest\n?:1,2:rest\n1,2::rest\n?,?,5:?,?,?:walk\n"
    series, _ = read_ts(write(text))
    assert_series(
        series,
        [[1, NAN], [NAN, 2]],  # padding at the end is left out
        [[1, 2, 3], [4, NAN, NAN]],
        [[NAN, NAN], [1, 2]],
        [[1, 2], [NAN, NAN]],
        [[NAN, NAN, 5], [NAN, NAN, NAN]],  # at the beginning it stays
    )


def test_ts_padding_to_equal_length_is_left_out(write):
    text = HEADER.replace("@data", "@equalLength true\n@seriesLength 3\n@data")
    series, _ = read_ts(write(text + "1,2,3:4,5,6:walk\n1,NaN,NaN:2,NaN,NaN:rest\n?:1,2,3:rest"))
    assert_series(series, [[1, 2, 3], [4, 5, 6]], [[1], [2]], [[NAN] * 3, [1, 2, 3]])


def test_ts_first_case_tells_the_number_of_channels(write):
    series, labels = read_ts(write("@univariate false\n@classLabel false\n@data\n1:2:3\n4:5:6\n"))
    assert labels is None
    assert_series(series, [[1], [2], [3]], [[4], [5], [6]])


def test_ts_labels_with_spaces_and_of_any_script(write):
    text = "@univariate true\n@classLabel true New York Zürich 東京 a?\n@data\n"
    _, labels = read_ts(write(text + "1:New  York\n2:Zürich\n3:東京\n4:a?\n"))
    assert labels.tolist() == ["New York", "Zürich", "東京", "a?"]


def test_ts_targets(write):
    series, targets = read_ts(write("@targetlabel true\n@data\n1,2:-0.5\n3,4:1e3\n"))
    assert targets.tolist() == [-0.5, 1000.0] and targets.dtype == np.float64


def test_ts_comments_may_be_in_any_encoding(write):
    series, _ = read_ts(
        write("# Universit\xe4t\n".encode("latin-1") + HEADER.encode() + b"1:2:rest")
    )
    assert_series(series, [[1], [2]])


numbers = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=60, deadline=None)
@given(
    cases=st.lists(
        st.tuples(*[st.lists(numbers | st.none(), min_size=1, max_size=4)] * 2).filter(
            lambda case: any(x is not None for channel in case for x in channel)
        ),
        min_size=1,
        max_size=4,
    )
)
def test_ts_round_trip(tmp_path_factory, cases):
    text = [
        ":".join(",".join("?" if x is None else repr(x) for x in channel) for channel in case)
        for case in cases
    ]
    file = tmp_path_factory.mktemp("round") / "trip.ts"
    file.write_text("@classLabel false\n@data\n" + "\n".join(text))
    series, _ = read_ts(file)
    for one, case in zip(series, cases, strict=True):
        got = one.values.tolist()
        for row, channel in zip(got, case, strict=True):
            want = [NAN if x is None else x for x in channel] + [NAN] * 4
            np.testing.assert_array_equal(row, want[: len(row)])
            assert np.isnan(want[len(row) :]).all()


# ------------------------------------------------------------------ .ts with times


def test_ts_times_as_numbers_make_a_union(write):
    text = (
        TIMED + "(0,1),(1.5,2):(1,3),(1.5,?):7\n(2,5),(3,6):():8\n?:(4,1):9\n :( 5 , 1 ), (6,2):9"
    )
    series, targets = read_ts(write(text))
    assert_series(
        series,
        [[1, NAN, 2], [NAN, 3, NAN]],
        [[5, 6], [NAN, NAN]],
        [[NAN], [1]],
        [[NAN, NAN], [1, 2]],
    )
    assert [one.times.tolist() for one in series] == [[0, 1, 1.5], [2, 3], [4], [5, 6]]
    assert targets.tolist() == [7, 8, 9, 9]


def test_ts_times_as_datetimes(write):
    first = "(2011-04-05 10:00:00,1),(2011-04-05 10:00:30.5,2):(2011-04-05T10:00:10,3):7"
    second = "(2011-04-06,4):(2011-04-06 01:00,5):8"
    series, _ = read_ts(write(TIMED + first + "\n" + second + "\n"))
    assert series.time_origin == np.datetime64("2011-04-05T10:00:00")
    assert_series(series, [[1, NAN, 2], [NAN, 3, NAN]], [[4, NAN], [NAN, 5]])
    assert series[0].times.tolist() == [0, 10, 30.5]
    assert series[1].times.tolist() == [14 * 3600, 15 * 3600]


def test_ts_times_without_labels(write):
    text = "@timestamps true\n@classLabel false\n@data\n(2011-04-05 10:00:00,1):(2011-04-05,3)"
    series, labels = read_ts(write(text))
    assert labels is None
    assert_series(series, [[NAN, 1], [3, NAN]])


# ------------------------------------------------------------------ .ts that are broken


TS_REFUSALS = {
    "header": [
        ("@classLabel true a\n# only this\n", 3, "found no @data"),
        ("@classLabel true a\n1,2:a\n", 2, "expected a @tag or a # comment; got '1,2:a'. Is @data"),
        ("@timestamps maybe\n@data\n1", 1, "@timestamps must be true or false; got maybe"),
        ("@missing\n@data\n1", 1, "@missing must be true or false; got nothing"),
        ("@dimensions two\n@data\n1", 1, "@dimensions must be a whole number above 0; got two"),
        ("@dimensions 0\n@data\n1", 1, "above 0; got 0"),
        ("@classLabel true\n@data\n1:a", 1, "must be followed by the labels"),
        ("@\n@timestamps false\n@data\n1:a", 3, "@classLabel or @targetLabel must come before"),
        (HEADER, 5, "found no case after @data"),
    ],
    "cases": [
        (HEADER + "1:2:rest\n1,2:rest\n", 7, "expected 2 dimensions and then a label"),
        (HEADER + "1:2:3:rest\n", 6, "got 3 dimensions and the label 'rest'"),
        (HEADER + "1,2:3,4\n", 6, "got 1 dimensions and the label '3,4'"),
        (HEADER + "1,2\n", 6, "expected a label after the last ':'; got '1,2'"),
        (HEADER + "1:2:\n", 6, "expected a label after the last ':'"),
        (HEADER + "1:2:run\n", 6, "must be one of @classLabel: 'rest walk'; got 'run'"),
    ],
    "values": [
        (
            HEADER + "1:2:rest\n3,4:5,x6:walk\n",
            7,
            "channel 1 must hold finite numbers, .* got 'x6'",
        ),
        (HEADER + "1,,2:1:rest\n", 6, "channel 0 must .* got ''"),
        (HEADER + "1,2,:1:rest\n", 6, "channel 0 must .* got ''"),
        (HEADER + "1:2,3 4:rest\n", 6, "channel 1 must .* got '3 4'"),
        (HEADER + "1:1_0:rest\n", 6, "channel 1 must .* got '1_0'"),
        (HEADER + "1:-inf:rest\n", 6, "channel 1 must .* got '-inf'"),
        (HEADER + "1e999:1:rest\n", 6, "channel 0 must .* got '1e999'"),
        (HEADER + "1:٣:rest\n", 6, "channel 1 must .* got '٣'"),
        (HEADER + "1:2:rest\n?,?:?:walk\n", 7, "the case has no observation"),
        (HEADER + "::walk\n", 6, "the case has no observation"),
        (HEADER + "1:2:rest\n1,2:3,4:wal", 7, "got 'wal'.* The file ends within this line"),
        (HEADER + "1:2:rest\n1,2:3,-", 7, "The file ends within this line"),
        ("@equalLength true\n@classLabel false\n@data\n1,2:3,4\n1,2:3", 5, "channel 1 has 1 val"),
        ("@targetLabel true\n@data\n1:high\n", 3, "must be a number; got 'high'"),
        ("@targetLabel true\n@data\n1:?\n", 3, "must be a number; got '?'"),
    ],
    "times": [
        (TIMED + "(0,1),(0,2):():1\n", 5, "channel 0 must strictly increase; got 0 then 0"),
        (TIMED + "():(2,1),(1,2):1\n", 5, "channel 1 must strictly increase; got 2 then 1"),
        (TIMED + "(0,1):(noon,2):1\n", 5, "times of channel 1 must be all numbers or all ISO"),
        (TIMED + "(2011-04-05,1):(3,2):1\n", 5, "channel 1 must be all numbers .*; got '3'"),
        (TIMED + "(1066-10-14,1):():1\n", 5, "years 1678 to 2261; got '1066-10-14'"),
        (TIMED + "(now,1):():1\n", 5, "got 'now'"),
        (TIMED + "(2011-13-05,1):():1\n", 5, "got '2011-13-05'"),
        (TIMED + "(inf,1):():1\n", 5, "got 'inf'"),
        (TIMED + "(0,1,2):():1\n", 5, r"channel 0 must hold \(time,value\) pairs; got '0,1,2'"),
        (TIMED + "(0,1):5:1\n", 5, "channel 1 must hold .* pairs; got '5'"),
        (TIMED + "(0,1):(1):1\n", 5, "channel 1 must hold .* pairs; got '1'"),
        (TIMED + "(0,1):(1,a):1\n", 5, "channel 1 must hold finite numbers.* got 'a'"),
        (TIMED + "(0,1):(2011-04-05 10:00:00,3)", 5, "expected a label .* ends within this line"),
        (TIMED + "():?:1\n", 5, "the case has no observation"),
    ],
    "bytes": [
        (HEADER.encode() + b"1:2:\xe4\n", 6, "is not UTF-8 text. Save the file as UTF-8"),
        (b"\x89PNG\n\0\0", 2, "zero byte; this is no text file"),
        (HEADER.encode("utf-16"), 1, "zero byte"),
    ],
}


@pytest.mark.parametrize("part", TS_REFUSALS)
def test_ts_refusals(write, part):
    for text, line, message in TS_REFUSALS[part]:
        file = write(text)
        where = re.escape(f"{file}, line {line}: ")
        with pytest.raises(ValueError, match=f"(?s){where}.*{message}"):
            read_ts(file)


def test_ts_no_such_file(tmp_path, write):
    with pytest.raises(FileNotFoundError, match="there is no file .*nowhere.ts"):
        read_ts(tmp_path / "nowhere.ts")
    with pytest.raises(IsADirectoryError, match="is a folder; give the path of one file"):
        read_ts(tmp_path)
    with pytest.raises(ValueError, match=r"some.ts is empty"):
        read_ts(write(""))


# ------------------------------------------------------------------ agreement


@pytest.mark.parametrize("name", ["JapaneseVowels", "BasicMotions"])
def test_ts_agrees_with_aeon(name):
    datasets = pytest.importorskip("aeon.datasets")
    file = Path(datasets.__file__).parent / "data" / name / f"{name}_TRAIN.ts"
    values, labels = datasets.load_from_ts_file(str(file))
    series, got = read_ts(file)
    assert_series(series, *values)
    assert [label.lower() for label in got] == labels.tolist()  # aeon puts all in lower case


def token():
    digits = st.text("0123456789", min_size=1, max_size=20)
    parts = st.tuples(st.sampled_from(["", "-", "+"]), digits, st.sampled_from(["", "."]))
    exponent = st.integers(-330, 310).map("e{}".format) | st.sampled_from(["", "E+05", "e-7"])
    decimal = st.tuples(parts.map("".join), digits, exponent).map("".join)
    return decimal | numbers.map(repr) | st.sampled_from([" 1 ", ".5", "5.", "-0", "nan", "1e22"])


@settings(max_examples=300, deadline=None)
@given(tokens=st.lists(token(), min_size=1, max_size=8), separator=st.sampled_from(",:"))
def test_numbers_are_those_of_float_to_the_last_bit(tokens, separator):
    got = parse_numbers(separator.join(tokens), len(tokens))
    want = np.array([float(token) for token in tokens])
    assert got.tobytes() == want.tobytes()


@settings(max_examples=300, deadline=None)
@given(text=st.text("0159-+.e,:? nxaE_", max_size=8))
def test_what_is_no_number_is_not_taken_for_one(text):
    tokens = re.split("[,:]", text)
    try:
        want = [NAN if token.strip() == "?" else float(token) for token in tokens]
    except ValueError:
        want = None
    want = None if "_" in text else want
    got = parse_numbers(text, len(tokens))
    assert (got is None) == (want is None)
    if want is not None:
        np.testing.assert_array_equal(got, want)
    assert parse_numbers(text, len(tokens) + 1) is None
    assert len(tokens) == 1 or parse_numbers(text, len(tokens) - 1) is None


def test_instants():
    assert parse_instants([]).size == 0
    np.testing.assert_array_equal(parse_instants(["1", "b", "3"]), [1, NAN, 3])
    zoned = parse_instants(["2020-01-01T00:00:00Z", "2020-01-01 00:00:00+02:00"])
    assert zoned.tolist() == parse_instants(["2020-01-01 00:00:00", "2019-12-31 22:00:00"]).tolist()


# ------------------------------------------------------------------ tables

TABLE = """who,when,pulse,note,empty,outcome
b,2,0.1,x,,yes
a,1,?,y,,no
b,0.5,-3.3e-5,z,,yes
a,3,7,,,no
"""
OBSERVATIONS = "id\tat\twhat\tmuch\n1\t2020-01-01 00:00\tx\t5\n1\t2020-01-01 01:00\ty\t6\n"


@pytest.fixture(params=["pandas", "polars", "pyarrow"])
def library(request, monkeypatch):
    """Leave only one of the libraries that can read tables."""
    hide(monkeypatch, {"pandas", "polars", "pyarrow"} - {request.param})
    return request.param


def hide(monkeypatch, hidden):
    original = builtins.__import__

    def importer(name, where=None, *rest, **options):
        asker = (where or {}).get("__name__", "")
        if name.partition(".")[0] in hidden and asker == "genshapelets.datasets.tables":
            raise ImportError(name)
        return original(name, where, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", importer)


def test_table(write, library, tmp_path):
    for name in ("t.csv", "t.csv.gz", "t.tsv", "t.parquet", "T.CSV"):
        file = write_table(write, name, tmp_path)
        series, labels = read_table(file, series="who", time="when", label="outcome")
        assert series.channel_names == ("pulse", "empty")
        assert series.series_ids.tolist() == ["b", "a"] and labels.tolist() == ["yes", "no"]
        assert_series(series, [[-3.3e-5, 0.1], [NAN] * 2], [[NAN, 7], [NAN] * 2])
        assert series[0].times.tolist() == [0.5, 2]


def write_table(write, name, tmp_path):
    if name.endswith("parquet"):
        file = tmp_path / name
        data = {
            "who": list("baba"),
            "when": [2.0, 1.0, 0.5, 3.0],
            "pulse": [0.1, None, -3.3e-5, 7.0],
        }
        data |= {"note": ["x", "y", "z", None], "empty": [None] * 4, "outcome": ["yes", "no"] * 2}
        pl.DataFrame(data).write_parquet(file)
    else:
        text = TABLE.replace(",", "\t" if "tsv" in name else ",").encode()
        file = write(gzip.compress(text) if name.endswith("gz") else text, name)
    return file


def test_table_of_observations_with_datetimes(write, library):
    file = write(OBSERVATIONS, "o.tsv")
    series, labels = read_table(file, series="id", time="at", variable="what", value="much")
    assert labels is None
    assert series.time_origin == np.datetime64("2020-01-01")
    assert_series(series, [[5, NAN], [NAN, 6]])
    assert series[0].times.tolist() == [0, 3600]


def test_table_numbers_and_zones_are_read_alike(write, library):
    rng = np.random.default_rng(0)
    values = rng.normal(size=200) * 10.0 ** rng.integers(-8, 8, 200)
    rows = "".join(
        f"0,2020-01-01T00:{i // 60:02}:{i % 60:02}Z,{x!r},{i}\n"
        for i, x in enumerate(values.tolist())
    )
    file = write("\ufeffs,t,x,y\n" + rows, "n.csv")
    series, _ = read_table(file, series="s", time="t", channels="x")
    np.testing.assert_array_equal(series[0].values[0], values)
    assert series.time_origin == np.datetime64("2020-01-01")
    assert series[0].times[-1] == 199


def test_table_labels_may_be_numbers_and_series_the_index_of_a_frame(tmp_path):
    file = tmp_path / "t.parquet"
    frame = pd.DataFrame(
        {"s": [7, 7, 3], "t": [0, 1, 0], "x": [1.0, 2.0, 3.0], "y": [0.5, 0.5, 1.5]}
    )
    frame.set_index("s").to_parquet(file)
    series, labels = read_table(file, series="s", time="t", label="y")
    assert series.series_ids.tolist() == [7, 3] and labels.tolist() == [0.5, 1.5]
    assert series.channel_names == ("x",)


def test_table_with_nulls_of_pandas(tmp_path):
    file = tmp_path / "t.parquet"
    columns = {"s": ["a"] * 3, "t": [0, 1, 2], "x": pd.array([1, None, 3], "Int64")}
    columns |= {
        "on": pd.array([True, None, False], "boolean"),
        "y": pd.array(["u", None, "u"], "string"),
    }
    pd.DataFrame(columns).to_parquet(file)
    series, _ = read_table(file, series="s", time="t")
    assert series.channel_names == ("x", "on")
    assert_series(series, [[1, NAN, 3], [1, NAN, 0]])
    with pytest.raises(ValueError, match="'y' of .* must not have nulls; got one in row 1"):
        read_table(file, series="s", time="t", label="y")


def test_table_refusals(write):
    columns = {"series": "who", "time": "when", "label": "outcome"}
    for change, options, message in (
        (None, {"time": "wen"}, r"has no column 'wen'; its columns are \['who', .* mean 'when'\?"),
        (
            None,
            {"channels": ["zzz"]},
            r"has no column 'zzz'; its columns are \['who'.*'outcome'\]\.$",
        ),
        (None, {"channels": ["pulse"], "label": "outcom"}, "mean 'outcome'"),
        (("b,0.5,-3.3e-5,z,,yes", "b,0.5,1,z,,no"), {}, "got 'yes' and 'no' in series 'b'"),
        (("a,3,7,,,no", "a,3,7,,,"), {}, r"must not have nulls; got one in row 3 .* series 'a'"),
        (("a,1,", "a,noon,"), {}, r"'when' of .* got 'noon' in row 1 \(counted from 0\)"),
        (("b,2,", "b,2 May,"), {}, r"got '2 May' in row 0"),
        (("a,1,", "a,,"), {}, "column 'when' must not have nulls; got one in row 1"),
        (("a,3,7,", "a,3,7x,"), {}, r"'pulse' of .* must hold numbers only; got '7x' in row 3"),
        (("a,1,?,y,,no", "a,1,?,y,,no,7,8"), {}, "could not be read as a text table"),
    ):
        file = write(TABLE.replace(*change) if change else TABLE, "t.csv")
        with pytest.raises(ValueError, match=message):
            read_table(file, **(columns | options))


def test_table_without_numbers(write):
    with pytest.raises(ValueError, match="has no column of numbers besides"):
        read_table(write("s,t,x\na,1,b\n", "t.csv"), series="s", time="t")


def test_broken_table_files(write, tmp_path, library):
    for name, content in [("t.parquet", b"no"), ("t.parquet", b"PAR1" * 9), ("t.csv.gz", b"no")]:
        with pytest.raises(ValueError):
            read_table(write(content, name), series="s", time="t")
    panics = Path(__file__).parent / "corpus" / "damaged-page-at-which-polars-panics.parquet"
    with pytest.raises(ValueError, match=f"{panics.name} could not be read as a Parquet table: "):
        read_table(panics, series="who", time="when")
    for name in ("t.csv", "t.csv.gz"):
        content = b"s,t,x\na,1,1\0002\n"
        content = gzip.compress(content) if name.endswith("gz") else content
        with pytest.raises(
            ValueError, match=f"{name} could not be read as a text table: it has zero"
        ):
            read_table(write(content, name), series="s", time="t")
    with pytest.raises(ValueError, match="is empty"):
        read_table(write("", "e.csv"), series="s", time="t")
    with pytest.raises(FileNotFoundError, match="there is no file"):
        read_table(tmp_path / "none.csv", series="s", time="t")
    with pytest.raises(ValueError, match=r"must be a .csv, .* or .parquet file; got .*t.xls"):
        read_table(write("1", "t.xls"), series="s", time="t")


def test_table_without_a_library(write, monkeypatch):
    hide(monkeypatch, {"pandas", "polars", "pyarrow"})
    with pytest.raises(ImportError, match="needs pandas, polars or pyarrow: pip install"):
        read_table(write(TABLE, "t.csv"), series="who", time="when")


def test_read_chooses_by_name(write):
    series, labels = read(write(HEADER + "1:2:rest", "x.TS"))
    assert labels.tolist() == ["rest"]
    series, labels = read(write(TABLE, "t.csv"), series="who", time="when", label="outcome")
    assert labels.tolist() == ["yes", "no"]
    with pytest.raises(ValueError, match=r"must end in .ts, .csv, .*; got .*x.arff"):
        read(write("1", "x.arff"))
    with pytest.raises(TypeError, match="without options; got series"):
        read("x.ts", series="s")
    with pytest.raises(TypeError, match="a table needs time="):
        read("x.csv", series="s")


# ------------------------------------------------------------------ planted patterns


def at_truth(planted, i, shape):
    """Values of the shape's channel where it was planted, and what they should be for height 1."""
    one = planted.series[i]
    phase = (one.times - planted.starts[i]) / planted.length
    seen = (phase >= 0) & (phase <= 1) & ~np.isnan(one.values[planted.channel])
    knots = np.linspace(0, 1, planted.patterns.shape[1])
    return one.values[planted.channel][seen], np.interp(phase[seen], knots, planted.patterns[shape])


def test_planted_pattern_is_where_it_is_said_to_be():
    planted = planted_pattern(
        60, n_channels=3, n_classes=4, channel=1, missing=0.2, height=(0.5, 1.5), random_state=3
    )
    assert np.ptp(planted.heights[planted.labels > 0]) > 0.5
    assert np.bincount(planted.labels).tolist() == [15] * 4
    assert planted.patterns.shape == (3, 17)
    assert not planted.patterns[:, [0, -1]].any()
    for i, label in enumerate(planted.labels):
        assert (label == 0) == np.isnan(planted.starts[i]) == (planted.heights[i] == 0)
        if label:
            values, shape = at_truth(planted, i, label - 1)
            assert np.corrcoef(values, shape)[0, 1] > 0.98
            assert values @ shape / (shape @ shape) == pytest.approx(planted.heights[i], abs=0.1)
    series = planted.series
    assert series.n_channels == 3 and len(set(series.lengths.tolist())) > 10
    assert np.isnan(series.values).mean() == pytest.approx(0.2, abs=0.02)


def test_planted_pattern_is_reproducible_and_tunable():
    one, same, other = (planted_pattern(6, random_state=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.series.values, same.series.values)
    assert one.series.values[0] != other.series.values[0]
    clean = planted_pattern(8, noise=0.0, length=2.0, n_times=(50, 50))
    for i in np.flatnonzero(clean.labels):
        np.testing.assert_allclose(*at_truth(clean, i, 0), atol=1e-12)
    sparse = planted_pattern(50, missing=0.999)  # each series keeps an observation
    assert len(sparse.series) == 50


def test_planted_pattern_refusals():
    for options, message in (
        ({"n_classes": 1}, "n_classes must be from 2"),
        ({"n_classes": 8}, "to 7; got 8"),
        ({"channel": 1}, "channel must be one of the 1 channels"),
        ({"missing": 1.0}, "missing must be a share"),
        ({"n_times": (10, 10)}, "n_times must leave room for a shape of length 3.0"),
    ):
        with pytest.raises(ValueError, match=message):
            planted_pattern(4, **options)


@pytest.mark.parametrize(
    "noted", [b"{broken", b"{}", b'{"index_columns": ["gone"]}', b"[1]", b"\xff"]
)
def test_parquet_is_read_although_what_pandas_notes_in_it_is_damaged(tmp_path, noted):
    whole = pd.DataFrame({"s": ["a", "a", "b"], "t": [0, 1, 0], "x": [1.0, 2.0, 3.0]})
    table = pa.Table.from_pandas(whole)
    file = tmp_path / "t.parquet"
    pa.parquet.write_table(table.replace_schema_metadata({b"pandas": noted}), file)
    series, _ = read_table(file, series="s", time="t")
    assert series.series_ids.tolist() == ["a", "b"] and series.values[:, 0].tolist() == [1, 2, 3]


def test_rows_with_more_cells_than_names_are_refused(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("s,t,x\na,0,1,2\na,1,2,3\n")
    with pytest.raises(ValueError, match="more cells than its first line has names"):
        read_table(file, series="s", time="t")
