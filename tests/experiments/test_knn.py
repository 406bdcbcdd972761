from __future__ import annotations

from io import StringIO
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.oracles.neighbours import most_similar as slow_most_similar
from tests.oracles.neighbours import nearest_neighbours as slow_neighbours
from tests.oracles.neighbours import vote as slow_vote

from mloml.experiments import knn
from mloml.experiments.long_search import LONG, told
from mloml.experiments.preprocessing import unit_rows
from mloml.learners.neighbours import halvings, squared_distance


def balance_scale():
    """All of {1..5}^4, labelled by which side of the scale is heavier: left, balanced, right."""
    X = np.array(list(product(range(1, 6), repeat=4)), dtype=float)
    moment = X[:, 0] * X[:, 1] - X[:, 2] * X[:, 3]
    return X, np.where(moment > 0, 0, np.where(moment < 0, 2, 1))


@pytest.mark.parametrize("prepare", [unit_rows, lambda X: X], ids=["unit rows", "raw rows"])
@pytest.mark.parametrize("seed", range(3))
def test_balance_with_its_many_exact_ties_is_classified_as_by_the_slow_rule(prepare, seed):
    X, y = balance_scale()
    rows = prepare(X)
    order = np.random.default_rng(seed).permutation(len(X))
    train, test = np.sort(order[:312]), np.sort(order[312:])
    expected = slow_neighbours(rows[train], rows[test], 5)
    np.testing.assert_array_equal(knn.nearest_neighbours(rows[train], rows[test], 5), expected)
    np.testing.assert_array_equal(
        knn.predict(rows[train], y[train], rows[test], 5), slow_vote(expected, y[train])
    )


def test_balance_would_come_out_differently_without_the_exact_check():
    X, _ = balance_scale()
    rows = unit_rows(X)
    train, test = rows[::2], rows[1::2]
    rough = (test**2).sum(1)[:, None] - 2 * test @ train.T + (train**2).sum(1)
    rough_neighbours = np.argsort(rough, axis=1, kind="stable")[:, :5]
    assert np.any(rough_neighbours != slow_neighbours(train, test, 5))


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_neighbours_and_votes_equal_the_slow_rule_on_grids_full_of_ties(data):
    d = data.draw(st.integers(1, 12))
    values = st.sampled_from([0.0, 1.0, -1.0, 0.5, 1e-8, 1 / 3, 1e6])
    train = data.draw(hnp.arrays(float, (data.draw(st.integers(1, 30)), d), elements=values))
    test = data.draw(hnp.arrays(float, (data.draw(st.integers(1, 8)), d), elements=values))
    labels = data.draw(hnp.arrays(np.int64, len(train), elements=st.integers(0, 3)))
    k = data.draw(st.integers(1, 8))
    expected = slow_neighbours(train, test, k)
    np.testing.assert_array_equal(knn.nearest_neighbours(train, test, k), expected)
    np.testing.assert_array_equal(knn.predict(train, labels, test, k), slow_vote(expected, labels))


@pytest.mark.parametrize("size", [1e-320, 1e-200, 1e-30, 1e30, 1e149])
def test_very_small_and_very_large_rows_keep_their_exact_neighbours(size):
    rng = np.random.default_rng(4)
    train, test = (
        size * rng.uniform(-1, 1, size=(80, 3)).round(1),
        size * rng.uniform(-1, 1, size=(40, 3)).round(1),
    )
    for other in (test, test / 1e25, np.vstack([test, np.full(3, 1e149)])):
        np.testing.assert_array_equal(
            knn.nearest_neighbours(train, other, 5), slow_neighbours(train, other, 5)
        )


@pytest.mark.parametrize("offset", [0.0, 1.0, 1e4, 1e8])
def test_rows_far_from_the_origin_keep_their_exact_neighbours(offset):
    # Here |a|² - 2ab + |b|² loses all its digits, so nearly every row has to be checked exactly.
    rng = np.random.default_rng(3)
    train, test = offset + rng.normal(size=(300, 20)), offset + rng.normal(size=(70, 20))
    np.testing.assert_array_equal(knn.nearest_neighbours(train, test, 5), slow_neighbours(train, test, 5))


def test_many_blocks_of_test_rows_give_the_same_as_one(monkeypatch):
    rng = np.random.default_rng(0)
    train, test = rng.normal(size=(90, 6)).round(1), rng.normal(size=(200, 6)).round(1)
    monkeypatch.setattr(knn, "_TEST_ROWS", 7)
    np.testing.assert_array_equal(knn.nearest_neighbours(train, test, 5), slow_neighbours(train, test, 5))


