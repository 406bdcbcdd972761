import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mloml.kernels.stack.frame import cone_test, largest_step, root_coefficients, split_steps
from mloml.learners.stack_state import Layer, Propagation, StackState

FP = Propagation()


def metric(state, i=0):
    L = state.layers[i]
    return L.T @ L


def gram(M, p, q):
    inverse = np.linalg.inv(M)
    return p @ inverse @ p, q @ inverse @ q, p @ inverse @ q


def spd(rng, d):
    B = rng.normal(size=(d, d))
    return B @ B.T / d + 0.05 * np.eye(d)


@settings(max_examples=60, deadline=None)
@given(d=st.integers(1, 6), seed=st.integers(0, 10**6))
def test_largest_step_is_where_the_metric_stops_being_positive_definite(d, seed):
    rng = np.random.default_rng(seed)
    M, p, q = spd(rng, d), rng.normal(size=d), rng.normal(size=d)
    A = np.outer(p, p) - np.outer(q, q)
    g = largest_step(*gram(M, p, q))
    if np.isinf(g) or g > 1e6:
        assert np.linalg.eigvalsh(M - 1e3 * A)[0] > -1e-6
        return
    assert np.linalg.eigvalsh(M - 0.999 * g * A)[0] > 0
    assert np.linalg.eigvalsh(M - 1.001 * g * A)[0] < 0


@settings(max_examples=60, deadline=None)
@given(d=st.integers(1, 6), seed=st.integers(0, 10**6), share=st.floats(0.01, 0.95))
def test_coefficients_give_the_symmetric_root_of_the_relative_change_and_its_inverse(d, seed, share):
    rng = np.random.default_rng(seed)
    P, Q = rng.normal(size=d), rng.normal(size=d)
    g = share * min(1.0, largest_step(P @ P, Q @ Q, P @ Q))
    gram = P @ P, Q @ Q, P @ Q
    check_root(P, Q, g, g, *cone_test(*gram, g))


@settings(max_examples=60, deadline=None)
@given(
    d=st.integers(1, 6),
    seed=st.integers(0, 10**6),
    g=st.floats(1e-3, 5.0),
    keep=st.floats(0.01, 0.99),
    floor=st.floats(0.0, 0.99),
    squeezed=st.floats(0.01, 10.0),
)
def test_split_steps_give_a_root_too_and_bound_the_determinant(d, seed, g, keep, floor, squeezed):
    rng = np.random.default_rng(seed)
    P, Q = rng.normal(size=d), rng.normal(size=d)
    pp = squeezed * (P @ P)
    g_p, g_q, determinant, trace, shortened = split_steps(P @ P, Q @ Q, P @ Q, pp, g, keep, floor)
    s = P @ np.linalg.solve(np.eye(d) + g * np.outer(Q, Q), P)
    expected = max(0.0, min(g, (1 - keep) / s, 1 / s - floor / pp))
    np.testing.assert_allclose([g_p, g_q], [expected, g], rtol=1e-9, atol=1e-12)
    assert shortened == (g_p < g)
    assert determinant >= keep * (1 + g * (Q @ Q)) * (1 - 1e-12)
    check_root(P, Q, g_p, g_q, determinant, trace)


def check_root(P, Q, g_p, g_q, determinant, trace):
    """Compare root and inverse with LAPACK's, for the change ``I - g_p P P' + g_q Q Q'``."""
    d = len(P)
    change = np.eye(d) - g_p * np.outer(P, P) + g_q * np.outer(Q, Q)
    B = np.eye(2) + np.diag([-g_p, g_q]) @ np.array([[P @ P, P @ Q], [P @ Q, Q @ Q]])
    np.testing.assert_allclose([determinant, trace], [np.linalg.det(B), np.trace(B)], rtol=1e-9)
    f11, f12, f22, h11, h12, h22 = root_coefficients(P @ P, Q @ Q, P @ Q, g_p, g_q, determinant, trace)
    V = np.column_stack([P, Q])
    values, vectors = np.linalg.eigh(change)
    expected = (vectors * np.sqrt(values)) @ vectors.T
    root = np.eye(d) + V @ np.array([[f11, f12], [f12, f22]]) @ V.T
    inverse = np.eye(d) + V @ np.array([[h11, h12], [h12, h22]]) @ V.T
    np.testing.assert_allclose(root, expected, atol=1e-11)
    np.testing.assert_allclose(inverse @ expected, np.eye(d), atol=1e-9)


