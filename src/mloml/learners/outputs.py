"""What a stack of metric layers offers: scikit-learn's transformer and metric-learn's vocabulary."""

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mloml.arrays import Array

from .base import LearnedDistance, Metric, checked_pairs, metric_function
from .layers import OpenStack, through
from .rows import validate_rows
from .stream import checked_row, learned, require_one_row


class StackOutputs(LearnedDistance, ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """What a learner with a stack makes of rows: ``layers_`` with ``activation`` between them."""

    activation: str
    n_features_in_: int
    scale_: float
    _state: Any
    _from_quadruplets = False

    @learned
    def layers_(self) -> Any:
        """Return the learned factors; the first takes the user's rows."""
        first, *others = self._state.factors()
        factors = [first / self.scale_, *(L.copy() for L in others)]
        return np.stack(factors) if len({L.shape for L in factors}) == 1 else factors

    @learned
    def _map(self) -> tuple[Any, int, float]:
        """Return the layers, how many are in use, and the scale: read at once, others may go on learning."""
        return self.layers_, self._state.depth, self.scale_

    @property
    def n_layers_(self) -> int:
        """How many layers are in use."""
        depth: int = self._map[1]
        return depth

    def transform(self, X: ArrayLike, layer: int | None = None) -> Array:
        """Return the linear output of metric layer ``layer`` (1 is the first); None: of the last in use."""
        check_is_fitted(self)
        return self._mapped(validate_rows(self, X, reset=False), layer)

    def transform_one(self, x: ArrayLike, layer: int | None = None) -> Array:
        """Map one row, (d,); exactly what ``transform([x], layer)[0]`` gives, at less cost."""
        check_is_fitted(self)
        if not issparse(x):
            return self._mapped(checked_row(self, x), layer)[0]
        require_one_row(x)
        one = self._mapped(validate_rows(self, x, reset=False), layer)
        return one if issparse(one) else one[0]

    def _mapped(self, rows: Any, layer: int | None = None) -> Array:
        layers, _, scale = known = self._map
        depth = self._checked_layer(layer, known)
        return through(layers[:depth], rows, self.activation) if depth else rows / scale

    def pair_distance(self, pairs: ArrayLike) -> Array:
        """Return the (not squared) distance of each pair at the last layer; ``pairs`` is (n, 2, d)."""
        check_is_fitted(self)
        stacked = checked_pairs(pairs, self.n_features_in_)
        mapped = self._mapped(stacked.reshape(-1, self.n_features_in_)).reshape(len(stacked), 2, -1)
        gaps = mapped[:, 0] - mapped[:, 1]
        return np.sqrt(np.einsum("ij,ij->i", gaps, gaps))

    def get_metric(self) -> Metric:
        """Return the distance at the last layer as a function of two vectors, see ``pair_distance``."""
        check_is_fitted(self)
        layers, depth, scale = self._map
        layers, activation = [L.copy() for L in layers[:depth]], self.activation

        def mapped_difference(u: Array, v: Array) -> Array:
            left, right = through(layers, np.stack([u, v]), activation) if layers else (u / scale, v / scale)
            return left - right

        return metric_function(mapped_difference, self.n_features_in_)

    def get_mahalanobis_matrix(self, layer: int | None = None) -> Array:
        """Return ``M = L'L`` of one metric layer (1 is the first): a metric on that layer's inputs.

        ``layer`` may be left out where there is only one.
        """
        check_is_fitted(self)
        layers, depth, scale = known = self._map
        if layer is None and depth > 1:
            raise ValueError(
                f"layer is None, expected an integer from 1 to {len(layers)}: each layer has its own M"
            )
        number = self._checked_layer(layer, known)
        L = layers[number - 1] if number else np.eye(self.n_features_in_) / scale
        return L.T @ L

    def _checked_layer(self, layer: int | None, known: tuple[Any, int, float]) -> int:
        """Return the number of a layer; 0 are the rows over the scale, where no layer may be in use."""
        layers, depth, _ = known
        least, n = int(not isinstance(self._state, OpenStack)), len(layers)
        if layer is None:
            return depth
        if isinstance(layer, bool) or not isinstance(layer, Integral) or not least <= layer <= n:
            raise ValueError(f"layer is {layer!r}, expected an integer from {least} to {n}")
        return int(layer)

    @property
    def components_(self) -> Array:
        """The single matrix of a stack of one layer, or of none."""
        check_is_fitted(self)
        layers, depth, scale = self._map
        if depth > 1:
            raise AttributeError(
                f"components_ does not exist: {depth} layers with {self.activation} between them "
                "are not a linear map; see layers_, or transform(X, layer=1) for the linear first layer"
            )
        return layers[0] if depth else np.eye(self.n_features_in_) / scale

    @property
    def _n_features_out(self) -> int:
        layers, depth, _ = self._map
        return len(layers[depth - 1]) if depth else self.n_features_in_
