"""Target distances of LEGO, by itself or as a layer: what may be given, and how many rows tell them."""

from __future__ import annotations

from typing import Any

import numpy as np

FEWEST_ROWS = 7
"""Rows with 21 distances, the fewest of which the 5th percentile is more than the smallest one."""


def two_numbers(name: str, given: Any, limit: float = np.inf) -> tuple[float, float]:
    """Return two finite numbers in order, or say what was expected.

    >>> two_numbers("percentiles", [5, 95], 100.0)
    (5.0, 95.0)
    >>> two_numbers("targets", (2, 1))
    Traceback (most recent call last):
    ...
    ValueError: targets is (2, 1), expected two numbers with 0 <= lower <= upper
    """
    try:
        lower, upper = (float(value) for value in given)
    except (TypeError, ValueError):
        lower = upper = np.nan
    if not (0 <= lower <= upper <= limit and upper < np.inf):
        most = f" <= {limit:g}" if limit < np.inf else ""
        raise ValueError(f"{name} is {given!r}, expected two numbers with 0 <= lower <= upper{most}")
    return lower, upper
