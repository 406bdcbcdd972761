"""How much lower the error of one method is than another's over the same splits, with its uncertainty."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from mloml.paper.statistics.paired import corrected_t, outcome, paired_t


class Gain(NamedTuple):
    """Mean errors before and after, the gain ``before - after``, and what two tests say of it.

    ``low`` and ``high`` are the 95 % interval that belongs to the corrected test (NaN for a single split).
    A mark speaks of what comes after: a win is a significantly lower error.
    """

    before: float
    after: float
    gain: float
    low: float
    high: float
    p_paired: float
    mark_paired: str
    p_corrected: float
    mark_corrected: str


def gain(before: ArrayLike, after: ArrayLike, test_to_train: float = 1.0, alpha: float = 0.05) -> Gain:
    """Return the gain from ``before`` to ``after``, errors of the same splits.

    Examples
    --------
    >>> found = gain([0.30, 0.34, 0.32, 0.35], [0.28, 0.30, 0.31, 0.32])
    >>> round(found.gain, 3), round(found.low, 3), round(found.high, 3)
    (0.025, -0.021, 0.071)
    >>> found.mark_paired, found.mark_corrected
    ('win', 'tie')
    """
    plain, corrected = paired_t(before, after), corrected_t(before, after, test_to_train)
    first, second = np.asarray(before, dtype=float), np.asarray(after, dtype=float)
    n = len(first)
    half = math.nan
    if n > 1:
        spread = float((first - second).std(ddof=1)) * math.sqrt(1 / n + test_to_train)
        half = float(stats.t.ppf(1 - alpha / 2, n - 1)) * spread
    return Gain(
        float(first.mean()),
        float(second.mean()),
        plain.difference,
        plain.difference - half,
        plain.difference + half,
        plain.p_value,
        outcome(plain.difference, plain.p_value, alpha),
        corrected.p_value,
        outcome(corrected.difference, corrected.p_value, alpha),
    )
