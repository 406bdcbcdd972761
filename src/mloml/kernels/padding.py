"""Arrays as the four-at-a-time kernels want them: padded with zeros, starting at a cache line."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

WIDTH = 4
"""Doubles that are treated at a time."""


def padded(d: int) -> int:
    """Return the number of columns that hold ``d`` entries.

    >>> padded(21), padded(24)
    (24, 24)
    """
    return -(-d // WIDTH) * WIDTH


def zeros(*shape: int) -> NDArray[np.float64]:
    """Return zeros whose last axis is padded and whose data start at a cache line.

    >>> zeros(2, 5).shape
    (2, 8)
    """
    shape = (*shape[:-1], padded(shape[-1]))
    size = int(np.prod(shape))
    buffer = np.zeros(size + 8)
    skip = (-buffer.ctypes.data % 64) // 8
    return buffer[skip : skip + size].reshape(shape)


def with_padding(A: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a matrix with zeros added to its rows where they need it.

    >>> with_padding(np.ones((1, 2))).shape, with_padding(np.ones((1, 4))).shape
    ((1, 4), (1, 4))
    """
    return A if A.shape[1] == padded(A.shape[1]) and A.flags.c_contiguous else padded_copy(A)


def padded_copy(A: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a matrix with zeros added to its rows.

    >>> padded_copy(np.ones((1, 2)))
    array([[1., 1., 0., 0.]])
    """
    copy = zeros(*A.shape)
    copy[:, : A.shape[1]] = A
    return copy
