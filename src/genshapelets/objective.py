"""Terms of the training objective."""

from __future__ import annotations

from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, pad


def interpretable_regularisation(discrepancy: Tensor, gamma: float = 1e-4) -> Tensor:
    r"""Penalty that keeps each shapelet close to some training series.

    .. math:: \gamma \sum_k \min_n \sigma(f^n, w^k)

    A sum over shapelets of a minimum over series: every shapelet is asked to look like a piece of one
    series, not of all.

    Parameters
    ----------
    discrepancy : (series, shapelets) tensor
        `Matches.discrepancy` of a batch.
    gamma : float
        Strength; the paper's is 1e-4.

    Examples
    --------
    >>> import torch
    >>> interpretable_regularisation(torch.tensor([[1.0, 5.0], [3.0, 2.0]]), gamma=0.5)
    tensor(1.5000)
    """
    if discrepancy.ndim != 2 or not discrepancy.shape[0]:
        raise ValueError(
            "discrepancy must be (series, shapelets) with at least one series; "
            f"got shape {tuple(discrepancy.shape)}."
        )
    return gamma * discrepancy.min(dim=0).values.sum()


def classification_loss(
    output: Tensor, target: Tensor, weight: Tensor, smoothing: float = 0.0
) -> Tensor:
    """Mean weighted cross entropy.

    Parameters
    ----------
    output : (series, classes) tensor, or (series, 1) for two classes
    target : (series,) int64 tensor
    weight : (series,) tensor
    smoothing : float
        Share of the target's probability spread over all classes.
    """
    loss = cross_entropy(class_scores(output), target, label_smoothing=smoothing, reduction="none")
    return (weight * loss).mean()


def label_loss(output: Tensor, target: Tensor, weight: Tensor, smoothing: float = 0.0) -> Tensor:
    """Mean weighted binary cross entropy of (series, labels) logits, also over the labels.

    As that of two classes, for each label: ``target`` are 0 and 1 as floats, (series, labels).
    """
    smooth = target * (1.0 - smoothing) + smoothing / 2
    loss = binary_cross_entropy_with_logits(output, smooth, reduction="none")
    return (weight * loss.mean(dim=1)).mean()


def regression_loss(output: Tensor, target: Tensor, weight: Tensor) -> Tensor:
    """Mean weighted squared error of (series, outputs), also over the outputs."""
    return (weight * (output - target).square().mean(dim=1)).mean()


def class_probabilities(output: Tensor) -> Tensor:
    """Probability of each class, (series, classes)."""
    return class_scores(output).softmax(dim=1)


def class_scores(output: Tensor) -> Tensor:
    """Logits with a column for every class: one logit for two classes speaks for the second."""
    return output if output.shape[1] > 1 else pad(output, (1, 0))
