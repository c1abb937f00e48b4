"""RaggedSeries: a batch of time series, each with its own times, with values missing anywhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import DOUBLE_EPS, flatten, listed, match_times, offsets_of, precision_of
from .checks import NANOSECONDS, Rows, as_names, check_sizes, check_values, checked_times
from .columns import as_floats
from .labelled import as_ids, is_labelled, read_labelled, refuse_long
from .shown import count
from .static import as_categories, read_static
from .tables import only_observed, read_long


class OneSeries(NamedTuple):
    """One series of a batch: times (n_times,) and values (n_channels, n_times), NaN = missing."""

    times: NDArray[np.float64]
    values: NDArray[Any]

    def __repr__(self) -> str:
        return (
            f"OneSeries({count(len(self.values), 'channel')}, {count(len(self.times), 'time')} from "
            f"{self.times[0]:g} to {self.times[-1]:g}, {np.isnan(self.values).mean():.1%} of values "
            f"missing, {self.values.dtype})"
        ).replace("%", " %")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RaggedSeries:
    """A batch of series of differing lengths, in flat arrays.

    Series i is the rows ``row_offsets[i]:row_offsets[i + 1]`` of `times` and `values`. Make one by
    `from_arrays` or `from_long`, which check the data; the constructor itself trusts its arguments.
    All arrays are read-only.

    Attributes
    ----------
    times : (n_rows,) float64
        Strictly increasing within each series. Seconds since `time_origin` if the times are
        datetimes.
    values : (n_rows, n_channels) float32 or float64
        NaN = not observed. At least one value of each series is observed. A time at which nothing
        is observed is kept here but is no observation: `interpolate` leaves it out, unless it is a
        point of the lattice inside a regularly sampled series. So series may be padded by NaN.
    row_offsets : (n_series + 1,) int64
    time_precision : (n_series,) float64
        Relative rounding of each series' times as they were given: eps of their dtype.
    channel_names : tuple of str, or None
    series_ids : (n_series,) array, or None
        The labels of the series in the long table they were read from.
    time_origin : numpy.datetime64 (ns), or None
        If the times are datetimes, the earliest one of the batch as it was made (a selection keeps
        it); None if they are numbers.
    static : dict of (n_series,) arrays, or None
        What is known of each series as a whole, by name: float64, or text (object; None = missing).
        See `with_static`.

    Examples
    --------
    >>> import numpy as np
    >>> series = RaggedSeries.from_arrays(
    ...     [[[1.0, np.nan, 3.0]], [[5.0, 6.0]]], times=[[0.0, 0.5, 2.0], [1.0, 4.0]]
    ... )
    >>> series
    RaggedSeries(2 series, 1 channel, 2 to 3 times each, 20.0 % of values missing, float64)
    >>> series.row_offsets
    array([0, 3, 5])
    >>> series[1].times, series[1].values
    (array([1., 4.]), array([[5., 6.]]))
    >>> {name: column.tolist() for name, column in series[1:].to_long().items()}
    {'series': [0, 0], 'time': [1.0, 4.0], 'channel_0': [5.0, 6.0]}
    """

    times: NDArray[np.float64]
    values: NDArray[Any]
    row_offsets: NDArray[np.int64]
    time_precision: NDArray[np.float64]
    channel_names: tuple[str, ...] | None = None
    series_ids: NDArray[Any] | None = None
    time_origin: np.datetime64 | None = None
    static: Mapping[str, NDArray[Any]] | None = None

    def __post_init__(self) -> None:
        for name in ("times", "values", "row_offsets", "time_precision", "series_ids"):
            array = getattr(self, name)
            if array is not None:
                array = array.view()  # so that the caller's own array stays writeable
                array.flags.writeable = False
                object.__setattr__(self, name, array)

    def __setstate__(self, state: dict[str, Any]) -> None:
        RaggedSeries.__init__(self, **state)  # a pickle forgets that arrays are read-only

    # Making a batch

    @classmethod
    def from_arrays(
        cls,
        values: Any,
        times: Any = None,
        *,
        channel_names: Sequence[str] | None = None,
        series_ids: Iterable[Any] | None = None,
    ) -> RaggedSeries:
        """Make a batch from arrays of values and of times, or from data that name theirs.

        Parameters
        ----------
        values : (n_series, n_channels, n_times) or sequence of (n_channels, n_times_i) arrays
            NaN, or masked, = not observed. float32 stays float32, other numbers become float64. Or
            one of these, whose names are read, too:

            - a sequence of dataframes, or a dict of them by id: times down the rows, channels across.
              Times are a column of dates or one named "time" or the like, else the index of pandas;
              rows of others are counted 0, 1, 2, …;
            - a pandas frame with an index of two levels, series and time, or time and series if
              their names or types say so;
            - a pandas frame with a vector in each cell: a row for each series, a column for each
              channel;
            - an array of xarray with dimensions named case, time and channel, in any order.
        times : None, (n_times,), (n_series, n_times), or sequence of (n_times_i,) vectors
            None counts 0, 1, 2, …; one vector is shared by all series. Numbers or datetimes.
        channel_names : sequence of n_channels str, optional
        series_ids : sequence of n_series labels, optional

        Examples
        --------
        >>> RaggedSeries.from_arrays(np.zeros((4, 2, 10)), times=np.linspace(0, 1, 10))
        RaggedSeries(4 series, 2 channels, 10 times each, 0.0 % of values missing, float64)
        """
        if is_labelled(values):
            own = read_labelled(values)
            values = own.values
            times = own.times if times is None else times
            channel_names = own.channel_names if channel_names is None else channel_names
            series_ids = own.series_ids if series_ids is None else series_ids
        else:
            refuse_long(values)
        arrays = listed(values, "values")
        if arrays is None:
            array = as_floats(values, "values")
            if array.ndim != 3:
                given = "values.to_numpy()" if hasattr(values, "columns") else "values"
                raise ValueError(
                    "values must be a (n_series, n_channels, n_times) array or a list of "
                    f"(n_channels, n_times) arrays; got an array of shape {array.shape}. "
                    f"Use {given}[:, None, :] for univariate series, one in each row, "
                    f"or {given}[None] for a single (n_channels, n_times) series."
                )
            n_series, n_channels, n_times = array.shape
            lengths = np.full(n_series, n_times, np.int64)
            flat = np.empty((n_series * n_times, n_channels), array.dtype)
            flat.reshape(n_series, n_times, n_channels)[...] = array.transpose(0, 2, 1)
        else:
            flat, lengths = flatten(arrays)
        instants, time_precision = match_times(times, lengths)
        return cls._checked(
            instants,
            flat,
            offsets_of(lengths),
            time_precision=time_precision,
            channel_names=channel_names,
            series_ids=None if series_ids is None else as_ids(series_ids),
        )

    @classmethod
    def from_long(
        cls,
        frame: Any,
        *,
        series: str | None = None,
        time: str | None = None,
        channels: Sequence[str] | None = None,
        variable: str | None = None,
        value: str | None = None,
        aggregate: Literal["mean", "median", "first", "last", "min", "max", "sum"] | None = None,
    ) -> RaggedSeries:
        """Make a batch from a long table.

        Either with one row for each (series, time) and one column for each channel
        (``channels=[…]``), or with one row for each observation (``variable=`` and ``value=``).
        Rows may come in any order; the series are numbered by first appearance. Series without any
        observation are left out, with a warning; `series_ids` says who is there.

        Parameters
        ----------
        frame : dataframe or dict
            pandas, polars, pyarrow, anything with ``__arrow_c_stream__`` or ``__dataframe__``, or a
            dict of vectors.
        series, time : str
            Names of the columns (or levels of a pandas index) that say which series, and when: numbers,
            datetimes or dates (datetimes with a zone become UTC), or pandas periods, which count from
            their start. If they are not given: the levels of the index, the
            time second unless names or types say that it is first.
        channels : sequence of str
            The columns of values; all others if series and time are taken from the index. With
            `variable`: the variables to take, in this order (others are left out; one that is nowhere
            in the table is a channel without observations); by default all of them, sorted.
        variable, value : str
            Names of the columns that say which channel, and its value.
        aggregate : str, optional
            What becomes of several observations of the same series, time and channel. Without, they
            are refused. Missing ones do not count; "first" and "last" are by the order of rows.

        Examples
        --------
        >>> table = {"who": ["a", "b", "a"], "when": [3, 1, 2], "hr": [80.0, 60.0, np.nan]}
        >>> batch = RaggedSeries.from_long(table, series="who", time="when", channels=["hr"])
        >>> batch.series_ids.tolist(), batch[0].times, batch[0].values
        (['a', 'b'], array([2., 3.]), array([[nan, 80.]]))
        """
        chosen = None if channels is None else as_names(channels, "channels")
        table = only_observed(read_long(frame, series, time, chosen, variable, value, aggregate))
        return cls._checked(
            table.instants,
            table.values,
            offsets_of(table.lengths),
            time_precision=precision_of(len(table.lengths), table.instants),
            channel_names=table.channels,
            series_ids=table.series_ids,
        )

    @classmethod
    def concatenate(cls, batches: Iterable[RaggedSeries]) -> RaggedSeries:
        """Join batches with the same channels into one, in order.

        Identifiers are kept if every batch has them. Datetimes are counted anew from the earliest
        origin.

        Examples
        --------
        >>> ones = RaggedSeries.from_arrays(np.ones((1, 2, 3)))
        >>> len(RaggedSeries.concatenate([ones, ones]))
        2
        """
        parts = list(batches)
        if not parts:
            raise ValueError("a batch needs at least one series; got no batches to concatenate.")
        first = parts[0]
        for i, part in enumerate(parts):
            if (part.n_channels, part.channel_names) != (first.n_channels, first.channel_names):
                raise ValueError(
                    f"batches must have the same channels; batch {i} has {part.n_channels} named "
                    f"{part.channel_names}, batch 0 has {first.n_channels} named "
                    f"{first.channel_names}. Select and name the channels alike."
                )
            if (part.time_origin is None) != (first.time_origin is None):
                raise ValueError(
                    f"batches 0 and {i} must both have datetimes or both have numbers as times. "
                    "Convert one of them before making the batch."
                )
        names = [tuple(part.static or ()) for part in parts]
        if len(set(names)) > 1:
            raise ValueError(
                f"batches must have the same static covariates; got {names}. Add them to all, or "
                "leave them out with dataclasses.replace(batch, static=None)."
            )
        static = None
        if names[0]:
            columns = [part.static or {} for part in parts]
            static = {}
            for name in names[0]:
                each = [some[name] for some in columns]
                if len({column.dtype for column in each}) > 1:
                    each = [as_categories(column) for column in each]
                static[name] = np.concatenate(each)
        ids = [part.series_ids for part in parts if part.series_ids is not None]
        if len({array.dtype.kind for array in ids}) > 1:
            ids = [array.astype(object) for array in ids]
        joined = cls._checked(
            np.concatenate([part.to_user_time(part.times) for part in parts]),
            np.concatenate([part.values for part in parts]),
            offsets_of(np.concatenate([part.lengths for part in parts])),
            time_precision=np.concatenate([part.time_precision for part in parts]),
            channel_names=first.channel_names,
            series_ids=np.concatenate(ids) if len(ids) == len(parts) else None,
        )
        return replace(joined, static=static)

    @classmethod
    def _checked(
        cls,
        instants: NDArray[Any],
        values: NDArray[Any],
        row_offsets: NDArray[np.int64],
        *,
        time_precision: NDArray[np.float64],
        channel_names: Sequence[str] | None = None,
        series_ids: NDArray[Any] | None = None,
    ) -> RaggedSeries:
        """Check everything that a batch promises, count datetimes in seconds, and make it."""
        if channel_names is not None:
            channel_names = tuple(map(str, as_names(channel_names, "channel_names")))
        rows = Rows(row_offsets, series_ids)
        check_sizes(rows, values.shape[1], channel_names)
        times, time_origin = checked_times(instants, rows)
        check_values(values, rows, channel_names)
        return cls(
            times=times,
            values=values,
            row_offsets=row_offsets,
            time_precision=time_precision,
            channel_names=channel_names,
            series_ids=series_ids,
            time_origin=time_origin,
        )

    def with_static(self, static: Any, *, by: str | None = None) -> RaggedSeries:
        """The same series with what is known of each as a whole, such as age or sex.

        Estimators weigh these beside the shapelets.

        Parameters
        ----------
        static : dataframe, dict of vectors, or (n_series, n_covariates) array
            One row for each series. Numbers (NaN = missing) stay numbers; text, and what is of a
            categorical type, are categories.
        by : str, optional
            Column of a table that names the series, as `series_ids` do; rows may then be in any
            order. By default the index of a pandas frame does, unless it just counts rows; other
            tables are in the order of the series. A column that looks like the names of series
            is refused as a covariate.

        Examples
        --------
        >>> series = RaggedSeries.from_arrays(np.zeros((2, 1, 9)))
        >>> series.with_static({"age": [61, 47], "sex": ["F", None]}).static
        {'age': array([61., 47.]), 'sex': array(['F', None], dtype=object)}
        """
        return replace(self, static=read_static(static, by, self.n_series, self.series_ids))

    # Reading a batch

    @property
    def n_series(self) -> int:
        """Number of series."""
        return len(self.row_offsets) - 1

    @property
    def shape(self) -> tuple[int]:
        """(n_series,): with it scikit-learn splits a batch as it splits an array."""
        return (self.n_series,)

    @property
    def n_channels(self) -> int:
        """Number of channels."""
        return int(self.values.shape[1])

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of times of each series, (n_series,)."""
        return np.diff(self.row_offsets)

    @property
    def spans(self) -> NDArray[np.float64]:
        """Last minus first time of each series, (n_series,)."""
        return self.times[self.row_offsets[1:] - 1] - self.times[self.row_offsets[:-1]]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values: float32 or float64."""
        return self.values.dtype

    def __len__(self) -> int:
        return self.n_series

    def __iter__(self) -> Iterator[OneSeries]:
        return (self[i] for i in range(self.n_series))

    @overload
    def __getitem__(self, key: int) -> OneSeries: ...
    @overload
    def __getitem__(self, key: slice | ArrayLike) -> RaggedSeries: ...
    def __getitem__(self, key: Any) -> OneSeries | RaggedSeries:
        """Return one series (views) for an int; a batch for a slice, a list of ints or a mask."""
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            key = key[0]  # as scikit-learn selects rows
        if isinstance(key, int | np.integer) and not isinstance(key, bool):
            if not -self.n_series <= key < self.n_series:
                raise IndexError(f"series {key} is out of range; the batch has {self.n_series}.")
            start, stop = self.row_offsets[key % self.n_series :][:2]
            return OneSeries(self.times[start:stop], self.values[start:stop].T)
        if not isinstance(key, slice):
            key = np.asarray(key)
            if key.ndim != 1:
                raise TypeError(
                    "a batch is indexed by an int, a slice, a list of ints or a mask; "
                    f"got an array of {key.ndim} dimensions."
                )
            key = key if key.size else np.empty(0, int)
        chosen = np.arange(self.n_series)[key]
        if chosen.size == 0:
            raise ValueError("a batch needs at least one series; the selection is empty.")
        starts = self.row_offsets[chosen]
        row_offsets = offsets_of(self.lengths[chosen])
        rows: Any
        if isinstance(key, slice) and key.step in (None, 1):
            rows = slice(starts[0], starts[0] + row_offsets[-1])  # a view
        else:
            rows = np.repeat(starts - row_offsets[:-1], np.diff(row_offsets))
            rows += np.arange(row_offsets[-1])
        return replace(
            self,
            times=self.times[rows],
            values=self.values[rows],
            row_offsets=row_offsets,
            time_precision=self.time_precision[chosen],
            series_ids=None if self.series_ids is None else self.series_ids[chosen],
            static=None
            if self.static is None
            else {name: column[chosen] for name, column in self.static.items()},
        )

    def __repr__(self) -> str:
        shortest, longest = self.lengths.min(), self.lengths.max()
        times = f"{longest}" if shortest == longest else f"{shortest} to {longest}"
        return (
            f"RaggedSeries({self.n_series} series, "
            f"{self.n_channels} channel{'s' if self.n_channels > 1 else ''}, "
            f"{times} time{'s' if longest > 1 else ''} each, "
            f"{np.isnan(self.values).mean():.1%} of values missing, {self.dtype})"
        ).replace("%", " %")

    def _repr_html_(self) -> str:
        from .showing import as_html

        return as_html(self)

    def plot(self, series: Any = None, channels: Any = None, ax: Any = None) -> NDArray[Any]:
        """Draw some of the series, an axes for each channel.

        Dots are observations; dotted lines lead over times at which the channel was not observed.

        Parameters
        ----------
        series : int, id, or list of them, optional
            Which series, by position or, if no position is meant, by `series_ids`; by default the
            first four.
        channels : str, int, or list of them, optional
            Which channels, by name or number; by default the first six.
        ax : matplotlib axes, optional
            One for each channel; by default those of a new figure.

        Returns
        -------
        array of matplotlib axes
        """
        from .explain.plot_batch import plot_batch

        return plot_batch(self, series, channels, ax)

    def to_user_time(self, t: Any) -> Any:
        """Return times of this batch as the user gave them: datetime64[ns], or `t` itself.

        Parameters
        ----------
        t : float or array
            Seconds since `time_origin`; returned as it is if the batch has no origin.

        Examples
        --------
        >>> days = np.array(["2020-01-01", "2020-01-03"], dtype="datetime64[D]")
        >>> RaggedSeries.from_arrays(np.ones((1, 1, 2)), days).to_user_time(0.5)
        np.datetime64('2020-01-01T00:00:00.500000000')
        """
        if self.time_origin is None:
            return t
        seconds = np.asarray(t, np.float64)
        whole = np.floor(seconds)  # taken apart, so that the product does not round
        fraction = np.rint((seconds - whole) * NANOSECONDS)
        return self.time_origin + whole.astype("m8[s]") + fraction.astype("m8[ns]")

    def to_long(self) -> dict[str, NDArray[Any]]:
        """Return the batch as the columns of a table: series, time, then one for each channel.

        ``pandas.DataFrame(batch.to_long())`` or ``polars.DataFrame(batch.to_long())`` makes it a
        dataframe, and `from_long` reads it back without loss; `static`, which is of whole series, has a
        table of its own: `static_to_pandas`.

        Returns
        -------
        dict of (n_rows,) arrays
            "series" (`series_ids`, or 0, 1, …), "time" (datetimes if the batch has an origin), and
            a column named by `channel_names`, or "channel_0", "channel_1", ….
        """
        names = self.channel_names or tuple(f"channel_{i}" for i in range(self.n_channels))
        for name in ("series", "time"):
            if name in names:
                raise ValueError(f"a channel must not be named {name!r} in a table. Rename it.")
        times = self.to_user_time(self.times)
        if self.time_precision.min() > DOUBLE_EPS and (times == times.astype(np.float32)).all():
            times = times.astype(np.float32)
        columns = {"series": np.repeat(self._labels(), self.lengths), "time": times}
        return columns | dict(zip(names, self.values.T.copy(), strict=True))

    def to_pandas(self) -> Any:
        """Return the batch as a pandas frame with an index (series, time) and a column for each channel.

        `from_long` and `from_arrays` read it back without loss; so do the estimators. `static` has a
        frame of its own: `static_to_pandas`.

        Returns
        -------
        pandas.DataFrame
            As `to_long` names them.

        Examples
        --------
        >>> batch = RaggedSeries.from_arrays([[[1.0, 2.0]]], [[0.5, 3.0]], channel_names=["hr"])
        >>> batch.to_pandas()
                      hr
        series time
        0      0.5   1.0
               3.0   2.0
        """
        pandas = _pandas("to_pandas", "to_long")
        return pandas.DataFrame(self.to_long()).set_index(["series", "time"])

    def static_to_pandas(self) -> Any:
        """Return what is known of each series as a whole, as a pandas frame with a row for each.

        `with_static`, and ``static=`` of the estimators, read it back without loss.

        Returns
        -------
        pandas.DataFrame
            Indexed by series, as that of `to_pandas` is.

        Examples
        --------
        >>> batch = RaggedSeries.from_arrays([[[1.0, 2.0]], [[3.0, 4.0]]], series_ids=["a", "b"])
        >>> batch.with_static({"age": [61, 47], "sex": ["F", "M"]}).static_to_pandas()
                 age sex
        series
        a       61.0   F
        b       47.0   M
        """
        if self.static is None:
            raise ValueError(
                "nothing is known of these series as a whole. "
                "Give it by series.with_static(frame) first."
            )
        pandas = _pandas("static_to_pandas", "static")
        index = pandas.Index(self._labels(), name="series")
        columns = {name: column.copy() for name, column in self.static.items()}
        return pandas.DataFrame(columns, index=index)

    def _labels(self) -> NDArray[Any]:
        """What a table calls the series: their ids, or 0, 1, …."""
        ids = np.arange(self.n_series) if self.series_ids is None else self.series_ids
        if len(set(ids.tolist())) < self.n_series:
            raise ValueError(
                "series_ids must be distinct, or a table mixes series up. "
                "Use dataclasses.replace(batch, series_ids=None) to number the series."
            )
        return ids


def _pandas(method: str, instead: str) -> Any:
    try:
        import pandas
    except ImportError:
        raise ImportError(
            f"{method} needs pandas: pip install pandas. `{instead}` gives the same as arrays."
        ) from None
    return pandas
