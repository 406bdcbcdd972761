"""OPML: the closed form against an explicit inverse."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mloml.kernels.opml import opml_step


def triplet(seed, d=5):
    rng = np.random.default_rng(seed)
    x, xp, xq = (v / np.linalg.norm(v) for v in rng.normal(size=(3, d)))
    return rng.normal(size=(d, d)), x - xp, x - xq


def stepped(L, p, q, gamma):
    new = L.copy()
    assert opml_step(new, p, q, L @ p, L @ q, gamma)
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


@pytest.mark.parametrize("q", [[3.0, 0.0], [0.0, 2.0]])
def test_step_out_of_the_cone_is_refused_and_leaves_the_factor(q):
    L, p, q = np.eye(2), np.array([1.0, 0.0]), np.array(q)
    assert not opml_step(L, p, q, L @ p, L @ q, 0.25 if q[0] == 0 else 0.2)
    np.testing.assert_array_equal(L, np.eye(2))
