"""ML-CC: metric learning with clustering-based constraints, a reconstruction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from mloml.arrays import Array, Index

from .base import MetricLearner
from .batch import (
    factor_of,
    in_input_space,
    labelled_rows,
    near_one,
    one_blas_thread,
    span,
    times_power,
    whitening,
)
from .clusters import cluster, first_centres, means_of
from .compiled import compiled, entry, ready
from .descent import Descent, descend

# With the clusters held fixed, both interpretations minimise over L, D(x, y) = |L(x - y)|²,
#
#     (1 - μ) Σ D(x, x⁺)  +  μ Σ [1 + D(x, x⁺) - D(x, x⁻)]₊
#
# where x⁺ and x⁻ are centres of clusters ("per_class") or rows of the same cluster ("whole"). With
#
#     P = Σ (x - x⁺)(x - x⁺)',     Q = Σ (x - x⁺)(x - x⁺)' - (x - x⁻)(x - x⁻)' over active hinges
#
# the gradient is 2 L ((1 - μ) P + μ Q). P does not depend on L. With P = R'R the value is (1 - μ) |LR'|² and
# hinges that are clipped one by one: rounding cannot make it negative.


class CentreMargin:
    """Each row nearer to its own cluster's centre than to any centre of another class.

    In a hinge |Lx|² cancels: 1 + D(x, m⁺) - D(x, m) = 1 + |Lm⁺|² - |Lm|² - 2 x'L'L (m⁺ - m). All that is
    needed of the rows are their products with the vectors L'L m. With T_c the sum of the rows that are pushed
    away from centre c, minus those pulled to it once for each of their active hinges, and N_c their number,

        Q = M'U + U'M,     U = T - diag(N) M / 2.
    """

    def __init__(self, X: Array, labels: Index, codes: Index) -> None:
        self.X, self.labels, self.M = X, labels, means_of(X, labels)
        apart = X - self.M[labels]
        self.P = apart.T @ apart
        self.classes = np.empty(len(self.M), dtype=np.int64)
        self.classes[labels] = codes

    def hinges(self, L: Array) -> tuple[float, Array]:
        """Return the sum of the hinges, and Q."""
        C, U = self.M @ L.T, np.zeros(self.M.shape)
        value = centre_hinges(self.X @ (C @ L).T, self.X, C, self.M, self.labels, self.classes, U)
        H = self.M.T @ U
        return value, H + H.T


@entry
def centre_hinges(V: Array, X: Array, C: Array, M: Array, labels: Index, classes: Index, U: Array) -> float:
    """Find the active hinges; return their sum and fill U.

    V are the products of rows and centres, C the mapped centres, ``classes`` those of the centres.
    """
    k, d = M.shape
    halves, N, value = np.empty(k), np.zeros(k), 0.0
    for c in range(k):
        length = 0.0
        for a in range(d):
            length += C[c, a] * C[c, a]
        halves[c] = 0.5 * length
    for i in range(X.shape[0]):
        m, count = labels[i], 0.0
        base = 0.5 + halves[m] - V[i, m]
        for c in range(k):
            half = base + V[i, c] - halves[c]
            if half > 0.0 and classes[c] != classes[m]:
                value += 2.0 * half
                count += 1.0
                N[c] += 1.0
                for a in range(d):
                    U[c, a] += X[i, a]
        if count > 0.0:
            N[m] -= count
            for a in range(d):
                U[m, a] -= count * X[i, a]
    for c in range(k):
        for a in range(d):
            U[c, a] -= 0.5 * N[c] * M[c, a]
    return value


class ClusterMargin:
    """Inside each cluster, each row nearer to all rows of its class than to any row of another class.

    With V_ij how often row i is pulled to row j, minus how often it is pushed away from it,

        Q = H + H',     H = X'(diag(v) X / 2 - VX),     v_i = Σ_j V_ij + V_ji.
    """

    def __init__(self, X: Array, labels: Index, codes: Index) -> None:
        order = np.argsort(labels, kind="stable")
        self.X, self.codes = np.ascontiguousarray(X[order]), codes[order]
        self.starts = np.concatenate([[0], np.cumsum(np.bincount(labels))])
        parts = parts_of(labels, codes)
        apart = X - means_of(X, parts)[parts]
        # Over all pairs of a part with n rows, Σ_ij (xi - xj)(xi - xj)' = 2n Σ_i (xi - m)(xi - m)'.
        self.P = 2.0 * (apart.T * np.bincount(parts)[parts]) @ apart

    def hinges(self, L: Array) -> tuple[float, Array]:
        """Return the sum of the hinges, and Q."""
        v, VX = np.zeros(len(self.X)), np.zeros(self.X.shape)
        value = pair_hinges(self.X @ L.T, self.X, self.starts, self.codes, v, VX)
        H = self.X.T @ (0.5 * v[:, None] * self.X - VX)
        return value, H + H.T


def parts_of(labels: Index, codes: Index) -> Index:
    """Return numbers for the parts of clusters that are of one class."""
    return np.unique(labels * (codes.max() + 1) + codes, return_inverse=True)[1]


@entry
def pair_hinges(Z: Array, X: Array, starts: Index, codes: Index, v: Array, VX: Array) -> float:
    """Visit all triples inside each cluster, whose rows follow each other; return the sum of their hinges."""
    n, value = Z.shape[0], 0.0
    same, near = np.empty(n, np.int64), np.empty(n)
    others, far, pushes = np.empty(n, np.int64), np.empty(n), np.empty(n)
    for c in range(starts.shape[0] - 1):
        for i in range(starts[c], starts[c + 1]):
            n_same, n_others, nearest = 0, 0, np.inf
            for j in range(starts[c], starts[c + 1]):
                D = squared_distance(Z[i], Z[j])
                if codes[j] != codes[i]:
                    others[n_others], far[n_others], pushes[n_others] = j, D, 0.0
                    nearest = min(nearest, D)
                    n_others += 1
                elif j != i:
                    same[n_same], near[n_same] = j, 1.0 + D
                    n_same += 1
            for t in range(n_same):
                if near[t] > nearest:
                    count = 0.0
                    for o in range(n_others):
                        hinge = near[t] - far[o]
                        active = 1.0 if hinge > 0.0 else 0.0
                        value += active * hinge
                        count += active
                        pushes[o] += active
                    add_pair(X, i, same[t], count, v, VX)
            for o in range(n_others):
                if pushes[o] > 0.0:
                    add_pair(X, i, others[o], -pushes[o], v, VX)
    return value


@compiled
def squared_distance(x: Array, y: Array) -> float:
    """Return |x - y|²."""
    D = 0.0
    for a in range(x.shape[0]):
        D += (x[a] - y[a]) ** 2
    return D


@compiled
def add_pair(X: Array, i: int, j: int, weight: float, v: Array, VX: Array) -> None:
    """Add to V_ij."""
    v[i] += weight
    v[j] += weight
    for a in range(X.shape[1]):
        VX[i, a] += weight * X[j, a]


class MLCC(MetricLearner):
    """Metric learning with clustering-based constraints: a **reconstruction**.

    The text of the method's paper was not available. Title, parameters and idea (large-margin constraints
    that are made anew from clusters instead of being fixed beforehand) are its authors'; the form is ours.
    There are two interpretations:

    ``"per_class"``: K clusters in each class. With m⁺ the centre of a row's own cluster, minimise ::

        (1 - μ) Σ_i D(xi, m⁺)  +  μ Σ_i Σ_{centres m of other classes} [1 + D(xi, m⁺) - D(xi, m)]₊

    ``"whole"``: K clusters of all rows. Inside each, rows of the same class are targets T(i) and the others
    impostors I(i); minimise ::

        (1 - μ) Σ_i Σ_{j∈T(i)} D_ij  +  μ Σ_i Σ_{j∈T(i)} Σ_{l∈I(i)} [1 + D_ij - D_il]₊

    A round clusters the rows under the current metric by k-means, from the centres of the round before, and
    minimises with these clusters held fixed, from the metric of the round before. Learning ends when no row
    changes its cluster. Empty clusters are dropped; a class (or the training set) with fewer than K rows has
    as many clusters as rows. With ``"whole"``, clusters of one class each hold no impostor: the metric then
    stays as it is. Rows with entries beyond a thousand, or none above a thousandth, are first multiplied by a
    power of two, and so is L (as far as it stays finite).

    Parameters
    ----------
    n_clusters : int, default=4
        K.
    mu : float in (0, 1), default=0.5
        Weight of the push term.
    reading : {"per_class", "whole"}, default="per_class"
        Which interpretation.
    max_rounds : int, default=10
        Largest number of rounds.
    tol : float, default=1e-4
        A round's descent stops when five steps together gain at most this share of the objective.
    max_iter : int, default=200
        Largest number of steps of a round.
    random_state : int, RandomState instance or None, default=0
        Seed of the first centres (k-means++).

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_features)
        The factor L.
    classes_ : ndarray
        The class labels.
    labels_ : ndarray of shape (n_samples,)
        Cluster of each training row in the last round.
    objectives_ : ndarray of shape (n_rounds, 2)
        The objective at the beginning and at the end of each round.
    n_rounds_ : int
        Number of rounds.
    n_iter_ : int
        Number of steps of all rounds together.

    Notes
    -----
    The result depends on the first clusters, and so on the seed and on the order of the class labels. This is
    the problem, not the solver. With the clusters held fixed the objective is convex in M = L'L: on wine
    (unit rows, K = 4), descents from different starts end within 0.1 % of the same objective and 5 % of the
    same M. Alternating clusters and metric is not convex: there, other seeds change M by more than half its
    largest entry, and with ``tol=1e-8`` still by a quarter to three quarters.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import Normalizer
    >>> from mloml import MLCC
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(Normalizer(), MLCC(n_clusters=2), KNeighborsClassifier(5))
    >>> print(f"{cross_val_score(model, X, y).mean():.2f}")
    0.94

    References
    ----------
    X. Guo, C. Dang, J. Liang, W. Wei, J. Liang. Metric learning with clustering-based constraints.
    International Journal of Machine Learning and Cybernetics 12, 2021 (not seen; see above).
    """

    _parameter_constraints: dict = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "mu": [Interval(Real, 0, 1, closed="neither")],
        "reading": [StrOptions({"per_class", "whole"})],
        "max_rounds": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self, n_clusters: int = 4, *, mu: float = 0.5, reading: str = "per_class", max_rounds: int = 10,
        tol: float = 1e-4, max_iter: int = 200, random_state: int | np.random.RandomState | None = 0,
    ) -> None:  # fmt: skip
        self.n_clusters = n_clusters
        self.mu = mu
        self.reading = reading
        self.max_rounds = max_rounds
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn the metric from labelled rows."""
        return self._fit(X, y, {})

    def fit_options(self, X: ArrayLike, y: ArrayLike, options: Sequence[dict[str, Any]]) -> list[Self]:
        """Fit a clone with each of the given sets of parameters; equal to fitting each by itself.

        Fits that differ in ``mu`` only share their first clusters.
        """
        starts: dict[tuple[Any, ...], Start] = {}
        return [clone(self).set_params(**option)._fit(X, y, starts) for option in options]

    def _fit(self, X: ArrayLike, y: ArrayLike, starts: dict[tuple[Any, ...], Start]) -> Self:
        rows, codes = labelled_rows(self, X, y)
        ready("mlcc")
        shared = isinstance(self.random_state, Integral)  # else every fit draws its own centres
        key = (self.n_clusters, self.reading, self.random_state) if shared else (len(starts),)
        with one_blas_thread():
            if key not in starts:
                starts[key] = self._start(rows, codes)
            self._learn(starts[key])
        return self

    def _start(self, rows: Array, codes: Index) -> Start:
        """Choose the first clusters."""
        groups = [np.arange(len(codes))]
        if self.reading == "per_class":
            groups = [np.flatnonzero(codes == c) for c in range(codes.max() + 1)]
        rows, exponent = near_one(rows)
        centres = first_centres(rows, groups, self.n_clusters, check_random_state(self.random_state))
        V = span(rows)
        X = (rows - rows.mean(axis=0)) @ V
        return Start(exponent, V, X, codes, groups, cluster(rows, groups, centres))

    def _learn(self, start: Start) -> None:
        """Alternate clusters and metric."""
        margin_of = CentreMargin if self.reading == "per_class" else ClusterMargin
        X, codes, groups, labels = start.X, start.codes, start.groups, start.labels
        L, rounds = np.eye(X.shape[1]), list[Descent]()
        while len(rounds) < self.max_rounds and self._constrained(labels, codes):
            means = means_of(X, labels)
            white, back = whitening((X - means[labels]).T @ (X - means[labels]))
            found = self._descend(margin_of(X @ white, labels, codes), L @ back)
            rounds.append(found)
            L = found.x @ white.T
            centres = np.split(means @ L.T, [labels[own].max() + 1 for own in groups[:-1]])
            before, labels = labels, cluster(X @ L.T, groups, centres)
            if np.array_equal(labels, before):
                break
        L = in_input_space(start.V, L)
        self.components_ = times_power(L, start.exponent) if rounds else np.eye(len(L))
        self.labels_ = labels
        self.objectives_ = np.array([[r.start_value, r.value] for r in rounds]).reshape(-1, 2)
        self.n_rounds_ = len(rounds)
        self.n_iter_ = sum(r.n_iter for r in rounds)

    def _constrained(self, labels: Index, codes: Index) -> bool:
        """Whether there is any impostor: always between classes, inside clusters only if one is mixed."""
        return self.reading == "per_class" or parts_of(labels, codes).max() > labels.max()

    def _descend(self, margin: CentreMargin | ClusterMargin, start: Array) -> Descent:
        """Minimise over L with the clusters of ``margin`` held fixed."""
        R, mu = factor_of((1.0 - self.mu) * margin.P), self.mu

        def objective(L: Array) -> tuple[float, Array]:
            LR = L @ R.T
            hinges, Q = margin.hinges(L)
            return float(np.vdot(LR, LR)) + mu * hinges, 2.0 * (LR @ R + mu * (L @ Q))

        return descend(objective, start, self.tol, self.max_iter)


@dataclass(frozen=True)
class Start:
    """What fits with the same first clusters share."""

    exponent: int  # of the power of two that the given rows were multiplied by
    V: Array  # a basis of their span
    X: Array  # the rows, centred, in this basis
    codes: Index
    groups: list[Index]  # the rows that are clustered by themselves: those of each class, or all
    labels: Index  # the first clusters
