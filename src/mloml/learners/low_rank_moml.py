"""MOML with a metric of low rank: the closed-form step on a factor of k rows."""

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from mloml.arrays import Array, Counts, Index, Triplets

from .base import MetricLearner
from .compiled import compiled, entry, ready
from .layers import Layer
from .linalg import LIMIT, hand_on
from .online import OnlineLearner
from .opml import opml_change
from .rows import BOUND, SparseRows, divided, median_length, row_lengths
from .sparse import Places, Starts, longest_triplet, sparse_triplet
from .triplets import Rule

# Principal axes are taken from so many of the first rows, evenly spaced, when there are more.
MOST_ROWS = 1000

# With M = L'L, L (k, d), p = x - xp, q = x - xq and A = pp' - qq' the objective is
#
#     min_L  1/2 ||L - L_prev||² + gamma/4 [1 + tr(L A L')]+
#
# and where the hinge at L_prev is positive, its active side has the gradient 0 at L_prev (I + gamma/2 A)^-1.
# For orthonormal rows of L_prev that is, to first order in gamma, MOML's step M - gamma A seen from the span
# of these rows: hence the weight 1/4. It is OPML's step with gamma/2, which also shortens pushes that are too
# long:
#
#     L <- L + [u v] F [p q]',    u = Lp, v = Lq, F as in OPML
#
# Only features that a row of the triplet has are touched, and p and q bring new directions into the span of
# L. The bracket is invertible, so L keeps its rank. W is L', (d, k): a feature's k numbers lie side by side.


@compiled
def low_rank_step(
    W: Array, D: Array, t: int, index: Places, n: int,
    gamma: float, counts: Counts, u: Array, v: Array, z: Array,
) -> bool:  # fmt: skip
    """Learn from triplet t of D, with n entries for the features ``index``; False if it is infinite.

    ``u``, ``v`` and ``z`` become Lp, Lq and Lh after the step.
    """
    k = W.shape[1]
    a = b = c = ph = qh = 0.0
    for r in range(k):
        u[r] = v[r] = z[r] = 0.0
    for m in range(n):
        p, q, h, row = D[t, 0, m], D[t, 1, m], D[t, 2, m], index[m]
        a += p * p
        b += q * q
        c += p * q
        ph += p * h
        qh += q * h
        for r in range(k):
            u[r] += p * W[row, r]
            v[r] += q * W[row, r]
            z[r] += h * W[row, r]
    hinge = 1.0
    for r in range(k):
        hinge += u[r] * u[r] - v[r] * v[r]
    if not (abs(hinge) < LIMIT and a + b < LIMIT):
        return False
    if hinge <= 0.0 or gamma <= 0.0:
        return True
    f11, f12, f22 = opml_change(a, b, c, 0.5 * gamma, counts)
    for m in range(n):
        p, q, row = D[t, 0, m], D[t, 1, m], index[m]
        to_u, to_v = f11 * p + f12 * q, f12 * p + f22 * q
        for r in range(k):
            W[row, r] += to_u * u[r] + to_v * v[r]
    for r in range(k):
        x, y = f11 * u[r] + f12 * v[r], f12 * u[r] + f22 * v[r]
        u[r] += a * x + c * y
        v[r] += c * x + b * y
        z[r] += ph * x + qh * y
    return True


@entry
def low_rank_scan(D: Array, W: Array, gamma: float, counts: Counts, outputs: Array) -> int:
    """Learn from the triplets of D in order; return how many were seen (fewer: the layer diverged)."""
    d, k = W.shape
    index, u, v, z = np.arange(d).astype(np.int32), np.empty(k), np.empty(k), np.empty(k)
    for t in range(D.shape[0]):
        if not low_rank_step(W, D, t, index, d, gamma, counts, u, v, z):
            return t
        if outputs.shape[0] > 0:
            hand_on(outputs, t, u, v, z)
    return D.shape[0]


@entry
def sparse_low_rank_scan(
    data: Array, indices: Places, starts: Starts, triplets: Index, W: Array,
    gamma: float, counts: Counts, outputs: Array,
) -> int:  # fmt: skip
    """Do the same for triplets of sparse rows, in O(k non-zeros) each."""
    d, k = W.shape
    longest = longest_triplet(starts, d)
    index, E = np.empty(longest, np.int32), np.empty((1, 3, longest))
    u, v, z = np.empty(k), np.empty(k), np.empty(k)
    for t in range(triplets.shape[0]):
        x, xp, xq = triplets[t, 0], triplets[t, 1], triplets[t, 2]
        n = sparse_triplet(data, indices, starts, x, xp, xq, index, E)
        if not low_rank_step(W, E, 0, index, n, gamma, counts, u, v, z):
            return t
        if outputs.shape[0] > 0:
            hand_on(outputs, t, u, v, z)
    return triplets.shape[0]


