"""From series to predictions: standardise, match shapelets, take logarithms, apply the head."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from .covariates import Covariates
from .interpolation import Interpolation, Linear
from .paths import Array, Paths, interpolate
from .series import RaggedSeries
from .shapelets.base import SHORTEST
from .tables import name_series
from .transform import GeneralisedShapeletTransform, Matches

# Standard deviations: what else is in the series is lost beside such a value when a search adds them up.
FARTHEST = 1e15
LARGEST = 10 * FARTHEST  # what is learnt, in the same units
IN_UNITS = ("centre", "scale", "transform.shapelets.max_length")


class ShapeletModel(nn.Module):
    r"""A head on the logarithms of the discrepancies.

    .. math:: x_k = \log(\sigma_k + \varepsilon), \qquad \text{output} = \text{head}((x - m) / d)

    With the default linear head a very negative weight says: to be like this shapelet speaks for this
    class. The features are standardised by constants m, d, which `linear` folds into the weights.
    What else is known of a series adds a linear term of its own.

    Parameters
    ----------
    transform : GeneralisedShapeletTransform
        In units of standardised channels.
    head : nn.Module
        From (series, shapelets) features to (series, outputs).
    centre, scale : (channels,) arrays
        What raw values are standardised by.
    epsilon : float
        :math:`\varepsilon`.
    per_length : bool
        Divide :math:`\sigma_k` by :math:`\sqrt{S_k}` first if the discrepancy grows with it: a root mean
        square over the window, so that long and short shapelets are comparable and the unit of time
        does not matter.
    interpolation : Interpolation, optional
        How standardised series become paths; default: straight lines.
    log : bool
        False: no logarithm, :math:`x_k = \sigma_k`.

    Attributes
    ----------
    covariates : Covariates or None
        What is known of a series beside its shapes, with weights of its own. None at first.
    """

    centre: Tensor
    scale: Tensor
    feature_mean: Tensor
    feature_scale: Tensor

    def __init__(
        self,
        transform: GeneralisedShapeletTransform,
        head: nn.Module,
        centre: np.ndarray,
        scale: np.ndarray,
        *,
        epsilon: float = 1e-5,
        per_length: bool = False,
        interpolation: Interpolation | None = None,
        log: bool = True,
    ) -> None:
        super().__init__()
        self.transform = transform
        self.head = head
        self.epsilon = epsilon
        self.per_length = per_length
        self.interpolation = Linear() if interpolation is None else interpolation
        self.log = log
        self.covariates: Covariates | None = None
        n_shapelets = transform.shapelets.n_shapelets
        self.register_buffer("centre", torch.from_numpy(centre))
        self.register_buffer("scale", torch.from_numpy(scale))
        self.register_buffer("feature_mean", torch.zeros(n_shapelets))
        self.register_buffer("feature_scale", torch.ones(n_shapelets))

    def paths(self, series: RaggedSeries, *, covariates: bool = True) -> Paths:
        """Standardise the channels and interpolate; a channel never observed becomes 0, the mean.

        They hold the covariates of the series, if the model has any, unless these are not wanted.
        """
        centre, scale = self.centre.cpu().numpy(), self.scale.cpu().numpy()
        paths = interpolate(self.interpolation(standardise(series, centre, scale)))
        if self.covariates is None or not covariates:
            return paths
        return replace(paths, covariates=self.covariates.values(series))

    def features(self, discrepancy: Tensor) -> Tensor:
        """Logarithms of discrepancies, (series, shapelets), or without ``log`` these themselves."""
        discrepancy = discrepancy / self.units()
        return torch.log(discrepancy + self.epsilon) if self.log else discrepancy

    def units(self) -> Tensor:
        """What discrepancies are divided by, (shapelets,): sqrt(S_k) if they grow with it, or 1."""
        lengths = self.transform.shapelets.lengths
        if not self.per_length:
            return torch.ones_like(lengths)
        grows = self.transform.discrepancy.grows(len(lengths)).to(lengths.device)
        return torch.where(grows, lengths.sqrt(), 1.0)

    def forward(self, paths: Paths, keep: Tensor | None = None) -> tuple[Tensor, Matches]:
        """Outputs of the head, (series, outputs), and the matches they come from.

        ``keep`` multiplies the standardised features: dropout, whose randomness the caller owns.
        """
        matches = self.transform(paths)
        return self.apply_head(matches.discrepancy, paths.covariates, keep), matches

    @torch.no_grad()
    def discrepancies(self, paths: Paths, size: int = 512) -> Tensor:
        """Discrepancies of paths, (series, shapelets), ``size`` paths at a time; no gradients."""
        starts = range(0, len(paths), size)
        return torch.cat([self.transform(paths[n : n + size]).discrepancy for n in starts])

    def apply_head(
        self, discrepancy: Tensor, covariates: Array | None, keep: Tensor | None = None
    ) -> Tensor:
        """Outputs for discrepancies and the `covariates` of paths; ``keep`` as in `forward`."""
        features = (self.features(discrepancy) - self.feature_mean) / self.feature_scale
        output = self.head(features if keep is None else features * keep)
        if self.covariates is None or covariates is None:
            return output
        return output + self.covariates(covariates)

    def outputs(self, discrepancy: Tensor, covariates: Array | None = None) -> Tensor:
        """Outputs as of `apply_head`, in float64: what predictions and explanations are made of.

        For a linear head they are sums of the bias and one contribution for each shapelet and covariate.
        """
        features = self.features(discrepancy.double())
        if type(self.head) is nn.Linear:
            weight, bias = self.linear()
            output = features @ weight.T + bias
        else:
            features = (features - self.feature_mean) / self.feature_scale
            output = self.head(features.to(self.feature_mean)).double()
        if self.covariates is None or covariates is None:
            return output
        values = torch.from_numpy(covariates).to(output.device)
        return output + values @ self.covariates.weight.double().T

    @torch.no_grad()
    def chosen(self, shapelets: Sequence[int]) -> ShapeletModel:
        """The model of some of the shapelets, with their weights in the head, which must be linear."""
        old = self.transform
        transform = GeneralisedShapeletTransform(
            old.shapelets.chosen(shapelets),
            old.discrepancy.chosen(shapelets),
            search=old.search,
            backend=old.backend,
            minimum=copy.deepcopy(old.minimum),
            fill=old.fill,
        )
        head: Any = copy.deepcopy(self.head)
        head.in_features = len(shapelets)
        head.weight = nn.Parameter(head.weight.detach()[:, list(shapelets)])
        twin = ShapeletModel(
            transform,
            head,
            self.centre.cpu().numpy(),
            self.scale.cpu().numpy(),
            epsilon=self.epsilon,
            per_length=self.per_length,
            interpolation=self.interpolation,
            log=self.log,
        )
        twin.covariates = copy.deepcopy(self.covariates)
        twin.feature_mean.copy_(self.feature_mean[list(shapelets)])
        twin.feature_scale.copy_(self.feature_scale[list(shapelets)])
        return twin.to(self.feature_mean.device)

    @torch.no_grad()
    def standardise_features(self, paths: Paths) -> None:
        """Set m and d to the mean and deviation of the features of these paths."""
        features = self.features(self.discrepancies(paths)).double()
        deviation = features.std(dim=0, correction=0)
        self.feature_mean.copy_(features.mean(dim=0))
        self.feature_scale.copy_(torch.where(deviation > 1e-3, deviation, 1.0))

    @torch.no_grad()
    def check_head(self, n_outputs: int) -> None:
        """Refuse a head that does not make ``n_outputs`` numbers of the features."""
        n_shapelets = len(self.feature_mean)
        try:
            output = self.head.eval()(self.feature_mean.new_zeros(2, n_shapelets))
            got = str(tuple(output.shape))
        except (AttributeError, IndexError, RuntimeError, TypeError, ValueError) as error:
            got = f"{type(error).__name__}: {error}"
        if got != str((2, n_outputs)):
            raise ValueError(
                f"the head must take float32 features (series, {n_shapelets}), one for each shapelet, "
                f"to outputs (series, {n_outputs}); for 2 series {type(self.head).__name__} gave {got}."
            )

    def linear(self) -> tuple[Tensor, Tensor]:
        """Weights (outputs, shapelets) and bias (outputs,) on the plain features, in float64."""
        if type(self.head) is not nn.Linear:  # a subclass may compute something else
            raise TypeError(
                f"the head is a {type(self.head).__name__}: only a linear head has one weight for each "
                "shapelet and class. Fit with head=None to read weights."
            )
        weight = self.head.weight.detach().double() / self.feature_scale
        bias = torch.zeros(len(weight), dtype=torch.float64)
        if self.head.bias is not None:
            bias = self.head.bias.detach().double()
        return weight, bias - weight @ self.feature_mean.double()


def check_scales(tensors: Mapping[str, Tensor]) -> None:
    """Refuse, with a ValueError, a model's tensors that no training comes to.

    They divide by 0, make a shapelet of no length or are too large, but for those in a user's units.
    """
    for name, tensor in tensors.items():
        if name not in IN_UNITS and (tensor[tensor.isfinite()].double().abs() > LARGEST).any():
            raise ValueError(f"{name} is too large")
    raw, longest = (
        tensors[f"transform.shapelets.{name}"] for name in ("raw_lengths", "max_length")
    )
    lengths = longest * (-raw.abs()).clamp(min=SHORTEST).exp()
    scales = {name: tensors[name] for name in ("scale", "feature_scale")}
    for name, values in (scales | {"lengths of shapelets": lengths}).items():
        if not (values >= torch.finfo(values.dtype).tiny).all():
            raise ValueError(f"{name} must be above 0")


def standardise(series: RaggedSeries, centre: np.ndarray, scale: np.ndarray) -> RaggedSeries:
    """Take centre and scale off each channel; refuse values too far from them to be judged."""
    with np.errstate(over="ignore"):
        values = (series.values.astype(np.float64) - centre) / scale
    far = (np.abs(values) > FARTHEST).any(axis=1)
    if far.any():
        check_judged(~np.logical_or.reduceat(far, series.row_offsets[:-1]), series)
    return replace(series, values=values)


def check_judged(judged: np.ndarray, series: RaggedSeries) -> None:
    """Refuse series that could not be judged, with a ValueError that names the first.

    Parameters
    ----------
    judged : (series, …) bool array
        Whether each of their numbers is finite, or not too large.
    series : RaggedSeries
    """
    refused = np.flatnonzero(~judged.reshape(len(series), -1).all(axis=1))
    if not len(refused):
        return
    n = int(refused[0])
    largest = np.nanmax(np.abs(series[n].values))
    raise ValueError(
        f"{name_series(n, series.series_ids)} cannot be judged: its values, up to {largest:g} in size, "
        "are too far from those that the model was fitted to. Look for a wrong unit or a sensor's code "
        "for missing, put NaN in its place, or leave the series out."
    )


def observed_moments(series: RaggedSeries) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of each channel's observed values; 0 and 1 of one never observed.

    A channel that never varies keeps its unit.
    """
    values = series.values.astype(np.float64)
    seen = ~np.isnan(values)
    count = np.maximum(seen.sum(axis=0), 1)
    # Scaled first, so that the squares of huge values stay finite.
    largest = np.maximum(np.abs(np.where(seen, values, 0.0)).max(axis=0), np.finfo(float).tiny)
    unit = np.where(seen, values / largest, 0.0)
    mean = unit.sum(axis=0) / count
    deviation = np.sqrt((np.where(seen, unit - mean, 0.0) ** 2).sum(axis=0) / count)
    varies = deviation > 1e-9 * np.abs(mean) + 1e-300
    return mean * largest, np.where(varies, deviation * largest, 1.0)
