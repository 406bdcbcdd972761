"""What every linear metric learner offers: scikit-learn's transformer and metric-learn's vocabulary."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from math import sqrt
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import InvalidParameterError, validate_parameter_constraints
from sklearn.utils.validation import check_array, check_is_fitted

from mloml.arrays import Array

from .rows import takes_sparse, validate_rows

# An eigenvalue less negative than this, relative to the largest, counts as zero.
ROUNDING = 1e-13

# The learned distance of two vectors: ``metric(u, v, squared=False)``.
Metric = Callable[..., float]


def parameter_problem(learner: type[Any], name: str, value: Any) -> str:
    """Return in words what is wrong with a parameter's value, by scikit-learn's constraints; else ''."""
    constraints = getattr(learner, "_parameter_constraints", {})
    try:
        known = {name: constraints[name]} if name in constraints else {}
        validate_parameter_constraints(known, dict.fromkeys(known, value), learner.__name__)
    except InvalidParameterError as error:
        return str(error)
    return ""


def checked_pairs(pairs: ArrayLike, n_features: int) -> Array:
    """Return pairs of rows as an array (n, 2, d)."""
    stacked: Array = check_array(pairs, dtype=np.float64, allow_nd=True, ensure_2d=False)
    if stacked.ndim != 3 or stacked.shape[1:] != (2, n_features):
        raise ValueError(f"pairs has shape {stacked.shape}, expected (n_pairs, 2, {n_features})")
    return stacked


def metric_function(mapped_difference: Callable[[Array, Array], Array], n_features: int) -> Metric:
    """Return the metric as a function of two vectors, given what their difference is mapped to."""

    def metric(u: ArrayLike, v: ArrayLike, squared: bool = False) -> float:
        """Return the learned distance of two 1-D array-likes, or its square."""
        z = mapped_difference(_vector("u", u, n_features), _vector("v", v, n_features))
        square = float(z @ z)
        return square if squared else sqrt(square)

    return metric


def _vector(name: str, given: ArrayLike, n_features: int) -> Array:
    vector = np.atleast_1d(np.asarray(given, dtype=np.float64).squeeze())  # (1, d) and (d, 1) will do
    if vector.shape != (n_features,):
        shape = np.shape(given)
        raise ValueError(f"{name} has shape {shape}, expected a vector of {n_features} numbers")
    return vector


class LearnedDistance:
    """What a distance offers beside itself, in metric-learn's vocabulary."""

    def pair_distance(self, pairs: ArrayLike) -> Array:
        """Return the learned (not squared) distance of each pair; ``pairs`` is (n, 2, d)."""
        raise NotImplementedError

    def pair_score(self, pairs: ArrayLike) -> Array:
        """Return how close the rows of each pair are, the larger the closer: minus their distance."""
        return -self.pair_distance(pairs)


class MetricLearner(LearnedDistance, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):
    """A learned Mahalanobis metric ``D(u, v) = ||L (u - v)||²`` as a scikit-learn transformer.

    Subclasses learn ``components_`` (the factor ``L``, one row per output feature) in ``fit``;
    Euclidean distance after :meth:`transform` is then the learned distance.
    """

    components_: Array

    @abstractmethod
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn the metric from labelled rows."""

    def transform(self, X: ArrayLike) -> Array:
        """Map rows to the space in which Euclidean distance is the learned metric: ``X L'``."""
        check_is_fitted(self)
        rows: Array = validate_rows(self, X, reset=False)
        return rows @ self.components_.T

    def get_mahalanobis_matrix(self) -> Array:
        """Return ``M = L' L``."""
        check_is_fitted(self)
        return self.components_.T @ self.components_

    def pair_distance(self, pairs: ArrayLike) -> Array:
        """Return the learned (not squared) distance of each pair; ``pairs`` is (n, 2, d)."""
        check_is_fitted(self)
        stacked = checked_pairs(pairs, self.components_.shape[1])
        differences = (stacked[:, 0] - stacked[:, 1]) @ self.components_.T
        return np.sqrt(np.einsum("ij,ij->i", differences, differences))

    def get_metric(self) -> Metric:
        """Return the metric as a function of two vectors, for scikit-learn's ``metric=`` parameters.

        The function stays as it is when the learner goes on; ``squared=True`` gives squared distances.
        """
        check_is_fitted(self)
        components = self.components_.copy()
        return metric_function(lambda u, v: components @ (u - v), components.shape[1])

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def __sklearn_tags__(self) -> Tags:
        tags: Any = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = takes_sparse(self)
        return tags


def symmetric_root(M: Array) -> Array:
    """Return the symmetric ``L`` with ``L L = M``; eigenvalues below 0, which rounding leaves, count as 0.

    >>> symmetric_root(np.array([[4.0, 0.0], [0.0, 0.0]]))
    array([[2., 0.],
           [0., 0.]])
    """
    return root_of_eigen(*np.linalg.eigh((M + M.T) / 2))


def root_of_eigen(values: Array, vectors: Array) -> Array:
    """Return the same root from the eigenvalues and eigenvectors (columns) of ``M``."""
    return (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
