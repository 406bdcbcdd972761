"""OASIS: a bilinear similarity learned passive-aggressively (Chechik et al. 2010)."""

from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from mloml.arrays import Array, Counts, Index, Triplets

from .base import checked_pairs
from .compiled import compiled, entry, ready
from .layers import Layer, widened
from .linalg import LIMIT, UPDATES
from .online import OnlineLearner
from .rows import SparseRows, validate_rows
from .sparse import Places, Starts, longest_triplet, sparse_triplet
from .stream import learned
from .triplets import Rule

# With S(u, v) = u'Wv and r = xp - xq the loss of a triplet and the step are
#
#     loss = [1 - S(x, xp) + S(x, xq)]+ = [1 - x'Wr]+
#     W <- W + tau x r',    tau = min(C, loss / (x'x r'r))
#
# r is q - p, with p = x - xp and q = x - xq.


@compiled
def step_length(loss: float, square: float, C: float) -> float:
    """Return tau for ``square = x'x r'r``, 0 where there is nothing to learn."""
    return min(C, loss / square) if loss > 0.0 and square > 0.0 else 0.0


@entry
def oasis_scan(D: Array, W: Array, C: float, counts: Counts) -> int:
    """Learn from the triplets of D in order; return how many were seen (fewer: the learner diverged)."""
    d = W.shape[0]
    r = np.empty(d)
    for t in range(D.shape[0]):
        xx = rr = xWr = 0.0
        for j in range(d):
            r[j] = D[t, 1, j] - D[t, 0, j]
            xx += D[t, 2, j] * D[t, 2, j]
            rr += r[j] * r[j]
        for i in range(d):
            inner = 0.0
            for j in range(d):
                inner += W[i, j] * r[j]
            xWr += D[t, 2, i] * inner
        if not (abs(xWr) < LIMIT and xx * rr < LIMIT * LIMIT):
            return t
        tau = step_length(1.0 - xWr, xx * rr, C)
        if tau > 0.0:
            for i in range(d):
                f = tau * D[t, 2, i]
                for j in range(d):
                    W[i, j] += f * r[j]
            counts[UPDATES] += 1
    return D.shape[0]


@entry
def sparse_oasis_scan(
    data: Array, indices: Places, starts: Starts, triplets: Index, W: Array, C: float, counts: Counts
) -> int:
    """Do the same for triplets of sparse rows, in O(non-zeros²) each."""
    longest = longest_triplet(starts, W.shape[0])
    index, E, r = np.empty(longest, np.int32), np.empty((1, 3, longest)), np.empty(longest)
    for t in range(triplets.shape[0]):
        x, xp, xq = triplets[t, 0], triplets[t, 1], triplets[t, 2]
        n = sparse_triplet(data, indices, starts, x, xp, xq, index, E)
        rr = xx = xWr = 0.0
        for k in range(n):
            r[k] = E[0, 1, k] - E[0, 0, k]
            rr += r[k] * r[k]
        for e in range(starts[x], starts[x + 1]):
            inner = 0.0
            for k in range(n):
                inner += W[indices[e], index[k]] * r[k]
            xx += data[e] * data[e]
            xWr += data[e] * inner
        if not (abs(xWr) < LIMIT and xx * rr < LIMIT * LIMIT):
            return t
        tau = step_length(1.0 - xWr, xx * rr, C)
        if tau > 0.0:
            for e in range(starts[x], starts[x + 1]):
                for k in range(n):
                    W[indices[e], index[k]] += tau * data[e] * r[k]
            counts[UPDATES] += 1
    return triplets.shape[0]


class Similarity(Layer):
    """The matrix ``W`` of a similarity, which learns by the step above."""

    def __init__(self, n_features: int, step: float) -> None:
        super().__init__(n_features, step)
        self.W = self.__dict__.pop("L")

    def matrices(self) -> list[Array]:
        """Return the matrix that is learned."""
        return [self.W]

    def ranks(self, queries: Any, rows: Any) -> Array:
        """Return minus the similarity of all rows to each of ``queries``."""
        return -(rows @ (queries @ self.W).T).T

    def learn(self, D: Array, outputs: Array) -> int:
        """Learn from the triplets of ``D``."""
        ready("oasis")
        return int(oasis_scan(D, self.W, self.step, self.counts))

    def learn_sparse(self, rows: SparseRows, triplets: Triplets, outputs: Array) -> int:
        """Learn from triplets of sparse rows."""
        ready("oasis")
        given = (rows.data, rows.indices, rows.starts)
        return int(sparse_oasis_scan(*given, triplets, self.W, self.step, self.counts))

    def widen(self, n_features: int) -> None:
        """Go on with more features: W starts as the identity on them."""
        self.W = widened(self.W, n_features)


