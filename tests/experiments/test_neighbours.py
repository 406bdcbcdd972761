from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import BaseEstimator
from tests.oracles.neighbours import most_similar as slow_most_similar
from tests.oracles.neighbours import nearest_neighbours as slow_neighbours
from tests.oracles.neighbours import vote as slow_vote

from mloml.experiments import neighbours as knn
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


@pytest.mark.parametrize(
    "d", [*range(1, 20), 57, 100, 127, 128, 129, 136, 199, 255, 256, 257, 310, 1000, 5003]
)
def test_distance_has_the_bits_of_numpys_sum_of_squared_differences(d):
    rng = np.random.default_rng(d)
    for scale in (1e-3, 1.0, 1e5):
        a, b = rng.normal(size=d), scale * rng.normal(size=d)
        blocks = np.array(halvings(0, d))
        assert squared_distance(a, b, blocks, np.empty(len(blocks))) == ((a - b) ** 2).sum()


def test_ties_go_to_the_first_row_and_the_smallest_label_and_too_few_rows_all_vote():
    train, origin = np.array([[1.0], [-1.0], [1.0], [-1.0]]), np.array([[0.0]])
    np.testing.assert_array_equal(knn.nearest_neighbours(train, origin, k=3), [[0, 1, 2]])
    assert knn.predict(np.arange(1.0, 5)[:, None], np.array([1, 1, 0, 0]), origin, k=4) == [0]
    few, far = np.array([[0.0], [1.0], [5.0]]), np.array([[5.0]])
    np.testing.assert_array_equal(knn.nearest_neighbours(few, far, k=5), [[2, 1, 0]])
    assert knn.predict(few, np.array([1, 1, 0]), far, k=5) == [1]


@pytest.mark.parametrize("ties", ["smallest", "nearest"])
@pytest.mark.parametrize("k", [1, 3, 5, 9])
def test_similarity_is_taken_descending_with_ties_by_index(k, ties):
    rng = np.random.default_rng(k)
    similarity = rng.integers(-3, 3, size=(50, 7)).astype(float)
    labels = rng.integers(0, 3, size=7)
    expected = slow_vote(slow_most_similar(similarity, k), labels, ties)
    np.testing.assert_array_equal(knn.predict_by_similarity(similarity, labels, k, ties), expected)


def test_arrays_that_may_not_be_written_in_any_order_of_memory_are_taken():
    rng = np.random.default_rng(0)
    train, test, labels = rng.normal(size=(30, 3)), rng.normal(size=(9, 3)), np.arange(30) % 4
    expected = knn.predict(train, labels, test, 5)
    train, test = np.asfortranarray(train), test[::-1]
    for array in (train, test, labels):
        array.flags.writeable = False
    np.testing.assert_array_equal(knn.predict(train, labels.astype(np.int32), test, 5), expected[::-1])


@pytest.mark.parametrize(("n_train", "k", "message"), [(3, 0, "k=0"), (0, 5, "0 training rows")])
def test_impossible_requests_are_refused_in_one_line(n_train, k, message):
    with pytest.raises(ValueError, match=message):
        knn.nearest_neighbours(np.zeros((n_train, 2)), np.zeros((1, 2)), k)


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


def test_a_search_of_minutes_says_so(monkeypatch, capsys):
    rows = np.zeros((10, 2))
    knn.nearest_neighbours(rows, rows, 1)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(knn, "_PRODUCTS_PER_MINUTE", 100)
    knn.nearest_neighbours(rows, rows, 1)
    assert "3 minutes" in capsys.readouterr().err


class Similar:
    """Calls two rows similar by their product; of class 0 if it may."""

    def similarity(self, X, Z):
        return X @ Z.T


class Stretching:
    """Multiplies rows by a factor; its first layer takes them to one point."""

    layers_ = (0, 1)

    def __init__(self, factor=1.0):
        self.factor = factor

    def transform(self, X, layer=2):
        return X * self.factor * self.layers_[layer - 1]


@pytest.fixture
def rows():
    X, y = balance_scale()
    return knn.Rows(X[::2], y[::2], X[1::2], y[1::2], 5)


@pytest.mark.parametrize("ties", ["smallest", "nearest"])
def test_mistakes_are_those_of_the_slow_rule_on_what_the_learner_makes_of_the_rows(rows, ties):
    rows = replace(rows, ties=ties)
    by_distance = slow_vote(slow_neighbours(rows.X_fit, rows.X_score, 5), rows.y_fit, ties)
    expected = np.sum(by_distance != rows.y_score)
    assert rows.mistakes(Stretching(2.0)) == expected
    assert rows.error(Stretching(2.0)) == expected / len(rows.y_score)
    similarity = rows.X_score @ rows.X_fit.T
    by_similarity = slow_vote(slow_most_similar(similarity, 5), rows.y_fit, ties)
    assert rows.mistakes(Similar()) == np.sum(by_similarity != rows.y_score)


def test_every_layer_has_its_error_and_a_learner_without_layers_none(rows):
    one_point = np.mean(rows.y_score != slow_vote(np.arange(5)[None], rows.y_fit)[0])
    assert rows.layer_errors(Stretching()) == [pytest.approx(one_point), rows.error(Stretching())]
    assert rows.layer_errors(Similar()) is rows.scan_errors(Similar()) is None


@pytest.mark.parametrize("factor", [np.nan, np.inf, 1e151])
def test_output_that_is_not_finite_or_whose_square_would_not_be_is_error_one(rows, factor):
    with pytest.raises(knn.Diverged):
        rows.mistakes(Stretching(factor))
    assert rows.error(Stretching(factor)) == rows.error(None) == 1.0
    assert rows.error(Stretching(1e148)) < 1.0


def test_scans_after_a_divergence_have_error_one(rows):
    class Scanning(Stretching, BaseEstimator):
        def __init__(self, factor=1.0, scans=4):
            self.factor, self.scans = factor, scans

        def iter_scans(self, X, y):
            yield self
            raise FloatingPointError("too large")

    assert rows.scan_errors(Scanning()) == [rows.error(Stretching()), 1.0, 1.0, 1.0]
