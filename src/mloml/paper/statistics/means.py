"""Mean errors: against printed ones, between draws of the data, ranked over data sets; median times."""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from mloml.paper.statistics.paired import LEVEL, Difference

# Variance of a number that was rounded to three digits (uniform over a width of .001).
PRINTED_ROUNDING = 0.001**2 / 12
DIGITS = 12  # mean errors that agree to so many are equal: the rest is the rounding of sums


def welch(
    mean: float,
    std: float,
    n: int,
    printed_mean: float,
    printed_std: float,
    printed_n: int,
    between: float = 0.0,
    rounding: float = PRINTED_ROUNDING,
) -> Difference:
    """Welch's test of our mean against a printed one.

    The rounding of the printed mean adds :math:`.001^2/12` to its variance, so that a cell printed
    with deviation .000 can be compared as well. Degrees of freedom are Welch and Satterthwaite's,
    with the rounding counted as known exactly. So is ``between``, a further variance of the difference:
    that of two draws of the data, where the printed mean comes from another draw. With ``rounding=0``
    any difference of two means without deviation is certain.

    Examples
    --------
    >>> result = welch(0.333, 0.0, 30, 0.333, 0.0, 30)
    >>> result.statistic, result.p_value
    (0.0, 1.0)
    >>> round(welch(0.40, 0.05, 30, 0.369, 0.051, 30).p_value, 3)
    0.021
    """
    total, freedom = _variance(std, n, printed_std, printed_n, between + rounding)
    difference = mean - printed_mean
    statistic = difference / math.sqrt(max(total, sys.float_info.min))
    return Difference(difference, statistic, float(2 * stats.t.sf(abs(statistic), freedom)))


def _variance(std: float, n: int, printed_std: float, printed_n: int, known: float) -> tuple[float, float]:
    """Return the variance of a difference of means, and its degrees of freedom; ``known`` has no error."""
    if min(n, printed_n) < 1 or not math.isfinite(std + printed_std):
        raise ValueError(f"a mean needs n >= 1 and a finite deviation, got n={n}, std={std}")
    parts = ((std**2 / n, n), (printed_std**2 / printed_n, printed_n))
    total = sum(part for part, _ in parts) + known
    uncertainty = sum(part**2 / (m - 1) for part, m in parts if m > 1)
    return total, total**2 / uncertainty if uncertainty > 0 else math.inf


def welch_half_width(
    std: float, n: int, printed_std: float, printed_n: int, between: float = 0.0, level: float = 0.95
) -> float:
    """Return half the width of the interval of :func:`~mloml.paper.statistics.welch`'s difference.

    Zero lies outside of it exactly when the test is significant at ``1 - level``. ``between`` is a variance
    that is known besides, as that between two draws of the same generator.

    >>> from mloml.paper.statistics import welch
    >>> test = welch(0.40, 0.05, 30, 0.369, 0.051, 30)
    >>> bool(abs(test.difference) > welch_half_width(0.05, 30, 0.051, 30)), test.p_value < 0.05
    (True, True)
    """
    total, freedom = _variance(std, n, printed_std, printed_n, between + PRINTED_ROUNDING)
    return math.sqrt(total) * float(stats.t.ppf((1 + level) / 2, freedom))


class Spread(NamedTuple):
    """What varies between draws and within them.

    Attributes
    ----------
    mean : float
        Over all draws.
    between : float
        Variance of a draw's expected error, unbiased: may come out below zero by chance.
    within : float
        Variance of the error over the splits of one draw.
    error : float
        Standard error of ``between``, for normal deviations.
    draws, splits : int
    """

    mean: float
    between: float
    within: float
    error: float
    draws: int
    splits: int


def spread_of_draws(errors: Sequence[Sequence[float]]) -> Spread:
    r"""Take the part that is due to splits off the variance of the draws' means.

    Error s of draw d is :math:`e_{ds} = \mu + b_d + w_{ds}`. The splits of a draw are chosen at random and
    independently *given its rows*, so the :math:`w_{ds}` are uncorrelated, whatever the overlap of halves:
    :math:`\mu + b_d` is the draw's expected error over all its splits. With m splits per draw

    .. math:: Var(\bar e_d) = \sigma_b^2 + \sigma_w^2 / m

    so :math:`\hat\sigma_b^2 = s^2(\bar e_d) - \overline{s_d^2} / m` is unbiased, with no assumption on the
    distributions. For normal ones the two parts are independent, and the variance of the estimate is
    :math:`2 (\sigma_b^2 + \sigma_w^2/m)^2 / (D-1) + 2 (\sigma_w^2/m)^2 / (D (m-1))`.

    Parameters
    ----------
    errors : sequence of sequences
        One row per draw, one error per split.

    Examples
    --------
    >>> spread = spread_of_draws([[0.1, 0.1], [0.2, 0.2], [0.3, 0.3]])
    >>> round(spread.between, 6), spread.within
    (0.01, 0.0)
    """
    table = np.asarray(errors, dtype=float)
    if table.ndim != 2 or min(table.shape) < 2 or not np.isfinite(table).all():
        raise ValueError(f"needs two draws with two finite errors each, got shape {table.shape}")
    draws, splits = table.shape
    of_means = float(table.mean(axis=1).var(ddof=1))
    within = float(table.var(axis=1, ddof=1).mean())
    by_splits = within / splits
    error = np.sqrt(2 * of_means**2 / (draws - 1) + 2 * by_splits**2 / (draws * (splits - 1)))
    return Spread(float(table.mean()), of_means - by_splits, within, float(error), draws, splits)


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


