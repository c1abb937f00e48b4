"""A batch in a notebook: its table and its plot."""

import sys
from html.parser import HTMLParser

import numpy as np
import pytest

from genshapelets import RaggedSeries

NAN = np.nan
DAYS = np.array(["2020-01-01", "2020-01-02", "2020-01-05"], dtype="datetime64[D]")
VALUES = [[[1.0, NAN, 3.0], [4.0, 5.0, NAN]], [[NAN, NAN, 7.0], [8.0, 9.0, 9.5]]]


class Reader(HTMLParser):
    """Checks that every element is closed, and keeps what the cells say."""

    def __init__(self, page):
        super().__init__()
        self.open, self.cells = [], []
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.cells.append(data)


def test_table():
    series = RaggedSeries.from_arrays(
        VALUES, DAYS, channel_names=["<i>hr", "temp"], series_ids=["<b>anna", "ben"]
    )
    summary, *cells = Reader(series._repr_html_()).cells
    assert summary == (
        "RaggedSeries: 2 series, 2 channels (<i>hr, temp), 3 times each, from 2020-01-01 00:00:00 to "
        "2020-01-05 00:00:00, 33.3 % of values missing, float64"
    )
    assert cells == [
        "series", "times", "first", "last", "missing",
        "<b>anna", "3", "2020-01-01 00:00:00", "2020-01-05 00:00:00", "33.3 %",
        "ben", "3", "2020-01-01 00:00:00", "2020-01-05 00:00:00", "33.3 %",
    ]  # fmt: skip


def test_table_of_many_and_of_one():
    many = Reader(RaggedSeries.from_arrays(np.ones((30, 9, 4)), np.arange(4) / 8)._repr_html_())
    assert many.cells[0].startswith(
        "RaggedSeries: 30 series, 9 channels, 4 times each, from 0 to 0.375"
    )
    assert many.cells[-6:] == ["4", "4", "0", "0.375", "0 %", "…"]
    one = Reader(RaggedSeries.from_arrays(np.ones((1, 1, 1)))._repr_html_())
    assert "1 series, 1 channel, 1 time each, from 0 to 0" in one.cells[0]
    names = [f"c{d}" for d in range(9)]
    named = RaggedSeries.from_arrays(np.ones((1, 9, 1)), channel_names=names)
    assert "9 channels (c0, c1, c2, c3, c4 and 4 more)" in Reader(named._repr_html_()).cells[0]


@pytest.fixture
def plt():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")


def test_plot_shows_what_was_observed_and_no_more(plt):
    axes = RaggedSeries.from_arrays(VALUES, [0.0, 1.0, 4.0]).plot(series=0)
    assert [ax.get_ylabel() for ax in axes] == ["channel 0", "channel 1"]
    gap, line = axes[0].get_lines()
    assert gap.get_linestyle() == ":" and gap.get_xdata().tolist() == [0, 4]
    np.testing.assert_array_equal(line.get_ydata(), [1, NAN, 3])
    assert line.get_markevery() == [0, 2]
    (line,) = axes[1].get_lines()  # nothing is missing between its observations
    assert line.get_markevery() == [0, 1] and axes[0].get_legend() is None


def test_plot_of_long_series_has_dots_only_where_there_is_no_line(plt):
    x = np.arange(500.0)
    x[[100, 102]] = NAN
    (ax,) = RaggedSeries.from_arrays([[x]]).plot()
    assert ax.get_lines()[1].get_markevery() == [101]


def test_choice_of_series_channels_and_axes(plt):
    names = [f"c{d}" for d in range(9)]
    series = RaggedSeries.from_arrays(np.ones((30, 9, 4)), channel_names=names)
    axes = series.plot()
    assert len(axes) == 6 and [len(ax.get_lines()) for ax in axes] == [4] * 6
    axes = series.plot(series=[29, np.int64(3)], channels=("c8", 1))
    assert [ax.get_ylabel() for ax in axes] == ["c8", "c1"]
    assert [text.get_text() for text in axes[0].get_legend().get_texts()] == ["29", "3"]
    _, own = plt.subplots()
    assert series.plot(channels="c2", ax=own)[0] is own and own.get_ylabel() == "c2"
    dates = RaggedSeries.from_arrays(VALUES, DAYS).plot(channels=1)
    assert dates[0].get_lines()[0].get_xdata().dtype.kind == "M"


def test_series_are_drawn_by_id(plt):
    series = RaggedSeries.from_arrays(VALUES, series_ids=["p7", "p3"])
    for asked, want in (("p3", ["p3"]), (["p3", 0], ["p3", "p7"]), (np.array(["p7"]), ["p7"])):
        legend = series.plot(series=asked)[0].get_legend()
        assert [text.get_text() for text in legend.get_texts()] == want
    with pytest.raises(ValueError, match="no series 'p9'; there are 'p7', 'p3'"):
        series.plot(series="p9")
    numbered = RaggedSeries.from_arrays(VALUES, series_ids=[70, 30])
    assert numbered.plot(series=30)[0].get_legend().get_texts()[0].get_text() == "30"


def test_one_series_shows_itself():
    one = RaggedSeries.from_arrays([[[1.0, NAN, 3.0, 4.0]]])[0]
    assert (
        repr(one) == "OneSeries(1 channel, 4 times from 0 to 3, 25.0 % of values missing, float64)"
    )


def test_refused_plots(plt, monkeypatch):
    series = RaggedSeries.from_arrays(VALUES, channel_names=["a", "b"])
    for choice, error, message in (
        ({"series": 2}, IndexError, "series must be a whole number from 0 to 1; got 2"),
        ({"channels": [2]}, IndexError, "channel must be a whole number from 0 to 1"),
        ({"channels": "c"}, ValueError, "no channel 'c'; there are a, b"),
        ({"ax": plt.subplots()[1]}, ValueError, "axes must hold 2 axes; got 1"),
    ):
        with pytest.raises(error, match=message):
            series.plot(**choice)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'genshapelets\[plot\]'"):
        series.plot()
