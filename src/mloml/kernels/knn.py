"""Compiled parts of the 5-NN classifier: exact neighbours from rough products, and votes."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# NumPy adds up to this many terms in eight running sums and halves longer sums first.
_PAIRWISE_BLOCK = 128


@njit(cache=True, nogil=True)
def squared_distance(a: Array, b: Array) -> float:
    """Return ``((a - b) ** 2).sum()`` with NumPy's own order of additions, bit for bit.

    Which of two equally distant rows comes first depends on the last bit, so the order is part of the
    definition.
    """
    n = a.shape[0]
    if n > _PAIRWISE_BLOCK:
        half = n // 2
        half -= half % 8
        return squared_distance(a[:half], b[:half]) + squared_distance(a[half:], b[half:])
    if n < 8:
        total = 0.0
        for j in range(n):
            step = a[j] - b[j]
            total += step * step
        return total
    s0, s1, s2, s3, s4, s5, s6, s7 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    whole = n - n % 8
    for j in range(0, whole, 8):
        s0 += (a[j] - b[j]) * (a[j] - b[j])
        s1 += (a[j + 1] - b[j + 1]) * (a[j + 1] - b[j + 1])
        s2 += (a[j + 2] - b[j + 2]) * (a[j + 2] - b[j + 2])
        s3 += (a[j + 3] - b[j + 3]) * (a[j + 3] - b[j + 3])
        s4 += (a[j + 4] - b[j + 4]) * (a[j + 4] - b[j + 4])
        s5 += (a[j + 5] - b[j + 5]) * (a[j + 5] - b[j + 5])
        s6 += (a[j + 6] - b[j + 6]) * (a[j + 6] - b[j + 6])
        s7 += (a[j + 7] - b[j + 7]) * (a[j + 7] - b[j + 7])
    total = ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
    for j in range(whole, n):
        total += (a[j] - b[j]) * (a[j] - b[j])
    return total


@njit(cache=True, nogil=True)
def nearest_rows(
    products: Array,
    test: Array,
    train: Array,
    test_squares: Array,
    train_squares: Array,
    margins: Array,
    neighbours: Indices,
) -> None:
    """Write the nearest training rows of each test row into ``neighbours``, nearest first, ties by row index.

    ``products`` is ``test @ train.T``. A training row is left out without computing its exact distance only
    when ``|a|² - 2ab + |b|²`` exceeds the k-th exact distance found so far by more than the row's margin,
    which bounds the rounding error of that formula; so nothing that belongs to the k nearest is ever left
    out.
    """
    k = neighbours.shape[1]
    nearest = np.empty(k)
    for i in range(products.shape[0]):
        nearest[:] = np.inf
        offset = test_squares[i] - margins[i]
        for j in range(products.shape[1]):
            if offset + train_squares[j] - 2.0 * products[i, j] > nearest[k - 1]:
                continue
            exact = squared_distance(test[i], train[j])
            if exact >= nearest[k - 1]:  # rows come in ascending order: a tie goes to the row already there
                continue
            place = k - 1
            while place > 0 and exact < nearest[place - 1]:
                nearest[place] = nearest[place - 1]
                neighbours[i, place] = neighbours[i, place - 1]
                place -= 1
            nearest[place] = exact
            neighbours[i, place] = j


@njit(cache=True, nogil=True)
def majority(neighbours: Indices, codes: NDArray[np.int64], n_classes: int) -> NDArray[np.int64]:
    """Return the most frequent class code among each row's neighbours; ties go to the smallest code."""
    winners = np.empty(neighbours.shape[0], dtype=np.int64)
    votes = np.empty(n_classes, dtype=np.int64)
    for i in range(neighbours.shape[0]):
        votes[:] = 0
        for j in neighbours[i]:
            votes[codes[j]] += 1
        winners[i] = np.argmax(votes)
    return winners
