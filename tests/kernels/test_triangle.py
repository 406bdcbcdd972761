"""The push and the pull on a triangular factor, against LAPACK and against exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mloml.kernels.linalg.triangle import pull, push_and_solve
from mloml.kernels.padding import padded, zeros
from mloml.kernels.stack.frame import pull_step

UNTOUCHED = 7.0


def random_factor(rng, d):
    B = rng.normal(size=(d, d))
    return np.linalg.cholesky(B @ B.T / d + 0.1 * np.eye(d)).T


def stack_of(R):
    """Return a stack of two padded matrices, the second of them R."""
    A = zeros(2, padded(len(R)), len(R))
    A[1, : len(R), : len(R)] = R
    return A


def room(A, *vectors):
    V = zeros(5, A.shape[1])
    for row, vector in enumerate(vectors, start=1):
        V[row, : len(vector)] = vector
    return V


@settings(max_examples=100, deadline=None)
@given(d=st.integers(1, 14), seed=st.integers(0, 10**6), g=st.floats(0.0, 3.0))
def test_the_push_is_the_factor_of_the_sum_and_the_solution_is_that_of_the_new_factor(d, seed, g):
    rng = np.random.default_rng(seed)
    R, v, x = random_factor(rng, d), rng.normal(size=d), rng.normal(size=d)
    A, V = stack_of(R), room(stack_of(R), v, x)
    B = np.full_like(A, UNTOUCHED)
    square = push_and_solve(A, 1, B, 0, V, 1, g, d)
    factor = np.linalg.cholesky(R.T @ R + g * np.outer(v, v)).T
    solution = np.linalg.solve(factor.T, x)
    np.testing.assert_allclose(np.triu(B[0, :d, :d]), factor, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(V[3, :d], solution, rtol=1e-7, atol=1e-8)
    assert square == pytest.approx(solution @ solution, rel=1e-7)
    np.testing.assert_array_equal(A, stack_of(R))
    assert (B[0][np.tril_indices(d, -1)] == UNTOUCHED).all() and (B[1] == UNTOUCHED).all()


@settings(max_examples=100, deadline=None)
@given(d=st.integers(1, 14), seed=st.integers(0, 10**6), share=st.floats(0.0, 0.99))
def test_the_pull_is_the_factor_of_the_difference(d, seed, share):
    rng = np.random.default_rng(seed)
    R, x = random_factor(rng, d), rng.normal(size=d)
    solution = np.linalg.solve(R.T, x)
    g = share / (solution @ solution)
    A = stack_of(R)
    V, B = room(A, x, solution), np.zeros_like(A)
    pull(A, 1, B, 1, V, 1, g, d)
    np.testing.assert_allclose(B[1, :d, :d], np.linalg.cholesky(R.T @ R - g * np.outer(x, x)).T, atol=1e-9)
    assert not B[0].any() and not B[1, d:].any() and not B[1, :, d:].any()


def test_a_push_and_a_pull_may_go_back_to_where_they_came_from():
    rng = np.random.default_rng(0)
    d = 9
    R, v, x = random_factor(rng, d), rng.normal(size=d), rng.normal(size=d)
    A, work = stack_of(R), np.full((2, 12, 12), UNTOUCHED)
    V = room(A, v, x)
    s = push_and_solve(A, 1, work, 1, V, 1, 0.5, d)
    V[2, :d] = x
    pull(work, 1, A, 1, V, 2, 0.5 / s, d)
    target = R.T @ R + 0.5 * np.outer(v, v) - 0.5 / s * np.outer(x, x)
    np.testing.assert_allclose(A[1].T @ A[1], np.pad(target, (0, 3)), atol=1e-12)
    assert not np.tril(A[1], -1).any()


def test_thousands_of_steps_stay_at_the_sum_of_exact_fractions():
    """The metric is what the steps add up to; the floor keeps it away from the border, as in a fit."""
    rng = np.random.default_rng(1)
    d, g, keep, floor = 5, 0.1, 0.1, 0.01
    A, work = stack_of(np.eye(d)), zeros(2, padded(d), padded(d))
    M = [[Fraction(int(i == j)) for j in range(d)] for i in range(d)]
    shortened = 0
    for _ in range(2000):
        p, q = rng.integers(-64, 65, size=(2, d)) / [[128], [192]]
        V = room(A, q, p)
        s = push_and_solve(A, 1, work, 1, V, 1, g, d)
        part = pull_step(s, p @ p, g, keep, floor)
        shortened += part < g
        V[2, :d] = p
        pull(work, 1, A, 1, V, 2, part, d)
        push_by, pull_by = Fraction(g), Fraction(part)
        Q, P = [Fraction(value) for value in q], [Fraction(value) for value in p]
        for i in range(d):
            for j in range(d):
                M[i][j] += push_by * Q[i] * Q[j] - pull_by * P[i] * P[j]
    exact = np.array([[float(value) for value in row] for row in M])
    assert 100 < shortened < 2000
    L = A[1, :d, :d]
    np.testing.assert_allclose(L.T @ L, exact, atol=1e-13 * np.abs(exact).max())
