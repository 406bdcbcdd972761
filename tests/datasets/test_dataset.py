"""A table becomes a data set: labels are coded, and what does not fit the catalogue is refused."""

import numpy as np
import pytest

from mloml.datasets import Dataset, DatasetConfig
from mloml.datasets.dataset import Table, checksum, make_dataset
from mloml.errors import DataFormatError


def made(labels: list[str], **config: object) -> Dataset:
    X = np.arange(2.0 * len(labels)).reshape(-1, 2)
    return make_dataset(DatasetConfig(name="own", **config), Table(X, labels, "own.csv"), "local", {})


def test_labels_without_a_given_order_are_sorted_numbers_by_size():
    assert made(["10", "9", "10", "9.0"]).labels == ["9", "10"]
    assert made(["b", "a", "b", "a"]).y.tolist() == [1, 0, 1, 0]


def test_labels_are_coded_in_the_order_of_the_config():
    counts = {"L": 2, "B": 2, "R": 2}
    assert made(["B", "L", "R"] * 2, class_counts=counts).y.tolist() == [1, 0, 2] * 2


@pytest.mark.parametrize(
    ("labels", "config", "message"),
    [
        (["a", "a"], {}, "all rows have the label 'a'; two classes are needed"),
        (["a", "b", "b"], {}, "label 'a' has 1 row; a 50/50 split needs 2"),
        (["a", "a", "b", "b"], {"rows": 5}, "own has 5 rows, this file 4"),
        (["a", "a", "b", "b"], {"features": 3}, "own has 3 features, this file 2"),
        (["a", "a", "b", "b"], {"class_counts": {"a": 2, "c": 2}}, "label 'b' is none of a, c"),
        (
            ["a", "a", "b", "b"],
            {"class_counts": {"a": 3, "b": 1}},
            "own has 3 rows with label 'a', this file 2",
        ),
        (
            ["a", "a", "b", "b"],
            {"class_counts": {"a": None, "b": None, "c": None}},
            "has some rows with label 'c', this file 0",
        ),
    ],
)
def test_a_table_that_is_not_what_the_catalogue_says_is_refused(labels, config, message):
    with pytest.raises(DataFormatError, match=message):
        made(labels, **config)


def test_the_checksum_depends_on_every_value_label_and_shape():
    X, y = np.arange(12.0).reshape(6, 2), np.array([0, 1] * 3)
    first = checksum(X, y)
    assert checksum(X.copy(), y.copy()) == first
    assert checksum(X + np.eye(6, 2) * 1e-12, y) != first
    assert checksum(X, 1 - y) != first
    assert checksum(X.reshape(4, 3), y) != first
