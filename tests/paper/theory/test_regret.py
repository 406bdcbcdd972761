"""The regret evaluator: against a slow recursion, and on the stream that refutes the paper's bound."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mloml.paper.theory.hindsight import best_fixed_matrix
from mloml.paper.theory.regret import (
    claimed_bound,
    corrected_bound,
    counterexample,
    fixed_losses,
    moml_losses,
    step_size,
    worst_case_bound,
)


def unit_triplets(seed, T, d):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(3, T, d))
    rows /= np.linalg.norm(rows, axis=2, keepdims=True)
    return rows[0] - rows[1], rows[0] - rows[2]


def slow_losses(P, Q, gamma, project):
    M, losses = np.eye(P.shape[1]), []
    for p, q in zip(P, Q, strict=True):
        A = np.outer(p, p) - np.outer(q, q)
        hinge = 1 + np.trace(M @ A)
        losses.append(max(hinge, 0.0))
        if hinge > 0:
            M = M - gamma * A
            if project:
                values, vectors = np.linalg.eigh(M)
                M = vectors @ np.diag(np.maximum(values, 0)) @ vectors.T
    return np.array(losses)


@pytest.mark.parametrize("project", [False, True])
@pytest.mark.parametrize("gamma", [1e-3, 0.1, 0.5])
def test_losses_are_those_of_the_recursion_before_each_step(gamma, project):
    P, Q = unit_triplets(0, 200, 4)
    np.testing.assert_allclose(
        moml_losses(P, Q, gamma, project), slow_losses(P, Q, gamma, project), atol=1e-9
    )


@pytest.mark.parametrize(("T", "regret"), [(10_000, 80.6), (1_000_000, 783.8)])
def test_counterexample_breaks_the_claimed_bound_and_respects_the_corrected_one(T, regret):
    P, Q = counterexample(T)
    U, gamma = np.array([[-0.25]]), step_size(T, phi=1.0)
    found = (moml_losses(P, Q, gamma) - fixed_losses(U, P, Q)).sum()
    assert found == pytest.approx(regret, abs=0.05)
    assert claimed_bound(U, phi=1.0) == pytest.approx(32.8, abs=0.05)
    assert claimed_bound(U, phi=1.0) < found <= corrected_bound(U, P, Q, gamma)
    assert corrected_bound(U, P, Q, gamma) == pytest.approx(worst_case_bound(U, T, phi=1.0))


def clipped_regret(T):
    """Return the sum of 4 M over M = 1, 1 - 4 gamma, ... > 0: what clipping at 0 costs against U = 0."""
    return 4 * np.arange(1, 0, -4 / np.sqrt(T)).sum()


@pytest.mark.parametrize("T", [10_000, 40_000])
def test_counterexample_holds_inside_the_cone_too(T):
    assert clipped_regret(10_000) == pytest.approx(52) and clipped_regret(1_000_000) == pytest.approx(502)
    P, Q = counterexample(T)
    U, gamma = np.zeros((1, 1)), step_size(T, phi=1.0)
    found = (moml_losses(P, Q, gamma, project=True) - fixed_losses(U, P, Q)).sum()
    assert found == pytest.approx(clipped_regret(T))
    assert claimed_bound(U, phi=1.0) == 32.5
    assert 32.5 < found <= corrected_bound(U, P, Q, gamma)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), gamma=st.sampled_from([1e-3, 1e-2, 0.1, 1.0]), project=st.booleans())
def test_corrected_bound_is_never_broken(seed, gamma, project):
    P, Q = unit_triplets(seed, 60, 3)
    root = np.random.default_rng(seed).normal(size=(3, 3))
    U = root @ root.T / 3
    regret = (moml_losses(P, Q, gamma, project) - fixed_losses(U, P, Q)).sum()
    bound = corrected_bound(U, P, Q, gamma)
    assert regret <= bound + 1e-9
    distance = np.sum((np.eye(3) - U) ** 2)
    assert bound <= distance / (2 * gamma) + 8 * gamma * len(P) + 1e-9


def test_corrected_bound_uses_the_frobenius_norms_of_the_triplets():
    P, Q = unit_triplets(3, 20, 5)
    norms = sum(np.sum((np.outer(p, p) - np.outer(q, q)) ** 2) for p, q in zip(P, Q, strict=True))
    assert corrected_bound(np.eye(5), P, Q, 0.2) == pytest.approx(0.1 * norms)


def test_best_fixed_number_on_the_line_is_a_breakpoint_of_the_loss():
    rng = np.random.default_rng(1)
    P, Q = rng.uniform(-1, 1, (40, 1)), rng.uniform(-2, 2, (40, 1))
    A = (P**2 - Q**2).ravel()
    candidates = np.concatenate([[0.0], -1.0 / A[A < 0]])
    exact = min(np.maximum(1 + u * A, 0).sum() for u in candidates)
    found = best_fixed_matrix(P, Q)
    assert exact - 1e-9 <= found.loss <= exact * (1 + 1e-3)
    assert found.lower <= exact + 1e-9


def test_best_fixed_matrix_beats_a_grid_over_the_cone_and_carries_a_certificate():
    P, Q = unit_triplets(7, 50, 2)
    grid = np.linspace(0, 2.5, 26)
    losses = [
        fixed_losses(np.array([[a, r * np.sqrt(a * b)], [r * np.sqrt(a * b), b]]), P, Q).sum()
        for a in grid
        for b in grid
        for r in np.linspace(-1, 1, 21)
    ]
    found = best_fixed_matrix(P, Q)
    assert found.loss <= min(losses) + 1e-6
    assert np.linalg.eigvalsh(found.U)[0] >= -1e-12
    assert found.loss == pytest.approx(fixed_losses(found.U, P, Q).sum())
    assert found.lower <= found.loss <= found.lower + 0.02 * len(P)
