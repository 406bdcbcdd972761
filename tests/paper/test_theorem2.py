"""The regret evaluator: against a slow recursion, and on the stream that refutes the paper's bound."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mloml.paper import theorem2
from mloml.paper.theorem2 import best_fixed_matrix, corrected_bound, fixed_losses, moml_losses

U = np.array([[Fraction(1), Fraction(1, 4)], [Fraction(1, 4), Fraction(1)]])


def unit_triplets(seed, T, d):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(3, T, d))
    rows /= np.linalg.norm(rows, axis=2, keepdims=True)
    return rows[0] - rows[1], rows[0] - rows[2]


def slow_losses(P, Q, gamma, project=False):
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


@pytest.mark.parametrize("gamma", [1e-3, 0.1, 0.5])
def test_losses_are_those_of_the_recursion_before_each_step(gamma):
    P, Q = unit_triplets(0, 200, 4)
    np.testing.assert_allclose(moml_losses(P, Q, gamma), slow_losses(P, Q, gamma), atol=1e-9)
    np.testing.assert_allclose(moml_losses(*theorem2.counterexample(3), 0.05), [1.0, 0.6, 0.2])


def in_fractions(T, phi):
    """Return gamma, every matrix and every loss of the counterexample's run, for a square T."""
    x, xp, xq = np.array([1, 0]), np.array([0, 1]), np.array([0, -1])
    assert all(row @ row == 1 for row in (x, xp, xq))
    A = np.outer(x - xp, x - xp) - np.outer(x - xq, x - xq)
    gamma, matrices, losses = Fraction(1, phi * math.isqrt(T)), [np.array([[1, 0], [0, 1]])], []
    while (hinge := 1 + np.trace(matrices[-1] @ A)) > 0:
        losses.append(hinge)
        matrices.append(matrices[-1] - gamma * A)
    assert len(losses) < T and 1 + np.trace(U @ A) == 0  # U has no loss: the regret is the sum of the losses
    return gamma, matrices, losses


def positive(M):
    return M[0, 0] > 0 and M[0, 0] * M[1, 1] > M[0, 1] * M[1, 0]


@pytest.mark.parametrize(
    ("T", "phi", "regret"), [(100, 1, 1.2), (100, 8, 5.5), (10**6, 1, 63), (10**6, 8, 500.5)]
)
def test_the_counterexample_matrix_by_matrix(T, phi, regret):
    gamma, matrices, losses = in_fractions(T, phi)
    assert sum(losses) == Fraction(str(regret)) and losses[0] == 1
    assert positive(U) and all(map(positive, matrices))
    assert all(positive(M - 4 * gamma * np.eye(2, dtype=int)) for M in matrices)  # 4 gamma < lambda_min
    row = theorem2.counterexample_regrets([T], [float(phi)]).iloc[0]
    assert row["regret"] == pytest.approx(regret) and row["regret_after"] == pytest.approx(regret - 1)
    assert row["claimed_bound"] == pytest.approx(1 / 16 + 32 / phi**2)
    smallest = min(np.linalg.eigvalsh(M.astype(float))[0] for M in matrices)
    assert row["smallest_eigenvalue"] == pytest.approx(smallest)
    assert row["gamma_over_limit"] == pytest.approx(4 * float(gamma) / smallest)


def test_the_counterexample_follows_its_closed_form_above_the_claimed_bound_and_below_the_corrected_one():
    rows = theorem2.counterexample_regrets()
    root = rows["phi"] * np.sqrt(rows["T"])
    n = np.ceil((root / 8).round(9))  # steps with the losses 1 - 8 k gamma > 0
    np.testing.assert_allclose(rows["regret"], n - 8 / root * n * (n - 1) / 2, rtol=1e-9)
    assert rows["regret"].between(root / 16 + 0.5 - 1e-9, root / 16 + 0.7).all()
    above = rows["regret_after"] > rows["claimed_bound"]
    assert above.equals((rows["phi"] == 8) | (rows["T"] >= 300_000))
    assert (rows["regret"] <= rows["corrected_bound"]).all() and (rows["gamma_over_limit"] < 1).all()
    np.testing.assert_allclose(rows["corrected_bound"], root / 16 + 4 * rows["T"] / root, rtol=1e-9)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), gamma=st.sampled_from([1e-3, 1e-2, 0.1, 1.0]), project=st.booleans())
def test_corrected_bound_is_never_broken(seed, gamma, project):
    P, Q = unit_triplets(seed, 60, 3)
    root = np.random.default_rng(seed).normal(size=(3, 3))
    U = root @ root.T / 3
    losses = slow_losses(P, Q, gamma, True) if project else moml_losses(P, Q, gamma)
    bound = corrected_bound(U, P, Q, gamma)
    assert (losses - fixed_losses(U, P, Q)).sum() <= bound + 1e-9
    assert bound <= np.sum((np.eye(3) - U) ** 2) / (2 * gamma) + 8 * gamma * len(P) + 1e-9


def test_corrected_bound_uses_the_frobenius_norms_of_the_triplets():
    P, Q = unit_triplets(3, 20, 5)
    norms = sum(np.sum((np.outer(p, p) - np.outer(q, q)) ** 2) for p, q in zip(P, Q, strict=True))
    assert corrected_bound(np.eye(5), P, Q, 0.2) == pytest.approx(0.1 * norms)


def test_regrets_compare_each_horizon_with_three_matrices():
    P, Q = unit_triplets(5, 50, 2)
    found = theorem2.regrets(P, Q, [20, 50], phis=[2.0]).set_index(["T", "comparator"])
    for T in (20, 50):
        gamma = 1 / (2 * np.sqrt(T))
        losses = slow_losses(P[:T], Q[:T], gamma)
        hinges = np.maximum(1 + np.sum(P[:T] ** 2, axis=1) - np.sum(Q[:T] ** 2, axis=1), 0)
        assert found.loc[(T, "0"), "regret"] == pytest.approx((losses - 1).sum())
        assert found.loc[(T, "I"), "regret"] == pytest.approx((losses - hinges).sum())
        assert found.loc[(T, "best"), "regret"] >= max(found.loc[(T, name), "regret"] for name in "0I") - 1e-9
        assert found.loc[(T, "I"), "claimed_bound"] == 8  # 32 / 2²
        assert found.loc[(T, "best"), "hindsight_gap"] >= 0 == found.loc[(T, "0"), "hindsight_gap"]


def test_the_slope_is_that_of_positive_regrets_at_three_horizons_or_more():
    T = np.array([100, 1000, 10_000, 100_000])
    grows = pd.DataFrame({"dataset": "a", "phi": 1.0, "comparator": "best", "T": T, "regret": 3 * T**0.7})
    few = grows.assign(dataset="b", regret=[1.0, 2.0, -1.0, -2.0])
    found = theorem2.slopes(pd.concat([grows, few])).set_index("dataset")
    assert found.loc["a", "slope"] == pytest.approx(0.7) and np.isnan(found.loc["b", "slope"])
    assert found["positive"].tolist() == [4, 2] and found["horizons"].tolist() == [4, 4]


def test_best_fixed_number_on_the_line_is_a_breakpoint_of_the_loss():
    rng = np.random.default_rng(1)
    P, Q = rng.uniform(-1, 1, (40, 1)), rng.uniform(-2, 2, (40, 1))
    A = (P**2 - Q**2).ravel()
    exact = min(np.maximum(1 + u * A, 0).sum() for u in [0.0, *(-1.0 / A[A < 0])])
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
