"""The symmetric root: how a learner that keeps ``M`` itself hands out a factor of it."""

from __future__ import annotations

import numpy as np

from .base import Array


def symmetric_root(M: Array) -> Array:
    """Return the symmetric ``L`` with ``L L = M``; eigenvalues below 0, which rounding leaves, count as 0.

    >>> symmetric_root(np.array([[4.0, 0.0], [0.0, 0.0]]))
    array([[2., 0.],
           [0., 0.]])
    """
    return root_of_eigen(*np.linalg.eigh((M + M.T) / 2))


def root_of_eigen(values: Array, vectors: Array) -> Array:
    """Return the same root from the eigenvalues and eigenvectors (columns) of ``M``."""
    return (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
