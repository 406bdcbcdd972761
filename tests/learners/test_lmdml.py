import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import normalize
from tests.oracles import lmdml as plain

from mloml.learners.batch import ByClass
from mloml.learners.lmdml import LMDML, epoch

FOREVER = 10**6


def by_class(X, y):
    data = ByClass.of(X - X.mean(axis=0), y)
    return data.X, data.starts, data.codes, data.target_neighbours(3)


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return normalize(X), y


def positive_definite(d, rng):
    root = rng.normal(size=(d, d))
    return root @ root.T + 0.1 * np.eye(d)


@settings(max_examples=25)
@given(
    n=st.integers(8, 300),
    d=st.integers(1, 9),
    n_classes=st.integers(2, 4),
    bound=st.sampled_from([1.0, 30.0]),
    visits_and_rate=st.sampled_from([(30, 1e-3), (30, 1.0), (1, 1e9)]),
)
def test_an_epoch_follows_the_pseudo_code(n, d, n_classes, bound, visits_and_rate):
    rng = np.random.default_rng(n + d)
    y = np.arange(n) % n_classes
    X, starts, codes, targets = by_class(0.4 * rng.normal(size=(n, d)) + np.eye(4, d)[y], y)
    visits, rate = visits_and_rate
    order = rng.permutation(n)[:visits]
    M = np.eye(d) * bound / d
    expected = plain.epoch(M, X, codes, targets, order, 400, bound, rate)
    step, updates, loss = epoch(M, X, starts, codes, targets, order, 400, FOREVER, 7, rate, bound, 1e-9)
    np.testing.assert_allclose(M, expected[0], atol=1e-9 * bound)
    np.testing.assert_array_equal(order, expected[1])
    assert (step, updates) == (400 + order.size, 7 + expected[2])
    assert loss == pytest.approx(expected[3], rel=1e-9)


@pytest.mark.parametrize("bound", [0.1, 1.0, 10.0, 100.0])
def test_every_step_keeps_the_cone_and_the_trace_bound(iris, bound):
    samples = by_class(*iris)
    M = np.eye(4) * bound / 4
    updates = 0
    for step, i in enumerate(np.random.default_rng(0).integers(0, 150, size=400)):
        _, updates, _ = epoch(M, *samples, np.array([i]), step, FOREVER, updates, 1.0, bound, 1e-9)
        assert np.linalg.eigvalsh(M)[0] > 0
        assert np.trace(M) <= bound * (1 + 1e-12)
    assert updates > 100


@pytest.mark.parametrize("scale", [1e-70, 1.0, 1e70])
def test_hinges_equal_brute_force_however_large_the_numbers(scale):
    X, y = load_wine(return_X_y=True)
    X, starts, codes, targets = by_class(normalize(X), y)
    X = X * scale
    M = positive_definite(13, np.random.default_rng(5)) / scale**2
    margin = 1e-9 * np.trace(M) * scale**2
    _, _, total = epoch(M, X, starts, codes, targets, np.arange(178), 0, FOREVER, 0, 0.0, 1.0, margin)
    assert total / 178 == pytest.approx(plain.mean_hinge(M, X, codes, targets), rel=1e-9)


def test_the_first_of_equally_near_impostors_is_taken_whatever_the_rounding_errors():
    X = np.vstack([np.zeros((3, 2)), np.repeat([[0.3, 0.4], [0.4, 0.3], [0.4, -0.3]], 4, axis=0)])
    X[3:7] += 1e-9  # farther, but by less than the margin
    M, codes, targets = np.eye(2), np.repeat([0, 1], [3, 12]), np.full((15, 1), 2)
    epoch(M, X, np.array([0, 3, 15]), codes, targets, np.array([1]), 0, FOREVER, 0, 0.1, np.inf, 1e-6)
    np.testing.assert_allclose(M, np.eye(2) + 0.1 * np.outer(X[7], X[7]), rtol=1e-12)


def test_a_singular_metric_is_left_alone(iris):
    M, order = np.ones((4, 4)), np.arange(150)
    assert epoch(M, *by_class(*iris), order, 0, FOREVER, 0, 1.0, np.inf, 1e-9)[1] == 0
    np.testing.assert_array_equal(M, np.ones((4, 4)))


def test_violators_come_first_in_the_next_epoch(iris):
    order = np.random.default_rng(0).permutation(150)
    visited, M = order.tolist(), 2500 * np.eye(4)  # most samples are far beyond the margin
    _, updates, _ = epoch(M, *by_class(*iris), order, 0, FOREVER, 0, 1.0, np.inf, 1e-6)
    assert 0 < updates < 150
    positions = [visited.index(i) for i in order[:updates]]
    assert positions == sorted(positions)
    assert sorted(order) == list(range(150))


def test_no_update_when_no_margin_is_violated():
    X = np.array([[0.0, 0.0], [0.1, 0.0], [9.0, 9.0], [9.1, 9.0]])
    model = LMDML(bound=2.0, random_state=0).fit(X, [0, 0, 1, 1])
    assert (model.n_updates_, model.n_iter_, model.objective_) == (0, 1, 0)
    np.testing.assert_allclose(model.get_mahalanobis_matrix(), np.eye(2))


@pytest.mark.parametrize("bound", [1.0, 10.0, 100.0])
def test_objective_is_the_mean_hinge_and_ends_below_its_start(iris, bound):
    X, _, codes, targets = by_class(*iris)
    model = LMDML(bound=bound, random_state=0).fit(*iris)
    M = model.get_mahalanobis_matrix()
    assert model.objective_ == pytest.approx(plain.mean_hinge(M, X, codes, targets), rel=1e-9)
    assert model.objective_ < plain.mean_hinge(np.eye(4) * bound / 4, X, codes, targets)


def test_limits_of_epochs_and_steps_are_kept(iris):
    model = LMDML(bound=0.1, max_steps=200, random_state=0).fit(*iris)
    assert (model.n_steps_, model.n_iter_) == (200, 2)
    assert LMDML(bound=0.1, max_epochs=3, random_state=0).fit(*iris).n_steps_ == 450


def test_classes_of_one_sample_are_impostors_and_small_classes_lower_the_targets():
    X, y = np.random.default_rng(1).normal(size=(9, 2)), np.array([0] * 6 + [1] * 2 + [2])
    assert LMDML(max_epochs=1, random_state=0).fit(X, y).n_steps_ == 8
