"""OASIS: a bilinear similarity learned passive-aggressively (Chechik et al. 2010)."""

from __future__ import annotations

from numbers import Real
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_array, check_is_fitted

from mloml.kernels.stack import layout
from mloml.learners.triplets import Rule

from .base import Array
from .online import OnlineLearner, Triplets
from .sparse_rows import SparseRows, validate_rows
from .widening import widened_square

NO_MAP = (
    "OASIS has no {}: it learns a bilinear similarity, not a distance; "
    "use similarity(X, Y) or pair_score(pairs)"
)


class OASIS(OnlineLearner):
    """Online algorithm for scalable image similarity: learns ``S(u, v) = u' W v``, no distance.

    For each triplet ::

        loss = [1 - S(x, xp) + S(x, xq)]+
        W <- W + tau x (xp - xq)',    tau = min(C, loss / (||x||² ||xp - xq||²))

    the exact passive-aggressive step, in O(d²). ``W`` is neither symmetric nor positive, so there is no
    factor to transform rows with: nearest neighbours are those of largest similarity, the query on the
    left.

    Parameters
    ----------
    C : float, default=1e-4
        Aggressiveness, the largest step; the authors' is 0.1.
    scale : "auto", float or None, default="auto"
        What rows are divided by before anything is learned: a step size and the margin 1 mean something only
        when rows have a length near 1. "auto": the root mean square of their norms, of all rows in ``fit``,
        of the rows up to the first triplet in a stream. None: nothing. ``similarity`` takes rows as they are.
    scans : int, default=20
        How often ``fit`` goes over the rows.
    shuffle : bool, default=True
        Whether each scan of ``fit`` puts the rows into a new random order.
    random_state : int, RandomState instance or None, default=None
        Seed of these orders.
    triplets : {"released", "latest"}, default="released"
        How partners are chosen, see :mod:`mloml.learners.triplets`.

    Attributes
    ----------
    classes_, scale_, n_triplets_, n_updates_, n_cone_failures_, diverged_
        See :class:`~mloml.learners.online.OnlineLearner`; there is no cone to leave.

    Notes
    -----
    The similarity is an inner product: it suits rows of unit norm (``Normalizer``), where at the start it
    ranks as Euclidean distance does. Standardised rows of different lengths are ranked otherwise from the
    start. The length of rows as a whole does not matter with ``scale="auto"``.

    No ``C`` was good everywhere on the eight settings of ``benchmarks/defaults.py --choose``, judged by 5-NN.
    The default is the best of seven, .01 below plain 5-NN in the mean and .08 at worst; the authors' 0.1 was
    up to .41 below. Choose it by cross-validation with ``similarity`` as the ranking.

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
    >>> learner = OASIS(C=1e-3, random_state=0).fit(X, y)
    >>> nearest = learner.similarity(X[:3], X).argmax(axis=1)
    >>> y[nearest]
    array([0, 0, 0])
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **OnlineLearner._parameter_constraints,
        "C": [Interval(Real, 0, None, closed="left")],
    }

    step_parameter = "C"

    _scan = "oasis.oasis_scan"

    _takes_sparse = True  # O(non-zeros²) a step

    def __init__(
        self,
        C: float = 1e-4,
        *,
        scale: str | float | None = "auto",
        scans: int = 20,
        shuffle: bool = True,
        random_state: Any = None,
        triplets: Rule = "released",
    ) -> None:
        self.C = C
        self.scale = scale
        self.scans = scans
        self.shuffle = shuffle
        self.random_state = random_state
        self.triplets = triplets

    def get_bilinear_matrix(self) -> Array:
        """Return ``W`` of the similarity ``u' W v`` of the user's rows: the learned one over ``scale_²``."""
        check_is_fitted(self)
        if self.scale_ == 1.0:
            return self._bilinear.copy()
        return self._bilinear / self.scale_ / self.scale_

    def similarity(self, X: ArrayLike, Y: ArrayLike) -> Array:
        """Return ``S(x, y)`` for all rows x of ``X`` and y of ``Y``; queries belong on the left, in ``X``."""
        check_is_fitted(self)
        left: Array = validate_rows(self, X, reset=False)
        right: Array = validate_rows(self, Y, reset=False)
        if issparse(right):
            similar: Array = (self._scaled(right) @ (self._scaled(left) @ self._bilinear).T).T
            return similar
        return self._scaled(left) @ self._bilinear @ self._scaled(right).T

    def pair_score(self, pairs: ArrayLike) -> Array:
        """Return the similarity of each pair, left row to right row; ``pairs`` is (n, 2, d)."""
        check_is_fitted(self)
        both: Array = check_array(pairs, dtype=np.float64, allow_nd=True, ensure_2d=False)
        d = self.n_features_in_
        if both.ndim != 3 or both.shape[1:] != (2, d):
            raise ValueError(f"pairs has shape {both.shape}, expected (n_pairs, 2, {d})")
        both = self._scaled(both)
        scores: Array = np.einsum("ij,ij->i", both[:, 0] @ self._bilinear, both[:, 1])
        return scores

    @property
    def components_(self) -> NoReturn:
        """There is none: ``W`` is no ``L'L``."""
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

    def _start(self, n_features: int, X: Array | None = None, y: NDArray[Any] | None = None) -> None:
        self._bilinear = np.eye(n_features)
        self._counters = np.zeros(layout.INTEGERS, dtype=np.int64)

    def _widen(self, n_features: int) -> None:
        self._bilinear = widened_square(self._bilinear, n_features)

    def _learn(self, rows: Array, triplets: Triplets) -> None:
        from mloml.kernels.oasis import oasis_scan

        if self.diverged_:
            return
        rest = (triplets, self._bilinear, float(self.C), self._counters)
        if isinstance(rows, SparseRows):
            from mloml.kernels.sparse_square import sparse_oasis_scan

            done = sparse_oasis_scan(rows.data, rows.indices, rows.starts, *rest)
        else:
            done = oasis_scan(rows, *rest)
        if done < len(triplets):
            self._stop_beyond_bounds()