NO_MAP = (
    "OASIS has no {}: it learns a bilinear similarity, not a distance; "
    "use similarity(X, Y) or pair_score(pairs)"
)


class OASIS(OnlineLearner):
    """Online algorithm for scalable image similarity: learns ``S(u, v) = u' W v``, which is not a distance.

    For each triplet ::

        loss = [1 - S(x, xp) + S(x, xq)]+
        W <- W + tau x (xp - xq)',    tau = min(C, loss / (||x||² ||xp - xq||²))

    the exact passive-aggressive step, in O(d²). ``W`` is neither symmetric nor positive, so there is no
    factor to transform rows with: nearest neighbours are those of largest similarity, the query on the
    left.

    Parameters
    ----------
    gamma : "auto" or float, default="auto"
        Aggressiveness, the largest step; the papers write C. See :class:`~mloml.learners.opml.OPML`.
    scale, scans, shuffle, random_state, triplets
        See :class:`~mloml.learners.opml.OPML`.

    Attributes
    ----------
    classes_, gamma_, scale_, n_triplets_, n_updates_, n_cone_failures_, n_unlabelled_, n_restarts_, diverged_
        See :class:`~mloml.learners.online.OnlineLearner`; there is no cone to leave.

    Notes
    -----
    The similarity is an inner product: it suits rows of unit norm (``Normalizer``), where at the start it
    ranks as Euclidean distance does. Standardised rows of different lengths are ranked otherwise from the
    start. The length of rows as a whole does not matter with ``scale="auto"``.

    ``n_updates_ / n_triplets_`` is the share of triplets that violate the margin.

    References
    ----------
    G. Chechik, V. Sharma, U. Shalit, S. Bengio. Large scale online learning of image similarity through
    ranking. Journal of Machine Learning Research, 2010.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import normalize
    >>> X, y = load_iris(return_X_y=True)
    >>> X = normalize(X)
    >>> learner = OASIS(random_state=0).fit(X, y)
    >>> nearest = learner.similarity(X[:3], X).argmax(axis=1)
    >>> y[nearest]
    array([0, 0, 0])
    """

    _takes_sparse = True  # O(non-zeros²) a step

    _from_quadruplets = False

    def __init__(
        self, *, gamma: float | str = "auto", scale: str | float | None = "auto", scans: int = 20,
        shuffle: bool = True, random_state: Any = None, triplets: Rule = "released",
    ) -> None:  # fmt: skip
        super().__init__(gamma, scale, scans, shuffle, random_state, triplets)

    @learned
    def _bilinear(self) -> tuple[Array, float]:
        """Return ``W`` for rows divided by a scale, and the scale."""
        return self._state.W.copy(), self.scale_

    def get_bilinear_matrix(self) -> Array:
        """Return ``W`` of the similarity ``u' W v`` of the user's rows: the learned one over ``scale_²``."""
        W, scale = self._bilinear
        return W / scale / scale

    def similarity(self, X: ArrayLike, Y: ArrayLike) -> Array:
        """Return ``S(x, y)`` for all rows x of ``X`` and y of ``Y``; queries belong on the left, in ``X``."""
        check_is_fitted(self)
        left: Array = validate_rows(self, X, reset=False)
        right: Array = validate_rows(self, Y, reset=False)
        W, scale = self._bilinear
        if issparse(right):
            similar: Array = (right / scale @ (left / scale @ W).T).T
            return similar
        return left / scale @ W @ (right / scale).T

    def pair_score(self, pairs: ArrayLike) -> Array:
        """Return the similarity of each pair, left row to right row; ``pairs`` is (n, 2, d)."""
        check_is_fitted(self)
        W, scale = self._bilinear
        both = checked_pairs(pairs, self.n_features_in_) / scale
        scores: Array = np.einsum("ij,ij->i", both[:, 0] @ W, both[:, 1])
        return scores

    @property
    def components_(self) -> NoReturn:
        """There is none: ``W`` is not an ``L'L``."""
        raise AttributeError(
            "OASIS has no components_: it learns a bilinear similarity, not a distance; "
            "use get_bilinear_matrix() or similarity(X, Y)"
        )

    @property
    def transform(self) -> NoReturn:
        """There is none: no map of rows turns this similarity into a distance."""
        raise AttributeError(NO_MAP.format("transform"))

    @property
    def transform_one(self) -> NoReturn:
        """There is none, as there is no :attr:`transform`."""
        raise AttributeError(NO_MAP.format("transform_one"))

    def _new_state(self, n_features: int, X: Any, step: float) -> Similarity:
        return Similarity(n_features, step)