@pytest.mark.parametrize(
    "d", [*range(1, 20), 57, 100, 127, 128, 129, 136, 199, 255, 256, 257, 310, 1000, 5003]
)
def test_distance_has_the_bits_of_numpys_sum_of_squared_differences(d):
    rng = np.random.default_rng(d)
    for scale in (1e-3, 1.0, 1e5):
        a, b = rng.normal(size=d), scale * rng.normal(size=d)
        blocks = np.array(halvings(0, d))
        assert squared_distance(a, b, blocks, np.empty(len(blocks))) == ((a - b) ** 2).sum()


def test_vote_ties_go_to_the_smallest_label_not_to_the_nearest():
    train = np.array([[1.0], [2.0], [3.0], [4.0]])
    assert knn.predict(train, np.array([1, 1, 0, 0]), np.array([[0.0]]), k=4) == [0]


def test_equally_distant_rows_are_taken_in_the_order_of_their_index():
    train = np.array([[1.0], [-1.0], [1.0], [-1.0]])
    np.testing.assert_array_equal(knn.nearest_neighbours(train, np.array([[0.0]]), k=3), [[0, 1, 2]])


def test_fewer_training_rows_than_neighbours_means_all_of_them_vote():
    train, labels = np.array([[0.0], [1.0], [5.0]]), np.array([1, 1, 0])
    np.testing.assert_array_equal(knn.nearest_neighbours(train, np.array([[5.0]]), k=5), [[2, 1, 0]])
    assert knn.predict(train, labels, np.array([[5.0]]), k=5) == [1]


@pytest.mark.parametrize("k", [1, 3, 5, 9])
def test_similarity_is_taken_descending_with_ties_by_index(k):
    rng = np.random.default_rng(k)
    similarity = rng.integers(-3, 3, size=(50, 7)).astype(float)
    labels = rng.integers(0, 3, size=7)
    expected = slow_most_similar(similarity, k)
    np.testing.assert_array_equal(knn.most_similar(similarity, k), expected)
    np.testing.assert_array_equal(
        knn.predict_by_similarity(similarity, labels, k), slow_vote(expected, labels)
    )


def test_arrays_that_may_not_be_written_in_any_order_of_memory_are_taken():
    rng = np.random.default_rng(0)
    train, test, labels = rng.normal(size=(30, 3)), rng.normal(size=(9, 3)), np.arange(30) % 4
    expected = knn.predict(train, labels, test, 5)
    train, test = np.asfortranarray(train), test[::-1]
    for array in (train, test, labels):
        array.flags.writeable = False
    np.testing.assert_array_equal(knn.predict(train, labels.astype(np.int32), test, 5), expected[::-1])


@pytest.mark.parametrize(("n_train", "k", "message"), [(3, 0, "k=0"), (0, 5, "no training rows")])
def test_impossible_requests_are_refused_in_one_line(n_train, k, message):
    with pytest.raises(ValueError, match=message):
        knn.nearest_neighbours(np.zeros((n_train, 2)), np.zeros((1, 2)), k)


@pytest.mark.parametrize("n_train", [4096, 4097, 6200])
def test_a_search_in_parts_keeps_every_tie_in_the_order_of_the_rows(n_train):
    rng = np.random.default_rng(n_train)
    train, test = rng.integers(0, 4, (n_train, 5)).astype(float), rng.integers(0, 4, (300, 5)).astype(float)
    np.testing.assert_array_equal(knn.nearest_neighbours(train, test, 5), slow_neighbours(train, test, 5))


@settings(max_examples=40, deadline=None)
@given(
    hnp.arrays(np.float64, st.tuples(st.integers(6, 40), st.just(2)), elements=st.integers(0, 3)),
    st.integers(1, 7),
    st.integers(1, 6),
)
def test_parts_of_any_size_find_what_brute_force_finds(rows, part, k):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(knn, "_TRAIN_ROWS", part)
        patch.setattr(knn, "_TEST_ROWS", 2)
        np.testing.assert_array_equal(knn.nearest_neighbours(rows, rows, k), slow_neighbours(rows, rows, k))


def test_a_long_search_says_what_is_left_and_a_short_one_nothing():
    seconds, stream = iter([0.0, 0.0, 10.0, 20.0, 41.0]), StringIO()
    assert list(told([1, 2, 3, 4], LONG, stream, lambda: next(seconds))) == [1, 2, 3, 4]
    assert stream.getvalue().splitlines() == [
        "mloml: neighbour search 25 %, about 0:30 left",
        "mloml: neighbour search 75 %, about 0:13 left",
    ]
    assert list(told([1, 2], 1.0, stream, lambda: pytest.fail("looked at the clock"))) == [1, 2]
