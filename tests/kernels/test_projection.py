"""The projection that removes one eigenpair against the one that clips them all."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mloml.kernels.linalg.projection import NONE, UNDONE, subtract_and_project


def projected(M, z, step):
    d = len(z)
    M = M.copy()
    due = subtract_and_project(M, z, step, np.empty((d + 1, d)), np.empty((4, d + 1)))
    return M, due != NONE


def clipped(M, z, step):
    values, vectors = np.linalg.eigh(M - step * np.outer(z, z))
    return (vectors * np.maximum(values, 0)) @ vectors.T, values[0]


@given(
    d=st.integers(1, 25),
    rank=st.integers(0, 25),
    spread=st.floats(0, 3),
    step=st.floats(-5, 1),
    in_range=st.booleans(),
    seed=st.integers(0, 10**6),
)
def test_projection_equals_clipping_every_negative_eigenvalue(d, rank, spread, step, in_range, seed):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(min(rank, d), d)) * 10 ** rng.uniform(-spread, 0, size=(min(rank, d), 1))
    M = B.T @ B
    z = B.T @ rng.normal(size=len(B)) if in_range else rng.normal(size=d)
    ours, due = projected(M, z, 10.0**step)
    expected, smallest = clipped(M, z, 10.0**step)
    scale = max(abs(M).max(), 10.0**step * (z @ z), 1e-300)
    np.testing.assert_allclose(ours, expected, atol=1e-12 * scale)
    if abs(smallest) > 1e-11 * scale:
        assert due == (smallest < 0)


def test_a_step_from_zero_stays_at_zero():
    ours, due = projected(np.zeros((3, 3)), np.array([1.0, 2.0, 3.0]), 0.1)
    assert due
    np.testing.assert_allclose(ours, 0, atol=1e-15)


def test_a_zero_difference_or_step_changes_nothing():
    M = np.diag([1.0, 2.0, 0.0])
    for z, step in ((np.zeros(3), 0.5), (np.ones(3), 0.0)):
        ours, due = projected(M, z, step)
        assert not due
        np.testing.assert_array_equal(ours, M)


@pytest.mark.parametrize("margin", [0.999, 1.001])
def test_projection_is_due_just_when_the_largest_step_is_exceeded(margin):
    rng = np.random.default_rng(0)
    B = rng.normal(size=(6, 6))
    M, z = B.T @ B + 0.1 * np.eye(6), rng.normal(size=6)
    largest = 1 / (z @ np.linalg.solve(M, z))
    _, due = projected(M, z, margin * largest)
    assert due == (margin > 1)


@pytest.mark.parametrize(("floor", "undone"), [(1e-4, True), (0.5, False)])
def test_a_projection_that_takes_nearly_everything_back_is_told(floor, undone):
    M, z = np.diag([floor, 2.0]), np.array([1.0, 0.0])
    before = M.copy()
    due = subtract_and_project(M, z, 1.0, np.empty((3, 2)), np.empty((4, 3)))
    assert (due == UNDONE) == undone == (np.linalg.norm(M - before) < 0.01 * np.linalg.norm(np.outer(z, z)))
