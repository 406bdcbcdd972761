"""Ranks of many methods over many datasets: Friedman's test and Nemenyi's critical difference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

DIGITS = 12  # mean errors that agree to so many are equal: the rest is the rounding of sums


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
    alpha: float = 0.05

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


def rank_algorithms(errors: pd.DataFrame, alpha: float = 0.05) -> Ranking:
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
    difference = critical_difference(n_algorithms, n_datasets, alpha)
    return Ranking(means, statistic, p_value, difference, tuple(map(str, errors.index)), alpha)


def critical_difference(n_algorithms: int, n_datasets: int, alpha: float = 0.05) -> float:
    r"""Nemenyi's critical difference :math:`q_\alpha \sqrt{k(k+1)/(6N)}` of two mean ranks.

    >>> round(critical_difference(5, 10), 3)
    1.929
    """
    if n_algorithms < 2 or n_datasets < 2:
        return float("inf")
    quantile = stats.studentized_range.ppf(1 - alpha, n_algorithms, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(n_algorithms * (n_algorithms + 1) / (6 * n_datasets)))


def _friedman(errors: np.ndarray) -> tuple[float, float]:
    n_datasets, n_algorithms = errors.shape
    all_tied = bool(n_datasets) and not np.ptp(errors, axis=1).any()
    if n_datasets < 2 or n_algorithms < 3 or all_tied:
        return 0.0, 1.0
    answer = stats.friedmanchisquare(*errors.T)
    return float(answer.statistic), float(answer.pvalue)
