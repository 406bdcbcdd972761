"""LMNN's objective, exact, with pairs left out only when they provably cannot be active.

At a reference factor L0 all pairs nearer than ``REACH`` times their margin are listed. With
``N0 = M0 + τI`` and λ the smallest eigenvalue of ``M + τI`` relative to N0, every other pair obeys

    D(L) ≥ λ D(L0) - max(0, 1 - λ) τ |xi - xl|² ,

so the list remains complete for L as long as no margin has outgrown that bound; otherwise it is made anew.
τ keeps λ away from zero when L0 is nearly singular.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, eigvalsh, solve_triangular

from ..kernels.lmnn import dense_pass, find_candidates, sparse_pass, target_distances
from .base import Array

REACH = 1.3
SLACK = 0.1  # τ times the largest squared distance between rows, in units of the margin
LISTED_SHARE = 8  # a list longer than 1/8 of all pairs is not worth keeping
SMALL = 20  # below this many pairs per d², the eigenvalues cost more than all the distances


class LargeMargin:
    """The pull and push terms over fixed target neighbours, for any ``mu``.

    Memory is O(n (K + d)) and a list of at most an eighth of the n²/2 pairs, four bytes each; triplets are
    never listed.
    """

    def __init__(self, X: Array, starts: NDArray[np.intp], targets: NDArray[np.intp]) -> None:
        self.X = X - X.mean(axis=0)
        self.XT = np.ascontiguousarray(self.X.T)
        self.starts = starts  # rows are sorted by class
        # Rows without a target (classes of a single row) get themselves and a margin nobody can enter.
        self.lonely = targets[:, 0] < 0
        self.targets = np.where(self.lonely[:, None], np.arange(len(targets))[:, None], targets)
        self.differences = (self.X[:, None, :] - self.X[self.targets]).reshape(-1, self.X.shape[1])
        self.pull = self.differences.T @ self.differences

        sizes = np.diff(self.starts)
        n_pairs = (len(self.X) ** 2 - int((sizes**2).sum())) // 2
        self._small = n_pairs < SMALL * self.X.shape[1] ** 2
        self._candidates = np.empty(0 if self._small else n_pairs // LISTED_SHARE, dtype=np.int32)
        self._pointers = np.zeros(len(self.X) + 1, dtype=np.int64)
        self._tau = SLACK / (4 * (self.X**2).sum(axis=1).max() or 1.0)
        self._root: Array | None = None
        self._reach = np.zeros(len(self.X))

    def forget(self) -> None:
        """Drop the list of pairs, so that what follows does not depend on earlier evaluations."""
        self._root = None

    def evaluate(self, L: Array, mu: float) -> tuple[float, Array]:
        """Return ε(L) and its gradient G with respect to ``M = L'L``."""
        n, K = self.targets.shape
        Z = np.ascontiguousarray(self.X @ L.T)
        distances = np.empty((K, n))
        target_distances(Z, self.targets, distances)
        thresholds = 1.0 + distances
        thresholds[:, self.lonely] = -1.0

        counts, weights, cross = np.zeros((K, n)), np.zeros(n), np.zeros(self.X.shape)
        if self._listed(L, Z, thresholds.max(axis=0)):
            push = sparse_pass(
                Z, self.X, thresholds, self._pointers, self._candidates, counts, weights, cross
            )
        else:
            push = dense_pass(
                Z, np.ascontiguousarray(Z.T), self.XT, self.starts, thresholds, counts, weights, cross
            )
        crossed = self.XT @ cross
        towards = self.differences.T @ (counts.T.reshape(-1, 1) * self.differences)
        apart = self.XT @ (weights[:, None] * self.X) - crossed - crossed.T
        G = (1 - mu) * self.pull + mu * (towards - apart)
        return (1 - mu) * float(distances.sum()) + mu * push, G

    def relative_gap(self, L: Array, mu: float) -> float:
        """Return an upper bound of ``(ε(L) - ε*) / ε(L)`` over all metrics; infinite if P is singular.

        By convexity in M, ``ε - ε* <= <G, M> - <G, M*>``; with P the pull matrix and
        ``G + κ (1 - μ) P >= 0``, the last term is at most ``κ (1 - μ) <P, M*> <= κ ε* <= κ ε``.
        """
        value, G = self.evaluate(L, mu)
        scales, axes = np.linalg.eigh(self.pull)
        if scales[0] <= 1e-12 * scales[-1]:
            return np.inf if value > 0 else 0.0
        axes /= np.sqrt(scales)
        kappa = max(0.0, -float(np.linalg.eigvalsh(axes.T @ G @ axes)[0])) / (1 - mu)
        return float(np.sum((L @ G) * L)) / value + kappa

    def _listed(self, L: Array, Z: Array, margins: Array) -> bool:
        """Whether a list of candidate pairs holds at L, after making one if that is needed and worth it."""
        if self._small:
            return False
        shifted = L.T @ L + self._tau * np.eye(L.shape[1])
        if self._root is not None and self._still_complete(self._root, shifted, margins):
            return True
        self._reach = REACH * np.maximum(margins, 0.0)
        fits = find_candidates(
            Z, np.ascontiguousarray(Z.T), self.starts, self._reach, self._pointers, self._candidates
        )
        self._root = cholesky(shifted) if fits else None
        return fits

    def _still_complete(self, root: Array, shifted: Array, margins: Array) -> bool:
        half = solve_triangular(root, shifted, trans="T")
        relative = solve_triangular(root, half.T, trans="T")
        smallest = (1 - 1e-9) * float(eigvalsh(relative, subset_by_index=[0, 0])[0])
        slack = max(0.0, 1 - smallest) * SLACK
        within = margins + slack <= smallest * self._reach
        return bool(np.all(within | self.lonely))
