"""Compiled parts of the 5-NN classifier: exact neighbours from rough products, and votes."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from mloml.kernels.compiled import compiled
from mloml.kernels.singles import any_at_most, load8, most8, spread8

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# NumPy adds up to this many terms in eight running sums and halves longer sums first.
_PAIRWISE_BLOCK = 128

# Training rows of which only the closest is looked at first.
_PIECE = 32


@compiled
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


@compiled
def nearest_rows(
    closeness: NDArray[np.float32],
    test_squares: Array,
    margins: Array,
    per_unit: float,
    train: Array,
    first: int,
    test: Array,
    distances: Array,
    neighbours: Indices,
) -> None:
    """Put training rows among each test row's ``neighbours`` so far, nearest first, ties by row index.

    The columns of ``closeness`` are the training rows from ``first`` on, which come after those that were
    looked at before; ``distances`` are the exact ones of the neighbours, infinite where there is none yet.

    ``test_squares[i] - 2 * closeness[i, j]`` is ``per_unit`` times the squared distance of test row i and
    training row ``first + j``, up to ``margins[i]``. Exact distances are computed only for rows that may be
    among the k nearest: as close, allowing for the margin, as the k-th of the pieces' largest values (k rows
    at least are that close) and as the k-th exact distance found so far.
    """
    k, n_rows = neighbours.shape[1], closeness.shape[1]
    pieces = (n_rows + _PIECE - 1) // _PIECE
    closest, unused = np.empty(k), np.empty(k, dtype=np.intp)
    for i in range(closeness.shape[0]):
        row, nearest, chosen = closeness[i], distances[i], neighbours[i]
        threshold = (test_squares[i] - nearest[k - 1] * per_unit - margins[i]) / 2
        if nearest[k - 1] == np.inf:
            closest[:] = np.inf
            for piece in range(pieces):
                peak = _largest(row[piece * _PIECE : (piece + 1) * _PIECE])
                if -peak < closest[k - 1]:
                    _insert(-peak, 0, closest, unused)
            threshold = -closest[k - 1] - margins[i]
        for piece in range(pieces):
            start, end = piece * _PIECE, min((piece + 1) * _PIECE, n_rows)
            if end - start == _PIECE and not _reaches(closeness, i * n_rows + start, threshold):
                continue
            for j in range(start, end):
                if row[j] >= threshold:
                    _insert(squared_distance(test[i], train[first + j]), first + j, nearest, chosen)
                    farthest = nearest[k - 1] * per_unit + margins[i]
                    threshold = max(threshold, (test_squares[i] - farthest) / 2)


@compiled
def most_similar_rows(similarity: Array, neighbours: Indices) -> None:
    """Put the columns of each row's largest entries into ``neighbours``, largest first, ties by column."""
    k = neighbours.shape[1]
    least = np.empty(k)
    for i in range(similarity.shape[0]):
        row, chosen = similarity[i], neighbours[i]
        least[:] = np.inf
        for j in range(row.shape[0]):
            if -row[j] < least[k - 1]:
                _insert(-row[j], j, least, chosen)


@compiled
def _reaches(closeness: NDArray[np.float32], start: int, threshold: float) -> bool:
    """Say whether any entry of a piece is as large as a threshold.

    The threshold is rounded to single precision, which cannot bring it past a number of single precision.
    """
    low = most8(load8(closeness, start), load8(closeness, start + 8))
    high = most8(load8(closeness, start + 16), load8(closeness, start + 24))
    return any_at_most(spread8(threshold), most8(low, high))


@partial(compiled, fastmath={"nnan", "nsz", "reassoc"})
def _largest(values: NDArray[np.float32]) -> float:
    """Return the largest of some finite numbers; knowing them finite, the compiler vectorises it."""
    largest = values[0]
    for value in values:
        largest = max(largest, value)
    return largest


@compiled
def _insert(distance: float, row: int, nearest: Array, neighbours: Indices) -> None:
    """Put a row in its place among the nearest so far, after those equally distant."""
    place = nearest.shape[0]
    while place > 0 and distance < nearest[place - 1]:
        place -= 1
    if place == nearest.shape[0]:
        return
    for later in range(nearest.shape[0] - 1, place, -1):
        nearest[later] = nearest[later - 1]
        neighbours[later] = neighbours[later - 1]
    nearest[place] = distance
    neighbours[place] = row


@compiled
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
