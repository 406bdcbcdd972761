"""The bundled sets: shapes, counts, and single rows known from UCI's files."""

from __future__ import annotations

import numpy as np
import pytest

from mloml.datasets import Dataset, DataSettings, catalogue, load

BUNDLED = ["iris", "wine", "spect", "ionosphere", "breast", "pima"]


def bundled(name: str) -> Dataset:
    return load(catalogue()[name], DataSettings(source="bundled"))


@pytest.mark.parametrize("name", BUNDLED)
def test_shape_and_class_counts_are_the_catalogues(name):
    config, data = catalogue()[name], bundled(name)
    assert data.X.shape == (config.rows, config.features)
    assert data.counts() == config.class_counts
    assert data.X.dtype == np.float64
    assert data.X.flags.c_contiguous
    assert data.y.dtype == np.int64
    assert not data.regenerated


def test_iris_is_fishers_table_where_uci_has_typing_errors():
    X = bundled("iris").X
    assert X[34].tolist() == [4.9, 3.1, 1.5, 0.2]  # UCI: 4.9 3.1 1.5 0.1
    assert X[37].tolist() == [4.9, 3.6, 1.4, 0.1]  # UCI: 4.9 3.1 1.5 0.1


def test_spect_is_ucis_training_part_then_its_test_part():
    y = bundled("spect").y
    assert np.bincount(y[:80]).tolist() == [40, 40]
    assert np.bincount(y[80:]).tolist() == [15, 172]


def test_ionosphere_keeps_its_constant_second_column():
    X = bundled("ionosphere").X
    assert not X[:, 1].any()
    assert X[0, :4].tolist() == [1, 0, 0.99539, -0.05889]


def test_breast_and_pima_begin_as_ucis_files_do():
    breast, pima = bundled("breast"), bundled("pima")
    assert breast.X[:3].tolist() == [
        [5, 1, 1, 1, 2, 1, 3, 1, 1],
        [5, 4, 4, 5, 7, 10, 3, 2, 1],
        [3, 1, 1, 1, 2, 2, 3, 1, 1],
    ]
    assert breast.X.min() == 1
    assert breast.X.max() == 10
    assert pima.X[0].tolist() == [6, 148, 72, 35, 0, 33.6, 0.627, 50]
    assert pima.y[:3].tolist() == [1, 0, 1]


def test_the_checksum_depends_on_every_value_and_label():
    from mloml.datasets.dataset import checksum

    data = bundled("wine")
    X, y = data.X.copy(), data.y.copy()
    assert checksum(X, y) == data.checksum
    X[-1, -1] += 1e-12 * X[-1, -1]
    assert checksum(X, y) != data.checksum
    y[0] = 2
    assert checksum(data.X, y) != data.checksum
    assert checksum(data.X.reshape(89, 26), data.y) != data.checksum


def test_the_papers_spect_predicts_the_last_column_from_the_diagnosis_and_the_others():
    true, paper = bundled("spect"), bundled("spect_paper")
    np.testing.assert_array_equal(paper.X[:, 0], true.y)
    np.testing.assert_array_equal(paper.X[:, 1:], true.X[:, :-1])
    np.testing.assert_array_equal(paper.y, true.X[:, -1])
    assert paper.counts() == {"0": 157, "1": 110}
    assert paper.provenance["variant"] == "last_column"


def test_the_papers_mlprove_has_one_indicator_column_per_class():
    from mloml.datasets.dataset import make_dataset
    from mloml.datasets.table import Table
    from mloml.datasets.variants import indicators

    config = catalogue()["mlprove"]
    labels = [label for label, count in config.class_counts.items() for _ in range(count)]
    X = np.arange(len(labels) * 51, dtype=float).reshape(-1, 51)
    table = indicators(make_dataset(config, Table(X, labels, "x"), "local"))
    assert table.X.shape == (6118, 57)
    np.testing.assert_array_equal(table.X[:, :51], X)
    for row, label in list(zip(table.X, table.labels, strict=True))[::500]:
        assert row[51:].tolist() == [1 if str(k) == label else -1 for k in range(1, 7)]
