"""Matrices that get more features while they are learned on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mloml.kernels.padding import padded, zeros

Array = NDArray[np.float64]


def widened_square(A: Array, n: int, start: float = 1.0) -> Array:
    """Return a (d, d) matrix as (n, n): ``start`` on the new part of the diagonal, zeros beside it.

    >>> widened_square(np.array([[3.0]]), 2)
    array([[3., 0.],
           [0., 1.]])
    """
    larger = np.diag(np.full(n, start))
    larger[: len(A), : len(A)] = A
    return larger


def widened(A: Array, d: int, n: int) -> Array:
    """Return padded matrices of ``d`` features, (..., m, m), with the identity on features d to n.

    >>> from mloml.kernels.padding import zeros
    >>> widened(zeros(4, 3), 3, 5).shape
    (8, 8)
    """
    larger = zeros(*A.shape[:-2], padded(n), n)
    larger[..., range(n), range(n)] = 1.0
    larger[..., :d, :d] = A[..., :d, :d]
    return larger
