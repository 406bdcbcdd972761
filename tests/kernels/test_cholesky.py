import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mloml.kernels.linalg.cholesky import (
    copy_triangle,
    downdate,
    factorise,
    solve_transposed,
    update,
)


def random_metric(rng, d):
    B = rng.normal(size=(d, d))
    return B @ B.T / d + 0.1 * np.eye(d)


@settings(max_examples=50, deadline=None)
@given(d=st.integers(1, 8), seed=st.integers(0, 10**6))
def test_factorise_and_update_agree_with_the_library(d, seed):
    rng = np.random.default_rng(seed)
    M, v = random_metric(rng, d), rng.normal(size=d)
    R = np.empty((d, d))
    assert factorise(M, R, d)
    np.testing.assert_allclose(R, np.linalg.cholesky(M).T, atol=1e-12)
    update(R, v.copy())
    np.testing.assert_allclose(R, np.linalg.cholesky(M + np.outer(v, v)).T, atol=1e-10)


@settings(max_examples=100, deadline=None)
@given(d=st.integers(1, 8), seed=st.integers(0, 10**6), size=st.floats(0.01, 2.0))
def test_downdate_agrees_with_the_library_and_fails_where_an_eigenvalue_is_not_positive(d, seed, size):
    rng = np.random.default_rng(seed)
    M = random_metric(rng, d)
    v = size * rng.normal(size=d)
    least = np.linalg.eigvalsh(M - np.outer(v, v))[0]
    if abs(least) < 1e-6:
        return
    R = np.linalg.cholesky(M).T.copy()
    assert downdate(R, v.copy()) == (least > 0)
    if least > 0:
        np.testing.assert_allclose(R.T @ R, M - np.outer(v, v), atol=1e-8)


def test_solve_transposed_inverts_the_transposed_factor():
    rng = np.random.default_rng(0)
    R = np.linalg.cholesky(random_metric(rng, 5)).T.copy()
    b, x = rng.normal(size=5), np.empty(5)
    solve_transposed(R, b, x)
    np.testing.assert_allclose(R.T @ x, b)


def test_copy_triangle_leaves_the_padding_and_zeroes_what_is_below():
    R, out = np.arange(16.0).reshape(4, 4), np.full((4, 4), 7.0)
    copy_triangle(R, out, 3)
    np.testing.assert_array_equal(out[:3, :3], np.triu(R[:3, :3]))
    assert (out[3] == 7).all() and (out[:, 3] == 7).all()


def test_factorise_refuses_an_indefinite_matrix():
    assert not factorise(np.diag([1.0, -1.0]), np.empty((2, 2)), 2)


@pytest.mark.parametrize("rows", [2, 3])
def test_a_padded_matrix_is_used_up_to_the_length_of_the_vector(rows):
    R = np.zeros((4, 4))
    R[:rows, :rows] = np.eye(rows)
    update(R, np.ones(rows))
    np.testing.assert_allclose((R.T @ R)[:rows, :rows], np.eye(rows) + 1)
    assert not R[rows:].any()
