"""MOML's state for a metric of low rank: a factor of k rows, where it starts, and how it meets the scans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.utils import check_random_state

from mloml.kernels.stack import layout

from .scaling import RowLengths
from .sparse_rows import SparseRows
from .stack_state import Propagation

Array = NDArray[np.float64]

MOST_ROWS = 1000
"""Principal axes are taken from so many of the first rows, evenly spaced, when there are more."""


class LowRankState:
    """The factor ``L`` (k, d), kept as its transpose ``W`` so that a feature's numbers lie side by side."""

    def __init__(self, start: Array, gamma: float) -> None:
        self.W = np.array(start.T, order="C")
        self.gamma = gamma
        self.counts = np.zeros((1, layout.INTEGERS), dtype=np.int64)

    def take_steps(self, steps: Sequence[float]) -> None:
        """Go on with this step size."""
        (self.gamma,) = steps

    @property
    def layers(self) -> Array:
        """The factor as learned so far, (1, k, d)."""
        return np.array(self.W.T, order="C")[np.newaxis]

    def learn(self, rows: Any, triplets: NDArray[np.intp], how: Propagation) -> bool:
        """Run one compiled scan; False when it had to stop because the numbers grew beyond all bounds."""
        return self.scan(rows, triplets, np.empty((0, 3, self.W.shape[1]))) == len(triplets)

    def scan(self, rows: Any, triplets: NDArray[np.intp], outputs: Array) -> int:
        """Run one compiled scan; return how many triplets were seen, see :mod:`mloml.kernels.low_rank`."""
        from mloml.kernels import low_rank

        rest = (triplets, self.W, self.gamma, outputs, self.counts[0])
        if isinstance(rows, SparseRows):
            return int(low_rank.sparse_low_rank_scan(rows.data, rows.indices, rows.starts, *rest))
        return int(low_rank.low_rank_scan(rows, *rest))


def first_factor(X: Any, k: int, init: str, random_state: Any) -> Array:
    """Return the factor (k, d) to start with, its rows orthogonal and of one length.

    The rows are the first principal axes of ``X`` for ``init="pca"``; where ``X`` has fewer, and for
    "random", random directions. Their length is such that the rows of ``X`` keep the mean square of their
    distances (for random directions: the rows of any ``X``), so that the margin of 1 means the same as
    without a loss of rank.
    """
    rng = check_random_state(random_state)
    d = X.shape[1]
    axes, length = (_principal(X, k, rng) if init == "pca" else None) or (np.empty((0, d)), np.sqrt(d / k))
    if len(axes) < k:
        more = rng.standard_normal((k - len(axes), d))
        more -= more @ axes.T @ axes
        axes = np.concatenate([axes, np.linalg.qr(more.T)[0].T])
    return length * axes


def _principal(X: Any, k: int, rng: np.random.RandomState) -> tuple[Array, float] | None:
    """Return principal axes, at most k, and the length they get; None where the rows do not differ."""
    if len(X) > MOST_ROWS:
        X = X[np.linspace(0, len(X) - 1, MOST_ROWS).astype(np.intp)]
    lengths = RowLengths()
    lengths.add(X)
    count, rows = min(k, len(X) - 1, X.shape[1] - 1), X / lengths.root_mean_square
    sparse = isinstance(rows, SparseRows)
    rows = rows.to_csr() if sparse else rows
    variance = 0.0 if count < 1 else float((rows**2).mean(axis=0).sum() - (rows.mean(axis=0) ** 2).sum())
    if variance < 1e-12:
        return None
    found = PCA(count, svd_solver="arpack" if sparse else "auto", random_state=rng).fit(rows)
    axes: Array = found.components_
    explained = float(found.explained_variance_.sum()) * (1.0 - 1.0 / len(X))
    return axes, float(np.sqrt(max(1.0, variance / explained)))
