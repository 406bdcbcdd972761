"""Coordinates in which a large-margin objective is well conditioned."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .base import Array

WHITENING = 1e-12  # variances below this share of the mean count as this large


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
        _, sizes, Vt = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
        rank = max(1, int(np.sum(sizes > max(X.shape) * np.finfo(np.float64).eps * sizes[0])))
        V = Vt[:rank].T
        inside = differences @ V
        scales, axes = np.linalg.eigh(inside.T @ inside)
        roots = np.sqrt(np.maximum(scales, 0.0) + WHITENING * (scales.mean() or 1.0))
        return cls(V, (axes / roots).T @ V.T, axes * roots)

    def inside(self, L: Array) -> Array:
        """Return the A for which :meth:`factor` gives L, for an L that came from there or is the identity."""
        return self.V.T @ L @ self.V @ self.start

    def factor(self, A: Array) -> Array:
        """Return the L of the input space for the factor A of these coordinates."""
        return self.V @ A @ self.W + np.eye(len(self.V)) - self.V @ self.V.T
