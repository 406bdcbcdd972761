"""Comparison of layers and geometry, each against its slowest form."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mloml.paper.proposition1 import compare_layers, layer_geometry, mean_distances


def test_layers_are_compared_split_by_split():
    rng = np.random.default_rng(0)
    table = rng.integers(0, 10, (12, 3)) / 10
    errors = pd.DataFrame(
        [("iris", s, layer + 1, table[s, layer]) for s in range(12) for layer in range(3)],
        columns=["dataset", "split", "layer", "error"],
    )
    found = compare_layers(errors.sample(frac=1, random_state=1))
    for i, row in enumerate(found.itertuples()):
        below, above = table[:, i], table[:, i + 1]
        assert (row.layer, row.next_layer, row.splits) == (i + 1, i + 2, 12)
        assert row.share_no_worse == pytest.approx(np.mean(above <= below))
        assert row.share_better + row.share_worse <= 1
        assert row.difference == pytest.approx(np.mean(above - below))
        assert row.p_paired == pytest.approx(stats.ttest_rel(above, below).pvalue)
        assert row.p_corrected > row.p_paired


def test_equal_layers_are_a_tie_and_no_nan():
    errors = pd.DataFrame(
        {"dataset": "iris", "split": [0, 1, 0, 1], "layer": [1, 1, 2, 2], "error": [0.1, 0.2] * 2}
    )
    row = compare_layers(errors).iloc[0]
    assert row["share_no_worse"] == 1 and row["p_paired"] == 1


def test_mean_distances_equal_the_sums_over_all_pairs():
    rng = np.random.default_rng(3)
    Z, y = rng.normal(size=(25, 3)), rng.integers(0, 3, 25)
    within, between = [], []
    for i in range(25):
        for j in range(i):
            (within if y[i] == y[j] else between).append(np.sum((Z[i] - Z[j]) ** 2))
    assert mean_distances(Z, y) == pytest.approx((np.mean(within), np.mean(between)))


def test_geometry_counts_missed_margins():
    Z = np.array([[0.0], [1.0], [3.0]])
    triplets = np.array([[0, 1, 2], [2, 0, 1]])
    found = layer_geometry([Z, 0.1 * Z], np.array([0, 0, 1]), triplets)
    assert found["hinge_violations"].tolist() == [0.5, 1.0]
    assert found["wrong_order"].tolist() == [0.5, 0.5]
    assert found["mean_margin"][0] == pytest.approx(((9 - 1) + (4 - 9)) / 2)
