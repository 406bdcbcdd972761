"""The signed form ``(x - y)' M (x - y)`` of a symmetric ``M`` that need not be a metric."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array, check_is_fitted

from .base import Array, Metric, MetricLearner
from .sparse_rows import validate_rows

ROUNDING = 1e-13
"""An eigenvalue less negative than this, relative to the largest, counts as zero."""

if TYPE_CHECKING:
    _Linear = MetricLearner
else:
    _Linear = object  # a mixin, which stands before MetricLearner among the bases

Eigen = tuple[Array, Array]
"""Eigenvalues, ascending, and eigenvectors (columns)."""


def has_negative(values: Array) -> bool:
    """Say whether the least of ascending eigenvalues is below zero by more than rounding."""
    return bool(values[0] < -ROUNDING * max(values[-1], -values[0]))


def _negative_eigen(learner: Any) -> Eigen | None:
    """Return the eigenpairs of a fitted learner's M on scaled rows, if one is negative."""
    found: Eigen | None = learner._signed_eigen() if hasattr(learner, "_stream") else None
    return found


class SignedForm(_Linear):
    """A linear learner whose ``M`` may become indefinite: then it has no factor, but still a signed form.

    Subclasses say by ``_signed_eigen`` whether it has, and in ``_definite`` how to learn a metric instead.
    """

    _definite = ""

    def _signed_eigen(self) -> Eigen | None:
        """Return the eigenpairs of ``M`` on rows divided by ``scale_`` if ``M`` is indefinite, else None."""
        raise NotImplementedError

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
        if _negative_eigen(self) is None:
            return super().pair_score(pairs)
        return pair_scores(self.get_mahalanobis_matrix(), pairs)

    @available_if(_negative_eigen)
    def similarity(self, X: ArrayLike, Y: ArrayLike) -> Array:
        """Return ``-(x - y)' M (x - y)`` for all rows x of ``X`` and y of ``Y``.

        The nearest neighbours of x are the rows y of largest similarity. This method exists only where ``M``
        is indefinite; otherwise they are those of least distance after :meth:`transform`.
        """
        left: Any = validate_rows(self, X, reset=False)
        right: Any = validate_rows(self, Y, reset=False)
        values, vectors = self._signed_eigen()  # type: ignore[misc]
        scale = self.scale_
        return signed_similarity(values, vectors, left / scale, right / scale)

    def _require_factor(self, name: str, error: type[Exception] = ValueError) -> None:
        check_is_fitted(self)
        eigen = _negative_eigen(self)
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
    stacked: Array = check_array(pairs, dtype=np.float64, allow_nd=True, ensure_2d=False)
    if stacked.ndim != 3 or stacked.shape[1:] != (2, len(M)):
        raise ValueError(f"pairs has shape {stacked.shape}, expected (n_pairs, 2, {len(M)})")
    differences = stacked[:, 0] - stacked[:, 1]
    form = np.einsum("ij,ij->i", differences @ M, differences)
    return -np.sign(form) * np.sqrt(np.abs(form))
