"""LMNN: large margin nearest neighbours, a batch method of the paper's tables."""

from __future__ import annotations

import warnings
from math import sqrt
from numbers import Integral, Real
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions

from mloml.arrays import Array, Index

from .base import MetricLearner
from .batch import ByClass, Coordinates, labelled_rows, near_one, one_blas_thread, require_start
from .compiled import compiled, entry, ready
from .descent import descend

# With target neighbours T(i) of each row i, rows l of other classes, and D_ij = |L (x_i - x_j)|², minimise
#
#     ε(L) = (1 - μ) Σ_i Σ_{j∈T(i)} D_ij  +  μ Σ_i Σ_{j∈T(i)} Σ_l [1 + D_ij - D_il]₊
#
# A hinge is active while D_il is below the level 1 + D_ij. All that ε needs to know is how many active hinges
# each pair of rows of different classes takes part in, and each target:
#
#     V_il = #{j ∈ T(i): D_il < 1 + D_ij} + #{j ∈ T(l): D_il < 1 + D_lj},     c_ij = #{l: D_il < 1 + D_ij}
#
# With C_ij = (x_i - x_j)(x_i - x_j)', P = Σ C_ij over the targets, M = L'L, and G the gradient in M,
#
#     ε = <G, M> + μ Σ c_ij,     ∂ε/∂L = 2 L G,     G = (1 - μ) P + μ (Σ c_ij C_ij - Σ V_il C_il)
#
# The sums in brackets are X'Y + Y'X, where w_i is the sum of V - c over all pairs that row i belongs to and
#
#     Y_i = Σ_l V_il x_l - Σ_j c_ij x_j - w_i x_i / 2
#
# Few pairs (i, l) are active. Those with D_il below REACH times the highest level of i or l are listed. When
# the rows of Z = X L' have since grown by a common factor g, and moved by m_i beside that, √D_il is still at
# least g √D_il(then) - m_i - m_l. While this keeps all other pairs above their levels, the list is enough.

REACH = 1.4
BLOCK = 64  # rows whose products with all rows of later classes are computed at once
ROOM = 1 << 22  # pairs; a longer list is not kept
SAMPLE, AROUND = 96, 8  # rows whose triplets decide where the descent starts; kinks on both sides of there

Pairs = NDArray[np.int32]


@compiled
def squared_distance(Z: Array, i: int, j: int) -> float:
    """Return |z_i - z_j|²."""
    D = 0.0
    for a in range(Z.shape[1]):
        D += (Z[i, a] - Z[j, a]) ** 2
    return D


@entry
def set_levels(
    Z: Array, targets: Index, levels: Array, highest: Array, counts: Array, weights: Array, Y: Array
) -> None:
    """Set the levels 1 + D_ij and the highest of each row; set c, w and Y to zero."""
    for i in range(Z.shape[0]):
        highest[i] = weights[i] = 0.0
        for t in range(targets.shape[1]):
            counts[i, t] = 0.0
            levels[i, t] = -np.inf  # without a target there is no hinge
            if targets[i, t] >= 0:
                levels[i, t] = 1.0 + squared_distance(Z, i, targets[i, t])
                highest[i] = max(highest[i], levels[i, t])
        for a in range(Y.shape[1]):
            Y[i, a] = 0.0


@entry
def list_is_enough(Z: Array, then: Array, reach: Array, highest: Array, moved: Array) -> bool:
    """Whether no pair can be active beside those listed when the rows were at ``then``."""
    n, d = Z.shape
    both = old = farthest = 0.0
    for i in range(n):
        for a in range(d):
            both += Z[i, a] * then[i, a]
            old += then[i, a] * then[i, a]
    growth = max(0.0, both / old) if old > 0.0 else 0.0
    for i in range(n):
        square = 0.0
        for a in range(d):
            square += (Z[i, a] - growth * then[i, a]) ** 2
        moved[i] = sqrt(square)
        farthest = max(farthest, moved[i])
    for i in range(n):
        still = growth * sqrt(reach[i]) * (1.0 - 1e-9) - moved[i] - farthest
        if highest[i] > 0.0 and not still >= sqrt(highest[i]):
            return False
    return True


