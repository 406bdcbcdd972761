"""Paired tests against scipy, their formulas and cases small enough to do by hand."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from mloml.paper.statistics import corrected_t, gain, holm, outcome, paired_t, welch, wilcoxon

ERRORS = st.lists(st.integers(0, 60), min_size=2, max_size=30)


@pytest.mark.parametrize("seed", range(5))
def test_paired_t_equals_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ours, theirs = rng.uniform(size=(2, 30))
    expected = stats.ttest_rel(ours, theirs)
    answer = paired_t(ours, theirs)
    assert answer.statistic == pytest.approx(expected.statistic)
    assert answer.p_value == pytest.approx(expected.pvalue)


def test_paired_t_of_three_splits_by_hand() -> None:
    # Differences .1, .2, .3: mean .2, deviation .1, t = .2 / (.1 / sqrt 3) = 2 sqrt 3.
    answer = paired_t([0.2, 0.4, 0.6], [0.1, 0.2, 0.3])
    t = 2 * math.sqrt(3)
    assert answer.statistic == pytest.approx(t)
    # With two degrees of freedom the distribution function is closed: p = 1 - t / sqrt(t^2 + 2).
    assert answer.p_value == pytest.approx(1 - t / math.sqrt(t**2 + 2))


def test_corrected_t_follows_its_formula() -> None:
    rng = np.random.default_rng(1)
    ours, theirs = rng.uniform(size=(2, 30))
    d = ours - theirs
    t = d.mean() / math.sqrt((1 / 30 + 1.0) * d.var(ddof=1))
    answer = corrected_t(ours, theirs)
    assert answer.statistic == pytest.approx(t)
    assert answer.p_value == pytest.approx(2 * stats.t.cdf(-abs(t), 29))


@settings(deadline=None, max_examples=25)
@given(ERRORS, st.randoms(use_true_random=False))
def test_the_corrected_test_never_finds_more_than_the_plain_one(counts: list[int], random) -> None:
    ours = np.array(counts) / 75
    theirs = np.array([random.randint(0, 60) for _ in counts]) / 75
    assert corrected_t(ours, theirs).p_value >= paired_t(ours, theirs).p_value - 1e-12


@settings(deadline=None, max_examples=10)
@given(ERRORS, st.randoms(use_true_random=False))
def test_no_test_ever_answers_nan_and_exchanging_the_methods_exchanges_win_and_loss(counts, random) -> None:
    ours = np.array(counts) / 75
    theirs = np.array([random.randint(0, 60) for _ in counts]) / 75
    swapped = {"win": "loss", "loss": "win", "tie": "tie"}
    for test in (paired_t, corrected_t, wilcoxon):
        there, back = test(ours, theirs), test(theirs, ours)
        assert not math.isnan(there.p_value) and not math.isnan(there.statistic)
        assert outcome(back.difference, back.p_value) == swapped[outcome(there.difference, there.p_value)]


@pytest.mark.parametrize("test", [paired_t, corrected_t, wilcoxon])
def test_identical_errors_are_a_tie(test) -> None:
    answer = test([0.333] * 30, [0.333] * 30)
    assert (answer.difference, answer.p_value) == (0.0, 1.0)
    assert outcome(answer.difference, answer.p_value) == "tie"


@pytest.mark.parametrize("test", [paired_t, corrected_t])
@pytest.mark.parametrize(("shift", "expected"), [(0.1, "win"), (-0.1, "loss")])
def test_a_constant_difference_is_certain(test, shift: float, expected: str) -> None:
    reference = np.array([0.21, 0.34, 0.55])
    answer = test(reference + shift, reference)
    assert answer.p_value == 0.0
    assert outcome(answer.difference, answer.p_value) == expected


def test_a_single_split_decides_nothing() -> None:
    for test in (paired_t, corrected_t, wilcoxon):
        assert test([0.4], [0.1]).p_value == 1.0


@given(st.lists(st.integers(-6, 6), min_size=1, max_size=8).filter(any))
@settings(max_examples=40, deadline=None)
def test_wilcoxon_of_few_equal_differences_is_scipys(steps: list[int]) -> None:
    ours, theirs = 0.5 + 0.01 * np.array(steps), np.full(len(steps), 0.5)
    answer, expected = wilcoxon(ours, theirs), stats.wilcoxon(np.array(steps, dtype=float))
    assert answer.p_value == pytest.approx(expected.pvalue)
    assert answer.statistic == pytest.approx(expected.statistic)


def test_wilcoxon_equals_scipy_and_by_hand() -> None:
    # Three positive differences: 2 of the 8 sign patterns are this extreme.
    assert wilcoxon([0.2, 0.4, 0.6], [0.1, 0.2, 0.3]).p_value == pytest.approx(0.25)
    rng = np.random.default_rng(3)
    ours, theirs = rng.uniform(size=(2, 30))
    assert wilcoxon(ours, theirs).p_value == pytest.approx(stats.wilcoxon(ours, theirs).pvalue)


def test_holm_equals_a_step_by_step_calculation() -> None:
    rng = np.random.default_rng(4)
    p = rng.uniform(size=12) ** 4
    expected, highest = {}, 0.0
    for step, index in enumerate(sorted(range(12), key=lambda i: p[i])):
        highest = max(highest, p[index] * (12 - step))
        expected[index] = min(highest, 1.0)
    assert holm(p).tolist() == pytest.approx([expected[i] for i in range(12)])


def test_holm_of_no_tests_is_empty() -> None:
    assert holm([]).tolist() == []


def test_welch_equals_scipy_when_rounding_is_negligible() -> None:
    expected = stats.ttest_ind_from_stats(36.9, 5.1, 30, 40.2, 7.4, 12, equal_var=False)
    answer = welch(36.9, 5.1, 30, 40.2, 7.4, 12)
    assert answer.statistic == pytest.approx(expected.statistic, rel=1e-6)
    assert answer.p_value == pytest.approx(expected.pvalue, rel=1e-6)


def test_printed_rounding_decides_when_both_deviations_are_zero() -> None:
    assert welch(0.3333, 0.0, 30, 0.333, 0.0, 30).p_value > 0.05
    far = welch(0.34, 0.0, 30, 0.333, 0.0, 30)
    assert far.statistic == pytest.approx(0.007 / math.sqrt(1e-6 / 12))
    assert far.p_value < 1e-6


@pytest.mark.parametrize("errors", [([0.1, 0.2], [0.1]), ([], []), ([0.1, math.nan], [0.1, 0.2])])
def test_unequal_empty_or_unfinished_lists_are_refused(errors) -> None:
    with pytest.raises(ValueError, match="paired tests need"):
        paired_t(*errors)


ERRORS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=2, max_size=12)


@given(ERRORS)
def test_the_interval_is_scipys_widened_by_the_correction(pairs) -> None:
    before, after = (np.array(side) / 40 for side in zip(*pairs, strict=True))
    found = gain(before, after)
    assert found.gain == pytest.approx(before.mean() - after.mean(), abs=1e-12)
    if np.ptp(before - after) > 1e-9:
        low, high = stats.ttest_rel(before, after).confidence_interval(0.95)
        assert found.high - found.low == pytest.approx((high - low) * np.sqrt(1 + len(pairs)))


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