@dataclass(frozen=True)
class Ranking:
    """Mean ranks (1 = lowest error) with Friedman's test and Nemenyi's critical difference.

    Attributes
    ----------
    ranks : Series
        Mean rank of each algorithm, best first.
    statistic, p_value : float
        Friedman's chi-square and its p-value (0 and 1 when nothing can be tested).
    critical_difference : float
        Mean ranks that differ by less cannot be told apart (infinite with fewer than two datasets).
    datasets : tuple of str
        Datasets the ranks were taken over.
    """

    ranks: pd.Series
    statistic: float
    p_value: float
    critical_difference: float
    datasets: tuple[str, ...]

    def groups(self) -> list[list[str]]:
        """Return the maximal runs of algorithms that cannot be told apart, best first.

        >>> table = pd.DataFrame({"a": [0.1, 0.1], "b": [0.2, 0.2], "c": [0.3, 0.3]}, index=["x", "y"])
        >>> rank_algorithms(table).groups()
        [['a', 'b', 'c']]
        """
        names, values = list(self.ranks.index), self.ranks.to_numpy(dtype=float)
        runs: list[list[str]] = []
        last_end = 0
        for start, low in enumerate(values):
            end = int(np.searchsorted(values, low + self.critical_difference, side="right"))
            if end - start > 1 and end > last_end:
                runs.append(names[start:end])
            last_end = max(last_end, end)
        return runs


def rank_algorithms(errors: pd.DataFrame) -> Ranking:
    """Rank the columns (algorithms) of a complete table of mean errors over its rows (datasets).

    Equal errors share their mean rank, also where only the rounding of their sums tells them apart.

    Examples
    --------
    >>> table = pd.DataFrame({"a": [0.1, 0.2, 0.1], "b": [0.2, 0.2, 0.3], "c": [0.3, 0.4, 0.2]},
    ...                      index=["iris", "wine", "pima"])
    >>> rank_algorithms(table).ranks.round(2).to_dict()
    {'a': 1.17, 'b': 2.17, 'c': 2.67}
    """
    if bool(errors.isna().to_numpy().any()):
        raise ValueError("ranks need a complete table; leave out datasets or algorithms with gaps")
    n_datasets, n_algorithms = errors.shape
    errors = errors.round(DIGITS)
    ranked = errors.rank(axis=1, method="average")
    # Sorting by name first keeps the order of tied ranks the same whatever the columns' order.
    means = (
        ranked.mean(axis=0).sort_index().sort_values(kind="stable") if n_datasets else pd.Series(dtype=float)
    )
    statistic, p_value = _friedman(errors.to_numpy(dtype=float))
    difference = critical_difference(n_algorithms, n_datasets)
    return Ranking(means, statistic, p_value, difference, tuple(map(str, errors.index)))


def critical_difference(n_algorithms: int, n_datasets: int) -> float:
    r"""Nemenyi's critical difference :math:`q_\alpha \sqrt{k(k+1)/(6N)}` of two mean ranks.

    >>> round(critical_difference(5, 10), 3)
    1.929
    """
    if n_algorithms < 2 or n_datasets < 2:
        return float("inf")
    quantile = stats.studentized_range.ppf(1 - LEVEL, n_algorithms, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(n_algorithms * (n_algorithms + 1) / (6 * n_datasets)))


def _friedman(errors: np.ndarray) -> tuple[float, float]:
    n_datasets, n_algorithms = errors.shape
    all_tied = bool(n_datasets) and not np.ptp(errors, axis=1).any()
    if n_datasets < 2 or n_algorithms < 3 or all_tied:
        return 0.0, 1.0
    answer = stats.friedmanchisquare(*errors.T)
    return float(answer.statistic), float(answer.pvalue)
