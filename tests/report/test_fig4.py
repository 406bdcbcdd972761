"""Figure 4: medians, quartiles and ratios of times that were made up."""

import numpy as np
import pandas as pd
import pytest

from mloml.report.artefacts.fig4 import build, time_numbers


@pytest.fixture
def runs():
    """Five runs of each method, MOML twice as fast as OPML."""
    return pd.DataFrame(
        [(dataset, method, run, 22, 100, factor * size * (1 + run) * 1e-4)
         for dataset, size in (("iris", 1), ("wine", 5))
         for method, factor in (("opml", 1), ("moml", 0.5), ("moml_frame", 3)) for run in range(5)],
        columns=["dataset", "method", "run", "features", "triplets", "seconds"],
    )  # fmt: skip


def test_times_are_medians_with_quartiles(runs):
    numbers = time_numbers(runs)
    np.testing.assert_allclose(numbers["median"], [3, 1.5, 9, 15, 7.5, 45])
    np.testing.assert_allclose(numbers[["lower", "upper"]].iloc[0], [2.0, 4.0])


def test_the_page_gets_ratios_to_opml(runs, make_result):
    ratios = build(make_result(datasets=("iris", "wine")), runs).values["ratios"]
    np.testing.assert_allclose(ratios[["moml", "moml_frame"]], [[0.5, 3.0]] * 2)
