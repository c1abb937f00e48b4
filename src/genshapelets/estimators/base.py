"""What the estimators share: data in, training, discrepancies out."""

from __future__ import annotations

import copy
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from ..caching import telling, to_stderr
from ..checkpoints import Checkpoint
from ..covariates import summaries_of
from ..discrepancies import Discrepancy
from ..durations import seconds_of
from ..interpolation import Interpolation
from ..kernels import threads, threads_allowed
from ..minimum import Minimum
from ..model import ShapeletModel, check_judged
from ..preprocessing import Preprocessing
from ..procedures import PROCEDURES, Procedure
from ..series import RaggedSeries
from ..shapelets import ShapeletFamily
from ..transform import Matches
from .fitting import Fitter
from .given import TakesSeries, tell_of_constant_channels
from .goals import Goal
from .plain import plain
from .reading import Readable

CHUNK = 4096  # series that are predicted at a time

# Parameters on which the result of a fit does not depend.
IDLE = {"checkpoint", "checkpoint_interval", "n_jobs", "verbose", "random_state", "short_series"}


class ShapeletEstimator(Readable, TakesSeries, TransformerMixin, BaseEstimator):
    """Common ground of the estimators; not to be used itself."""

    def __init__(
        self,
        *,
        n_shapelets: int | Literal["auto"] | None = "auto",
        n_knots: int | None = None,
        initial_length: float | tuple[float, float] | None = None,
        initial: Literal["windows", "kmeans", "search"] | None = None,
        learn: Literal["all", "head"] = "all",
        discrepancy: str | dict[str, float] | Discrepancy | None = None,
        metric: Literal["none", "diagonal", "full"] = "diagonal",
        shared_metric: bool | None = None,
        max_channels: int | None = None,
        level_free: float | None = None,
        scale_free: float | None = None,
        shapelets: str | Callable[..., ShapeletFamily] = "knots",
        interpolation: str | Interpolation = "linear",
        preprocessing: str | Preprocessing | None = None,
        summaries: str | Sequence[str] | None = None,
        gamma: float | None = None,
        search: Literal["auto", "grid", "refined", "exact"] = "auto",
        minimum: Literal["min", "soft", "softmin"] | Minimum | None = None,
        procedure: Literal["default", "paper", "learning_shapelets"] = "default",
        max_epochs: int | None = None,
        max_time: float | str | None = None,
        batch_size: int | None = None,
        learning_rate: float | None = None,
        head: nn.Module | None = None,
        short_series: Literal["error", "hold"] = "error",
        checkpoint: str | os.PathLike | None = None,
        checkpoint_interval: float = 10.0,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_shapelets = n_shapelets
        self.n_knots = n_knots
        self.initial_length = initial_length
        self.initial = initial
        self.learn = learn
        self.discrepancy = discrepancy
        self.metric = metric
        self.shared_metric = shared_metric
        self.max_channels = max_channels
        self.level_free = level_free
        self.scale_free = scale_free
        self.shapelets = shapelets
        self.interpolation = interpolation
        self.preprocessing = preprocessing
        self.summaries = summaries
        self.gamma = gamma
        self.search = search
        self.minimum = minimum
        self.procedure = procedure
        self.max_epochs = max_epochs
        self.max_time = max_time
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.head = head
        self.short_series = short_series
        self.checkpoint = checkpoint
        self.checkpoint_interval = checkpoint_interval
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device
        self.verbose = verbose

    # What was learnt, in the user's units

    @property
    def shapelets_(self) -> NDArray[np.float64]:
        """Values of the shapelets in the units of the data, (shapelets, channels, knots)."""
        model = self._fitted()
        values = _numpy(model.transform.shapelets.values).astype(np.float64)
        return values * _numpy(model.scale)[:, None] + _numpy(model.centre)[:, None]

    @property
    def lengths_(self) -> NDArray[Any]:
        """Lengths in the unit of the times (timedelta64 if they are datetimes), (shapelets,)."""
        lengths = _numpy(self._fitted().transform.shapelets.lengths).astype(np.float64)
        return _in_user_time(lengths, self.has_datetimes_)

    @property
    def metric_(self) -> NDArray[np.float64]:
        """A, which acts on standardised channels, (1 or shapelets, channels, channels)."""
        measure: Any = self._fitted().transform.discrepancy
        if not hasattr(measure, "matrix"):
            raise AttributeError(
                f"{type(measure).__name__} has no one matrix A that acts on channels. See "
                "model_.transform.discrepancy."
            )
        return _numpy(measure.matrix()).astype(np.float64)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:  # noqa: ARG002
        """Names of the columns that `transform` gives."""
        n_shapelets = self._fitted().transform.shapelets.n_shapelets
        return np.array([f"shapelet_{k}" for k in range(n_shapelets)], dtype=object)

    # Use

    def transform(self, X: Any) -> NDArray[Any]:
        """Discrepancy of every shapelet from every series.

        Parameters
        ----------
        X : series
            Anything that `fit` takes.

        Returns
        -------
        (series, shapelets) array
            Of the standardised channels, as the model sees them.
        """
        matches, series = self._matches(X)
        return _numpy(matches.discrepancy).astype(series.dtype)

    def save(self, path: str | os.PathLike, *, sources: bool = False) -> None:
        """Write the fitted model to a file that `genshapelets.load` reads. It holds no pickle.

        A ``random_state`` that is not an int, ``checkpoint`` and ``device`` are not kept.

        Parameters
        ----------
        path : path
        sources : bool
            Whether to keep `sources_`, the pieces of training series that shapelets stand for. They
            are data: think of whose they are.
        """
        from .files import save

        save(self, path, sources=sources)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.three_d_array = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    # Training

    @contextmanager
    def _refitting(self) -> Iterator[None]:
        """Forget an earlier fit's columns; should this fit fail, the earlier one stays whole."""
        before = dict(self.__dict__)
        for name in ("n_features_in_", "feature_names_in_", "target_names_"):
            self.__dict__.pop(name, None)
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _fit(self, series: RaggedSeries, goal: Goal | None) -> None:
        """Train on series; without a goal the shapelets stay as they start."""
        if not (series.spans > 0).any():
            raise ValueError(
                "every series has a single time (n_features = 1), and a point has no shape. Give at "
                "least one series of two times."
            )
        tell_of_constant_channels(series)
        procedure = PROCEDURES[self.procedure].adapted(self._choices())
        if goal is not None:
            procedure = procedure.for_classes(goal.n_answers)
        checkpoint = None
        if self.checkpoint is not None and goal is not None:
            fingerprint = self._fingerprint(series, goal, procedure)
            checkpoint = Checkpoint(self.checkpoint, fingerprint, self.checkpoint_interval)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        if checkpoint is not None:
            seed = checkpoint.settle_seed(seed)
        tell = to_stderr if self.verbose else None
        with self._threads(), telling(tell), torch.random.fork_rng(devices=[]):
            # For a head that draws its first weights only when it sees features.
            torch.default_generator.manual_seed(seed)
            fitter = Fitter(
                procedure,
                self.interpolation,
                self.head,
                summaries_of(self.summaries),
                seed,
                self.device,
            )
            limit = seconds_of(self.max_time) if isinstance(self.max_time, str) else self.max_time
            fit = fitter.fit(series, goal, checkpoint, verbose=bool(self.verbose), limit=limit)
        self.path_ = fit.path
        self.history_ = fit.history
        self.n_iter_ = len(fit.history.get("loss", []))
        self.shortened_ = fit.shortened
        self.n_channels_in_ = series.n_channels
        self.channel_names_ = series.channel_names
        self.has_datetimes_ = series.time_origin is not None
        self.shortest_span_ = float(series.spans.min())
        self.fitted_ = fit.fitted
        self._take(fit.chosen)

    def _take(self, n_shapelets: int) -> None:
        """Be the model of this size."""
        fitted = self.fitted_[n_shapelets]
        self.model_ = fitted.model
        self.sources_ = fitted.sources
        if fitted.initial_lengths is not None:  # which files of before did not keep
            self.initial_lengths_ = _in_user_time(fitted.initial_lengths, self.has_datetimes_)
        for name in ("typical_features", "feature_spread"):
            if getattr(fitted, name) is not None:
                setattr(self, f"{name}_", getattr(fitted, name))

    def pruned(self, n_shapelets: int) -> Any:
        """The same estimator with fewer shapelets, or more: any size of ``path_.n_shapelets``.

        Each size was trained when the estimator was fitted, so this takes no time.
        """
        self._fitted()
        sizes = sorted(self.fitted_)
        if n_shapelets not in sizes:
            raise ValueError(
                f"there is no model of {n_shapelets!r} shapelets: training went through "
                f"{', '.join(map(str, sizes))}. Fit with n_shapelets={n_shapelets!r}, or take one of "
                "these."
            )
        twin = copy.copy(self)
        if twin.path_ is not None:
            rule = f"pruned({n_shapelets}) was asked for"
            twin.path_ = replace(twin.path_, chosen=n_shapelets, rule=rule)
        twin._take(n_shapelets)
        return twin

    def for_target(self, target: str | int) -> Any:
        """The same estimator of one of several targets: a label, as classes 0 and 1, or a number.

        It has the same shapelets and gives the same answers; whatever speaks of one target, such as
        `report`, can be asked of it.

        Parameters
        ----------
        target : str or int
            One of `target_names_`, or its position.
        """
        model, names = self._fitted(), self.target_names_
        if names is None:
            raise ValueError(f"this {type(self).__name__} was fitted to a single target already.")
        if target not in names and target not in range(len(names)):
            raise ValueError(
                f"there is no target {target!r}: it must be one of {', '.join(names)}, or a position."
            )
        place = names.index(target) if target in names else int(target)
        model.linear()  # refuses a head that has no rows
        twin = copy.copy(self)
        twin.target_names_ = None
        if twin.path_ is not None:  # whose figures are of all targets together
            unknown = np.full(len(twin.path_.n_shapelets), np.nan)
            twin.path_ = replace(twin.path_, loss=unknown, loss_error=unknown, score=unknown)
        twin._only_target(place)
        twin.fitted_ = {
            size: replace(fitted, model=_of_output(fitted.model, place))
            for size, fitted in self.fitted_.items()
        }
        twin._take(model.transform.shapelets.n_shapelets)
        return twin

    def _only_target(self, place: int) -> None:
        """Forget what is known of all targets but one."""

    def _choices(self) -> dict[str, Any]:
        """What the user decides, for `Procedure.adapted`."""
        length = self.initial_length
        return {
            "n_shapelets": None if self.n_shapelets == "auto" else self.n_shapelets,
            "n_knots": self.n_knots,
            "initial_length": tuple(length) if isinstance(length, list) else length,
            "initial": self.initial,
            "learn": self.learn,
            "level_free": self.level_free,
            "scale_free": self.scale_free,
            "shared_metric": self.shared_metric,
            "max_channels": self.max_channels,
            "gamma": self.gamma,
            "max_epochs": self.max_epochs,
            "batch_size": self.batch_size,
            "learning_rate": self.learning_rate,
            "discrepancy": self.discrepancy,
            "metric": self.metric,
            "shapelets": self.shapelets,
            "search": self.search,
            "minimum": self.minimum,
        }

    def _fingerprint(
        self, series: RaggedSeries, goal: Goal, procedure: Procedure
    ) -> dict[str, Any]:
        """What the result of a fit depends on, as JSON would say it."""
        data = hashlib.sha256()
        for array in (series.times, series.values, series.row_offsets, goal.target, goal.weight):
            data.update(np.ascontiguousarray(array).tobytes())
        data.update(repr({k: v.tolist() for k, v in (series.static or {}).items()}).encode())
        parameters = {
            name: value for name, value in self.get_params(deep=False).items() if name not in IDLE
        }
        if isinstance(self.random_state, int | np.integer):
            parameters["random_state"] = int(self.random_state)
        if parameters.get("class_weight") is not None:  # whose keys JSON might not know
            parameters["class_weight"] = str(parameters["class_weight"])
        for name in ("discrepancy", "shapelets", "interpolation", "preprocessing", "minimum"):
            parameters[name] = plain(parameters[name])
        if isinstance(self.discrepancy, Discrepancy):
            parameters["discrepancy"]["tensors"] = _digest(self.discrepancy)
        # Another version of the package may have other settings.
        given = dict.fromkeys(("discrepancy", "shapelets", "minimum"))
        settings = vars(procedure) | given
        whole = {
            "estimator": type(self).__name__,
            **parameters,
            "settings": str(settings),
            "training data": data.hexdigest(),
            "channels": series.channel_names,
            "targets": self.target_names_,
            "classes": goal.names,
        }
        return json.loads(json.dumps(whole, default=str))

    # Prediction

    def _outputs(self, X: Any, static: Any = None) -> NDArray[np.float64]:
        """Outputs of the head in the units of the targets, (series, outputs)."""
        matches, series = self._matches(X, static)
        with torch.no_grad(), self._threads():
            outputs = _numpy(self.model_.outputs(matches.discrepancy, self._covariates(series)))
        with np.errstate(over="ignore"):
            outputs = self._in_units(outputs)
        check_judged(np.isfinite(outputs), series)
        return outputs

    def _in_units(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Outputs in the units of the targets, if these have any."""
        return outputs

    def _covariates(self, series: RaggedSeries) -> NDArray[np.float64] | None:
        """What the model knows of series beside their paths, (series, covariates)."""
        known = self.model_.covariates
        return None if known is None else known.values(series)

    def _matches(self, X: Any, static: Any = None) -> tuple[Matches, RaggedSeries]:
        """Where every shapelet is found in every series, and X as a batch."""
        model = self._fitted()
        series = self._as_series(X, static, fitting=False)
        self._check_like_training(series, model)
        known = series
        if series.series_ids is None and len(series) > CHUNK:
            known = replace(series, series_ids=np.arange(len(series)))  # for messages
        with torch.no_grad(), self._threads():
            parts = [
                model.transform(model.paths(known[first : first + CHUNK], covariates=False))
                for first in range(0, len(series), CHUNK)
            ]
            discrepancy = torch.cat([part.discrepancy for part in parts])
            start = torch.cat([part.start for part in parts])
            judged = _numpy(discrepancy.isfinite())
        check_judged(judged, series)
        return Matches(discrepancy, start, parts[0].backend), series

    def _fitted(self) -> ShapeletModel:
        check_is_fitted(self)
        return self.model_

    def _threads(self) -> AbstractContextManager[None]:
        """Let kernels use `n_jobs` threads; None: as many as torch does."""
        n_jobs = threads_allowed() if self.n_jobs is None else int(self.n_jobs)
        return threads(n_jobs if n_jobs > 0 else max((os.cpu_count() or 1) + 1 + n_jobs, 1))


def _of_output(model: ShapeletModel, place: int) -> ShapeletModel:
    """A copy whose linear head has one of the outputs only."""
    twin = copy.deepcopy(model)
    head: Any = twin.head
    head.out_features = 1
    for name, tensor in list(head.named_parameters()):
        setattr(head, name, nn.Parameter(tensor.detach()[[place]], requires_grad=False))
    if twin.covariates is not None:
        own = twin.covariates.weight.detach()[[place]]
        twin.covariates.weight = nn.Parameter(own, requires_grad=False)
    return twin


def _digest(module: nn.Module) -> str:
    """Tells apart modules whose tensors differ."""
    digest = hashlib.sha256()
    for name, tensor in module.state_dict().items():
        digest.update(f"{name} {tuple(tensor.shape)}".encode() + _numpy(tensor).tobytes())
    return digest.hexdigest()


def _in_user_time(lengths: NDArray[np.float64], as_durations: bool) -> NDArray[Any]:
    return (lengths * 1e9).astype("m8[ns]") if as_durations else lengths


def _numpy(tensor: Tensor) -> NDArray[Any]:
    return tensor.detach().cpu().numpy()
