"""Figures that compare methods: intervals are those of the verdicts, ranks stand where they belong."""

import math
from dataclasses import replace
from itertools import combinations

import pandas as pd
import pytest
from scipy import stats

from mloml.config.compose import compose_study
from mloml.report.artefacts import table2
from mloml.report.figures.comparisons import agreement_numbers, cost_figure
from mloml.report.figures.style import style_of
from mloml.report.figures.theory import definiteness_figure


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


def test_points_of_the_cost_figure_have_names_that_do_not_overlap_and_colours_of_their_own() -> None:
    names = [algorithm.name for algorithm in compose_study("beyond", []).algorithms]
    assert len({style_of(name).colour for name in names}) == len(names)
    table = pd.DataFrame({"study": "clean", "algorithm": names, "seconds_per_row": 1e-4})
    table = table.assign(relative_error=[1 + 0.005 * place for place in range(len(names))])
    figure = cost_figure(table, {"clean": "unit rows", "nothing": "nothing"}, {})
    (panel,) = figure.axes  # what has no numbers has no panel
    texts = [text for text in panel.texts if text.get_text()]
    assert sorted(text.get_text() for text in texts) == sorted(names)
    boxes = [text.get_window_extent() for text in texts]
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


def test_a_data_set_on_which_no_step_breaks_the_condition_has_no_panel() -> None:
    shares = {"share_leaving_cone": [0.0, 0.0], "share_condition_broken": [0.0, 0.5]}
    steps = pd.DataFrame({"dataset": ["iris", "wine"], "layer": 1, "gamma": 0.1, **shares})
    panels = [axes for axes in definiteness_figure(steps).axes if axes.lines]
    assert [axes.get_title() for axes in panels] == ["wine"]
    lines = [line.get_color() for line in panels[0].lines]
    assert len(lines) == len(set(lines))
