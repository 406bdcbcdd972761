"""Coordinates in which a large-margin objective is well conditioned."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .base import Array

WHITENING = 1e-12  # variances below this share of the mean count as this large
ORDINARY = 10  # rows whose largest entry is within this power of two, up or down, are taken as they are


def unit_of(rows: Array) -> float:
    """Return a power of two that brings rows of any size near 1; 1 for rows of ordinary size.

    >>> unit_of(np.array([[300.0, -4.0]])), unit_of(np.array([[3e6, -4.0]]))
    (1.0, 2.384185791015625e-07)
    """
    exponent = int(np.frexp(np.abs(rows).max())[1])
    return 1.0 if abs(exponent) <= ORDINARY else float(np.ldexp(1.0, -exponent))


@dataclass(frozen=True)
class Coordinates:
    """Coordinates ``x̃ = W x`` in which the differences to pull together are (nearly) white.

    L-BFGS needs several times fewer steps there than on features of unequal scale, and with fewer rows than
    features it has far fewer variables. Any A in these coordinates stands for ``L = V A W + (I - V V')``,
    V an orthonormal basis of the rows' span: where no two rows differ, the metric stays Euclidean.
    """

    V: Array
    W: Array
    start: Array  # the A of L = I

    @classmethod
    def of(cls, X: Array, differences: Array) -> Coordinates:
        """Choose coordinates for the rows of X from the differences that are to be pulled together."""
        V = span(X)
        inside = differences @ V
        white, start = whitening(inside.T @ inside)
        return cls(V, white.T @ V.T, start)

    def factor(self, A: Array) -> Array:
        """Return the L of the input space for the factor A of these coordinates."""
        return in_input_space(self.V, A @ self.W @ self.V)


def span(X: Array) -> Array:
    """Return an orthonormal basis, in columns, of the differences between rows of X."""
    _, sizes, Vt = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    rank = max(1, int(np.sum(sizes > max(X.shape) * np.finfo(np.float64).eps * sizes[0])))
    return Vt[:rank].T


def whitening(scatter: Array) -> tuple[Array, Array]:
    """Return the matrix that makes row vectors with this scatter (nearly) white, and its inverse transposed.

    >>> white, back = whitening(np.diag([4.0, 9.0]))
    >>> np.round(white.T @ np.diag([4.0, 9.0]) @ white, 6), np.round(white @ back.T, 6)
    (array([[1., 0.],
           [0., 1.]]), array([[1., 0.],
           [0., 1.]]))
    """
    scales, axes = np.linalg.eigh(scatter)
    roots = np.sqrt(np.maximum(scales, 0.0) + WHITENING * (scales.mean() or 1.0))
    return axes / roots, axes * roots


def in_input_space(V: Array, B: Array) -> Array:
    """Return the L that acts as B on the span of V and as the identity beside it."""
    return V @ B @ V.T + np.eye(len(V)) - V @ V.T
