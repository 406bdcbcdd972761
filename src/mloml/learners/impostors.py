"""LMNN's problem: fixed target neighbours, and impostors found exactly; see ``kernels.lmnn``."""

from __future__ import annotations

import numpy as np

from mloml.arrays import Array, Index
from mloml.kernels.eights import WIDE
from mloml.kernels.lmnn import descent, objective
from mloml.kernels.lmnn_pairs import BLOCK, CHUNK, LISTED, NOT_A_ROW, ROWS, TILE, Triples

from .descent import Descent, descend

LISTED_SHARE = 8  # a list longer than 1/8 of all pairs is not worth keeping
NO_TARGET = -1e300  # a margin nobody can enter


class LargeMargin:
    """The pull and push terms over fixed target neighbours, for any ``mu``.

    Memory is O(n (K + d)) and a list of at most an eighth of the n²/2 pairs, eight bytes each; triplets are
    never listed.
    """

    def __init__(self, X: Array, starts: Index, targets: Index) -> None:
        sizes = np.diff(starts)
        filled = np.concatenate([[0], np.cumsum(-(-sizes // BLOCK) * BLOCK)])
        place = np.arange(len(X)) + np.repeat(filled[:-1] - starts[:-1], sizes)
        (n, d), K = (filled[-1], X.shape[1]), targets.shape[1]
        m, levels = -(-d // WIDE) * WIDE, -(-K // WIDE) * WIDE
        rows = np.zeros((n, m))
        rows[place, :d] = X - X.mean(axis=0)
        lonely = targets[:, 0] < 0  # classes of a single row: it gets itself, and a margin nobody can enter
        self.targets = np.tile(np.arange(n)[:, None], K)
        self.targets[place[~lonely]] = place[targets[~lonely]]
        margins, h = np.full(n, NO_TARGET), np.full(n, NOT_A_ROW)
        margins[place[~lonely]], h[place] = 1.0, 0.0
        differences = (rows[:, None, :d] - rows[self.targets, :d]).reshape(-1, d)
        self.pull = differences.T @ differences
        n_pairs = (len(X) ** 2 - int((sizes**2).sum())) // 2
        self.room = Triples(
            rows, np.ascontiguousarray(rows[:, : d + d % 2].T), self.pull, filled, filled[:-1] + sizes,
            self.targets, margins, np.zeros((m, m)), np.empty((n, m)), np.empty((d, n)), np.empty((n, m)),
            np.empty((K, n)), np.empty(n), np.empty((K, n)), np.full((n, levels), -np.inf),
            np.zeros((n, levels)), np.empty(n), np.empty(n), np.empty(n), h, np.empty((n, m)),
            np.empty((2, n_pairs // LISTED_SHARE), dtype=np.int32),
            np.empty(CHUNK, dtype=np.int32), np.empty(CHUNK), np.zeros(3, dtype=np.int64),
            np.empty(ROWS * BLOCK), np.empty(ROWS * TILE), np.empty((m, m)),
            np.empty((d, d)), np.empty((d, d)),
        )  # fmt: skip
        self.forget()

    def forget(self) -> None:
        """Drop the list of pairs, so that what follows does not depend on earlier evaluations."""
        self.room.state[:] = 0
        self.room.state[LISTED] = -1

    def evaluate(self, L: Array, mu: float) -> tuple[float, Array]:
        """Return ε(L) and its gradient with respect to L."""
        gradient = np.empty_like(L, order="C")
        return objective(np.ascontiguousarray(L), mu, self.room, gradient), gradient

    def minimise(self, L: Array, mu: float, tol: float, max_iter: int) -> Descent:
        """Minimise from L; the same whatever was evaluated before."""
        self.forget()
        return descend(descent, L, mu, self.room, tol, max_iter)

    def relative_gap(self, L: Array, mu: float) -> float:
        """Return an upper bound of ``(ε(L) - ε*) / ε(L)`` over all metrics; infinite if P is singular.

        By convexity in M, ``ε - ε* <= <G, M> - <G, M*>``, G the gradient with respect to M; with P the pull
        matrix and ``G + κ (1 - μ) P >= 0``, the last term is at most ``κ (1 - μ) <P, M*> <= κ ε* <= κ ε``.
        """
        value, gradient = self.evaluate(L, mu)
        scales, axes = np.linalg.eigh(self.pull)
        if scales[0] <= 1e-12 * scales[-1]:
            return np.inf if value > 0 else 0.0
        axes /= np.sqrt(scales)
        kappa = max(0.0, -float(np.linalg.eigvalsh(axes.T @ self.room.S @ axes)[0])) / (1 - mu)
        return float(np.sum(gradient * L)) / 2 / value + kappa
