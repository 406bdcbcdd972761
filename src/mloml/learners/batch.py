"""What the batch learners share: checked input, rows by class, target neighbours, good coordinates."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.multiclass import check_classification_targets
from threadpoolctl import ThreadpoolController

from mloml.arrays import Array, Index

from .base import MetricLearner
from .neighbours import nearest_of_class
from .rows import validate_rows

Codes = Index
WHITENING = 1e-12  # variances below this share of the mean count as this large
ORDINARY = 10  # rows whose largest entry is within this power of two, up or down, are taken as they are
FAR = 100  # a start is kept within this power of two of the rows' size: beyond, squares overflow or vanish


@dataclass(frozen=True)
class ByClass:
    """Rows sorted by class, in their given order within a class; ``starts[c]:starts[c + 1]`` are class c."""

    X: Array
    starts: Index

    @classmethod
    def of(cls, X: Array, codes: Codes) -> ByClass:
        """Sort the rows by their class codes."""
        starts = np.concatenate([[0], np.cumsum(np.bincount(codes))]).astype(np.intp)
        return cls(np.ascontiguousarray(X[np.argsort(codes, kind="stable")]), starts)

    @property
    def codes(self) -> Codes:
        """The class of each sorted row."""
        return np.repeat(np.arange(self.starts.size - 1), np.diff(self.starts))

    def target_neighbours(self, n_neighbors: int) -> Index:
        """Return the nearest rows of each row's own class, -1 for rows that are alone in theirs.

        The number of targets is lowered to the size of the smallest class minus one; classes of a single row,
        which can have no target, do not lower it.
        """
        sizes = np.diff(self.starts)
        targets = np.empty((len(self.X), min(n_neighbors, int(sizes[sizes > 1].min()) - 1)), dtype=np.intp)
        nearest_of_class(self.X, self.starts, targets)
        return targets

    def differences(self, targets: Index) -> Array:
        """Return ``xi - xj`` for the targets j of all rows i that have any."""
        linked = targets[:, 0] >= 0
        return (self.X[linked, None] - self.X[targets[linked]]).reshape(-1, self.X.shape[1])


@cache
def _thread_pools() -> ThreadpoolController:
    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[object]:
    """Make matrix products independent of how many threads BLAS may use, to the last bit."""
    return _thread_pools().limit(limits=1, user_api="blas")


def labelled_rows(learner: MetricLearner, X: ArrayLike, y: ArrayLike) -> tuple[Array, Codes]:
    """Check parameters and input of ``learner``, set its ``classes_``; return the rows and class codes.

    Every method here compares rows of one class with rows of others: it needs two classes and
    at least one class with two rows. Classes of a single row are allowed beside such a class.
    """
    learner._validate_params()
    rows, labels = validate_rows(learner, X, y, order="C", ensure_min_samples=2)
    check_classification_targets(labels)
    learner.classes_, codes = np.unique(labels, return_inverse=True)
    counts, name = np.bincount(codes), type(learner).__name__
    if counts.size < 2:
        raise ValueError(f"{name} needs rows of at least two classes; y has 1 class")
    if counts.max() < 2:
        raise ValueError(
            f"{name} needs a class with at least two rows; each of the {counts.size} classes has one"
        )
    return rows, codes.astype(np.intp, copy=False)


def rank_of(learner: Any) -> int:
    """Return ``n_components``, for None the number of features; refuse more than these."""
    k, d = learner.n_components, learner.n_features_in_
    if k is not None and k > d:
        raise ValueError(f"n_components={k} is more than the {d} feature(s) of the rows")
    return int(k or d)


def require_start(learner: Any) -> None:
    """Refuse an ``init`` that is not a factor of ``n_components`` rows."""
    rank_of(learner)
    if isinstance(learner.init, str):
        return
    L, d = np.asarray(learner.init, dtype=np.float64), learner.n_features_in_
    expected = learner.n_components or min(max(1, len(L)), d), d
    if L.shape != expected:
        raise ValueError(f"init has shape {L.shape}, expected {expected}")
    if not np.isfinite(L).all():
        raise ValueError(f"init has an entry {L[~np.isfinite(L)][0]}, expected finite numbers")


def factor_of(M: Array) -> Array:
    """Return an ``L`` with ``L'L = M`` by eigenvalues; those below zero by rounding count as zero."""
    values, vectors = np.linalg.eigh(M)
    return np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T


