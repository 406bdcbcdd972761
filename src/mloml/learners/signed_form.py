"""The signed form ``(x - y)' M (x - y)`` of a symmetric ``M`` that need not be a metric."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist
from sklearn.utils.validation import check_array

from .base import Array


def signed_similarity(values: Array, vectors: Array, X: Array, Y: Array) -> Array:
    """Return ``-(x - y)' M (x - y)`` for all rows, with ``M`` given by its eigenvalues and eigenvectors.

    Squares are taken of differences, as for any other distance here: equal rows then come out as exact ties.

    >>> M = np.diag([-1.0, 1.0])
    >>> signed_similarity(*np.linalg.eigh(M), np.array([[0.0, 0.0]]), np.array([[2.0, 1.0], [1.0, 3.0]]))
    array([[ 3., -8.]])
    """
    form = np.zeros((len(X), len(Y)))
    for sign, part in ((1.0, values > 0), (-1.0, values < 0)):
        if part.any():
            root = vectors[:, part] * np.sqrt(np.abs(values[part]))
            form += sign * cdist(X @ root, Y @ root, "sqeuclidean")
    return -form


def pair_scores(M: Array, pairs: ArrayLike) -> Array:
    """Return ``-sign(D) sqrt|D|``, ``D = (u - v)' M (u - v)``, for each pair (u, v) of ``pairs`` (n, 2, d).

    >>> pair_scores(np.diag([-1.0, 1.0]), [[[0.0, 0.0], [2.0, 0.0]], [[0.0, 0.0], [0.0, 3.0]]])
    array([ 2., -3.])
    """
    stacked: Array = check_array(pairs, dtype=np.float64, allow_nd=True, ensure_2d=False)
    if stacked.ndim != 3 or stacked.shape[1:] != (2, len(M)):
        raise ValueError(f"pairs has shape {stacked.shape}, expected (n_pairs, 2, {len(M)})")
    differences = stacked[:, 0] - stacked[:, 1]
    form = np.einsum("ij,ij->i", differences @ M, differences)
    return -np.sign(form) * np.sqrt(np.abs(form))