class LowRankLayer(Layer):
    """The transpose ``W`` of a factor of k rows, which learns by the step above.

    Parameters
    ----------
    start : array of shape (k, d)
        The factor to start with, see :func:`first_factor`.
    step : float
        Step size.
    """

    def __init__(self, start: Array, step: float) -> None:
        self.W = np.array(start.T, order="C")
        self.step = step
        self.counts = np.zeros(5, dtype=np.int64)

    def matrices(self) -> list[Array]:
        """Return the matrix that is learned."""
        return [self.W]

    def learn(self, D: Array, outputs: Array) -> int:
        """Learn from the triplets of ``D``."""
        ready("low_rank_moml")
        return int(low_rank_scan(D, self.W, self.step, self.counts, outputs))

    def learn_sparse(self, rows: SparseRows, triplets: Triplets, outputs: Array) -> int:
        """Learn from triplets of sparse rows."""
        ready("low_rank_moml")
        given = (rows.data, rows.indices, rows.starts, triplets)
        return int(sparse_low_rank_scan(*given, self.W, self.step, self.counts, outputs))

    @property
    def n_outputs(self) -> int:
        """How many numbers a row is mapped to."""
        return self.W.shape[1]

    def factor(self) -> Array:
        """Return the factor (k, d)."""
        return np.array(self.W.T, order="C")

    def widen(self, n_features: int) -> None:
        """Refuse: new features would have no place in the span of the factor."""
        raise NotImplementedError


def require_rank(n_components: int, n_features: int) -> None:
    """Refuse more components than there are features."""
    if n_components > n_features:
        raise ValueError(f"n_components={n_components} is more than the {n_features} feature(s) of the rows")


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
    lengths = row_lengths(X)
    rows = divided(X, lengths, median_length(lengths), BOUND)  # single long rows are no principal axes
    count = min(k, len(X) - 1, X.shape[1] - 1)
    sparse = isinstance(rows, SparseRows)
    rows = rows.to_csr() if sparse else rows
    variance = 0.0 if count < 1 else float((rows**2).mean(axis=0).sum() - (rows.mean(axis=0) ** 2).sum())
    if variance < 1e-12:
        return None
    found = PCA(count, svd_solver="arpack" if sparse else "auto", random_state=rng).fit(rows)
    axes: Array = found.components_
    explained = float(found.explained_variance_.sum()) * (1.0 - 1.0 / len(X))
    return axes, float(np.sqrt(max(1.0, variance / explained)))


class LowRankMOML(OnlineLearner, MetricLearner):
    """MOML with a metric of rank ``n_components``: it also reduces the number of features.

    For each triplet, with ``p = x - xp``, ``q = x - xq`` and ``A = p p' - q q'``, the objective is::

        min_L  1/2 ||L - L_prev||²_F + gamma/4 [1 + tr(L A L')]+ ,   L with n_components rows

    and where the hinge at ``L_prev`` is positive, the step is ``L = L_prev (I + gamma/2 A)^-1``, as in
    :class:`~mloml.learners.opml.OPML`: a push that is too long is shortened. For small ``gamma``
    and orthonormal rows of ``L_prev`` it is MOML's step, seen from their span. It costs O(k d), or
    O(k non-zeros) for sparse (CSR) rows.

    Parameters
    ----------
    n_components : int, default=2
        Rank of the metric, at most the number of features: ``transform`` gives so many columns.
    gamma : "auto" or float, default="auto"
        Step size. See :class:`~mloml.learners.opml.OPML`.
    init : {"pca", "random"}, default="pca"
        Start of the factor: principal axes of the rows of the first call, or random orthogonal rows, scaled
        so that rows keep their mean squared distance. Where the first rows have fewer than ``n_components``
        axes, as the first one of a stream does, random ones fill up.
    scale, scans, shuffle, random_state, triplets
        See :class:`~mloml.learners.opml.OPML`; ``random_state`` also seeds random directions.

    Attributes
    ----------
    components_ : array of shape (n_components, d)
        The factor ``L``, which takes the user's rows.
    n_cone_failures_ : int
        Shortened pushes.
    classes_, gamma_, scale_, n_triplets_, n_updates_, n_unlabelled_, n_restarts_, diverged_
        See :class:`~mloml.learners.online.OnlineLearner`.

    References
    ----------
    W. Li, Y. Liu, J. Huo, Y. Shi, Y. Gao, L. Wang, J. Luo. A multilayer framework for online metric
    learning. IEEE Transactions on Neural Networks and Learning Systems, 2022 (arXiv 1805.05510).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), LowRankMOML(random_state=0), KNeighborsClassifier())
    >>> print(f"{cross_val_score(model, X, y).mean():.3f}")
    0.961
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **OnlineLearner._parameter_constraints,
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({"pca", "random"})],
    }

    _takes_sparse = True

    def __init__(
        self, *, n_components: int = 2, gamma: float | str = "auto", init: str = "pca",
        scale: str | float | None = "auto", scans: int = 20, shuffle: bool = True, random_state: Any = None,
        triplets: Rule = "released",
    ) -> None:  # fmt: skip
        self.n_components = n_components
        self.init = init
        super().__init__(gamma, scale, scans, shuffle, random_state, triplets)

    def _new_state(self, n_features: int, X: Any, step: float) -> LowRankLayer:
        require_rank(self.n_components, n_features)
        start = first_factor(X, self.n_components, self.init, self.random_state)
        return LowRankLayer(start, step)