def near_one(rows: Array) -> tuple[Array, int]:
    """Return rows times the power of two that brings them near 1, and its exponent; 0 for ordinary rows.

    >>> near_one(np.array([[300.0, -4.0]]))[1], near_one(np.array([[3e6, -4.0]]))[1]
    (0, -22)
    """
    exponent = int(np.frexp(np.abs(rows).max())[1])
    return (rows, 0) if abs(exponent) <= ORDINARY else (np.ldexp(rows, -exponent), -exponent)


def times_power(A: Array, exponent: int) -> Array:
    """Return ``A * 2**exponent``, with a lower exponent where entries would become infinite.

    >>> times_power(np.array([3.0]), 2), times_power(np.array([1.5, 1.0]), 2000) / 2.0**1023
    (array([12.]), array([1.5, 1. ]))
    """
    return np.ldexp(A, min(exponent, 1024 - int(np.frexp(np.abs(A).max())[1])))


@dataclass(frozen=True)
class Coordinates:
    """Coordinates ``x̃ = W x`` in which the differences to pull together are (nearly) white.

    L-BFGS needs several times fewer steps there than on features of unequal scale, and with fewer rows than
    features it has far fewer variables. Any A in these coordinates stands for ``L = V A W + (I - V V')``,
    V an orthonormal basis of the rows' span: where no two rows differ, the metric stays Euclidean. From a
    start of k rows, L₀, an A of k rows stands for ``L = A W + L₀ (I - V V')``.
    """

    V: Array
    W: Array
    start: Array  # the A of L = I
    exponent: int  # x is a given row times this power of two

    @classmethod
    def of(cls, X: Array, differences: Array, exponent: int = 0) -> Coordinates:
        """Choose coordinates for the rows of X from the differences that are to be pulled together."""
        V = span(X)
        inside = differences @ V
        white, start = whitening(inside.T @ inside)
        return cls(V, white.T @ V.T, start, exponent)

    def first(
        self, init: str | ArrayLike, k: int | None, X: Array, codes: Codes
    ) -> tuple[Array, Array | None]:
        """Return where to start: the A of k rows, and L₀, None for the identity.

        ``X`` are the rows in these coordinates. "auto" chooses by metric-learn's rule.
        """
        d = len(self.V)
        if not isinstance(init, str):
            L = np.asarray(init, dtype=np.float64)
            size = int(np.frexp(np.abs(L).max())[1])
            A = np.ldexp(L, -size) @ self.V @ self.start
            return np.ldexp(A, np.clip(size - self.exponent, -FAR, FAR)), times_power(L, -self.exponent)
        if init == "auto" and k is not None:
            init = "lda" if k <= min(d, codes.max()) else "pca" if k < min(d, len(X)) else "identity"
        k = k or d
        if init in ("auto", "identity") and k == d:
            return self.start, None
        if init == "identity":
            return np.eye(k, d) @ self.V @ self.start, np.eye(k, d)
        A = self.start  # that of V', the principal axes
        if init == "lda":
            A = np.vstack([discriminant_axes(X, codes), A])
        return np.pad(A[:k], ((0, max(0, k - len(A))), (0, 0))), np.zeros((k, d))

    def factor(self, A: Array, L: Array | None) -> Array:
        """Return the factor of the given rows' space for an A that was found from L₀."""
        if L is None:
            return times_power(in_input_space(self.V, A @ self.W @ self.V), self.exponent)
        return times_power(A @ self.W + L - L @ self.V @ self.V.T, self.exponent)


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


def discriminant_axes(X: Array, codes: Codes) -> Array:
    """Return the axes (rows, one less than classes) that part the classes of centred rows best: LDA.

    Differences inside classes have (nearly) unit variance along them.
    """
    members = np.eye(codes.max() + 1)[codes]
    sums, roots = members.T @ X, np.sqrt(members.sum(axis=0))[:, None]
    inside = X - members @ (sums / roots**2)
    white, _ = whitening(inside.T @ inside / len(X))
    axes: Array = np.linalg.svd(sums / roots @ white, full_matrices=False)[2][: codes.max()] @ white.T
    return axes


def in_input_space(V: Array, B: Array) -> Array:
    """Return the L that acts as B on the span of V and as the identity beside it."""
    return V @ B @ V.T + np.eye(len(V)) - V @ V.T
