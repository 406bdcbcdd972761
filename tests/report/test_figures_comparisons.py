"""Figures that compare methods: intervals are those of the verdicts, ranks stand where they belong."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mloml import paper
from mloml.paper.statistics import rank_algorithms
from mloml.report.artefacts import table2
from mloml.report.figures.comparisons import (
    REACH,
    agreement_figure,
    agreement_numbers,
    critical_difference_figure,
)


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


@pytest.mark.parametrize("reach", [3, 0.98])
def test_a_difference_beyond_the_panel_is_an_arrow_with_its_number(numbers, reach: float) -> None:
    numbers.loc[numbers.index[0], ["difference", "verdict"]] = [-reach * REACH, "differs: ours lower"]
    sets, methods = ({name: name for name in numbers[column].unique()} for column in ("dataset", "algorithm"))
    figure = agreement_figure(numbers, sets, methods)
    points = [line for axes in figure.axes for line in axes.lines if len(line.get_xdata()) == 1]
    assert len(points) == len(numbers) and all(abs(line.get_xdata()[0]) <= REACH for line in points)
    shown = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert shown == [f"−.{round(1000 * reach * REACH):03d}"]


def test_every_algorithm_is_labelled_with_its_rank() -> None:
    errors = paper.table2().set_index(["dataset", "algorithm"])["error"].unstack()  # noqa: PD010
    ranking = rank_algorithms(errors)
    figure = critical_difference_figure(ranking, {name: title for title, name in paper.ALGORITHMS.items()})
    shown = [text.get_text().strip() for text in figure.axes[0].texts]
    nemenyi = stats.studentized_range.ppf(0.95, 14, math.inf) / math.sqrt(2) * math.sqrt(14 * 15 / (6 * 12))
    assert f"critical difference {nemenyi:.2f}" in shown
    ranks = errors.rank(axis=1).mean()
    assert f"MLOML-s  {ranks['mloml_s']:.2f}" in shown and f"{ranks['oasis']:.2f}  OASIS" in shown
    bars = [line for line in figure.axes[0].lines if line.get_linewidth() > 2]
    starts = [ranking.ranks[group[0]] - 0.04 for group in ranking.groups()]
    assert [bar.get_xdata()[0] for bar in bars] == pytest.approx(starts)


def test_one_dataset_gives_a_panel_that_says_why_it_is_empty() -> None:
    ranking = rank_algorithms(pd.DataFrame(np.eye(3)[:1], columns=list("abc"), index=["iris"]))
    assert len(critical_difference_figure(ranking, {}).axes[0].texts) == 1
