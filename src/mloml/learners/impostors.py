"""LMNN's problem: fixed target neighbours, and impostors found exactly; see ``kernels.lmnn``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mloml.arrays import Array, Index
from mloml.kernels.eights import WIDE
from mloml.kernels.lmnn import descent, objective
from mloml.kernels.lmnn_all import ROWS, TILE
from mloml.kernels.lmnn_pairs import BLOCK, CHUNK, LISTED, NOT_A_ROW, Rough, Triples

from .descent import Descent, descend
from .rays import Ray

LISTED_SHARE = 8  # a list longer than 1/8 of all pairs is not worth keeping
NO_TARGET = -1e300  # a margin nobody can enter
MANY_PAIRS = 1 << 18


def singles(*shape: int) -> NDArray[np.float32]:
    """Return room for numbers of single precision."""
    return np.empty(shape, dtype=np.float32)


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
        self.n_pairs = n_pairs = (len(X) ** 2 - int((sizes**2).sum())) // 2
        self._places = place[~lonely]
        self._ray: Ray | None = None
        rough = Rough(
            singles(n, m), singles(d, n), singles(n), singles(n), singles(n), singles(n), singles(K, n),
            singles(K, n), singles(K, n), singles(n), singles(ROWS * BLOCK),
        )  # fmt: skip
        self.room = Triples(
            rows, np.ascontiguousarray(rows[:, : d + d % 2].T), self.pull, filled, filled[:-1] + sizes,
            self.targets, margins, np.zeros((m, m)), np.empty((n, m)), np.empty((n, m)),
            np.full((n, levels), -np.inf), np.zeros((n, levels)), np.empty(n), np.empty(n), np.empty(n),
            np.empty(n), h, np.empty((n, m)),
            np.empty((2, n_pairs // LISTED_SHARE), dtype=np.int32), np.empty(CHUNK, dtype=np.int32),
            np.empty(CHUNK), np.zeros(3, dtype=np.int64), rough,
            np.empty(ROWS * TILE), np.empty((m, m)), np.empty((d, d)), np.empty((d, d)),
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

    def start_along(self, L: Array, mu: float) -> Array:
        """Return the multiple of L to start from: with many pairs, the one with the lowest objective, nearly.

        It takes L-BFGS a dozen steps to get there, while nearly all pairs are active and none can be left
        out: most of a descent's time. With few pairs that is cheap, and the objective has kinks that matter:
        where a shorter way ends is a matter of luck there, so L itself is taken.
        """
        if self.n_pairs < MANY_PAIRS:
            return L
        if self._ray is None:
            self._ray = self.ray(L)
        return L * self._ray.best_factor(mu)

    def ray(self, L: Array) -> Ray:
        """Return the objective along the multiples of L, from a sample of the rows that have targets."""
        d, places = L.shape[1], self._places
        number = np.full(len(self.targets), -1)
        number[places] = np.arange(len(places))
        codes = np.searchsorted(self.room.starts, places, side="right")
        Z = self.room.X[places, :d] @ L.T
        return Ray.of(Z, codes, number[self.targets[places]], float(np.sum(self.pull * (L.T @ L))))

    def relative_gap(self, L: Array, mu: float) -> float:
        """Return an upper bound of ``(ε(L) - ε*) / ε(L)`` over all metrics; infinite if P is singular."""
        value, gradient = self.evaluate(L, mu)
        return self._gap(float(np.sum(gradient * L)) / 2, value, mu)

    def gap_after(self, found: Descent, mu: float) -> float:
        """Return :meth:`relative_gap` where the last descent ended: S is still that of its last point."""
        return self._gap(float(np.sum(found.gradient * found.L)) / 2, found.objective, mu)

    def _gap(self, along: float, value: float, mu: float) -> float:
        """Bound how far ``value`` is above the optimum; ``along`` is <G, M>, G the gradient S in M.

        By convexity in M, ``ε - ε* <= <G, M> - <G, M*>``; with P the pull matrix and ``G + κ (1 - μ) P >=
        0``, the last term is at most ``κ (1 - μ) <P, M*> <= κ ε* <= κ ε``.
        """
        scales, axes = np.linalg.eigh(self.pull)
        if scales[0] <= 1e-12 * scales[-1]:
            return np.inf if value > 0 else 0.0
        axes /= np.sqrt(scales)
        kappa = max(0.0, -float(np.linalg.eigvalsh(axes.T @ self.room.S @ axes)[0])) / (1 - mu)
        return along / value + kappa
