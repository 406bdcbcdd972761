"""Median of censored times, against scipy and a plain median; variance between draws, by simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from mloml.paper.statistics import median_time, spread_of_draws

OBSERVED = st.lists(st.tuples(st.integers(1, 20), st.booleans()), min_size=1, max_size=30)


@given(OBSERVED)
def test_it_is_where_scipys_survival_function_falls_to_one_half(pairs) -> None:
    times, happened = (np.array(side) for side in zip(*pairs, strict=True))
    sample = stats.CensoredData(uncensored=times[happened], right=times[~happened])
    curve = stats.ecdf(sample).sf
    fallen = curve.quantiles[(curve.probabilities <= 0.5 + 1e-9) & np.isin(curve.quantiles, times[happened])]
    assert median_time(times, happened) == (fallen[0] if len(fallen) else None)


@given(st.lists(st.integers(1, 20), min_size=1, max_size=15).filter(lambda times: len(times) % 2))
def test_without_censoring_it_is_the_plain_median(times) -> None:
    assert median_time(times, [True] * len(times)) == np.median(times)


def test_a_textbook_sample() -> None:
    # Remission in weeks under 6-MP (Freireich 1963): the median is 23 weeks, 9 of 21 relapsed.
    relapsed, still = [6, 6, 6, 7, 10, 13, 16, 22, 23], [6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35]
    assert median_time(relapsed + still, [True] * 9 + [False] * 12) == 23


def test_what_never_happens_has_no_median_and_sizes_must_match() -> None:
    assert median_time([20, 20], [False, False]) is None and median_time([], []) is None
    with pytest.raises(ValueError, match="as many times"):
        median_time([1, 2], [True])


@pytest.mark.parametrize(
    ("between", "within", "splits"), [(0.004, 0.003, 2), (0.001, 0.006, 2), (0.0, 0.005, 3)]
)
def test_the_variance_between_draws_is_unbiased_and_its_error_is_right(between, within, splits) -> None:
    rng = np.random.default_rng(7)
    draws = between * rng.normal(size=(4000, 20, 1))
    errors = 0.17 + draws + within * rng.normal(size=(4000, 20, splits))
    found = [spread_of_draws(table) for table in errors]
    estimates = np.array([spread.between for spread in found])
    deviation = estimates.std(ddof=1)
    assert abs(estimates.mean() - between**2) < 4 * deviation / np.sqrt(4000)
    assert np.sqrt(np.mean([spread.error**2 for spread in found])) == pytest.approx(deviation, rel=0.15)
    assert np.mean([spread.within for spread in found]) == pytest.approx(within**2, rel=0.05)


def test_splits_of_one_draw_are_independent_given_its_rows() -> None:
    """Halves overlap, yet given the rows the errors of two random splits are uncorrelated."""
    rng = np.random.default_rng(9)
    table = []
    for _ in range(3000):
        rows = rng.normal(size=30)  # a draw; its "error" on a split is the mean of a random half
        table.append([rng.permutation(rows)[:15].mean() for _ in range(2)])
    # Over all its splits a draw's expectation is the mean of its rows, whose variance is 1/30.
    assert spread_of_draws(table).between == pytest.approx(1 / 30, rel=0.15)


def test_it_needs_two_draws_of_two_splits() -> None:
    for errors in ([[0.1, 0.2]], [[0.1], [0.2]], [[0.1, np.nan], [0.1, 0.2]]):
        with pytest.raises(ValueError, match="two draws"):
            spread_of_draws(errors)
