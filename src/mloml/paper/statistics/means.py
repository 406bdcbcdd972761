"""A test of two means known only by mean, deviation and number of splits, as printed in a table."""

from __future__ import annotations

import math

from scipy import stats

from mloml.paper.statistics.paired import Difference

# Variance of a number that was rounded to three digits (uniform over a width of .001).
PRINTED_ROUNDING = 0.001**2 / 12


def welch(
    mean: float,
    std: float,
    n: int,
    printed_mean: float,
    printed_std: float,
    printed_n: int,
    between: float = 0.0,
) -> Difference:
    """Welch's test of our mean against a printed one.

    The rounding of the printed mean adds :math:`.001^2/12` to its variance, so that a cell printed
    with deviation .000 can be compared as well. Degrees of freedom are Welch and Satterthwaite's,
    with the rounding counted as known exactly. So is ``between``, a further variance of the difference:
    that of two draws of the data, where the printed mean comes from another draw.

    Examples
    --------
    >>> result = welch(0.333, 0.0, 30, 0.333, 0.0, 30)
    >>> result.statistic, result.p_value
    (0.0, 1.0)
    >>> round(welch(0.40, 0.05, 30, 0.369, 0.051, 30).p_value, 3)
    0.021
    """
    ours, printed = _variance_of_mean(std, n), _variance_of_mean(printed_std, printed_n)
    difference = mean - printed_mean
    total = ours + printed + PRINTED_ROUNDING + between
    statistic = difference / math.sqrt(total)
    uncertainty = _squared_per_degree(ours, n) + _squared_per_degree(printed, printed_n)
    freedom = total**2 / uncertainty if uncertainty > 0 else math.inf
    return Difference(difference, statistic, float(2 * stats.t.sf(abs(statistic), freedom)))


def _variance_of_mean(std: float, n: int) -> float:
    if n < 1 or not math.isfinite(std):
        raise ValueError(f"a mean needs n >= 1 and a finite deviation, got n={n}, std={std}")
    return std**2 / n


def _squared_per_degree(variance: float, n: int) -> float:
    return variance**2 / (n - 1) if n > 1 else 0.0
