"""How long until something happens, when for some it had not happened by the time one stopped looking."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def median_time(times: ArrayLike, happened: ArrayLike) -> float | None:
    """Return Kaplan and Meier's median time; None if fewer than half are known to have come to an end.

    Parameters
    ----------
    times : array of shape (n,)
        When it happened, or until when one looked.
    happened : array of bool of shape (n,)
        False: it had not happened by then (right-censored).

    Returns
    -------
    float or None
        The first time at which the estimated share of those it has not happened to is at most one half.

    Examples
    --------
    >>> median_time([2, 3, 5, 20, 20], [True, True, True, False, False])
    5.0
    >>> median_time([2, 20, 20], [True, False, False]) is None
    True
    """
    when, known = np.asarray(times, dtype=float), np.asarray(happened, dtype=bool)
    if when.shape != known.shape or when.ndim != 1:
        raise ValueError(f"as many times as endings are needed, got {when.shape} and {known.shape}")
    share = 1.0
    for time in np.unique(when[known]):
        at_risk = int((when >= time).sum())
        share *= 1 - int((when[known] == time).sum()) / at_risk
        # Half of an even number must not be missed by a rounding error.
        if share <= 0.5 + 1e-12:
            return float(time)
    return None
