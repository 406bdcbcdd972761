"""What the batch learners share: checked input with class codes, and fixed target neighbours."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from .base import Array, MetricLearner

Codes = NDArray[np.intp]


def labelled_rows(learner: MetricLearner, X: ArrayLike, y: ArrayLike) -> tuple[Array, Codes]:
    """Check parameters and input of ``learner``, set its ``classes_``; return the rows and class codes."""
    learner._validate_params()
    rows, labels = validate_data(learner, X, y, dtype=np.float64, order="C", ensure_min_samples=2)
    check_classification_targets(labels)
    learner.classes_, codes = np.unique(labels, return_inverse=True)
    return rows, codes.astype(np.intp, copy=False)


def require_pairs(learner: MetricLearner, codes: Codes) -> NDArray[np.intp]:
    """Return the class sizes, or say why there is nothing to learn from.

    Every method here compares rows of one class with rows of others: it needs two classes and
    at least one class with two rows. Classes of a single row are allowed beside such a class.
    """
    counts = np.bincount(codes)
    name = type(learner).__name__
    if counts.size < 2:
        raise ValueError(f"{name} needs rows of at least two classes; y has 1 class")
    if counts.max() < 2:
        raise ValueError(
            f"{name} needs a class with at least two rows; each of the {counts.size} classes has one"
        )
    return counts


def factor_of(M: Array) -> Array:
    """Return an ``L`` with ``L'L = M`` by eigenvalues; those below zero by rounding count as zero."""
    values, vectors = np.linalg.eigh(M)
    return np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
