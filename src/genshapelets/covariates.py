"""What is known of a series beside its shapes: static covariates, and summaries of its channels."""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from .series import RaggedSeries
from .shown import few
from .static import FEWEST, as_categories, refuse_names

MOST_CATEGORIES = 50  # of one column: more are names, not categories
FARTHEST = 5.0  # standard deviations: one wild number must not decide


Summary = Literal["count", "first", "last", "mean", "min", "max", "std"]
SUMMARIES: dict[Summary, str] = {  # in front of the name of a channel
    "count": "measurements of",
    "first": "first",
    "last": "last",
    "mean": "mean",
    "min": "least",
    "max": "largest",
    "std": "spread of",
}
Kind = Literal["number", "missing", "category"] | Summary
KINDS = (*get_args(Literal["number", "missing", "category"]), *SUMMARIES)


class Covariate(NamedTuple):
    """One number of a series.

    Attributes
    ----------
    kind : "number", "missing", "category", or one of `SUMMARIES`
        The entry of a static column, its mean where it is missing; 1 where it is missing; 1 where it is
        this category. Or what summarises the observed values of a channel, for "count" log(1 + n) of
        their number.
    source : str or int
        Name of the static column, or number of the channel.
    name : str
        What people call it. The categories of a column have one name.
    category : str or None
        None, of a column of categories: none was given.
    centre, scale : float
        What the number is standardised by.
    """

    kind: Kind
    source: Any
    name: str
    category: str | None
    centre: float
    scale: float

    def of(self, series: RaggedSeries) -> NDArray[np.float64]:
        """The number of each series as it is, (series,); NaN where it is missing."""
        if self.kind in SUMMARIES:
            summary = summarised(series, self.source, self.kind)
            return np.log1p(summary) if self.kind == "count" else summary
        column = (series.static or {})[self.source]
        if self.kind == "number":
            return column
        if self.kind == "missing":
            return np.isnan(column).astype(np.float64)
        entries = as_categories(column)
        return np.array([entry == self.category for entry in entries], dtype=np.float64)


