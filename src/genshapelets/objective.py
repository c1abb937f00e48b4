"""Terms of the training objective."""

from __future__ import annotations

from torch import Tensor


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
