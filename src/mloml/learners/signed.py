"""Metrics that may become indefinite: no factor then, but still a signed form to compare rows by."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mloml.arrays import Array

from .base import ROUNDING, Metric, MetricLearner, checked_pairs
from .rows import validate_rows
from .stream import learned

if TYPE_CHECKING:
    _Linear = MetricLearner
else:
    _Linear = object  # a mixin, which stands before MetricLearner among the bases

# Eigenvalues, ascending, and eigenvectors (columns) for rows divided by a scale; the scale.
Eigen = tuple[Array, Array, float]


def _is_indefinite(learner: Any) -> bool:
    return learner.__sklearn_is_fitted__() and learner._indefinite is not None


class SignedForm(_Linear):
    """A linear learner whose ``M`` may become indefinite: then it has no factor, but still a signed form.

    Subclasses say by ``_may_be_indefinite`` whether it can, and in ``_definite`` how to learn a metric.
    """

    _definite = ""
    _state: Any

    def _may_be_indefinite(self) -> bool:
        """Say whether ``M`` can become indefinite with these parameters."""
        raise NotImplementedError

    @learned
    def _metric(self) -> Array:
        """Return ``M`` for the user's rows."""
        M: Array = self._state.M / self.scale_ / self.scale_
        return M

    @learned
    def _indefinite(self) -> Eigen | None:
        """Return the eigenpairs of ``M`` if it is indefinite, else None."""
        if not self._may_be_indefinite():
            return None
        values, vectors = np.linalg.eigh(self._state.M)
        negative = values[0] < -ROUNDING * max(values[-1], -values[0])
        return (values, vectors, self.scale_) if negative else None

    def _factor(self) -> Any:
        self._require_factor("components_", AttributeError)
        return super()._factor()

    def transform(self, X: ArrayLike) -> Array:
        """Map rows to the space in which Euclidean distance is the learned metric: ``X L'``."""
        self._require_factor("transform")
        return super().transform(X)

    def pair_distance(self, pairs: ArrayLike) -> Array:
        """Return the learned (not squared) distance of each pair; ``pairs`` is (n, 2, d)."""
        self._require_factor("pair_distance")
        return super().pair_distance(pairs)

    def get_metric(self) -> Metric:
        """Return the metric as a function of two vectors, for scikit-learn's ``metric=`` parameters."""
        self._require_factor("get_metric")
        return super().get_metric()

    def pair_score(self, pairs: ArrayLike) -> Array:
        """Return how close the rows of each pair are, the larger the closer; ``pairs`` is (n, 2, d).

        It is minus the distance, as in metric-learn; where an indefinite ``M`` gives a negative square, the
        root of its size.
        """
        if self._indefinite is None:
            return super().pair_score(pairs)
        return pair_scores(self.get_mahalanobis_matrix(), pairs)

    @available_if(_is_indefinite)
    def similarity(self, X: ArrayLike, Y: ArrayLike) -> Array:
        """Return ``-(x - y)' M (x - y)`` for all rows x of ``X`` and y of ``Y``.

        The nearest neighbours of x are the rows y of largest similarity. This method exists only where ``M``
        is indefinite; otherwise they are those of least distance after :meth:`transform`.
        """
        left: Any = validate_rows(self, X, reset=False)
        right: Any = validate_rows(self, Y, reset=False)
        eigen = self._indefinite
        assert eigen is not None
        values, vectors, scale = eigen
        return signed_similarity(values, vectors, left / scale, right / scale)

    def _require_factor(self, name: str, error: type[Exception] = ValueError) -> None:
        check_is_fitted(self)
        eigen = self._indefinite
        if eigen is not None:
            raise error(
                f"{type(self).__name__} has no {name} here: its M is indefinite (least eigenvalue "
                f"{eigen[0][0]:.3g}), so no L'L; use pair_score(pairs), similarity(X, Y) or "
                f"get_mahalanobis_matrix(), or learn with {self._definite}"
            )


def signed_similarity(values: Array, vectors: Array, X: Array, Y: Array) -> Array:
    """Return ``-(x - y)' M (x - y)`` for all rows, with ``M`` given by its eigenvalues and eigenvectors.

    Squares are taken of differences, as for any other distance here: equal rows then come out as exact ties.

    >>> M = np.diag([-1.0, 1.0])
    >>> signed_similarity(*np.linalg.eigh(M), np.array([[0.0, 0.0]]), np.array([[2.0, 1.0], [1.0, 3.0]]))
    array([[ 3., -8.]])
    """
    form = np.zeros((len(X), len(Y)))
    for sign, part in ((1.0, values > 0), (-1.0, values < 0)):
        if part.any():
            root = vectors[:, part] * np.sqrt(np.abs(values[part]))
            form += sign * cdist(X @ root, Y @ root, "sqeuclidean")
    return -form


def pair_scores(M: Array, pairs: ArrayLike) -> Array:
    """Return ``-sign(D) sqrt|D|``, ``D = (u - v)' M (u - v)``, for each pair (u, v) of ``pairs`` (n, 2, d).

    >>> pair_scores(np.diag([-1.0, 1.0]), [[[0.0, 0.0], [2.0, 0.0]], [[0.0, 0.0], [0.0, 3.0]]])
    array([ 2., -3.])
    """
    stacked = checked_pairs(pairs, len(M))
    differences = stacked[:, 0] - stacked[:, 1]
    form = np.einsum("ij,ij->i", differences @ M, differences)
    return -np.sign(form) * np.sqrt(np.abs(form))
