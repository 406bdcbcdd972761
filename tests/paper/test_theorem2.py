"""The regret evaluator: against a slow recursion, and on the stream that refutes the paper's bound."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mloml.paper import theorem2
from mloml.paper.theorem2 import best_fixed_matrix, claimed_bound, corrected_bound, fixed_losses, moml_losses


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
    np.testing.assert_allclose(moml_losses(*theorem2.counterexample(3), 0.1), [5.0, 3.4, 1.8])


@pytest.mark.parametrize(("T", "regret"), [(10_000, 80.6), (1_000_000, 783.8)])
def test_counterexample_breaks_the_claimed_bound_and_respects_the_corrected_one(T, regret):
    row = theorem2.counterexample_regrets([T]).iloc[0]
    assert row["regret"] == pytest.approx(regret, abs=0.05)
    assert row["claimed_bound"] == pytest.approx(32.8, abs=0.05)
    assert row["claimed_bound"] < row["regret"] <= row["corrected_bound"]
    assert row["corrected_bound"] == pytest.approx(row["worst_case_bound"])


@pytest.mark.parametrize(("T", "regret"), [(1600, 22), (10_000, 52)])
def test_counterexample_holds_inside_the_cone_too(T, regret):
    """Projected at 0, the regret against U = 0 is the sum of 4 M over M = 1, 1 - 4 gamma, ... > 0."""
    P, Q = theorem2.counterexample(T)
    gamma = theorem2.step_size(T, phi=1.0)
    found = (slow_losses(P, Q, gamma, project=True) - 1).sum()
    assert found == pytest.approx(4 * np.arange(1, 0, -4 * gamma).sum()) == pytest.approx(regret)
    assert found <= corrected_bound(np.zeros((1, 1)), P, Q, gamma)
    assert (found > claimed_bound(np.zeros((1, 1)), phi=1.0)) == (T == 10_000)


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