class Covariates(nn.Module):
    r"""A linear term of the outputs, beside that of the shapelets.

    .. math:: \text{output}_c = \dots + \sum_j v_{cj} (z_j - m_j) / d_j

    Parameters
    ----------
    each : sequence of Covariate
    n_outputs : int
    """

    def __init__(self, each: Any, n_outputs: int) -> None:
        super().__init__()
        self.each = tuple(Covariate(*one) for one in each)
        self.weight = nn.Parameter(torch.zeros(n_outputs, len(self.each)))

    @property
    def names(self) -> tuple[str, ...]:
        """What the covariates are called, each once."""
        return tuple(dict.fromkeys(one.name for one in self.each))

    @property
    def columns(self) -> tuple[str, ...]:
        """Static columns that they are made of."""
        return tuple(dict.fromkeys(one.source for one in self.each if one.kind not in SUMMARIES))

    def forward(self, values: NDArray[np.float64]) -> Tensor:
        """Add up the term of standardised values (series, covariates): (series, outputs)."""
        return self.tensor(values) @ self.weight.T

    def tensor(self, values: NDArray[np.float64]) -> Tensor:
        """Values in the dtype and on the device of the weights."""
        return torch.from_numpy(values).to(self.weight)

    def values(self, series: RaggedSeries) -> NDArray[np.float64]:
        """Standardised values, (series, covariates); what is missing is at the mean, 0."""
        self._check(series)
        columns = [(one.of(series) - one.centre) / one.scale for one in self.each]
        return np.nan_to_num(np.stack(columns, axis=1)).clip(-FARTHEST, FARTHEST)

    def shown(self, series: RaggedSeries) -> NDArray[np.object_]:
        """What people read, (series, names): numbers, categories, None for what is missing."""
        shown = np.empty((len(series), len(self.names)), dtype=object)
        for one in self.each:
            column = self.names.index(one.name)
            if one.kind == "count":
                shown[:, column] = summarised(series, one.source, "count").astype(int).tolist()
            elif one.kind == "category":
                shown[:, column] = as_categories((series.static or {})[one.source])
            else:
                known = (
                    one.of(series) if one.kind in SUMMARIES else (series.static or {})[one.source]
                )
                shown[:, column] = [None if math.isnan(x) else x for x in known.tolist()]
        return shown

    def by_name(self, parts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum (…, covariates) over those that share a name: (…, names)."""
        same = np.array([[one.name == name for name in self.names] for one in self.each], float)
        return parts @ same

    def _check(self, series: RaggedSeries) -> None:
        static = series.static or {}
        lacking = [name for name in self.columns if name not in static]
        if lacking:
            raise ValueError(
                f"the model was fitted with static covariates, of which these series lack "
                f"{', '.join(lacking)}. Give them as static= (in the shell: --static), or by "
                "series.with_static(frame)."
            )
        for one in self.each:
            if one.kind not in SUMMARIES:
                wanted = one.kind != "category"
                column = static[one.source] if wanted else as_categories(static[one.source])
                numbers = column.dtype.kind == "f"
                if numbers != wanted:
                    kinds = ("numbers", "text")
                    raise ValueError(
                        f"the static covariate {one.source} was {kinds[numbers]} when the model was "
                        f"fitted, and is {kinds[not numbers]} here. Give it as it was."
                    )
        for name in self.columns:
            known = {one.category for one in self.each if one.source == name}
            strange = (
                set() if static[name].dtype.kind == "f" else set(static[name]) - known - {None}
            )
            if strange:
                warnings.warn(
                    f"the static covariate {name} has categories that no training series had, which "
                    f"count as none: {few(sorted(strange))}.",
                    stacklevel=2,
                )


def summarised(series: RaggedSeries, channel: int, summary: Summary) -> NDArray[np.float64]:
    """A number for the observed values of a channel, (series,); NaN where there are none to tell."""
    values = series.values[:, channel].astype(np.float64)
    seen = ~np.isnan(values)
    n_seen = np.add.reduceat(seen, series.row_offsets[:-1], dtype=np.int64)
    if summary == "count":
        return n_seen.astype(np.float64)
    values, known = values[seen], n_seen > 0
    found = np.full(len(series), np.nan)
    if not len(values):
        return found
    largest = np.abs(values).max() or 1.0  # so that sums and squares stay finite
    values, n_known = values / largest, n_seen[known]
    first = np.cumsum(n_known) - n_known
    if summary in ("first", "last"):
        found[known] = values[first if summary == "first" else first + n_known - 1]
    elif summary in ("min", "max"):
        found[known] = (np.minimum if summary == "min" else np.maximum).reduceat(values, first)
    else:
        mean = np.add.reduceat(values, first) / n_known
        off = values - np.repeat(mean, n_known)
        variance = np.add.reduceat(off * off, first) / n_known
        found[known] = mean if summary == "mean" else np.sqrt(variance)
    return largest * found


def summaries_of(given: str | Collection[str] | None) -> tuple[Summary, ...]:
    """The summaries that a user asked for by names, by one, or by "all", in order; refuse others."""
    named = set(SUMMARIES if given == "all" else [given] if isinstance(given, str) else given or ())
    if not named <= set(SUMMARIES):
        raise ValueError(f"no summaries are {named - set(SUMMARIES)}")
    return tuple(summary for summary in SUMMARIES if summary in named)


def find_covariates(
    series: RaggedSeries, summaries: Collection[Summary], n_outputs: int
) -> Covariates | None:
    """The covariates of training series: their static columns and, if asked for, summaries of channels.

    What does not vary is left out.
    """
    found = []
    for name, column in (series.static or {}).items():
        if column.dtype.kind == "f":
            found.append(_standardised(series, "number", name, name))
            found.append(_standardised(series, "missing", name, name))
            continue
        categories = sorted(set(column) - {None})
        if len(categories) == len(series) >= FEWEST:
            refuse_names(name, ": each has one of its own")
        if len(categories) > MOST_CATEGORIES:
            raise ValueError(
                f"the static covariate {name} has {len(categories)} categories, such as "
                f"{categories[0]!r}; at most {MOST_CATEGORIES} can be weighed. Leave it out if it names "
                "series, convert it if it holds numbers, or merge categories."
            )
        entries = [*categories, *([None] if None in set(column) else [])]
        found += [_standardised(series, "category", name, name, entry) for entry in entries]
    names = series.channel_names or [f"channel {d}" for d in range(series.n_channels)]
    for channel, name in enumerate(names):
        for summary in summaries:
            said = f"{SUMMARIES[summary]} {name}"
            if said in (series.static or {}):
                raise ValueError(f"a static covariate must not be named {said!r}. Rename it.")
            found.append(_standardised(series, summary, channel, said))
    each = [one for one in found if one.scale > 0]
    return Covariates(each, n_outputs) if each else None


def _standardised(
    series: RaggedSeries, kind: Kind, source: Any, name: str, category: str | None = None
) -> Covariate:
    one = Covariate(kind, source, name, category, 0.0, 1.0)
    values = one.of(series)
    values = values[~np.isnan(values)]
    if not len(values):
        return one._replace(scale=0.0)
    largest = float(np.abs(values).max()) or 1.0  # so that squares stay finite
    centre, scale = (
        largest * float((values / largest).mean()),
        largest * float((values / largest).std()),
    )
    return one._replace(centre=centre, scale=scale if scale > 1e-9 * abs(centre) else 0.0)
