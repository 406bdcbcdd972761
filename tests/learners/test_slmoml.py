"""SLMOML: identities of the derived step, and its optimality."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles import online

from mloml.learners.slmoml import SLMOML, slmoml_scan, step_length
from mloml.learners.triplets import scan_triplets


def case(seed, d=4):
    rng = np.random.default_rng(seed)
    B = np.eye(d) + 0.3 * rng.normal(size=(d, d))
    return B.T @ B, *(v / np.linalg.norm(v) for v in rng.normal(size=(2, d)))


def stepped(M, p, q, C, margin=1.0):
    """Return M after one step, and its length."""
    new = M.copy()
    slmoml_scan(np.stack([p, q, p])[np.newaxis], new, C, margin, np.zeros(5, np.int64))
    return new, step_length(p @ M @ p, q @ M @ q, p @ M @ q, C, margin)


def objective(M, M_prev, p, q, C, margin=1.0):
    ratio = M @ np.linalg.inv(M_prev)
    return np.trace(ratio) - np.linalg.slogdet(ratio)[1] + C * max(0.0, margin + p @ M @ p - q @ M @ q)


@given(
    seed=st.integers(0, 10**6),
    C=st.sampled_from([1e-4, 1e-2, 0.1, 1.0, 50.0]),
    margin=st.sampled_from([0.1, 1.0, 5.0]),
)
def test_identities_of_the_step(seed, C, margin):
    M, p, q = case(seed)
    new, tau = stepped(M, p, q, C, margin)
    hinge, after = (margin + p @ K @ p - q @ K @ q for K in (M, new))
    A = np.outer(p, p) - np.outer(q, q)
    if hinge <= 0:
        assert tau == 0
    elif tau < C:
        assert abs(after) < 1e-7 * max(1.0, tau)
    else:
        assert after > -1e-9
    np.testing.assert_allclose(new @ (np.linalg.inv(M) + tau * A), np.eye(4), atol=1e-6)
    assert np.linalg.eigvalsh(new)[0] > 0


@given(
    seed=st.integers(0, 10**6), C=st.sampled_from([1e-2, 0.5, 5.0]), margin=st.sampled_from([0.2, 1.0, 3.0])
)
def test_no_metric_nearby_has_a_lower_objective(seed, C, margin):
    M, p, q = case(seed)
    new, _ = stepped(M, p, q, C, margin)
    best = objective(new, M, p, q, C, margin)
    rng = np.random.default_rng(seed)
    for size in (1e-1, 1e-3):
        E = np.eye(4) + size * rng.normal(size=(4, 4))
        assert objective(E.T @ new @ E, M, p, q, C, margin) >= best - 1e-10


def test_parallel_differences_have_no_zeroing_step_when_the_positive_is_longer():
    assert step_length(4.0, 1.0, 2.0, 0.3, 1.0) == 0.3  # g = 0 and a >= b: only C limits the step
    assert step_length(1.0, 3.0, 1.0, 0.3, 1.0) == 0.0  # the hinge is inactive


@pytest.mark.parametrize(("C", "margin"), [(1e-3, 1.0), (0.1, 2.0), (5.0, 0.5)])
def test_fit_equals_the_oracle(C, margin):
    X, y = np.random.default_rng(0).normal(size=(60, 4)) / 2, np.arange(60) % 3
    M, counts = online.scan(online.slmoml, X, scan_triplets(y), C, margin)
    learner = SLMOML(gamma=C, margin=margin, scale=None, scans=1, shuffle=False).fit(X, y)
    assert [learner.n_updates_, learner.n_cone_failures_] == counts.tolist()
    np.testing.assert_allclose(learner.get_mahalanobis_matrix(), M, rtol=1e-8, atol=1e-10)
