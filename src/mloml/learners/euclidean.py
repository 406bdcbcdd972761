"""The baseline of every table: no learning, Euclidean distance on the rows as they are."""

from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from .base import MetricLearner
from .rows import validate_rows


class Euclidean(MetricLearner):
    """Euclidean distance as an estimator, ``L = I``.

    ``fit`` only checks its input. On rows of unit length the neighbours are those of cosine similarity.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_features)
        The identity.
    n_features_in_ : int
        Number of features seen in ``fit``.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import Normalizer
    >>> from mloml import Euclidean
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(Normalizer(), Euclidean(), KNeighborsClassifier(5))
    >>> print(f"{cross_val_score(model, X, y).mean():.3f}")
    0.782
    """

    _parameter_constraints: dict = {}

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Check the rows and take the identity as metric."""
        self._validate_params()
        rows, _ = validate_rows(self, X, y)
        self.components_ = np.eye(rows.shape[1])
        return self
