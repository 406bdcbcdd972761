"""Generated streams: concepts where they should be, other rows for other draws, a remedy without river."""

import sys

import numpy as np
import pytest

from mloml.config.compose import compose_study
from mloml.datasets import load
from mloml.datasets.drift import CONCEPTS, drift_points, drifting
from mloml.errors import DatasetUnavailableError


def test_sea_changes_its_threshold_where_it_should():
    table = drifting("sea", 8000, seed=9)
    sums, y = table.X[:, 0] + table.X[:, 1], np.array(table.labels) == "1"
    edges = [0, *drift_points("sea", 8000), 8000]
    for first, last, threshold in zip(edges, edges[1:], (8, 9, 7, 9.5), strict=False):
        agree = [np.mean(y[first:last] == (sums[first:last] > t)) for t in (8, 9, 7, 9.5)]
        assert np.argmax(agree) == (8, 9, 7, 9.5).index(threshold) and max(agree) == pytest.approx(
            0.9, abs=0.03
        )


@pytest.mark.parametrize("name", list(CONCEPTS))
def test_a_draw_can_be_repeated_and_another_one_differs(name):
    one, again, other = (drifting(name, 200, seed) for seed in (7, 7, 8))
    assert np.array_equal(one.X, again.X) and one.labels == again.labels
    assert not np.array_equal(one.X, other.X) or one.labels != other.labels


def test_streams_of_the_study_fit_their_configs():
    for config in compose_study("streams").datasets:
        if config.generator and config.draw == 1:
            assert load(config).X.shape == (config.rows, config.features)


def test_without_river_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "river.datasets", None)
    with pytest.raises(DatasetUnavailableError, match=r"pip install '\.\[river\]'"):
        drifting("sea", 10, 0)
