import numpy as np
import pytest

from mloml.checks import plain_stack as reference_stack
from mloml.kernels.padding import padded, zeros
from mloml.kernels.stack import layout
from mloml.learners.metric_state import MetricState


def run_plainly(state, X, triplets):
    d = state.n_features
    rows = zeros(len(X), d)
    rows[:, :d] = X
    choice = (layout.POLICIES.index(state.cone), layout.VARIANTS.index(state.variant))
    arrays = (rows, triplets, state.M, None, state.bound, state.counts[0])
    reference_stack.moml_scan(*arrays, state.gamma, *choice, None, d)


@pytest.mark.parametrize("variant", layout.VARIANTS)
@pytest.mark.parametrize("d", [1, 3, 8, 13])
def test_compiled_scan_equals_the_plain_one(triplets_of, d, variant):
    X, triplets = triplets_of(d, 400)
    ours, theirs = (MetricState(d, 1e-2, "clip", variant) for _ in range(2))
    ours.learn(X, triplets, None)
    run_plainly(theirs, X, triplets)
    np.testing.assert_allclose(ours.M, theirs.M, atol=1e-11)
    np.testing.assert_array_equal(ours.counts[:, :2], theirs.counts[:, :2])


@pytest.mark.parametrize("cone", ["shrink", "clip", "skip"])
def test_every_policy_equals_the_plain_one_step_by_step_and_counts_each_failure(triplets_of, cone):
    X, triplets = triplets_of(3, 150, seed=5)
    ours = MetricState(3, 0.4, cone, "paper")
    for triplet in triplets:
        theirs = MetricState(3, 0.4, cone, "paper")
        theirs.M[:], theirs.counts[:] = ours.M, ours.counts
        ours.learn(X, triplet[np.newaxis], None)
        run_plainly(theirs, X, triplet[np.newaxis])
        np.testing.assert_allclose(ours.M, theirs.M, atol=1e-7)
        np.testing.assert_array_equal(ours.counts[:, :2], theirs.counts[:, :2])
        assert np.linalg.eigvalsh(ours.M[:3, :3])[0] >= 0
    assert ours.counts[0, layout.FAILURES] > 3


@pytest.mark.parametrize("variant", layout.VARIANTS)
def test_free_steps_are_the_printed_equation_and_may_leave_the_cone(triplets_of, variant):
    X, triplets = triplets_of(4, 300, seed=5)
    state, M, updates = MetricState(4, 0.4, "free", variant), np.eye(4), 0
    for t, i, j in triplets:
        p, q = X[t] - X[i], X[t] - X[j]
        A = np.outer(p, p) - np.outer(q, q)
        hinge = 1 + np.sum(M * A)
        if hinge > 0:
            M = M - (0.4 if variant == "paper" else min(0.4, hinge / np.sum(A**2))) * A
            updates += 1
    state.learn(X, triplets, None)
    np.testing.assert_allclose(state.metric, M, atol=1e-11)
    assert state.counts[0, layout.UPDATES] == updates > 50
    assert state.counts[0, layout.FAILURES] == 0
    assert np.linalg.eigvalsh(M)[0] < -0.1
    assert state.is_indefinite


def test_the_bound_is_below_the_least_eigenvalue_all_the_time(triplets_of):
    X, triplets = triplets_of(4, 300, seed=2)
    state = MetricState(4, 0.05, "shrink", "paper")
    for triplet in triplets:
        state.learn(X, triplet[np.newaxis], None)
        assert state.bound[0] <= np.linalg.eigvalsh(state.M[:4, :4])[0]


def test_the_metric_stays_exactly_symmetric_and_its_padding_zero(triplets_of):
    X, triplets = triplets_of(5, 200)
    state = MetricState(5, 1e-2, "clip", "paper")
    state.learn(X, triplets, None)
    np.testing.assert_array_equal(state.M[:5, :5], state.M[:5, :5].T)
    assert state.M.shape == (padded(5), padded(5))
    assert not state.M[5:].any() and not state.M[:, 5:].any()