@entry
def list_pairs(
    products: Array, first: int, others: int, lengths: Array, reach: Array, pairs: Pairs, listed: int
) -> int:
    """Add the pairs within reach to the list, from the products of rows ``first`` ... with ``others`` ..."""
    for k in range(products.shape[0]):
        for m in range(products.shape[1]):
            i, l = first + k, others + m  # noqa: E741 (the formula's symbol)
            pairs[0, listed], pairs[1, listed] = i, l
            if lengths[i] + lengths[l] - 2.0 * products[k, m] < max(reach[i], reach[l]):
                listed += 1
    return listed


@entry
def visit_pairs(
    pairs: Pairs, listed: int, X: Array, Z: Array, levels: Array, highest: Array, counts: Array,
    weights: Array, Y: Array,
) -> None:  # fmt: skip
    """Add what the listed pairs contribute to c, w and Y."""
    for e in range(listed):
        i, l = pairs[0, e], pairs[1, e]  # noqa: E741
        D = squared_distance(Z, i, l)
        if max(highest[i], highest[l]) <= D:
            continue
        V = 0.0
        for t in range(levels.shape[1]):
            if levels[i, t] > D:
                counts[i, t] += 1.0
                V += 1.0
            if levels[l, t] > D:
                counts[l, t] += 1.0
                V += 1.0
        weights[i] += V
        weights[l] += V
        for a in range(X.shape[1]):
            Y[i, a] += V * X[l, a]


@entry
def add_targets(X: Array, targets: Index, counts: Array, weights: Array, Y: Array) -> float:
    """Add what the targets contribute to w and Y; return the number of active hinges."""
    active = 0.0
    for i in range(X.shape[0]):
        for t in range(targets.shape[1]):
            c, j = counts[i, t], targets[i, t]
            if c > 0.0:
                active += c
                weights[i] -= c
                weights[j] -= c
                for a in range(X.shape[1]):
                    Y[i, a] -= c * X[j, a]
    for i in range(X.shape[0]):
        for a in range(X.shape[1]):
            Y[i, a] -= 0.5 * weights[i] * X[i, a]
    return active


