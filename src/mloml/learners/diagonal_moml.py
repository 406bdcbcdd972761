"""MOML with one weight per feature, for very many features and for sparse rows."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array

from mloml.arrays import Array, Counts, Index, Triplets

from .base import MetricLearner
from .compiled import compiled, entry, ready
from .layers import Layer
from .linalg import FAILURES, LIMIT, UPDATES, WEAK, WEAK_SHARE
from .moml import FLOOR, KEEP
from .online import OnlineLearner
from .rows import SparseRows
from .sparse import Places, Starts, longest_triplet, sparse_triplet
from .stream import learned
from .triplets import Rule

# For M = diag(w), p = x - xp and q = x - xq the paper's objective (Eq. 4) is
#
#     min_w  1/2 ||w - w_prev||² + gamma [1 + sum_i w_i (p_i² - q_i²)]+
#
# and where the hinge at w_prev is positive, the step is a push and a pull on each weight, w_i + gamma q_i² -
# gamma p_i². As in MOML the push is taken whole, w+ = w_i + gamma q_i², and a pull that is too long is
# shortened; for one weight at a time MOML's rule says
#
#     w_i <- max(w+ - gamma p_i²,  keep w+,  min(w+, floor))
#
# So weights, which start at 1, never fall below `floor`.


@compiled
def diagonal_step(
    w: Array, D: Array, t: int, index: Places, n: int,
    gamma: float, keep: float, floor: float, counts: Counts,
) -> bool:  # fmt: skip
    """Learn from triplet t of D, with n entries for the features ``index``; False if it is infinite."""
    hinge, lengths = 1.0, 0.0
    for k in range(n):
        pp, qq = D[t, 0, k] * D[t, 0, k], D[t, 1, k] * D[t, 1, k]
        hinge += w[index[k]] * (pp - qq)
        lengths += pp + qq  # long rows may cancel in the hinge
    if not (abs(hinge) < LIMIT and lengths < LIMIT):
        return False
    if hinge <= 0.0 or gamma <= 0.0:
        return True
    asked, taken, shortened = 0.0, 0.0, False
    for k in range(n):
        old = w[index[k]]
        pushed = old + gamma * D[t, 1, k] * D[t, 1, k]
        full = pushed - gamma * D[t, 0, k] * D[t, 0, k]
        new = max(full, keep * pushed, min(pushed, floor))
        asked += (full - old) ** 2
        taken += (new - old) ** 2
        shortened = shortened or new > full
        w[index[k]] = new
    counts[UPDATES] += 1
    counts[FAILURES] += shortened
    counts[WEAK] += taken < WEAK_SHARE * WEAK_SHARE * asked
    return True


@entry
def diagonal_scan(D: Array, w: Array, gamma: float, keep: float, floor: float, counts: Counts) -> int:
    """Learn from the triplets of D in order; return how many were seen (fewer: the learner diverged)."""
    index = np.arange(w.shape[0]).astype(np.int32)
    for t in range(D.shape[0]):
        if not diagonal_step(w, D, t, index, w.shape[0], gamma, keep, floor, counts):
            return t
    return D.shape[0]


@entry
def sparse_diagonal_scan(
    data: Array, indices: Places, starts: Starts, triplets: Index, w: Array,
    gamma: float, keep: float, floor: float, counts: Counts,
) -> int:  # fmt: skip
    """Do the same for triplets of sparse rows, in O(non-zeros) each."""
    longest = longest_triplet(starts, w.shape[0])
    index, E = np.empty(longest, np.int32), np.empty((1, 3, longest))
    for t in range(triplets.shape[0]):
        x, xp, xq = triplets[t, 0], triplets[t, 1], triplets[t, 2]
        n = sparse_triplet(data, indices, starts, x, xp, xq, index, E)
        if not diagonal_step(w, E, 0, index, n, gamma, keep, floor, counts):
            return t
    return triplets.shape[0]


class DiagonalLayer(Layer):
    """The diagonal ``w`` of the metric, which learns by the step above; it starts at ones."""

    def __init__(self, n_features: int, step: float, keep: float = KEEP, floor: float = FLOOR) -> None:
        self.w = np.ones(n_features)
        self.step, self.keep, self.floor = step, keep, floor
        self.counts = np.zeros(5, dtype=np.int64)

    def matrices(self) -> list[Array]:
        """Return the weights."""
        return [self.w]

    def learn(self, D: Array, outputs: Array) -> int:
        """Learn from the triplets of ``D``."""
        ready("diagonal_moml")
        return int(diagonal_scan(D, self.w, self.step, self.keep, self.floor, self.counts))

    def learn_sparse(self, rows: SparseRows, triplets: Triplets, outputs: Array) -> int:
        """Learn from triplets of sparse rows."""
        ready("diagonal_moml")
        given = (rows.data, rows.indices, rows.starts, triplets)
        return int(sparse_diagonal_scan(*given, self.w, self.step, self.keep, self.floor, self.counts))

    def factor(self) -> csr_array:
        """Return a sparse matrix with the roots of the weights on its diagonal."""
        return diags_array(np.sqrt(self.w)).tocsr()

    def widen(self, n_features: int) -> None:
        """Go on with more features, which get the weight 1."""
        self.w = np.concatenate([self.w, np.ones(n_features - len(self.w))])


class DiagonalMOML(OnlineLearner, MetricLearner):
    """MOML restricted to a diagonal metric: one weight per feature.

    For each triplet, with ``p = x - xp`` and ``q = x - xq``, the objective is::

        min_w  1/2 ||w - w_prev||² + gamma [1 + sum_i w_i (p_i² - q_i²)]+ ,   w >= 0

    A step costs O(d), or O(non-zeros) for sparse (CSR) rows. Each weight is pushed by ``gamma q_i²`` and
    pulled by ``gamma p_i²``; a pull that is too long is shortened, as in :class:`~mloml.learners.moml.MOML`.

    Parameters
    ----------
    gamma : "auto" or float, default="auto"
        Step size. In rows of many features each entry is small, so it has to be larger than for a full
        metric: "auto" tries 0.01, 0.1, 1 and 10. See :class:`~mloml.learners.opml.OPML`.
    scale, scans, shuffle, random_state, triplets
        See :class:`~mloml.learners.opml.OPML`.

    Attributes
    ----------
    feature_weights_ : array of shape (d,)
        The diagonal of ``M``, for the user's rows.
    components_ : sparse array of shape (d, d)
        The factor ``L``: the roots of these weights on its diagonal. ``M`` is sparse, too.
    n_cone_failures_ : int
        Steps in which some pull was shortened.
    classes_, gamma_, scale_, n_triplets_, n_updates_, n_unlabelled_, n_restarts_, diverged_
        See :class:`~mloml.learners.online.OnlineLearner`.

    References
    ----------
    W. Li, Y. Liu, J. Huo, Y. Shi, Y. Gao, L. Wang, J. Luo. A multilayer framework for online metric
    learning. IEEE Transactions on Neural Networks and Learning Systems, 2022 (arXiv 1805.05510).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_wine(return_X_y=True)
    >>> learner = DiagonalMOML(gamma=0.1, random_state=0).fit(scale(X), y)
    >>> int(learner.feature_weights_.argmax())  # proline
    12
    """

    _gammas = (0.0, 1e-2, 1e-1, 1.0, 10.0)

    _takes_sparse = True

    def __init__(
        self, *, gamma: float | str = "auto", scale: str | float | None = "auto", scans: int = 20,
        shuffle: bool = True, random_state: Any = None, triplets: Rule = "released",
    ) -> None:  # fmt: skip
        super().__init__(gamma, scale, scans, shuffle, random_state, triplets)

    @learned
    def feature_weights_(self) -> Array:
        """Return the diagonal of ``M``, for the user's rows."""
        weights: Array = self._state.w / self.scale_ / self.scale_
        return weights

    def _new_state(self, n_features: int, X: Any, step: float) -> DiagonalLayer:
        return DiagonalLayer(n_features, step)