@pytest.mark.parametrize("d", [1, 2, 3, 4, 7, 21])
def test_factor_follows_the_explicit_metric(triplets_of, d):
    X, triplets = triplets_of(d, 800)
    state = StackState(d, [Layer("frame", 1e-3)])
    state.learn(X, triplets, FP)
    M, updates = np.eye(d), 0
    for t, i, j in triplets:
        p, q = X[t] - X[i], X[t] - X[j]
        if 1 + p @ M @ p - q @ M @ q > 0:
            M -= 1e-3 * (np.outer(p, p) - np.outer(q, q))
            updates += 1
    np.testing.assert_allclose(metric(state), M, atol=1e-10)
    assert state.counts[0, 0] == updates


def test_while_every_hinge_is_active_the_metric_is_a_plain_sum(triplets_of):
    X, triplets = triplets_of(6, 100)
    X = X * 0.4  # squared distances of at most .64 cannot reach the margin
    state = StackState(6, [Layer("frame", 1e-2)])
    state.learn(X, triplets, FP)
    P, Q = X[triplets[:, 0]] - X[triplets[:, 1]], X[triplets[:, 0]] - X[triplets[:, 2]]
    np.testing.assert_allclose(metric(state), np.eye(6) - 1e-2 * (P.T @ P - Q.T @ Q), atol=1e-12)