class LargeMargin:
    """ε for rows sorted by class and their target neighbours, -1 where a row has none."""

    def __init__(self, data: ByClass, targets: Index) -> None:
        n, self.starts, self.codes = len(data.X), data.starts.tolist(), data.codes
        self.X = np.ascontiguousarray(data.X - data.X.mean(axis=0))
        self.targets, self.linked = targets, np.flatnonzero(targets[:, 0] >= 0)  # rows with targets
        apart = data.differences(targets)
        self.P = apart.T @ apart
        n_pairs = (n**2 - int((np.diff(data.starts) ** 2).sum())) // 2
        self.pairs = np.empty((2, min(n_pairs, max(ROOM, BLOCK * n)) + 1), dtype=np.int32)
        self.levels, self.counts = np.empty(targets.shape), np.empty(targets.shape)
        self.highest, self.weights, self.moved, self.reach = np.empty((4, n))
        self.Y = np.empty_like(self.X)
        self.forget()

    def forget(self) -> None:
        """Drop the list of pairs, so that what follows does not depend on earlier evaluations."""
        self.then: Array | None = None

    def evaluate(self, L: Array, mu: float) -> tuple[float, Array]:
        """Return ε(L) and its gradient with respect to L."""
        G, active = self.gradient(L, mu)
        LG = L @ G
        return float(np.vdot(LG, L)) + mu * active, 2 * LG

    def gradient(self, L: Array, mu: float) -> tuple[Array, float]:
        """Return G, the gradient with respect to M = L'L, and the number of active hinges."""
        Z = self.X @ L.T
        set_levels(Z, self.targets, self.levels, self.highest, self.counts, self.weights, self.Y)
        if self.then is not None and list_is_enough(Z, self.then, self.reach, self.highest, self.moved):
            self._visit(Z)
        else:
            self._list_and_visit(Z)
        active = add_targets(self.X, self.targets, self.counts, self.weights, self.Y)
        H = self.X.T @ self.Y
        return (1 - mu) * self.P + mu * (H + H.T), active

    def _list_and_visit(self, Z: Array) -> None:
        """List and visit all pairs within reach; a list without room for all of them is not kept."""
        self.listed, self.then = 0, Z
        np.multiply(self.highest, REACH, out=self.reach)
        lengths = (1 - 1e-12) * (Z * Z).sum(axis=1)  # rounding must not hide a pair
        complete = True
        for begin, end in zip(self.starts[:-2], self.starts[1:-1], strict=True):
            for first in range(begin, end, BLOCK):
                products = Z[first : min(first + BLOCK, end)] @ Z[end:].T
                if self.listed + products.size >= self.pairs.shape[1]:
                    self._visit(Z)
                    self.listed, complete = 0, False
                self.listed = list_pairs(products, first, end, lengths, self.reach, self.pairs, self.listed)
        self._visit(Z)
        if not complete:
            self.forget()

    def _visit(self, Z: Array) -> None:
        visit_pairs(
            self.pairs, self.listed, self.X, Z, self.levels, self.highest, self.counts, self.weights, self.Y
        )

    def best_multiple(self, A: Array, mu: float) -> float:
        """Return the c at which ε(c A) is lowest, nearly: by the triplets of a sample of the rows.

        It takes L-BFGS a dozen steps to get there, while nearly all pairs are active. In s = c², ε consists
        of straight lines, (1 - μ) s <P, A'A> + μ Σ [1 - s (D_il - D_ij)]₊, which meet where s is one over a
        gap D_il - D_ij. The middle of the widest interval near the lowest point is taken: at a kink, the last
        bits of the rows would decide where the descent goes.
        """
        Z, rows = self.X @ A.T, self.linked[:: -(-len(self.linked) // SAMPLE)]
        near = ((Z[rows, None] - Z[self.targets[rows]]) ** 2).sum(axis=2)
        far = ((Z[rows, None] - Z[rows]) ** 2).sum(axis=2)
        apart = self.codes[rows, None] != self.codes[rows]
        gaps = np.sort((far[:, :, None] - near[:, None])[apart], axis=None)[::-1]
        share = (len(self.linked) / len(rows)) ** 2
        slopes = (1 - mu) * np.vdot(self.P, A.T @ A) - mu * share * (gaps.sum() - np.cumsum(gaps))
        lowest = int(np.argmax(slopes >= 0)) if gaps.size else 0
        some = gaps[max(0, lowest - AROUND) : lowest + AROUND]
        some = some[some > 0]
        if some.size < 2:
            return 1.0
        widest = int(np.argmin(np.diff(some)))
        return float(np.clip(1 / np.sqrt(some[widest : widest + 2].mean()), 1e-3, 1e3))

    def relative_gap(self, L: Array, mu: float) -> float:
        """Return an upper bound of (ε - ε*) / ε over all metrics; infinite if P is singular.

        By convexity in M, ε - ε* <= <G, M> - <G, M*>. With κ such that G + κ (1 - μ) P is positive
        semidefinite, the last term is at most κ (1 - μ) <P, M*> <= κ ε* <= κ ε.
        """
        G, active = self.gradient(L, mu)
        along = float(np.vdot(L @ G, L))
        value = along + mu * active
        scales, axes = np.linalg.eigh(self.P)
        if scales[0] <= 1e-12 * scales[-1]:
            return np.inf if value > 0 else 0.0
        axes /= np.sqrt(scales)
        kappa = max(0.0, -float(np.linalg.eigvalsh(axes.T @ G @ axes)[0])) / (1 - mu)
        return along / value + kappa


class LMNN(MetricLearner):
    """Large margin nearest neighbours.

    Every row should have its target neighbours T(i), the K nearest rows of its class in the input space,
    nearer than any row l of another class, by a margin of one ::

        ε(L) = (1 - μ) Σ_i Σ_{j∈T(i)} D_ij  +  μ Σ_i Σ_{j∈T(i)} Σ_l [1 + D_ij - D_il]₊

    with ``D_ij = ||L (xi - xj)||²``. ``mu`` weighs the *push* term (metric-learn's ``regularization`` weighs
    the pull term: pass ``1 - mu`` there).

    L-BFGS minimises the objective in coordinates that make it well conditioned. With fewer rows than features
    the optimum may be zero. Rows with entries beyond a thousand, or none above a thousandth, are first
    multiplied by a power of two, and so is L as far as it stays finite.

    Classes with fewer than K + 1 rows lower K to the size of the smallest of them minus one, for all rows.
    A class of a single row has no target neighbour; it does not lower K and only serves as impostor.

    Parameters
    ----------
    mu : float in (0, 1), default=0.5
        Weight of the push term.
    n_neighbors : int, default=3
        K, the number of target neighbours.
    tol : float, default=1e-7
        Stop when the last five steps together lowered the objective by at most ``tol`` times its value, or
        when it is below ``tol`` times its value at the start. Below 1e-7, where the descent ends depends on
        the last bits of the input.
    max_iter : int, default=2000
        Largest number of steps; a ``ConvergenceWarning`` says when it was not enough.
    n_components : int or None, default=None
        Number of rows of L. None: as many as features, or as ``init`` has. With fewer than features the
        problem is not convex, and the result depends on the start.
    init : {"auto", "pca", "lda", "identity"} or array of shape (n_components, n_features), default="auto"
        Start of L: principal axes, discriminant axes (then principal ones if these are too few), rows of the
        identity or an array; times about the best factor, for an array only if that is better. "auto" is
        "identity" if ``n_components`` is None; else "lda" for fewer components than classes, "pca" for fewer
        than features and rows, otherwise "identity".

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The factor L.
    classes_ : ndarray
        The class labels.
    n_neighbors_ : int
        K as used.
    objective_ : float
        ε at ``components_``.
    gap_ : float
        Upper bound of ``ε - ε*``, relative to ε, where ε* is the optimum over metrics of any rank: the
        problem is convex in ``M = L'L``, so its gradient bounds how far away the optimum can be. Loose at
        kinks of the hinge, infinite when the targets' differences do not span the rows.
    n_iter_ : int
        Number of steps.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import Normalizer
    >>> from mloml import LMNN
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(Normalizer(), LMNN(), KNeighborsClassifier(5))
    >>> print(f"{cross_val_score(model, X, y).mean():.2f}")
    0.91

    References
    ----------
    K. Q. Weinberger, L. K. Saul. Distance metric learning for large margin nearest neighbor classification.
    Journal of Machine Learning Research 10, 2009.
    """

    _parameter_constraints: dict = {
        "mu": [Interval(Real, 0, 1, closed="neither")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "init": [StrOptions({"auto", "pca", "lda", "identity"}), "array-like"],
    }

    def __init__(
        self, mu: float = 0.5, *, n_neighbors: int = 3, tol: float = 1e-7, max_iter: int = 2000,
        n_components: int | None = None, init: str | ArrayLike = "auto",
    ) -> None:  # fmt: skip
        self.mu = mu
        self.n_neighbors = n_neighbors
        self.tol = tol
        self.max_iter = max_iter
        self.n_components = n_components
        self.init = init

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn the metric from labelled rows: choose targets and coordinates, and minimise ε in them."""
        rows, codes = labelled_rows(self, X, y)
        require_start(self)
        ready("lmnn")
        rows, exponent = near_one(rows)
        with one_blas_thread():
            data = ByClass.of(rows, codes)
            targets = data.target_neighbours(self.n_neighbors)
            coordinates = Coordinates.of(data.X, data.differences(targets), exponent)
            self._descend(LargeMargin(ByClass(data.X @ coordinates.W.T, data.starts), targets), coordinates)
        return self

    def _descend(self, problem: LargeMargin, coordinates: Coordinates) -> None:
        """Minimise and publish the result, for rows in the user's units."""
        A, L = coordinates.first(self.init, self.n_components, problem.X, problem.codes)
        unit = A if isinstance(self.init, str) else A / (np.abs(A).max() or 1.0)
        start = unit * problem.best_multiple(unit, self.mu)
        if unit is not A:
            start = min(start, A, key=lambda A: problem.evaluate(A, self.mu)[0])
        problem.forget()
        found = descend(lambda A: problem.evaluate(A, self.mu), start, self.tol, self.max_iter)
        self.components_ = coordinates.factor(found.x, L)
        self.objective_, self.gap_ = found.value, problem.relative_gap(found.x, self.mu)
        self.n_iter_, self.n_neighbors_ = found.n_iter, problem.targets.shape[1]
        if not found.converged:
            message = f"LMNN stopped after max_iter={self.max_iter} steps before reaching tol={self.tol}"
            warnings.warn(message, ConvergenceWarning, stacklevel=4)
