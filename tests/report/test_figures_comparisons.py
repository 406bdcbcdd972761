"""Figures that compare methods: intervals are those of the verdicts, ranks stand where they belong."""

import math
from dataclasses import replace

import pandas as pd
import pytest
from scipy import stats

from mloml.report.artefacts import table2
from mloml.report.figures.comparisons import agreement_numbers


@pytest.fixture
def numbers(make_result) -> pd.DataFrame:
    result = make_result(splits=30)
    shift = result.frame["algorithm"].map({"moml": 0.03, "lego": -0.03}).fillna(0.0)
    moved = result.frame.assign(error=result.frame["error"] + shift)
    return table2.build(replace(result, frame=moved)).figures[0].numbers


def test_an_interval_leaves_zero_out_exactly_where_the_verdict_says_that_the_means_differ(numbers) -> None:
    assert numbers["verdict"].nunique() == 3
    assert ((numbers["low"] > 0) == (numbers["verdict"] == "differs: ours higher")).all()
    assert ((numbers["high"] < 0) == (numbers["verdict"] == "differs: ours lower")).all()


def test_an_interval_is_that_of_a_t_distribution_with_welchs_freedom() -> None:
    row = {"dataset": "d", "algorithm": "a", "paper_mean": 0.1, "our_mean": 0.12, "difference": 0.02}
    row |= {"verdict": "agrees", "our_std": 0.05, "our_splits": 20, "paper_std": 0.03}
    variances = (0.05**2 / 20, 0.03**2 / 30)
    freedom = sum(variances) ** 2 / (variances[0] ** 2 / 19 + variances[1] ** 2 / 29)
    half = stats.t.ppf(0.975, freedom) * math.sqrt(sum(variances))  # the paper's rounding widens it a little
    found = agreement_numbers(pd.DataFrame([row])).iloc[0]
    assert [found["low"], found["high"]] == pytest.approx([0.02 - half, 0.02 + half], rel=2e-3)
