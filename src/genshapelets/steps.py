"""The gradients of a training step with a linear head, without autograd.

On small batches most of a step would go to torch's bookkeeping of a few dozen small operations. Their
derivatives are short enough to be written down. What autograd makes of `ShapeletModel` and `objective`,
for any head, loss and device, is the twin.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from .discrepancies import L2Discrepancy
from .discrepancies._l2_windows import Metric
from .model import ShapeletModel
from .objective import classification_loss, regression_loss
from .parallel import kernel, u
from .paths import Paths
from .search import best_offsets
from .shapelets import SHORTEST

Loss = Callable[[Tensor, Tensor, Tensor], Tensor]
ALL = np.empty((0, 0), np.float32)  # keeps every feature


def is_linear_step(model: ShapeletModel, loss: Loss) -> bool:
    """Whether `linear_step` knows the head, the discrepancy and the loss, and is on their device."""
    known = loss is regression_loss or getattr(loss, "func", None) is classification_loss
    measure = model.transform.discrepancy
    linear = type(model.head) is nn.Linear and model.head.bias is not None
    return known and linear and type(measure) is L2Discrepancy and model.centre.device.type == "cpu"


@torch.no_grad()
def linear_step(
    model: ShapeletModel,
    paths: Paths,
    target: Tensor,
    weight: Tensor,
    loss: Loss,
    gamma: float,
    keep: Tensor | None,
) -> tuple[float, float, Tensor, Tensor]:
    """Set the gradients of all parameters to those of a batch; arguments as in `Trainer`.

    Returns the loss, the regularisation, the head's outputs and the discrepancies.
    """
    transform, head = model.transform, model.head
    shapelets, measure = transform.shapelets, transform.discrepancy
    assert isinstance(measure, L2Discrepancy)
    assert isinstance(head, nn.Linear)
    values, lengths = shapelets.values, shapelets.lengths
    metric = Metric(measure.arrays(values, lengths), paths, keep_moments=True)
    offsets = best_offsets(
        paths, measure, values, lengths, transform.search, transform.backend, metric.ahead
    )
    squared = metric.forward(offsets)

    sigma, upstream = np.empty((2, *squared.shape))
    output, to_log_lengths = np.empty((len(squared), len(head.weight))), np.empty(len(values))
    value, regularisation = _loss_and_slopes(
        squared, metric.windows.lengths, model.per_length, model.small, model.feature_mean.numpy(),
        model.feature_scale.numpy(), ALL if keep is None else keep.numpy(), head.weight.numpy(),
        head.bias.numpy(), target.numpy(), weight.numpy(), isinstance(loss, partial),
        loss.keywords.get("smoothing", 0.0) if isinstance(loss, partial) else 0.0, gamma,
        sigma, output, upstream, to_log_lengths, _gradient_of(head.weight), _gradient_of(head.bias),
    )  # fmt: skip
    to_values, to_lengths, to_metric = metric.backward(offsets, upstream, squared)
    lengths_now, raw = metric.windows.lengths, shapelets.raw_lengths.numpy()
    slope = np.where(raw > 0, -1.0, 1.0) * (np.abs(raw) <= -SHORTEST)
    _gradient_of(values)[...] = to_values.transpose(0, 2, 1)
    _gradient_of(shapelets.raw_lengths)[...] = slope * (lengths_now * to_lengths + to_log_lengths)
    if measure.weight is not None:
        _gradient_of(measure.weight)[...] = to_metric
    return value, regularisation, torch.from_numpy(output), torch.from_numpy(sigma)


class Adam(torch.optim.Adam):
    """Torch's Adam with a second way to take a step, without its checks and hooks.

    On small parameters those take ten times as long as the step. Plain Adam only: no decay of weights.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._arrays: list[list[NDArray[Any]]] = []

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over a state."""
        super().load_state_dict(state_dict)
        self._arrays = []

    @torch.no_grad()
    def update(self) -> None:
        """Do as `step`; on another device than the CPU, by `step`."""
        members = [(group, p) for group in self.param_groups for p in group["params"]]
        if any(parameter.device.type != "cpu" for _, parameter in members):
            self.step()
            return
        if not self._arrays:
            self._arrays = [self._arrays_of(parameter) for _, parameter in members]
        for (group, parameter), (values, *state) in zip(members, self._arrays, strict=True):
            if parameter.grad is not None:
                _adam(
                    values,
                    parameter.grad.numpy(),
                    *state,
                    group["lr"],
                    *group["betas"],
                    group["eps"],
                )

    def _arrays_of(self, parameter: Tensor) -> list[NDArray[Any]]:
        """Views of a parameter and of its state, which is made if there is none."""
        state = self.state[parameter]
        if not state:
            state["step"] = torch.tensor(0.0)
            state["exp_avg"] = torch.zeros_like(parameter)
            state["exp_avg_sq"] = torch.zeros_like(parameter)
        slots = ("exp_avg", "exp_avg_sq", "step")
        return [parameter.numpy(), *(state[slot].numpy() for slot in slots)]


@kernel
def _adam(parameter, gradient, mean, square, n_steps, rate, beta1, beta2, eps):
    p, g, m, v = parameter.ravel(), gradient.ravel(), mean.ravel(), square.ravel()
    n_steps[()] += 1
    rate, root = rate / (1.0 - beta1 ** n_steps[()]), 1.0 / np.sqrt(1.0 - beta2 ** n_steps[()])
    for i in range(u(len(p))):
        m[i] = beta1 * m[i] + (1.0 - beta1) * g[i]
        v[i] = beta2 * v[i] + (1.0 - beta2) * g[i] * g[i]
        p[i] -= rate * m[i] / (np.sqrt(v[i]) * root + eps)


def _gradient_of(parameter: Tensor) -> NDArray:
    """The gradient of a parameter, to be written on."""
    if parameter.grad is None:
        parameter.grad = torch.zeros_like(parameter)
    return parameter.grad.numpy()


@kernel
def _loss_and_slopes(
    squared, lengths, per_length, small, mean, scale, keep, matrix, bias, target, weight, classes,
    smoothing, gamma, sigma, output, upstream, to_log_lengths, to_matrix, to_bias,
):  # fmt: skip
    """Loss and regularisation of a batch; writes sigma, the outputs and the derivatives.

    ``upstream`` is the derivative by squared discrepancies. Where features are per length, what that
    adds to the derivatives by the logarithms of the lengths goes to ``to_log_lengths``.
    """
    n_series, n_shapelets = squared.shape
    n_outputs = len(matrix)
    unit = np.ones(n_shapelets)
    if per_length:
        unit = 1.0 / np.sqrt(lengths)
    features, slope = np.empty(n_shapelets), np.empty(max(n_outputs, 2))
    sum_matrix, sum_bias = np.zeros((n_outputs, n_shapelets)), np.zeros(n_outputs)
    nearest = np.zeros(n_shapelets, np.int64)
    to_log_lengths[:] = 0.0
    loss = 0.0
    for n in range(n_series):
        for k in range(n_shapelets):
            sigma[n, k] = np.sqrt(squared[n, k])
            if sigma[n, k] < sigma[nearest[k], k]:
                nearest[k] = n
            features[k] = (np.log(sigma[n, k] * unit[k] + small) - mean[k]) / scale[k]
            if len(keep):
                features[k] *= keep[n, k]
        for c in range(n_outputs):
            total = 0.0
            for k in range(u(n_shapelets)):
                total += matrix[c, k] * features[k]
            output[n, c] = total + bias[c]
        share = weight[n] / n_series
        if classes:
            loss += share * _cross_entropy(output, n, int(target[n]), smoothing, slope)
        else:
            error = output[n, 0] - target[n]
            loss += share * error * error
            slope[0] = 2.0 * error
        for k in range(n_shapelets):
            upstream[n, k] = 0.0
        for c in range(n_outputs):
            by_output = share * slope[c]
            sum_bias[c] += by_output
            for k in range(u(n_shapelets)):
                sum_matrix[c, k] += by_output * features[k]
                upstream[n, k] += by_output * matrix[c, k]
        for k in range(n_shapelets):
            by_sigma = upstream[n, k] * unit[k] / (scale[k] * (sigma[n, k] * unit[k] + small))
            if len(keep):
                by_sigma *= keep[n, k]
            if per_length:
                to_log_lengths[k] -= 0.5 * by_sigma * sigma[n, k]
            # The root has no derivative at 0; 0 is the subgradient that leaves a perfect match be.
            upstream[n, k] = 0.5 * by_sigma / sigma[n, k] if sigma[n, k] > 0.0 else 0.0
    regularisation = 0.0
    for k in range(n_shapelets):
        least = sigma[nearest[k], k]
        regularisation += gamma * least
        if least > 0.0:
            upstream[nearest[k], k] += 0.5 * gamma / least
    to_matrix[:], to_bias[:] = sum_matrix, sum_bias
    return loss, regularisation


@kernel
def _cross_entropy(output, n, target, smoothing, slope):
    """Cross entropy of one series, and its derivatives by the outputs; one output is for two classes."""
    n_outputs = output.shape[1]
    n_classes = max(n_outputs, 2)
    highest = 0.0 if n_outputs == 1 else -np.inf
    for c in range(n_outputs):
        highest = max(highest, output[n, c])
    total = np.exp(-highest) if n_outputs == 1 else 0.0
    for c in range(n_outputs):
        total += np.exp(output[n, c] - highest)
    loss = 0.0
    for c in range(n_classes):
        score = output[n, c - (n_classes - n_outputs)] if c >= n_classes - n_outputs else 0.0
        wanted = smoothing / n_classes + (1.0 - smoothing if c == target else 0.0)
        loss += wanted * (np.log(total) - (score - highest))
        if c >= n_classes - n_outputs:
            slope[c - (n_classes - n_outputs)] = np.exp(score - highest) / total - wanted
    return loss
