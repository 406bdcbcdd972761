"""What a stack of metric layers makes of rows: its outputs, and the distances between them."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mloml.arrays import Array

from .base import LearnedDistance, Metric, checked_pairs, metric_function
from .one_row import NOT_FINITE, checked_sparse_row, one_row, wrong_length
from .sparse_rows import validate_rows
from .stack_state import activate


class StackOutputs(LearnedDistance, ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """The outputs of ``layers_`` with ``activation`` between them, for :class:`~mloml.learners.MLOML`."""

    layers_: Any
    activation: str
    n_features_in_: int

    def transform(self, X: ArrayLike, layer: int | None = None) -> Array:
        """Return the linear output of metric layer ``layer`` (1 is the first); None: of the last."""
        check_is_fitted(self)
        rows: Array = validate_rows(self, X, reset=False)
        return _through(self.layers_[: self._checked_layer(layer)], rows, self.activation)

    def transform_one(self, x: ArrayLike, layer: int | None = None) -> Array:
        """Map one row, (d,); exactly what ``transform([x], layer)[0]`` gives, at less cost."""
        layers = self.layers_[: self._checked_layer(layer)]
        if issparse(x):
            return _through(layers, checked_sparse_row(self, x), self.activation)[0]
        row = one_row(x)
        if row.size != self.n_features_in_:
            raise ValueError(wrong_length(self, row))
        if not np.isfinite(row).all():
            raise ValueError(NOT_FINITE)
        return _through(layers, row[np.newaxis], self.activation)[0]

    def pair_distance(self, pairs: ArrayLike) -> Array:
        """Return the (not squared) distance of each pair at the last layer; ``pairs`` is (n, 2, d)."""
        check_is_fitted(self)
        stacked = checked_pairs(pairs, self.n_features_in_)
        left, right = (_through(self.layers_, stacked[:, side], self.activation) for side in (0, 1))
        return np.sqrt(np.einsum("ij,ij->i", left - right, left - right))

    def get_metric(self) -> Metric:
        """Return the distance at the last layer as a function of two vectors, see ``pair_distance``."""
        check_is_fitted(self)
        layers, activation = self.layers_.copy(), self.activation

        def mapped_difference(u: Array, v: Array) -> Array:
            left, right = _through(layers, np.stack([u, v]), activation)
            return left - right

        return metric_function(mapped_difference, self.n_features_in_)

    def get_mahalanobis_matrix(self, layer: int) -> Array:
        """Return ``M = L'L`` of one metric layer (1 is the first): a metric on that layer's inputs."""
        check_is_fitted(self)
        L = self.layers_[self._checked_layer(layer) - 1]
        return L.T @ L

    def _checked_layer(self, layer: int | None) -> int:
        n = len(self.layers_)
        if layer is None:
            return n
        if isinstance(layer, bool) or not isinstance(layer, Integral) or not 1 <= layer <= n:
            raise ValueError(f"layer is {layer!r}, expected an integer from 1 to {n}")
        return int(layer)

    @property
    def components_(self) -> Array:
        """The single matrix of a stack of one layer."""
        check_is_fitted(self)
        if len(self.layers_) > 1:
            raise AttributeError(
                f"components_ does not exist: {len(self.layers_)} layers with {self.activation} between them "
                "are no linear map; see layers_, or transform(X, layer=1) for the linear first layer"
            )
        return self.layers_[0]

    @property
    def _n_features_out(self) -> int:
        return len(self.layers_[-1])


def _through(layers: Array, rows: Array, activation: str) -> Array:
    """Return the linear output of the last of some layers."""
    for L in layers[:-1]:
        rows = activate(rows @ L.T, activation)
    mapped: Array = rows @ layers[-1].T
    return mapped
