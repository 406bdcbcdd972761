"""The paper's classifier: 5 nearest neighbours, uniform votes, every tie decided by a rule.

Neighbours are ordered by squared distance, computed by differences in float64 (:func:`squared_distance`),
then by row index; vote ties go to the smallest label. Balance is full of exact ties, so a search through
``|a|² - 2ab + |b|²`` alone would change its error: that formula only finds candidates here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mloml.evaluation.long_search import told
from mloml.kernels.knn import majority, most_similar_rows, nearest_rows

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Codes = NDArray[np.int64]

# Products are made in blocks of about this many numbers, small enough to stay in a cache of a few MB.
_BLOCK_ENTRIES = 1 << 18

# More training rows than this are searched in parts: a product of many test rows with a part that stays in
# the cache, where whole rows of products would be as slow as memory. In ten dimensions this takes a tenth of
# the time of a tree (scikit-learn's KDTree, half a million rows).
_WHOLE, _PART, _PART_ROWS = 4096, 2048, 128


def nearest_neighbours(train: Array, test: Array, k: int) -> Indices:
    """Return the row indices of the ``k`` nearest training rows of each test row, nearest first.

    Parameters
    ----------
    train, test : (n, d) and (m, d) arrays of floats smaller than 1e150, so that their squares are finite
    k : int
        Number of neighbours; with fewer training rows than that, all of them are returned.

    Notes
    -----
    Candidates are found from ``|a|² - 2 (ab - |b|²/2)``, with ``a`` and ``b`` taken relative to the mean
    training row and scaled by a power of two to norms of at most 1, and the bracket, one inner product of d
    + 1 terms, in single precision (unit roundoff ``u``). With ``r = |a| + max |b|``, the error is at most
    ``(d + 3) u r²`` to first order for any order of sums, with or without fused multiply-add, and ``6 (d +
    1)`` times the smallest normal number for underflow. The errors in double precision, of the other terms
    and of the exact distance, are at most ``(2 d + 8) 2⁻⁵³ r²``. The margin is more than their sum, so a
    row whose rough distance exceeds the k-th exact distance by more than the margin is not among the k
    nearest.

    Examples
    --------
    >>> nearest_neighbours(np.array([[0.0], [2.0], [2.0], [9.0]]), np.array([[1.0]]), k=2)
    array([[0, 1]])
    """
    train = np.ascontiguousarray(train, dtype=np.float64)
    test = np.ascontiguousarray(test, dtype=np.float64)
    _check_count(len(train), k)
    neighbours = np.empty((len(test), min(k, len(train))), dtype=np.intp)
    centre = train.mean(axis=0)
    near, far = train - centre, test - centre
    scale = _shrinking(near, far)
    near, far = near * scale, far * scale
    near_squares, far_squares = (near * near).sum(axis=1), (far * far).sum(axis=1)
    near_columns = np.vstack([near.T, -near_squares / 2]).astype(np.float32)
    far_rows = np.column_stack([far, np.ones(len(far))]).astype(np.float32)
    d, single = train.shape[1], np.finfo(np.float32)
    lengths = np.sqrt(far_squares) + np.sqrt(near_squares.max())
    margins = (d + 5) * single.eps / 2 * lengths**2 + 8 * (d + 1) * single.tiny
    distances = np.full(neighbours.shape, np.inf)
    whole = len(train) <= _WHOLE
    block = max(1, _BLOCK_ENTRIES // len(train)) if whole else _PART_ROWS
    part = len(train) if whole else _PART
    firsts = range(0, len(train), part)
    parts = [(first, np.ascontiguousarray(near_columns[:, first : first + part])) for first in firsts]
    room = np.empty(min(block, len(test)) * part, dtype=np.float32)  # new room for each product costs as much
    for start in told(range(0, len(test), block), len(train) * len(test) * (d + 1)):
        rows = slice(start, start + block)
        squares, slack = far_squares[rows], margins[rows]
        for first, columns in parts:
            closeness = room[: len(squares) * columns.shape[1]].reshape(len(squares), -1)
            np.matmul(far_rows[rows], columns, out=closeness)
            nearest_rows(
                closeness,
                squares,
                slack,
                scale**2,
                train,
                first,
                test[rows],
                distances[rows],
                neighbours[rows],
            )
    return neighbours


def _shrinking(near: Array, far: Array) -> float:
    """Return a power of two that brings all norms to at most 1, unless it would be too large itself."""
    longest = max(np.abs(near).max(), np.abs(far).max(initial=0.0)) * np.sqrt(near.shape[1])
    exponent = np.frexp(longest)[1]
    return float(np.ldexp(1.0, min(-exponent, 500)))


def most_similar(similarity: Array, k: int) -> Indices:
    """Return the columns of the ``k`` largest entries of each row, largest first, ties by column index.

    All entries must be finite.

    >>> most_similar(np.array([[0.1, 0.7, 0.7, 0.2]]), k=3)
    array([[1, 2, 3]])
    """
    _check_count(similarity.shape[1], k)
    columns = np.empty((len(similarity), min(k, similarity.shape[1])), dtype=np.intp)
    most_similar_rows(np.ascontiguousarray(similarity, dtype=np.float64), columns)
    return columns


def predict(train: Array, codes: Codes, test: Array, k: int) -> Codes:
    """Classify the test rows by their ``k`` nearest training rows.

    ``codes`` are the classes of the training rows as integers from 0 on; ties in the vote go to the smallest.

    >>> predict(np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([1, 1, 0, 0]), np.array([[1.5], [0.1]]), k=4)
    array([0, 0])
    """
    return vote(nearest_neighbours(train, test, k), codes)


def predict_by_similarity(similarity: Array, codes: Codes, k: int) -> Codes:
    """Classify rows by the ``k`` training rows (columns of ``similarity``) most similar to each."""
    return vote(most_similar(similarity, k), codes)


def vote(neighbours: Indices, codes: Codes) -> Codes:
    """Return each row's majority class; ties go to the smallest label."""
    codes = np.ascontiguousarray(codes, dtype=np.int64)
    return majority(np.ascontiguousarray(neighbours), codes, int(codes.max()) + 1)


def _check_count(n_train: int, k: int) -> None:
    if k < 1:
        raise ValueError(f"k={k} neighbours; at least 1 is needed")
    if n_train < 1:
        raise ValueError("no training rows to take neighbours from")
