"""What a fitted estimator says about itself: doors to `genshapelets.explain`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from ..shown import few, table
from ..sizes import SizePath

if TYPE_CHECKING:
    from ..explain import Explanation, Interpretability, ModelExplanation


class Readable:
    """Explanations as methods. What reads models comes after the estimators: imported when asked for."""

    def _repr_html_inner(self: Any) -> str:
        return super()._repr_html_inner() + self._fitted_html()  # type: ignore[misc]

    def _repr_mimebundle_(self: Any, **options: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)  # type: ignore[misc]
        if "text/html" in bundle:  # scikit-learn's own, if it is set to show it
            bundle["text/html"] += self._fitted_html()
        return bundle

    def _fitted_html(self: Any) -> str:
        """A small table of what was learnt; nothing before that."""
        if not hasattr(self, "model_"):
            return ""
        n_shapelets, lengths = len(self.lengths_), np.sort(self.lengths_)
        rows = [("shapelets", str(n_shapelets))]
        if self.target_names_ is not None:
            rows.insert(0, ("targets", f"{len(self.target_names_)}: {few(self.target_names_)}"))
        elif hasattr(self, "classes_"):
            rows.insert(0, ("classes", f"{len(self.classes_)}: {few(self.classes_)}"))
        shortest, longest = (_said(length) for length in lengths[[0, -1]])
        rows.append(("their lengths", f"{shortest} to {longest}" if len(lengths) > 1 else shortest))
        names = "" if self.channel_names_ is None else f": {few(self.channel_names_)}"
        rows.append(("channels", f"{self.n_channels_in_}{names}"))
        known = self.model_.covariates
        if known is not None and known.columns:
            rows.append(
                ("static, which predict needs", f"{len(known.columns)}: {few(known.columns)}")
            )
        if known is not None and len(known.names) > len(known.columns):
            beside = [name for name in known.names if name not in known.columns]
            rows.append(("summaries of channels", f"{len(beside)}: {few(beside)}"))
        path = self.path_
        if path is not None:
            (score,) = path.score[path.n_shapelets == path.chosen]
            if np.isfinite(score):
                rows.append((f"{path.score_name} on series held out", f"{score:.3f}"))
            if len(path.n_shapelets) > 1:
                rows.append(("other sizes, pruned(n)", _sizes(path)))
        rows.append(("epochs", str(self.n_iter_)))
        if getattr(self, "shortened_", None) is not None:
            rows.append(("max_time", self.shortened_))
        return table(rows)

    def explain(
        self: Any,
        X: Any,
        *,
        static: Any = None,
        baseline: Literal["typical", "zero"] | ArrayLike = "typical",
    ) -> Explanation:
        """Explain the predictions for given series; see `genshapelets.explain_series`."""
        from ..explain import explain_series

        return explain_series(self, self._known(X, static), baseline=baseline)

    def explain_model(self: Any, X: Any, y: Any, *, static: Any = None) -> ModelExplanation:
        """Explain what was learnt from the training series; see `genshapelets.explain_model`."""
        from ..explain import explain_model

        return explain_model(self, self._known(X, static), y)

    def interpretability(
        self: Any,
        X: Any,
        y: Any,
        *,
        static: Any = None,
        by: Literal["effect", "weight"] = "effect",
        n_windows: int = 256,
        random_state: int = 0,
    ) -> Interpretability:
        """Measure how readable the model is; see `genshapelets.interpretability`."""
        from ..explain import interpretability

        series = self._known(X, static)
        return interpretability(
            self, series, y, by=by, n_windows=n_windows, random_state=random_state
        )

    def report(
        self: Any,
        path: str | os.PathLike,
        X: Any,
        y: Any = None,
        *,
        static: Any = None,
        title: str | None = None,
        max_series: int = 1000,
        random_state: int = 0,
        time_unit: str | None = None,
        channel_units: Mapping[str, str] | Sequence[str | None] | None = None,
    ) -> Path:
        """Write a page about the model and these series, to open in a browser.

        How good it is, what it looks for, why it predicts what it does: one HTML file that needs
        nothing else, no network either.

        Parameters
        ----------
        path : path
            Where to write; an older file is replaced.
        X : series
            Anything that the estimator predicts: training series or others.
        y : (series,) array, optional
            Their classes or numbers. Without, the page says nothing about how good the model is.
        static : dataframe, dict or array, optional
            As for `fit`.
        title : str, optional
        max_series : int
            If there are more series, this number of them, chosen at random and from every class, are
            explained. Accuracy is always that over all.
        random_state : int
            For that choice.
        time_unit : str, optional
            What times are counted in, such as "h", for the axes; dates need none.
        channel_units : dict by name of channel, or list with one text for each channel, optional
            What values are measured in, such as ``{"HR": "bpm"}``.

        Returns
        -------
        Path
            Of the page.

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np
        >>> from genshapelets import ShapeletClassifier
        >>> X = np.random.default_rng(0).normal(scale=0.1, size=(20, 1, 30))
        >>> X[10:, 0, 12:18] += 1.0
        >>> y = np.repeat(["flat", "bump"], 10)
        >>> model = ShapeletClassifier(n_shapelets=4, max_epochs=30, random_state=0).fit(X, y)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.report(f"{folder}/report.html", X, y).name
        'report.html'
        """
        from ..explain.report import write_report

        return write_report(
            self,
            path,
            X,
            y,
            static=static,
            title=title,
            max_series=max_series,
            random_state=random_state,
            time_unit=time_unit,
            channel_units=channel_units,
        )


def _said(length: Any) -> str:
    """A length in the unit of the times, or as a duration."""
    if isinstance(length, np.timedelta64):
        return str(timedelta(seconds=round(length / np.timedelta64(1, "s"), 3)))
    return f"{length:.4g}"


def _sizes(path: SizePath) -> str:
    return ", ".join(str(size) for size in path.n_shapelets.tolist() if size != path.chosen)
