import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mloml.config.schema import DataSettings, ProtocolConfig
from mloml.datasets import catalogue, load
from mloml.errors import DataFormatError
from mloml.experiments.splits import derive_seed, fold_indices, halves, split_indices

CLASS_COUNTS = st.lists(st.integers(2, 40), min_size=1, max_size=6)


def labels(counts, seed=0):
    return np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)), counts))


@pytest.mark.parametrize(
    ("counts", "train_counts"),
    [
        ((50, 50, 50), [25, 25, 25]),  # iris
        ((42, 84), [21, 42]),  # lsvt
        ((288, 49, 288), [144, 24, 144]),  # balance
        ((3, 3, 3), [1, 2, 1]),
    ],
)
def test_class_counts_are_the_same_in_every_split(counts, train_counts):
    y = labels(counts)
    for split in range(30):
        train, test = split_indices(y, split, seed=0, dataset_name="toy")
        assert np.bincount(y[train]).tolist() == train_counts
        assert np.bincount(y[test]).tolist() == [a - b for a, b in zip(counts, train_counts, strict=True)]


@settings(max_examples=60, deadline=None)
@given(counts=CLASS_COUNTS, split=st.integers(0, 29))
def test_halves_part_the_rows_and_differ_by_at_most_one_in_all_and_per_class(counts, split):
    y = labels(counts)
    train, test = split_indices(y, split, seed=1, dataset_name="toy")
    assert sorted([*train, *test]) == list(range(len(y)))
    assert 0 <= len(test) - len(train) <= 1
    difference = np.bincount(y[test], minlength=len(counts)) - np.bincount(y[train], minlength=len(counts))
    assert np.abs(difference).max() <= 1


def test_plain_halves_are_drawn_without_regard_to_classes_but_each_is_trained_on():
    y = labels((40, 40, 2))
    counts = []
    for split in range(40):
        train, test = split_indices(y, split, 0, "toy", stratified=False)
        assert sorted([*train, *test]) == list(range(82)) and len(train) == 41
        counts.append(np.bincount(y[train], minlength=3))
    first, _, last = np.transpose(counts)
    assert first.min() < 20 < first.max() and set(last) == {1, 2}


def test_alphabetical_ties_change_the_codes_and_not_the_halves():
    balance = load(catalogue()["balance"], DataSettings(source="generated"))  # coded L, B, R
    usual, other = (halves(balance, ProtocolConfig(ties=ties), 3) for ties in ("smallest", "alphabetical"))
    np.testing.assert_array_equal(usual.X, other.X)
    for mine, others in ((usual.y, other.y), (usual.y_test, other.y_test)):
        assert np.array(["L", "B", "R"])[mine].tolist() == np.array(["B", "L", "R"])[others].tolist()


def test_splits_differ_between_indices_datasets_and_seeds_and_repeat_otherwise():
    y = labels((30, 30))
    first = split_indices(y, 0, 0, "iris")[0].tolist()
    assert split_indices(y, 0, 0, "iris")[0].tolist() == first
    for other in ((1, 0, "iris"), (0, 1, "iris"), (0, 0, "wine")):
        assert split_indices(y, *other)[0].tolist() != first


def test_a_class_with_a_single_row_cannot_be_split():
    with pytest.raises(DataFormatError, match=r"^toy: class 1 has a single row"):
        split_indices(np.array([0, 0, 0, 1]), 0, 0, "toy")


@settings(max_examples=80, deadline=None)
@given(counts=CLASS_COUNTS, folds=st.integers(2, 7))
def test_each_row_is_validated_once_and_classes_are_spread_evenly(counts, folds):
    y = labels(counts)
    pairs = fold_indices(y, split=0, seed=0, dataset_name="toy", folds=folds)
    assert sorted(np.concatenate([validate for _, validate in pairs])) == list(range(len(y)))
    per_fold = np.array([np.bincount(y[validate], minlength=len(counts)) for _, validate in pairs])
    if len(pairs) == folds:
        assert np.all(per_fold.max(axis=0) - per_fold.min(axis=0) <= 1)
    assert per_fold.sum(axis=1).max() - per_fold.sum(axis=1).min() <= 1
    for fit, validate in pairs:
        assert len(validate) > 0
        assert sorted([*fit, *validate]) == list(range(len(y)))


def test_fewer_rows_than_folds_leave_no_fold_empty():
    pairs = fold_indices(np.array([0, 1, 1]), split=0, seed=0, dataset_name="toy", folds=5)
    assert [len(validate) for _, validate in pairs] == [1, 1, 1]


def test_seeds_of_different_purposes_are_unrelated():
    seeds = {derive_seed(0, name, split, use) for name in "ab" for split in range(30) for use in ("x", "y")}
    assert len(seeds) == 120
    assert all(0 <= seed < 2**32 for seed in seeds)
