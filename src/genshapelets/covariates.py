"""What is known of a series beside its shapes: static covariates, and how often it was measured."""

from __future__ import annotations

import math
import warnings
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from .series import RaggedSeries
from .shown import few
from .static import as_categories

MOST_CATEGORIES = 50  # of one column: more are names, not categories
FARTHEST = 5.0  # standard deviations: one wild number must not decide


Kind = Literal["number", "missing", "category", "count"]
KINDS = get_args(Kind)


class Covariate(NamedTuple):
    """One number of a series.

    Attributes
    ----------
    kind : "number", "missing", "category" or "count"
        The entry of a static column, its mean where it is missing; 1 where it is missing; 1 where it is
        this category; log(1 + n), if a channel was observed n times.
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
        if self.kind == "count":
            seen = ~np.isnan(series.values[:, self.source])
            return np.log1p(np.add.reduceat(seen, series.row_offsets[:-1], dtype=np.float64))
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
        return tuple(dict.fromkeys(one.source for one in self.each if one.kind != "count"))

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
                shown[:, column] = np.expm1(one.of(series)).round().astype(int).tolist()
            elif one.kind == "category":
                shown[:, column] = as_categories((series.static or {})[one.source])
            else:
                known = (series.static or {})[one.source].tolist()
                shown[:, column] = [None if math.isnan(x) else x for x in known]
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
            if one.kind != "count":
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


def find_covariates(series: RaggedSeries, counts: bool, n_outputs: int) -> Covariates | None:
    """The covariates of training series: their static columns and, if asked for, counts.

    What does not vary is left out.
    """
    found = []
    for name, column in (series.static or {}).items():
        if column.dtype.kind == "f":
            found.append(_standardised(series, "number", name, name))
            found.append(_standardised(series, "missing", name, name))
            continue
        categories = sorted(set(column) - {None})
        if len(categories) > MOST_CATEGORIES:
            raise ValueError(
                f"the static covariate {name} has {len(categories)} categories, such as "
                f"{categories[0]!r}; at most {MOST_CATEGORIES} can be weighed. Leave it out if it names "
                "series, convert it if it holds numbers, or merge categories."
            )
        entries = [*categories, *([None] if None in set(column) else [])]
        found += [_standardised(series, "category", name, name, entry) for entry in entries]
    if counts:
        names = series.channel_names or [f"channel {d}" for d in range(series.n_channels)]
        taken = set(series.static or {})
        for channel, name in enumerate(names):
            said = f"measurements of {name}"
            if said in taken:
                raise ValueError(f"a static covariate must not be named {said!r}. Rename it.")
            found.append(_standardised(series, "count", channel, said))
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
