"""Contributions of the most important shapelets to all series at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...paths import Index
from ..local import Explanation
from .numbers import pack, short

MOST, MANY_ANSWERS = 60, 100  # shapelets, and classes, of which contributions are drawn


def swarm(explanation: Explanation, order: Index) -> dict[str, Any] | None:
    """From what the page draws a dot for each series and shapelet; None if the head is not linear.

    A contribution is a weight times how much the logarithm of a distance is above the baseline.

    Parameters
    ----------
    explanation : Explanation
    order : (shapelets,) array
        Most important first.
    """
    if explanation.weight is None or len(explanation.weight) > MANY_ANSWERS:
        return None
    some = order[:MOST]
    above = (explanation.matches.features - explanation.baseline)[:, some]
    return {
        "shapelets": some.tolist(),
        "above": [pack(column) for column in above.T],
        "weights": [short(row, 5) for row in explanation.weight[:, some]],
        "usual": short(np.asarray(explanation.typical - explanation.baseline)[some], 5),
    }