@pytest.mark.parametrize(
    ("p", "q"),
    [
        ([0.0, 0.0, 0.0], [1.0, 0.0, 0.0]),
        ([1.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
        ([0.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
        ([1.0, 2.0, 0.0], [0.5, 1.0, 0.0]),
        ([0.5, 1.0, 0.0], [0.5, 1.0, 0.0]),
        ([0.5, 1.0, 0.0], [0.5, 1.0, 1e-9]),
    ],
)
def test_degenerate_triplets_still_give_the_exact_metric(p, q):
    p, q = np.array(p), np.array(q)
    x = np.array([0.1, 0.2, 0.3])
    X = np.array([x, x - p, x - q])
    state = StackState(3, [Layer("frame", 0.1)])
    state.learn(X, np.array([[0, 1, 2]], dtype=np.intp), FP)
    active = 1 + p @ p - q @ q > 0
    expected = np.eye(3) - active * 0.1 * (np.outer(p, p) - np.outer(q, q))
    np.testing.assert_allclose(metric(state), expected, atol=1e-14)


def hard_rows(seed=0):
    """Few features and far classes: many steps at gamma = .1 would leave the cone."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 8)) * np.array([3, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.01])
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def test_inverse_does_not_drift_over_twenty_scans_of_hard_data(triplets_of):
    X = hard_rows()
    _, triplets = triplets_of(8, 2400, rows=120)
    state = StackState(8, [Layer("frame", 0.1)] * 3)
    assert state.learn(X, triplets, FP)
    assert state.counts[:, 1].sum() > 100, "the case is meant to be hard"
    for L, K in zip(state.layers, state.K[:, :8, :8], strict=True):
        assert np.abs(L @ K.T - np.eye(8)).max() < 1e-6


@pytest.mark.parametrize("cone", ["shrink", "skip"])
def test_failures_are_counted_exactly_where_the_full_step_has_a_negative_eigenvalue(cone, triplets_of):
    X = hard_rows(1)
    _, triplets = triplets_of(8, 300, seed=1, rows=120)
    state = StackState(8, [Layer("frame", 0.1, cone)])
    expected = 0
    for triplet in triplets:
        M = metric(state)
        p, q = X[triplet[0]] - X[triplet[1]], X[triplet[0]] - X[triplet[2]]
        active = 1 + p @ M @ p - q @ M @ q > 0
        full = M - 0.1 * (np.outer(p, p) - np.outer(q, q))
        leaves = active and np.linalg.eigvalsh(full)[0] <= 0
        expected += leaves
        state.learn(X, triplet[np.newaxis], FP)
        assert state.counts[0, 1] == expected
        if leaves and cone == "skip":
            np.testing.assert_array_equal(metric(state), M)
        elif leaves:
            assert np.linalg.eigvalsh(metric(state))[0] > 0
        elif active:
            np.testing.assert_allclose(metric(state), full, atol=1e-9)
    assert expected > 10


@pytest.mark.parametrize("kind", ["frame", "cholesky"])
@pytest.mark.parametrize(("gamma", "keep", "floor"), [(0.1, 0.1, 0.1), (0.4, 0.3, 0.02), (1.0, 0.1, 0.0)])
def test_split_follows_an_explicit_metric_step_for_step(triplets_of, kind, gamma, keep, floor):
    X = hard_rows(2)
    _, triplets = triplets_of(8, 600, seed=2, rows=120)
    state = StackState(8, [Layer(kind, gamma, "split", keep=keep, floor=floor)])
    M, updates, shortened = np.eye(8), 0, 0
    for triplet in triplets:
        p, q = X[triplet[0]] - X[triplet[1]], X[triplet[0]] - X[triplet[2]]
        if 1 + p @ M @ p - q @ M @ q > 0:
            pushed = M + gamma * np.outer(q, q)
            s = p @ np.linalg.solve(pushed, p)
            pull = max(0.0, min(gamma, (1 - keep) / s, 1 / s - floor / (p @ p)))
            M = pushed - pull * np.outer(p, p)
            updates, shortened = updates + 1, shortened + (pull < gamma)
        state.learn(X, triplet[np.newaxis], FP)
        np.testing.assert_allclose(metric(state), M, atol=1e-8 * np.abs(M).max())
        assert state.counts[0, :2].tolist() == [updates, shortened]
    assert updates > 100 and shortened > 20, "the case is meant to be hard"


def test_split_never_refuses_a_step_where_shrink_comes_to_a_stop(triplets_of):
    X = hard_rows(3)
    _, triplets = triplets_of(8, 6000, seed=3, rows=120)
    taken, hinges = {}, {}
    for cone in ("shrink", "split"):
        state = StackState(8, [Layer("frame", 0.5, cone)])
        state.learn(X, triplets[:5000], FP)
        before = state.counts[0, 0]
        M = metric(state)
        P, Q = X[triplets[5000:, 0]] - X[triplets[5000:, 1]], X[triplets[5000:, 0]] - X[triplets[5000:, 2]]
        hinges[cone] = np.sum(1 + np.sum(P @ M * P, axis=1) - np.sum(Q @ M * Q, axis=1) > 0)
        state.learn(X, triplets[5000:], FP)
        taken[cone] = state.counts[0, 0] - before
        least = np.linalg.eigvalsh(metric(state))[0]
    assert least > 1e-5
    assert taken["split"] > 0.3 * hinges["split"] > 30
    assert taken["shrink"] < 0.05 * hinges["shrink"]


@pytest.mark.parametrize("size", [1e-170, 1e-160, 1e-30, 1e8, 1e14])
def test_split_keeps_finite_numbers_for_rows_of_any_size(triplets_of, size):
    X, triplets = triplets_of(4, 200)
    for kind in ("frame", "cholesky"):
        state = StackState(4, [Layer(kind, 0.1, "split")])
        state.learn(size * X, triplets, FP)
        assert np.isfinite(state.layers).all()
