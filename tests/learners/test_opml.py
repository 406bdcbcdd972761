"""OPML: the closed form against an explicit inverse."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from mloml import MLOML, OPML
from mloml.kernels.opml import BEYOND, FULL, HARDLY, SHORTENED, opml_step, split_push
from mloml.kernels.stack import layout


def triplet(seed, d=5):
    rng = np.random.default_rng(seed)
    x, xp, xq = (v / np.linalg.norm(v) for v in rng.normal(size=(3, d)))
    return rng.normal(size=(d, d)), x - xp, x - xq


def stepped(L, p, q, gamma):
    new = L.copy()
    assert opml_step(new, p, q, L @ p, L @ q, gamma) == FULL
    return new


@given(seed=st.integers(0, 10**6), gamma=st.sampled_from([1e-4, 1e-2, 0.1, 0.24]))
def test_step_equals_the_explicit_inverse_and_is_stationary(seed, gamma):
    L, p, q = triplet(seed)
    A = np.outer(p, p) - np.outer(q, q)
    new = stepped(L, p, q, gamma)
    np.testing.assert_allclose(new, L @ np.linalg.inv(np.eye(5) + gamma * A), atol=1e-10)
    np.testing.assert_allclose(new - L + gamma * new @ A, 0, atol=1e-10)


@given(seed=st.integers(0, 10**6))
def test_step_equals_millers_form_and_divides_the_determinant(seed):
    L, p, q = triplet(seed)
    B = 0.1 * (np.outer(p, p) - np.outer(q, q))
    eta, beta = 1 + np.trace(B), (np.trace(B) ** 2 - np.trace(B @ B)) / 2
    new = stepped(L, p, q, 0.1)
    np.testing.assert_allclose(new, L @ (np.eye(5) - (eta * B - B @ B) / (eta + beta)), atol=1e-10)
    np.testing.assert_allclose(np.linalg.det(new), np.linalg.det(L) / (eta + beta), rtol=1e-8)
    np.testing.assert_allclose(eta + beta, np.linalg.det(np.eye(5) + B), rtol=1e-10)


@given(seed=st.integers(0, 10**6))
def test_step_lowers_the_hinge_of_its_triplet(seed):
    L, p, q = triplet(seed)
    new = stepped(L, p, q, 0.05)
    assert np.sum((new @ p) ** 2) - np.sum((new @ q) ** 2) < np.sum((L @ p) ** 2) - np.sum((L @ q) ** 2)


@given(
    seed=st.integers(0, 10**6),
    gamma=st.sampled_from([1e-3, 0.1, 1.0, 30.0]),
    length=st.floats(0.5, 20),
    d=st.integers(1, 9),
)
def test_a_split_step_equals_the_explicit_inverse_of_two_different_steps(seed, gamma, length, d):
    L, p, q = triplet(seed, d)
    p, q = length * p, length * q
    a, b, c = p @ p, q @ q, p @ q
    s = max(q @ np.linalg.solve(np.eye(d) + gamma * np.outer(p, p), q), 1e-300)
    push = split_push(a, b, c, gamma)
    assert push == pytest.approx(min(gamma, 0.9 / s), rel=1e-9)
    new = L.copy()
    became = opml_step(new, p, q, L @ p, L @ q, gamma)
    assert became == FULL if push == gamma else became in (SHORTENED, HARDLY)
    bracket = np.eye(d) + gamma * np.outer(p, p) - push * np.outer(q, q)
    expected = L @ np.linalg.inv(bracket)
    cancelled = 1 + gamma * a + push * b  # what the bracket is the small difference of
    rounding = 1e-15 * cancelled * np.linalg.norm(np.linalg.inv(bracket), 2)  # of the oracle
    np.testing.assert_allclose(new, expected, atol=(1e-12 + 100 * rounding) * abs(expected).max())
    assert np.linalg.det(bracket) >= (0.1 - 1e-6) * (1 + gamma * a)


def test_a_well_conditioned_split_step_agrees_to_twelve_digits():
    L, p, q = np.eye(3), np.array([0.3, 0.0, 0.1]), np.array([0.5, 1.0, -2.0])
    new = L.copy()
    assert opml_step(new, p, q, p, q, 0.4) == SHORTENED
    push = split_push(p @ p, q @ q, p @ q, 0.4)
    expected = np.linalg.inv(np.eye(3) + 0.4 * np.outer(p, p) - push * np.outer(q, q))
    np.testing.assert_allclose(new, expected, rtol=1e-12)


@pytest.mark.parametrize(("gamma", "became"), [(0.2, FULL), (10.0, SHORTENED), (1000.0, HARDLY)])
def test_a_step_that_is_all_push_is_weak_when_less_than_a_hundredth_of_it_is_taken(gamma, became):
    zero, q = np.zeros(2), np.array([1.0, 0.0])
    L = np.eye(2)
    assert opml_step(L, zero, q, zero, q, gamma) == became
    assert L[0, 0] == pytest.approx(1.25 if became == FULL else 10.0)


def test_numbers_beyond_all_bounds_leave_the_factor():
    L, far = np.eye(2), np.array([1e150, 0.0])
    assert opml_step(L, far, far, far, far, 1.0) == BEYOND
    np.testing.assert_array_equal(L, np.eye(2))


X = np.random.default_rng(0).normal(size=(300, 6))
Y = np.arange(300) % 3
X[:, 0] += 4 * Y


def test_long_rows_are_learned_from_without_a_refused_step():
    learner = OPML(0.2, scale=None, scans=1, random_state=0).fit(X, Y)
    assert learner.n_cone_failures_ > 10
    assert learner._counters[layout.REFUSED] == 0
    assert np.isfinite(learner.components_).all()
    assert not np.allclose(learner.components_, np.eye(6), atol=0.1)


def test_the_first_layer_of_a_stack_splits_its_steps_as_opml_does():
    settings = {"gamma": 0.1, "scale": None, "scans": 1, "random_state": 0}
    single = OPML(**settings).fit(X, Y)
    stack = MLOML("opml", n_layers=2, **settings).fit(X, Y)
    assert single.n_cone_failures_ == stack.n_cone_failures_[0] > 0
    size = abs(single.components_).max()
    np.testing.assert_allclose(stack.layers_[0], single.components_, atol=1e-10 * size)


def test_rows_of_unit_norm_and_the_grid_of_the_paper_never_shorten_a_step():
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    assert OPML(0.1, random_state=0).fit(unit, Y).n_cone_failures_ == 0


def test_steps_that_come_to_nothing_are_told_of_once():
    # Classes are points but for a little noise, and gamma is far too large: of each push hardly any is left.
    rng = np.random.default_rng(0)
    y = np.arange(600) % 2
    rows = 0.5 * y[:, np.newaxis] + 0.02 * rng.normal(size=(600, 1))
    learner = OPML(gamma=1e5, scale=None, scans=3, random_state=2)
    with pytest.warns(ConvergenceWarning, match="OPML hardly learns") as told:
        learner.fit(rows, y)
    assert learner.n_updates_ > 1000 and len(told) == 1
    steps = learner.n_updates_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learner.partial_fit(np.tile(rows, (3, 1)), np.tile(y, 3))
    assert learner.n_updates_ > steps + 1000
