"""Tests of two methods over the same splits.

Every test is two-sided, of ``errors - reference``, split by split. Differences without
variance have an answer too: equal errors are a tie (p = 1), a constant lead is a certain one (p = 0).
"""

import math
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from mloml.arrays import Array

# Errors are counts over test rows, so honest differences are never this small: it is rounding.
ROUNDING = 1e-12
LEVEL = 0.05  # of all tests
FEW = 13  # so many differences are tested exactly by scipy even if some are equal


class Difference(NamedTuple):
    """Mean difference ``errors - reference``, the test's statistic and its p-value; never NaN."""

    difference: float
    statistic: float
    p_value: float


def paired_t(errors: ArrayLike, reference: ArrayLike) -> Difference:
    """Paired t-test over the splits, as in the paper's tables.

    Examples
    --------
    >>> result = paired_t([0.30, 0.34, 0.32, 0.35], [0.28, 0.30, 0.31, 0.32])
    >>> round(result.difference, 3), round(result.statistic, 2), round(result.p_value, 3)
    (0.025, 3.87, 0.03)
    """
    return _resampled_t(errors, reference, test_to_train=0.0)


def corrected_t(errors: ArrayLike, reference: ArrayLike) -> Difference:
    r"""Nadeau and Bengio's corrected resampled t-test.

    Training halves of different splits overlap, so the differences are correlated and the plain test
    is too eager. The variance of their mean is taken as :math:`(1/n + n_{test}/n_{train})\, s^2`;
    for halves the ratio is 1.

    Examples
    --------
    >>> result = corrected_t([0.30, 0.34, 0.32, 0.35], [0.28, 0.30, 0.31, 0.32])
    >>> round(result.statistic, 2), round(result.p_value, 3)
    (1.73, 0.182)

    References
    ----------
    Nadeau and Bengio, "Inference for the generalization error", Machine Learning 52, 2003.
    """
    return _resampled_t(errors, reference, test_to_train=1.0)


def _resampled_t(errors: ArrayLike, reference: ArrayLike, test_to_train: float) -> Difference:
    differences = _differences(errors, reference)
    n = len(differences)
    mean = float(differences.mean())
    if np.ptp(differences) <= ROUNDING:
        return _without_variance(mean, n)
    standard_error = differences.std(ddof=1) * np.sqrt(1.0 / n + test_to_train)
    statistic = float(mean / standard_error)
    return Difference(mean, statistic, float(2 * stats.t.sf(abs(statistic), n - 1)))


def wilcoxon(errors: ArrayLike, reference: ArrayLike) -> Difference:
    """Wilcoxon's signed-rank test, by the method that scipy chooses: exact for few differences.

    Examples
    --------
    >>> wilcoxon([0.3, 0.4, 0.5], [0.3, 0.4, 0.5]).p_value
    1.0
    """
    # Rounding would otherwise break ties between equal differences of counts.
    differences = np.round(_differences(errors, reference), 12)
    if not differences.any():
        return Difference(0.0, 0.0, 1.0)
    sizes = np.abs(differences)
    if len(differences) <= FEW and np.unique(sizes[sizes > 0]).size < len(differences):
        return _over_all_signs(differences)
    answer = stats.wilcoxon(differences)
    return Difference(float(differences.mean()), float(answer.statistic), float(answer.pvalue))


def _over_all_signs(differences: Array) -> Difference:
    """Do what scipy does with few differences when some are equal or zero: try all signs.

    It ranks anew for each of them, which took a quarter of a second a test and minutes for a table.
    """
    moved = differences[differences != 0]
    ranks = stats.rankdata(np.abs(moved))
    signs = np.array(list(product((-1.0, 1.0), repeat=len(moved))))
    observed, totals = float(np.sign(moved) @ ranks), signs @ ranks
    statistic = (ranks.sum() - abs(observed)) / 2  # the smaller of the two sums of ranks
    p_value = float(np.mean(np.abs(totals) >= abs(observed) - ROUNDING))
    return Difference(float(differences.mean()), statistic, p_value)


def _differences(errors: ArrayLike, reference: ArrayLike) -> Array:
    first, second = np.asarray(errors, dtype=float), np.asarray(reference, dtype=float)
    if first.shape != second.shape or first.ndim != 1 or len(first) == 0:
        raise ValueError(f"paired tests need equally many errors, got {first.shape} and {second.shape}")
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise ValueError("paired tests need finite errors; leave out the splits that failed")
    return first - second


def _without_variance(mean: float, n: int) -> Difference:
    """Equal errors are a tie; a constant lead is certain, unless a single split says so."""
    if abs(mean) <= ROUNDING:
        return Difference(0.0, 0.0, 1.0)
    if n == 1:
        return Difference(mean, 0.0, 1.0)
    return Difference(mean, float(np.copysign(np.inf, mean)), 0.0)


def outcome(difference: float, p_value: float, alpha: float = LEVEL) -> str:
    """Say what a test means for the reference: ``"win"``, ``"tie"`` or ``"loss"``.

    A win for the reference is a larger error of the other method (the paper's filled marker).

    >>> outcome(0.02, 0.01), outcome(0.02, 0.2), outcome(-0.02, 0.01)
    ('win', 'tie', 'loss')
    """
    if p_value >= alpha or difference == 0:
        return "tie"
    return "win" if difference > 0 else "loss"


def holm(p_values: Sequence[float] | Array) -> Array:
    """Holm's step-down adjustment of a family of p-values.

    >>> holm([0.01, 0.04, 0.03]).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")
    stepped = p[order] * np.arange(len(p), 0, -1)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(stepped), 1.0)
    return adjusted


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


def gain(before: ArrayLike, after: ArrayLike) -> Gain:
    """Return the gain from ``before`` to ``after``, errors of the same splits.

    Examples
    --------
    >>> found = gain([0.30, 0.34, 0.32, 0.35], [0.28, 0.30, 0.31, 0.32])
    >>> round(found.gain, 3), round(found.low, 3), round(found.high, 3)
    (0.025, -0.021, 0.071)
    >>> found.mark_paired, found.mark_corrected
    ('win', 'tie')
    """
    plain, corrected = paired_t(before, after), corrected_t(before, after)
    first, second = np.asarray(before, dtype=float), np.asarray(after, dtype=float)
    n = len(first)
    half = math.nan
    if n > 1:
        spread = float((first - second).std(ddof=1)) * math.sqrt(1 / n + 1)
        half = float(stats.t.ppf(1 - LEVEL / 2, n - 1)) * spread
    change = plain.difference
    marks = [(test.p_value, outcome(test.difference, test.p_value)) for test in (plain, corrected)]
    means = float(first.mean()), float(second.mean())
    return Gain(*means, change, change - half, change + half, *marks[0], *marks[1])
