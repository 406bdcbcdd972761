"""What every linear metric learner offers: scikit-learn's transformer and metric-learn's vocabulary."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

Array = NDArray[np.float64]


class MetricLearner(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):
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
        check_is_fitted(self, "components_")
        rows: Array = validate_data(self, X, dtype=np.float64, reset=False)
        return rows @ self.components_.T

    def get_mahalanobis_matrix(self) -> Array:
        """Return ``M = L' L``."""
        check_is_fitted(self, "components_")
        return self.components_.T @ self.components_

    def pair_distance(self, pairs: ArrayLike) -> Array:
        """Return the learned (not squared) distance of each pair; ``pairs`` is (n, 2, d)."""
        check_is_fitted(self, "components_")
        stacked: Array = check_array(pairs, dtype=np.float64, allow_nd=True, ensure_2d=False)
        n_features = self.components_.shape[1]
        if stacked.ndim != 3 or stacked.shape[1:] != (2, n_features):
            raise ValueError(f"pairs has shape {stacked.shape}, expected (n_pairs, 2, {n_features})")
        differences = (stacked[:, 0] - stacked[:, 1]) @ self.components_.T
        return np.sqrt(np.einsum("ij,ij->i", differences, differences))

    def get_metric(self) -> Callable[[ArrayLike, ArrayLike], float]:
        """Return the metric as a function of two vectors, for scikit-learn's ``metric=`` parameters."""
        check_is_fitted(self, "components_")
        components = self.components_.copy()

        def metric(u: ArrayLike, v: ArrayLike) -> float:
            return float(np.linalg.norm(components @ (np.asarray(u, float) - np.asarray(v, float))))

        return metric

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def __sklearn_tags__(self) -> Tags:
        tags: Any = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
