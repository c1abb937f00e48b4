"""ShapeletClassifier."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from torch import nn

from ..discrepancies import Discrepancy
from ..interpolation import Interpolation
from ..minimum import Minimum
from ..objective import class_probabilities, class_scores
from ..preprocessing import Preprocessing
from ..shapelets import ShapeletFamily
from .base import ShapeletEstimator
from .goals import check_one_target, class_goal, label_goal, one_per_series
from .scores import ClassScores, score_classes


class ShapeletClassifier(ClassifierMixin, ShapeletEstimator):
    """Classify series by the shapelets found in them.

    Learns shapelets, their lengths, what each looks at, and a linear map from the logarithms of their
    discrepancies to the classes. Series may have times of their own, missing values, several channels
    and different lengths. Channels are standardised inside, by the observed training values.

    Parameters
    ----------
    n_shapelets : int or "auto"
        How many shapelets the model has in the end. By default training starts with 100 of them (ten
        for each class, if that is more), chosen from ten times as many windows of the series, drops
        those that matter least again and again, and trains on after each cut. "auto" (None means the
        same) goes on to a handful, and keeps the fewest, of at most 60, whose loss on series held out
        is within one standard error of the least; if there are fewer than 400 series, 60. See `path_`
        and `pruned`. With a head of your own nothing is dropped. Other procedures train as many as they
        end with, "auto" being 30.
    n_knots : int, optional
        Points that each shapelet is drawn through.
    initial_length : fraction or (low, high), optional
        Where lengths start, as fractions of the longest training series' span. For
        ``procedure="paper"`` one fraction is the paper's hyperparameter: the longest length is that
        plus 0.1, and lengths start from half of it up. The classical discrepancy takes the (higher)
        fraction as its fixed length.
    initial : "windows", "kmeans" or "search", optional
        How shapelets start. "windows": pieces of random training series, classes taking turns.
        "kmeans": centres of k-means over such pieces. "search": the pieces whose discrepancies separate
        the targets best, found among many (Ye and Keogh 2009); see `genshapelets.selection`.
    learn : "all" or "head"
        "head": shapelets stay as they start, and only the map from discrepancies to classes is learnt.
        With ``initial="search"`` shapelets are then pieces of training series for good.
    discrepancy : str, dict or Discrepancy, optional
        How far a window is from a shapelet. "l2": distance in continuous time. "logsignature": of
        log-signatures, which tell in what order channels move. "dtw": L2 after the best warp of time.
        "mfc": of mel-frequency cepstra, for waveforms. "classical": the sum of squares over samples of
        the classical method, which needs regularly sampled series. A dict of such names gives each its
        share of the first shapelets, as in ``{"l2": 0.5, "dtw": 0.5}``; "classical" stands alone. Or any
        `genshapelets.Discrepancy`, such as one that you write: a copy of it is trained.
    metric : "none", "diagonal" or "full"
        Whether a discrepancy given by name learns a scale for each channel (or coordinate), or a whole
        matrix.
    shared_metric : bool, optional
        One such metric for all shapelets, or one for each.
    max_channels : int, optional
        How many channels a shapelet sees at most, where each has a diagonal metric of its own by "l2":
        it starts on up to twice as many, drawn at random, and keeps those that count most; all others
        have weight 0 and cost nothing. None and likewise below: the procedure's choice, 3 by default.
    level_free : number from 0 to 1, optional
        Share of the shapelets that, by "l2", ignore the level of a window and see only its shape.
    scale_free : number from 0 to 1, optional
        Share of the shapelets that, by "l2", ignore its scale as well: the z-normalised distance of
        classical shapelet work. Those that are not level-free come first. By default none. Not for
        ``search="exact"``.
    shapelets : str or function of (values, lengths, longest length)
        How shapelets are drawn. "knots": straight lines between learnt points. "bspline", "fourier",
        "legendre": sums of eight smooth functions. "network": a small neural network each. Or what
        makes a `ShapeletFamily`, such as ``functools.partial(BasisShapelets, n_functions=5)``.
    interpolation : str or Interpolation
        How observations become a path. "linear": straight lines. "constant": each value holds until
        the next. "cubic": cubic pieces, whose slopes look back only. "smoothing": weighted means of the
        observations around. "gaussian_process": the mean of a Gaussian process, given them. Or any
        `genshapelets.Interpolation`. What it learns, it learns from the training series.
    preprocessing : "mfc" or Preprocessing, optional
        What is done to series before anything else. "mfc": waveforms, of one channel and 16,000 samples
        a second, become their mel-frequency cepstrum, and shapelets can be heard. Or any
        `genshapelets.Preprocessing`, such as a `MelFrequencyCepstrum` of other settings.
    summaries : str or sequence of str, optional
        Numbers for each channel of a series that count, too, beside its shapelets: how often it was
        observed ("count"), the "first", "last", "mean", "min" and "max" of what was observed, its
        deviation ("std"); or "all". What else is known of a series as a whole comes with it:
        `RaggedSeries.with_static`.
    gamma : float, optional
        Strength of the penalty that keeps shapelets close to training series.
    own_class : bool, optional
        Whether likeness to a shapelet may speak only for the class of the training series that the
        shapelet resembles most. By default so while shapelets are learnt; the few weights that are
        kept in the end are free, which predicts better where classes overlap. True: these too. False:
        never. For the default head.
    search : "auto", "grid", "refined" or "exact"
        Where a shapelet is laid to find its best place in a series. "grid": at every sample or, if they
        come at irregular times, at as many evenly spaced places; "refined": from the best of these on
        to the local minimum between them; "exact": at the very best place, for "l2" alone. "auto":
        "grid" on regularly sampled series, "refined" on others; for "mfc", every hop. The classical
        discrepancy and the minimum "softmin" know the grid only.
    minimum : "min", "soft", "softmin" or Minimum, optional
        How discrepancies over a series become one number. "min": the least. "soft": a weighted mean of
        the four best local minima, `SoftMinimum`. "softmin": one over all offsets of the grid,
        `Softmin`.
    procedure : "default", "paper" or "learning_shapelets"
        The default gives a good model, of a few hundred short series in about a minute. "paper" is the
        procedure of Kidger, Morrill and Lyons (2020). "learning_shapelets" is after Grabocka et al.
        (2014), for regularly sampled series: mean squares over samples, a soft minimum over all
        offsets, a linear head on these without logarithms. All shapelets have one length, where the
        paper of 2014 has a few.
    max_epochs : int, optional
        Passes through the series, those after each cut included (not those by which the number of
        shapelets is chosen).
    max_time : number of seconds or str, optional
        How long a fit may take, such as "90s", "10min" or "1h30m". After the first steps it is known how
        many there is time for: if fewer than planned, the schedule of the rates is fitted to those, each
        number of shapelets gets its share, and some of them are left out if need be. `shortened_` says
        what was cut. How much that is depends on the machine, and so does the model; where the time
        suffices, it is the model of a fit without a limit. With a `checkpoint`, the time of a fit that
        was killed counts.
    batch_size : int, optional
    learning_rate : float, optional
    head : torch.nn.Module, optional
        Takes (series, shapelets) features to (series, classes) outputs, (series, 1) for two classes.
        A copy of it is trained. Default: a linear map, which can be read.
    class_weight : dict or "balanced", optional
        Weights of the classes.
    short_series : "error" or "hold"
        What to do on prediction with a series that is shorter than every shapelet and than every
        training series: refuse it, or hold it at its last value.
    checkpoint : path, optional
        A file to which the state of training is written, and from which a fit that was killed goes on
        when it is called again with the same data and parameters.
    checkpoint_interval : float
        Seconds between two writings.
    random_state : int or numpy.random.RandomState, optional
        The same int gives the same model, bit for bit.
    n_jobs : int, optional
        Threads; None: as many as torch uses, -1: all processors. The result does not depend on it.
    device : str, optional
        Where torch computes; default: the CPU.
    verbose : int
        Whether to show progress and the time left on standard error: as a bar on a terminal and in a
        notebook, if tqdm is installed (``pip install "genshapelets[progress]"``), else by lines.

    Attributes
    ----------
    classes_ : (classes,) array
        For labels their positions 0, 1, …
    target_names_ : tuple of str, or None
        Names of several targets: labels, or numbers of a regressor. None: y has one column.
    shapelets_ : (shapelets, channels, knots) array
        In the units of the data.
    lengths_ : (shapelets,) array
        In the unit of the times; timedelta64 if these are datetimes.
    initial_lengths_ : (shapelets,) array
        What the lengths were before training.
    typical_features_, feature_spread_ : (shapelets,) arrays
        Logarithms of the discrepancies, as the head weighs them: their mean over (at most a thousand
        of) the training series, from where explanations count, and their standard deviation.
    metric_ : (1 or shapelets, channels, channels) array
    history_ : dict of lists
        Loss, regularisation and accuracy of each epoch.
    n_iter_ : int
        Epochs trained.
    shortened_ : str or None
        What `max_time` has cut, in words; None: nothing.
    model_ : ShapeletModel
        The torch module.
    path_ : SizePath or None
        The sizes that training went through, how good each was on series held out, and which one was
        chosen and why. None if no shapelets were dropped.
    fitted_ : dict
        The models of these sizes.
    sources_ : Sources or None
        The window of the training series that is most like each shapelet: whose it is, when it starts,
        its values. None for a model from a file that was saved without.

    Examples
    --------
    >>> import numpy as np
    >>> from genshapelets import ShapeletClassifier
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(scale=0.1, size=(20, 1, 30))
    >>> y = np.repeat(["flat", "bump"], 10)
    >>> X[10:, 0, 12:18] += 1.0
    >>> model = ShapeletClassifier(n_shapelets=4, max_epochs=30, random_state=0).fit(X, y)
    >>> model.score(X, y)
    1.0
    """

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
        own_class: bool | None = None,
        search: Literal["auto", "grid", "refined", "exact"] = "auto",
        minimum: Literal["min", "soft", "softmin"] | Minimum | None = None,
        procedure: Literal["default", "paper", "learning_shapelets"] = "default",
        max_epochs: int | None = None,
        max_time: float | str | None = None,
        batch_size: int | None = None,
        learning_rate: float | None = None,
        head: nn.Module | None = None,
        class_weight: Any = None,
        short_series: Literal["error", "hold"] = "error",
        checkpoint: str | os.PathLike | None = None,
        checkpoint_interval: float = 10.0,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_shapelets=n_shapelets,
            n_knots=n_knots,
            initial_length=initial_length,
            initial=initial,
            learn=learn,
            discrepancy=discrepancy,
            metric=metric,
            shared_metric=shared_metric,
            max_channels=max_channels,
            level_free=level_free,
            scale_free=scale_free,
            shapelets=shapelets,
            interpolation=interpolation,
            preprocessing=preprocessing,
            summaries=summaries,
            gamma=gamma,
            search=search,
            minimum=minimum,
            procedure=procedure,
            max_epochs=max_epochs,
            max_time=max_time,
            batch_size=batch_size,
            learning_rate=learning_rate,
            head=head,
            short_series=short_series,
            checkpoint=checkpoint,
            checkpoint_interval=checkpoint_interval,
            random_state=random_state,
            n_jobs=n_jobs,
            device=device,
            verbose=verbose,
        )
        self.own_class = own_class
        self.class_weight = class_weight

    def _choices(self) -> dict[str, Any]:
        return super()._choices() | {"own_class": self.own_class}

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, static: Any = None
    ) -> ShapeletClassifier:
        """Learn from series and their classes.

        Parameters
        ----------
        X : series
            A `RaggedSeries` (make one from long tables with `RaggedSeries.from_long`), anything that
            `RaggedSeries.from_arrays` takes, or a 2-D array or dataframe with a univariate series in
            each row. NaN = not observed. For `GridSearchCV` and the like make a `RaggedSeries` of a
            dict, an xarray or a frame with an index of two levels first: scikit-learn selects rows of
            these, but series of a `RaggedSeries`.
        y : (series,) array, or (series, labels)
            Labels of any type, of at least two classes. A class of a single series is learnt with a
            warning. Of several columns each is a label, 1 for series that have it and 0 for others: a
            series may have any number of them. Columns of a dataframe name them; see
            ``target_names_``. Or by id, if the series have `series_ids`: a pandas object whose index
            holds the ids, or a dict.
        sample_weight : (series,) array, optional
        static : dataframe, dict or array, optional
            What is known of each series as a whole, such as age or sex, a row each: as for
            `RaggedSeries.with_static`. It joins the linear head, and whatever predicts needs it, too:
            `predict`, `score`, `explain` and the rest take it in the same way. In cross-validation and
            pipelines give series that hold it: ``series.with_static(frame)``.
        """
        with self._refitting():
            series = self._as_series(X, static, fitting=True)
            series, y, weight = self._weighted(series, y, sample_weight)
            if self.target_names_ is None:
                classes, goal = class_goal(y, self.class_weight, weight)
            else:
                goal = label_goal(y, self.target_names_, self.class_weight, weight)
                classes = np.arange(goal.n_answers)
            self._fit(series, goal)
            self.classes_ = classes
        return self

    def decision_function(self, X: Any, *, static: Any = None) -> NDArray[np.float64]:
        """Logits, (series, classes or labels); of two classes that of the second alone, (series,)."""
        output = self._outputs(X, static)
        return output if output.shape[1] > 1 else output[:, 0]

    def predict_proba(self, X: Any, *, static: Any = None) -> NDArray[np.float64]:
        """Probability of each class, (series, classes), or of each label, (series, labels)."""
        output = torch.from_numpy(self._outputs(X, static))
        with self._threads():
            if self.target_names_ is not None:
                return torch.sigmoid(output).numpy()
            return class_probabilities(output).numpy()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _only_target(self, place: int) -> None:  # noqa: ARG002
        self.classes_ = np.arange(2)

    def predict(self, X: Any, *, static: Any = None) -> NDArray[Any]:
        """Most likely class of each series; of labels 1 for those it is likely to have, else 0.

        ``static`` is as in `fit`, here and for all other methods but `transform`, which needs none.
        """
        output = torch.from_numpy(self._outputs(X, static))
        with self._threads():
            if self.target_names_ is not None:
                return (output > 0).long().numpy()
            return self.classes_[class_scores(output).argmax(dim=1).numpy()]

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, static: Any = None) -> float:
        """Accuracy of the predictions; y as for `fit`."""
        return super().score(*self._paired(X, y, static, sample_weight))

    def evaluate(self, X: Any, y: Any, *, static: Any = None) -> ClassScores:
        """Say how good predictions are: `print` the answer, or take single figures from it.

        Accuracy, areas under the ROC and precision-recall curves, log loss, expected calibration
        error, recall of each class, and which class is taken for which.

        Parameters
        ----------
        X : series
            Anything that `fit` takes; best series that the model was not fitted to.
        y : (series,) array
            Their classes. Of a model of several labels: one of them, with ``for_target(name).evaluate``.
        static : dataframe, dict or array, optional
            As for `fit`.

        Examples
        --------
        >>> import numpy as np
        >>> from genshapelets import ShapeletClassifier
        >>> X = np.random.default_rng(0).normal(scale=0.1, size=(20, 1, 30))
        >>> X[10:, 0, 12:18] += 1.0
        >>> y = np.repeat(["flat", "bump"], 10)
        >>> model = ShapeletClassifier(n_shapelets=4, max_epochs=30, random_state=0).fit(X, y)
        >>> scores = model.evaluate(X, y)
        >>> scores.auroc, scores.confusion["bump"]
        (1.0, {'bump': 10, 'flat': 0})
        """
        series, y, _ = self._paired(X, y, static)
        check_one_target(self, "evaluate(X, y)")
        labels = one_per_series(y, len(series))
        return score_classes(self.classes_, labels, self.predict_proba(series))
