"""The critical-difference diagram shows every algorithm at its rank, and bars over what is not apart."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mloml import paper
from mloml.paper.statistics import rank_algorithms
from mloml.report.figures.ranks import critical_difference_figure


def texts(figure) -> list[str]:
    return [text.get_text().strip() for text in figure.axes[0].texts]


def test_every_algorithm_is_labelled_with_its_rank() -> None:
    errors = paper.table2().set_index(["dataset", "algorithm"])["error"].unstack()  # noqa: PD010
    ranking = rank_algorithms(errors)
    titles = {name: title for title, name in paper.ALGORITHMS.items()}
    figure = critical_difference_figure(ranking, titles)
    shown = texts(figure)
    assert "critical difference 5.73" in shown
    assert "MLOML-s  3.46" in shown and "11.92  OASIS" in shown
    bars = [line for line in figure.axes[0].lines if line.get_linewidth() > 2]
    assert len(bars) == len(ranking.groups()) == 3
    for bar, group in zip(bars, ranking.groups(), strict=True):
        assert bar.get_xdata()[0] == pytest.approx(ranking.ranks[group[0]] - 0.04)


def test_one_dataset_gives_a_panel_that_says_why_it_is_empty() -> None:
    ranking = rank_algorithms(pd.DataFrame(np.eye(3)[:1], columns=list("abc"), index=["iris"]))
    assert "two algorithms" in texts(critical_difference_figure(ranking, {}))[0].replace("\n", " ")
