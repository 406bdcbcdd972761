"""Products, blocks and active hinges, eight doubles at a time, against NumPy."""

from typing import Any

import numpy as np
import pytest

from mloml.kernels.eights import (
    below,
    choose,
    load,
    minus,
    multiply,
    plus,
    spread,
    store,
    two_products,
    wide_zeros,
)
from mloml.kernels.mlcc import centre_objective
from mloml.kernels.mlcc_lloyd import about_means, fill_blocks, lloyd_in_groups
from mloml.kernels.simd import exact
from mloml.learners.clusters import CentreMargin, Clustered


def padded(A: Any) -> Any:
    P = wide_zeros(*A.shape)
    P[: A.shape[0], : A.shape[1]] = A
    return P


@pytest.mark.parametrize(("rows", "inner", "columns"), [(1, 1, 1), (4, 3, 8), (6, 9, 17), (13, 33, 33)])
def test_products_equal_those_of_numpy(rows: int, inner: int, columns: int) -> None:
    rng = np.random.default_rng(rows)
    A, B = rng.normal(size=(rows, inner)), rng.normal(size=(inner, columns))
    R = np.full(padded(A @ B).shape, np.nan)
    multiply(padded(A), padded(B), inner, R)
    np.testing.assert_allclose(R, padded(A @ B), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(("k", "d"), [(1, 1), (5, 4), (6, 21), (16, 33)])
def test_sums_of_two_products_equal_those_of_numpy(k: int, d: int) -> None:
    C, U, E, M = np.random.default_rng(d).normal(size=(4, k, d))
    R = np.full(padded(np.eye(d)).shape, np.nan)
    two_products(padded(C), padded(U), padded(E), padded(M), k, R)
    np.testing.assert_allclose(R[:d, :d], C.T @ U + E.T @ M, rtol=1e-13, atol=1e-13)


@exact
def _compare(a: Any, b: Any, out: Any) -> int:
    x, y = load(a, 0), load(b, 0)
    store(out, 0, choose(below(x, y), plus(x, spread(1.0)), minus(y, x)))
    return int(below(y, x))


def test_places_are_told_apart() -> None:
    a = np.array([1.0, 2.0, 3.0, np.nan, -1.0, 0.0, 5.0, np.inf])
    b = np.array([2.0, 1.0, 3.0, 0.0, -2.0, np.nan, 9.0, 0.0])
    out = np.empty(8)
    assert _compare(a, b, out) == sum(1 << j for j in np.flatnonzero(a > b))
    np.testing.assert_array_equal(out, np.where(a < b, a + 1, b - a))


@pytest.mark.parametrize("n", [1, 15, 16, 17, 40])
def test_blocks_hold_the_rows_and_zeros(n: int) -> None:
    X = np.random.default_rng(n).normal(size=(n, 3))
    blocks = np.full((-(-n // 16), 3, 16), np.nan)
    fill_blocks(X, n, blocks)
    rows = blocks.transpose(0, 2, 1).reshape(-1, 3)
    np.testing.assert_array_equal(rows[:n], X)
    assert not rows[n:].any()


@pytest.mark.parametrize(("n", "d", "k"), [(5, 2, 5), (16, 1, 1), (33, 4, 3), (90, 7, 9)])
def test_rows_go_to_the_nearest_centre(n: int, d: int, k: int) -> None:
    rng = np.random.default_rng(n)
    Z, labels = rng.normal(size=(n, d)), np.empty(n, dtype=np.intp)
    centres = Z[:k].copy()
    lloyd_in_groups(Z, np.array([0, n]), centres, np.array([0, k]), labels, 1)
    nearest = ((Z[:, None] - Z[:k]) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(labels, nearest)  # after one step; each centre is a row, so none is empty
    means = [Z[nearest == c].mean(axis=0) for c in range(k)]
    np.testing.assert_allclose(centres, means, rtol=1e-12, atol=1e-14)


def test_the_first_of_equally_near_centres_is_taken() -> None:
    Z, labels = np.zeros((20, 2)), np.empty(20, dtype=np.intp)
    centres = np.array([[3.0, 4.0], [0.0, 5.0], [4.0, 3.0], [5.0, 0.0], [-5.0, 0.0]])
    lloyd_in_groups(Z, np.array([0, 20]), centres, np.array([0, 5]), labels, 1)
    assert not labels.any()
    np.testing.assert_array_equal(centres[1], [0.0, 5.0])  # a centre without rows stays


def test_means_and_differences() -> None:
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(30, 3)), rng.permutation(np.arange(30) % 4)
    means, apart = np.empty((4, 3)), np.empty((30, 3))
    about_means(X, labels, means, apart)
    np.testing.assert_allclose(means, [X[labels == c].mean(axis=0) for c in range(4)], atol=1e-14)
    np.testing.assert_array_equal(apart, X - means[labels])


@pytest.mark.parametrize(("n", "d"), [(30, 3), (64, 9), (75, 17)])
def test_sums_over_active_hinges_are_right_after_many_changes(n: int, d: int) -> None:
    """T, N and the number of active hinges are brought up to date step by step, never added up anew."""
    rng = np.random.default_rng(n)
    codes = np.sort(rng.integers(0, 3, size=n))
    labels = np.unique(2 * codes + rng.integers(0, 2, size=n), return_inverse=True)[1]
    data = Clustered.of(rng.normal(size=(n, d)), labels)
    scatter = data.apart.T @ data.apart
    W = np.linalg.eigh(scatter)[1]
    problem = CentreMargin(data, codes, W, scatter)
    problem.evaluate(np.eye(d), 0.5)  # begins with no active hinge
    for L in rng.normal(size=(20, d, d)) / d:
        gradient = np.empty((d, d))
        value = centre_objective(L, 0.5, problem.room, gradient)
    X, M = data.X @ W, data.means @ W
    D = (((X[:, None] - M) @ L.T) ** 2).sum(axis=2)
    own = D[np.arange(n), labels]
    classes = np.array([codes[labels == c][0] for c in range(len(M))])
    active = (1 + own[:, None] - D > 0) & (codes[:, None] != classes)
    repelled, attracted = active.sum(axis=0), [active[labels == c].sum() for c in range(len(M))]
    np.testing.assert_array_equal(problem.room.N, repelled - attracted)
    assert problem.room.hinges[0] == active.sum()
    sums = active.T @ X - np.array([active[labels == c].sum(axis=1) @ X[labels == c] for c in range(len(M))])
    np.testing.assert_allclose(problem.room.T[: len(M), :d], sums, atol=1e-10)
    brute = 0.5 * own.sum() + 0.5 * (active * (1 + own[:, None] - D)).sum()
    assert value == pytest.approx(brute, rel=1e-10)
    slopes = gradient.copy()
    assert problem.evaluate(L, 0.5)[0] == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(problem.evaluate(L, 0.5)[1], slopes, rtol=1e-9, atol=1e-9)
