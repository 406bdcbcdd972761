"""What the batch learners share: checked input, rows by class, and fixed target neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets
from threadpoolctl import ThreadpoolController

from mloml.kernels.neighbours import nearest_of_class

from .base import Array, MetricLearner
from .sparse_rows import validate_rows

Codes = NDArray[np.intp]


@dataclass(frozen=True)
class ByClass:
    """Rows sorted by class, in their given order within a class; ``starts[c]:starts[c + 1]`` are class c."""

    X: Array
    starts: NDArray[np.intp]

    @classmethod
    def of(cls, X: Array, codes: Codes) -> ByClass:
        """Sort the rows by their class codes."""
        starts = np.concatenate([[0], np.cumsum(np.bincount(codes))]).astype(np.intp)
        return cls(np.ascontiguousarray(X[np.argsort(codes, kind="stable")]), starts)

    @property
    def codes(self) -> Codes:
        """The class of each sorted row."""
        return np.repeat(np.arange(self.starts.size - 1), np.diff(self.starts))

    def target_neighbours(self, n_neighbors: int) -> NDArray[np.intp]:
        """Return the nearest rows of each row's own class, -1 for rows that are alone in theirs.

        The number of targets is lowered to the size of the smallest class minus one; classes of a single row,
        which can have no target, do not lower it.
        """
        sizes = np.diff(self.starts)
        targets = np.empty((len(self.X), min(n_neighbors, int(sizes[sizes > 1].min()) - 1)), dtype=np.intp)
        nearest_of_class(self.X, self.starts, targets)
        return targets


@cache
def _thread_pools() -> ThreadpoolController:
    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[object]:
    """Make matrix products independent of how many threads BLAS may use, to the last bit."""
    return _thread_pools().limit(limits=1, user_api="blas")


def labelled_rows(learner: MetricLearner, X: ArrayLike, y: ArrayLike) -> tuple[Array, Codes]:
    """Check parameters and input of ``learner``, set its ``classes_``; return the rows and class codes."""
    learner._validate_params()
    rows, labels = validate_rows(learner, X, y, order="C", ensure_min_samples=2)
    check_classification_targets(labels)
    learner.classes_, codes = np.unique(labels, return_inverse=True)
    return rows, codes.astype(np.intp, copy=False)


def labelled_rows_of_all(models: Sequence[MetricLearner], X: ArrayLike, y: ArrayLike) -> tuple[Array, Codes]:
    """Do as :func:`labelled_rows` for learners that differ in their parameters only; check the input once."""
    first, *others = models
    rows, codes = labelled_rows(first, X, y)
    learned = ("classes_", "n_features_in_", "feature_names_in_")
    for model in others:
        model._validate_params()
        for name in learned:
            if hasattr(first, name):
                setattr(model, name, getattr(first, name))
    return rows, codes


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
