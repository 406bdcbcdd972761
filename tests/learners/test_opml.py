"""OPML: the closed form against an explicit inverse, dense and sparse."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from tests.oracles import online

from mloml.learners.layers import NOTHING
from mloml.learners.linalg import FAILURES, REFUSED, UPDATES, WEAK
from mloml.learners.opml import OPML, opml_scan, opml_step, sparse_opml_scan
from mloml.learners.rows import SparseRows
from mloml.learners.triplets import scan_triplets

X = np.random.default_rng(0).normal(size=(300, 6))
Y = np.arange(300) % 3
X[:, 0] += 4 * Y
UNIT = X / np.linalg.norm(X, axis=1, keepdims=True)


def triplet(seed, d=5, length=1.0):
    rng = np.random.default_rng(seed)
    x, xp, xq = (length * v / np.linalg.norm(v) for v in rng.normal(size=(3, d)))
    return rng.normal(size=(d, d)), x - xp, x - xq, x


def stepped(L, p, q, h, gamma):
    """Return L after one step, its outputs for p, q and h, and the counters."""
    new, counts, out = L.copy(), np.zeros(5, np.int64), np.stack([p, q, h]) @ L.T
    opml_step(new, np.stack([p, q, h])[np.newaxis], 0, *out, gamma, counts)
    return new, out, counts


@given(seed=st.integers(0, 10**6), gamma=st.sampled_from([1e-4, 1e-2, 0.1, 0.22]))
def test_step_equals_the_explicit_inverse_and_is_stationary(seed, gamma):
    L, p, q, h = triplet(seed)
    A = np.outer(p, p) - np.outer(q, q)
    new, outputs, counts = stepped(L, p, q, h, gamma)
    np.testing.assert_allclose(new, L @ np.linalg.inv(np.eye(5) + gamma * A), atol=1e-10)
    np.testing.assert_allclose(new - L + gamma * new @ A, 0, atol=1e-10)
    np.testing.assert_allclose(outputs, np.stack([p, q, h]) @ new.T, atol=1e-10)
    assert np.sum((new @ p) ** 2) - np.sum((new @ q) ** 2) < np.sum((L @ p) ** 2) - np.sum((L @ q) ** 2)
    assert counts.tolist() == [1, 0, 0, 0, 0]


@given(
    seed=st.integers(0, 10**6),
    gamma=st.sampled_from([1e-3, 0.1, 1.0, 30.0]),
    length=st.floats(0.5, 20),
    d=st.integers(1, 9),
)
def test_a_split_step_equals_the_explicit_inverse_of_two_different_steps(seed, gamma, length, d):
    L, p, q, h = triplet(seed, d, length)
    pulled = np.eye(d) + gamma * np.outer(p, p)
    push = min(gamma, 0.9 / max(q @ np.linalg.solve(pulled, q), 1e-300))
    new, _, counts = stepped(L, p, q, h, gamma)
    assert counts[UPDATES] == 1 and counts[FAILURES] == (push < gamma)
    bracket = pulled - push * np.outer(q, q)
    expected = L @ np.linalg.inv(bracket)
    cancelled = 1 + gamma * p @ p + push * q @ q  # what the bracket is the small difference of
    rounding = 1e-15 * cancelled * np.linalg.norm(np.linalg.inv(bracket), 2)  # of the oracle
    ours = 1e-14 * cancelled * abs(L).max()
    np.testing.assert_allclose(new, expected, atol=(1e-12 + 100 * rounding) * abs(expected).max() + ours)
    assert np.linalg.det(bracket) >= (0.1 - 1e-6) * (1 + gamma * p @ p)


@pytest.mark.parametrize(("gamma", "shortened", "weak"), [(0.2, 0, 0), (10.0, 1, 0), (1000.0, 1, 1)])
def test_a_step_that_is_all_push_is_weak_when_less_than_a_hundredth_of_it_is_taken(gamma, shortened, weak):
    zero, q = np.zeros(2), np.array([1.0, 0.0])
    L, _, counts = stepped(np.eye(2), zero, q, zero, gamma)
    assert (counts[FAILURES], counts[WEAK]) == (shortened, weak)
    assert L[0, 0] == pytest.approx(10.0 if shortened else 1.25)


def test_a_step_on_infinite_differences_is_not_taken():
    far = np.array([1e150, 0.0])
    L, _, counts = stepped(np.eye(2), far, far, far, 1.0)
    np.testing.assert_array_equal(L, np.eye(2))
    assert counts[REFUSED] == counts[WEAK] == 1 and counts[UPDATES] == 0


@pytest.mark.parametrize(("gamma", "rows"), [(0.01, UNIT), (0.2, UNIT), (0.05, X[:30])])
def test_dense_and_sparse_scans_equal_the_oracle(gamma, rows):
    rows = np.where(np.abs(rows) < 0.2, 0.0, rows)
    triplets, expected = scan_triplets(Y[: len(rows)]), []
    L, counts = online.scan(online.opml, rows, triplets, gamma, outputs=expected)
    D, sparse = np.array(list(online.differences(rows, triplets))), SparseRows.of(csr_array(rows))
    for outputs in (np.empty(D.shape), NOTHING, None):
        found, counters = np.eye(6), np.zeros(5, np.int64)
        if outputs is None:
            given = (sparse.data, sparse.indices, sparse.starts, triplets)
            seen = sparse_opml_scan(*given, found, gamma, counters)
        else:
            seen = opml_scan(D, found, gamma, counters, outputs)
        assert seen == len(triplets)
        np.testing.assert_array_equal(counters[:2], counts)
        np.testing.assert_allclose(found, L, rtol=1e-9, atol=1e-9 * abs(L).max())
        if outputs is not None and len(outputs):
            np.testing.assert_allclose(outputs, expected, rtol=1e-9, atol=1e-9 * np.max(np.abs(expected)))


def test_long_rows_are_learned_from_without_a_refused_step():
    learner = OPML(gamma=0.2, scale=None, scans=1, random_state=0).fit(X, Y)
    assert learner.n_cone_failures_ > 10
    assert learner._state.counts[REFUSED] == 0
    assert np.isfinite(learner.components_).all()
    assert not np.allclose(learner.components_, np.eye(6), atol=0.1)


def test_rows_of_unit_norm_and_the_grid_of_the_paper_never_shorten_a_step():
    assert OPML(gamma=0.1, random_state=0).fit(UNIT, Y).n_cone_failures_ == 0


def test_steps_that_come_to_nothing_are_warned_of_once():
    # Classes are points but for a little noise, and gamma is far too large: of each push hardly any is left.
    rng = np.random.default_rng(0)
    y = np.arange(600) % 2
    rows = 0.5 * y[:, np.newaxis] + 0.02 * rng.normal(size=(600, 1))
    learner = OPML(gamma=1e5, scale=None, scans=3, random_state=2)
    with pytest.warns(ConvergenceWarning, match="OPML hardly learns") as warned:
        learner.fit(rows, y)
    assert learner.n_updates_ > 1000 and len(warned) == 1
    steps = learner.n_updates_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learner.partial_fit(np.tile(rows, (3, 1)), np.tile(y, 3))
    assert learner.n_updates_ > steps + 1000
