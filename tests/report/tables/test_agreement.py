"""The picture of every cell: its intervals are those of the verdicts, and a reader can tell them apart."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mloml import paper
from mloml.paper.statistics.intervals import welch_half_width
from mloml.report.figures.agreement import REACH, agreement_figure, agreement_numbers
from mloml.report.figures.style import paper_style
from mloml.report.labels import labels_of
from mloml.report.parts.agreement import agreement_picture
from mloml.report.parts.paper_comparison import compare_with_paper
from mloml.report.tables import summarise


@pytest.fixture
def comparison(make_result) -> pd.DataFrame:
    result = make_result(splits=30)
    results = summarise(result.frame, labels_of(result), "mloml_r")
    _, (_, verdicts, *_) = compare_with_paper(results, paper.table2(), paper.table2_counts(), "Table II")
    frame = verdicts.numbers
    assert isinstance(frame, pd.DataFrame)
    return frame


def test_an_interval_leaves_zero_out_exactly_where_the_verdict_says_that_the_means_differ(comparison):
    known = comparison[comparison["between_draws"] == 0]  # SciPy's test knows of no variance between draws
    shifted = known.assign(difference=known["difference"] + np.linspace(-0.02, 0.02, len(known)))
    halves = agreement_numbers(shifted).eval("(high - low) / 2")
    tests = [
        stats.ttest_ind_from_stats(d, s, 30, 0, t, 30, equal_var=False).pvalue
        for d, s, t in shifted[["difference", "our_std", "paper_std"]].to_numpy()
    ]
    # The rounding of printed means widens intervals a little: only what is clear is compared.
    clear = [not 0.03 < p < 0.05 for p in tests]
    outside = shifted["difference"].abs() > halves
    assert sum(clear) > 10
    assert [bool(o) for o, c in zip(outside, clear, strict=True) if c] == [
        p < 0.05 for p, c in zip(tests, clear, strict=True) if c
    ]
    numbers = agreement_numbers(comparison)
    assert ((numbers["low"] > 0) == (numbers["verdict"] == "differs: ours higher")).all()
    assert ((numbers["high"] < 0) == (numbers["verdict"] == "differs: ours lower")).all()


def test_the_width_is_that_of_a_t_distribution_with_welchs_freedom():
    variances = (0.05**2 / 30, 0.03**2 / 20)
    freedom = sum(variances) ** 2 / (variances[0] ** 2 / 29 + variances[1] ** 2 / 19)
    expected = stats.t.ppf(0.975, freedom) * math.sqrt(sum(variances))
    assert welch_half_width(0.05, 30, 0.03, 20) == pytest.approx(expected, rel=1e-3)


def test_every_cell_is_drawn_and_what_lies_beyond_a_panel_carries_its_number(comparison):
    far = comparison.copy()
    far.loc[far.index[0], ["difference", "verdict"]] = [-3 * REACH, "differs: ours lower"]
    sets = {name: name for name in dict.fromkeys(far["dataset"])}
    methods = {name: name for name in dict.fromkeys(far["algorithm"])}
    with paper_style():
        figure = agreement_figure(agreement_numbers(far), sets, methods)
    points = [line for axes in figure.axes for line in axes.lines if len(line.get_xdata()) == 1]
    assert len(points) == len(far)
    assert all(abs(line.get_xdata()[0]) <= REACH for line in points)
    assert [text.get_text() for axes in figure.axes for text in axes.texts] == ["−.150"]


def test_a_marker_that_the_edge_would_cut_is_an_arrow_with_its_number(comparison):
    edge = agreement_numbers(comparison)
    edge.loc[edge.index[0], ["difference", "verdict"]] = [-0.98 * REACH, "differs: ours lower"]
    (name,) = edge["dataset"].iloc[:1]
    axes = agreement_figure(edge, {name: name}, {edge["algorithm"].iloc[0]: "first"}).axes[0]
    assert [text.get_text() for text in axes.texts] == [f"−.{round(980 * REACH):03d}"]


def test_there_is_no_picture_before_there_is_anything_to_compare(make_result, comparison):
    labels = labels_of(make_result())
    assert agreement_picture(comparison.iloc[:0], labels, "Table II", ready=True) == ()
    (picture,) = agreement_picture(comparison, labels, "Table II", ready=True)
    assert set(picture.numbers["dataset"]) == {"iris", "wine", "spect_paper", "waveform"}
    assert "SLMOML*: reconstruction" in picture.caption
