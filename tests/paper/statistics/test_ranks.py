"""Friedman and Nemenyi against scikit-posthocs and Demšar's published table."""

import itertools

import numpy as np
import pandas as pd
import pytest
import scikit_posthocs
from hypothesis import given, settings
from hypothesis import strategies as st

from mloml.paper.statistics import critical_difference, rank_algorithms


def table(seed: int, n_datasets: int, n_algorithms: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    errors = rng.uniform(size=(n_datasets, n_algorithms)) + np.linspace(0, 0.8, n_algorithms)
    return pd.DataFrame(errors.round(2), columns=[f"a{i}" for i in range(n_algorithms)])


# Demšar (2006), table 5a: q for alpha = .05 and 2..10 classifiers.
@pytest.mark.parametrize(
    ("k", "q"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (6, 2.850), (7, 2.949), (10, 3.164)]
)
def test_critical_difference_uses_the_published_quantiles(k: int, q: float) -> None:
    assert critical_difference(k, 12) == pytest.approx(q * np.sqrt(k * (k + 1) / 72), abs=1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_mean_ranks_decide_as_nemenyi_of_scikit_posthocs(seed: int) -> None:
    errors = table(seed, 12, 6)
    ranking = rank_algorithms(errors)
    p = scikit_posthocs.posthoc_nemenyi_friedman(errors)
    for a, b in itertools.combinations(errors.columns, 2):
        apart = abs(ranking.ranks[a] - ranking.ranks[b]) > ranking.critical_difference
        assert apart == (p.loc[a, b] < 0.05)


def test_friedman_of_a_table_ranked_by_hand() -> None:
    # Ranks (1,2,3), (1,2,3), (1,3,2), (2,1,3): sums 5, 8, 11; 12/(4*3*4) * (25+64+121) - 3*4*4 = 4.5.
    errors = pd.DataFrame(
        [[0.1, 0.2, 0.3], [0.1, 0.2, 0.3], [0.1, 0.3, 0.2], [0.2, 0.1, 0.3]], columns=list("abc")
    )
    ranking = rank_algorithms(errors)
    assert ranking.ranks.to_dict() == {"a": 1.25, "b": 2.0, "c": 2.75}
    assert ranking.statistic == pytest.approx(4.5)
    assert ranking.p_value == pytest.approx(np.exp(-4.5 / 2))  # chi-square with two degrees of freedom


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10**6), st.integers(2, 15), st.integers(3, 8))
def test_mean_ranks_average_to_the_middle_and_groups_hold_only_neighbours(seed, n_datasets, k) -> None:
    ranking = rank_algorithms(table(seed, n_datasets, k))
    assert ranking.ranks.mean() == pytest.approx((k + 1) / 2)
    for group in ranking.groups():
        span = ranking.ranks[group[-1]] - ranking.ranks[group[0]]
        assert span <= ranking.critical_difference
    for a, b in itertools.combinations(ranking.ranks.index, 2):
        together = any({a, b} <= set(group) for group in ranking.groups())
        assert together == (ranking.ranks[b] - ranking.ranks[a] <= ranking.critical_difference)


def test_one_dataset_or_tied_tables_have_no_significance() -> None:
    one = rank_algorithms(table(0, 1, 4))
    assert (one.p_value, one.critical_difference) == (1.0, np.inf)
    tied = rank_algorithms(pd.DataFrame(np.full((5, 3), 0.2), columns=list("abc")))
    assert tied.p_value == 1.0 and set(tied.ranks) == {2.0}


def test_a_gap_in_the_table_is_refused() -> None:
    errors = table(0, 3, 3)
    errors.iloc[0, 0] = np.nan
    with pytest.raises(ValueError, match="complete table"):
        rank_algorithms(errors)


def test_errors_that_differ_by_the_rounding_of_a_sum_share_their_rank():
    halves = np.array([0.1, 0.2, 0.3])
    errors = pd.DataFrame(
        {"a": [halves.sum() / 3], "b": [halves[::-1].sum() / 3], "c": [0.1]}, index=["iris"]
    )
    assert errors.loc["iris", "a"] != errors.loc["iris", "b"]
    assert rank_algorithms(errors).ranks.to_dict() == {"c": 1.0, "a": 2.5, "b": 2.5}
