"""The median of censored times, against scipy's survival function and against a plain median."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from mloml.paper.statistics.survival import median_time

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
