"""RDML's step on a frame, against the metric itself and its eigenvalues."""

import numpy as np
import pytest

from mloml.kernels.padding import padded
from mloml.kernels.stack.rdml_frame import (
    DRIFTED,
    FLOOR,
    HALF,
    PROJECTED,
    UNCHANGED,
    UNDONE,
    UPDATED,
    rdml_frame_step,
)


def take(L, K, z, similar, lam):
    """Take the step in padded arrays; return what happened and the new L and K."""
    d, m = len(z), padded(len(z))
    wide = [np.zeros((m, m)), np.zeros((m, m)), np.zeros(m)]
    wide[0][:d, :d], wide[1][:d, :d], wide[2][:d] = L, K, z
    status = rdml_frame_step(*wide, wide[0] @ wide[2], similar, lam, d, np.zeros((5, m)), np.zeros((m, m)))
    return status, wide[0][:d, :d], wide[1][:d, :d]


def frame(d, seed):
    rng = np.random.default_rng(seed)
    L = np.eye(d) + 0.3 * rng.normal(size=(d, d))
    return L, np.linalg.inv(L).T, rng.normal(size=d)


@pytest.mark.parametrize("d", [1, 2, 5, 12])
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("lam", [1e-3, 0.1, 3.0])
def test_metric_equals_the_step_lifted_by_its_eigenvalues(d, seed, lam):
    L, K, z = frame(d, seed)
    z *= 1.5 / np.linalg.norm(L @ z)
    status, new, inverse = take(L, K, z, True, lam)
    M = L.T @ L - lam * np.outer(z, z)
    values, vectors = np.linalg.eigh(M)
    due = 1 - lam * z @ np.linalg.solve(L.T @ L, z) < HALF and values[0] < FLOOR
    assert status == (PROJECTED if due else UPDATED)
    if due:
        values[0] = FLOOR
    np.testing.assert_allclose(new.T @ new, (vectors * values) @ vectors.T, atol=1e-10)
    np.testing.assert_allclose(new @ inverse.T, np.eye(d), atol=1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_a_push_adds_its_term(seed):
    L, K, z = frame(6, seed)
    z *= 0.5 / np.linalg.norm(L @ z)
    status, new, inverse = take(L, K, z, False, 0.1)
    assert status == UPDATED
    np.testing.assert_allclose(new.T @ new, L.T @ L + 0.1 * np.outer(z, z), atol=1e-12)
    np.testing.assert_allclose(inverse, np.linalg.inv(new).T, atol=1e-10)


def test_the_factor_does_not_turn():
    # The root of the change is symmetric: seen from the old frame, new L^-1 is a symmetric matrix.
    L, K, z = frame(5, 0)
    _, new, _ = take(L, K, z * 2 / np.linalg.norm(L @ z), True, 2.0)
    relative = new @ np.linalg.inv(L)
    np.testing.assert_allclose(relative, relative.T, atol=1e-9)


@pytest.mark.parametrize(("similar", "length"), [(True, 0.9), (False, 1.1)])
def test_satisfied_pairs_change_nothing(similar, length):
    L, K, z = frame(4, 1)
    status, new, inverse = take(L, K, z * length / np.linalg.norm(L @ z), similar, 0.1)
    assert status == UNCHANGED
    np.testing.assert_array_equal(new, L)
    np.testing.assert_array_equal(inverse, K)


def test_an_inverse_that_has_drifted_is_noticed_before_the_step():
    L, K, z = frame(4, 2)
    status, new, _ = take(L, K * 1.001, z * 2 / np.linalg.norm(L @ z), True, 0.1)
    assert status == DRIFTED
    np.testing.assert_array_equal(new, L)


def test_a_projection_that_takes_back_nearly_all_is_told_from_others():
    L = np.sqrt(FLOOR) * np.eye(3)  # at the floor already: nothing can be taken away
    status, new, _ = take(L, np.linalg.inv(L).T, np.array([0.0, 101.0, 0.0]), True, 1e-4)
    assert status == UNDONE
    np.testing.assert_allclose(new, L, atol=1e-9)
