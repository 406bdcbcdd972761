"""The gain of one method over another: its interval and its tests say the same."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from mloml.paper.statistics import corrected_t
from mloml.paper.statistics.gains import gain

ERRORS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=2, max_size=12)


@given(ERRORS)
def test_without_the_correction_the_interval_is_scipys(pairs) -> None:
    before, after = (np.array(side) / 40 for side in zip(*pairs, strict=True))
    found = gain(before, after, test_to_train=0.0)
    assert found.gain == pytest.approx(before.mean() - after.mean(), abs=1e-12)
    if np.ptp(before - after) > 1e-9:
        low, high = stats.ttest_rel(before, after).confidence_interval(0.95)
        assert (found.low, found.high) == pytest.approx((low, high))


@given(ERRORS)
def test_the_corrected_test_is_significant_when_its_interval_excludes_zero(pairs) -> None:
    before, after = (np.array(side) / 40 for side in zip(*pairs, strict=True))
    found = gain(before, after)
    excluded = found.low > 1e-9 or found.high < -1e-9
    assert (found.mark_corrected != "tie") == excluded
    assert found.p_corrected == corrected_t(before, after).p_value


def test_a_mark_speaks_of_what_comes_after() -> None:
    worse, better = [0.30, 0.32, 0.31, 0.33], [0.10, 0.11, 0.12, 0.12]
    assert gain(worse, better).mark_corrected == "win" and gain(better, worse).mark_corrected == "loss"
    assert gain(worse, worse).mark_paired == "tie" and gain(worse, worse).low == 0.0


def test_a_single_split_has_no_interval_and_proves_nothing() -> None:
    found = gain([0.3], [0.1])
    assert math.isnan(found.low) and math.isnan(found.high) and found.mark_corrected == "tie"
