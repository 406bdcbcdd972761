"""Errors of a fitted learner: 5-NN on what it maps rows to, or on the similarities it gives."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from mloml.arrays import Array, Codes
from mloml.experiments import knn

# What NumPy and the learners raise when a step size is too large for the data.
DIVERGED = (ArithmeticError, np.linalg.LinAlgError)


class Diverged(ArithmeticError):
    """The learner's output is not finite."""


class Rows:
    """Rows to take neighbours from and rows to classify, with their class codes.

    Parameters
    ----------
    X_fit, y_fit : the rows learnt from, which are also the neighbours
    X_score, y_score : the rows whose classes are predicted
    k : int
        Number of neighbours.
    """

    def __init__(self, X_fit: Array, y_fit: Codes, X_score: Array, y_score: Codes, k: int) -> None:
        self.X_fit, self.y_fit = X_fit, y_fit
        self.X_score, self.y_score = X_score, y_score
        self.k = k

    def mistakes(self, learner: Any, **options: Any) -> int:
        """Count the wrong predictions of a fitted learner.

        ``options`` go to ``transform`` (``layer=2``). A learner with ``similarity`` (OASIS, and a MOML whose
        metric has become indefinite) has no distance and is judged by that, the row to classify on the left.

        Raises
        ------
        Diverged
            When the learner's output is not finite or it declares itself ``diverged_``.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            if getattr(learner, "diverged_", False):
                raise Diverged(f"{type(learner).__name__} diverged")
            if hasattr(learner, "similarity"):
                similarity = _finite(learner.similarity(self.X_score, self.X_fit))
                predicted = knn.predict_by_similarity(similarity, self.y_fit, self.k)
            else:
                neighbours = _finite(learner.transform(self.X_fit, **options))
                rows = _finite(learner.transform(self.X_score, **options))
                predicted = knn.predict(neighbours, self.y_fit, rows, self.k)
        return int(np.sum(predicted != self.y_score))

    def error(self, learner: Any, **options: Any) -> float:
        """Return the share of wrong predictions; 1.0 when the learner diverged, never NaN."""
        try:
            return self.mistakes(learner, **options) / len(self.y_score)
        except DIVERGED:
            return 1.0

    def layer_errors(self, learner: Any) -> list[float] | None:
        """Return the error on the output of each metric layer, or None for a learner without layers."""
        if not hasattr(learner, "layers_"):
            return None
        return [self.error(learner, layer=layer) for layer in range(1, len(learner.layers_) + 1)]

    def scan_errors(self, learner: Any) -> list[float] | None:
        """Return the error after each scan of one training run, or None for a learner that makes no scans."""
        if not hasattr(learner, "iter_scans"):
            return None
        errors: list[float] = []
        try:
            errors.extend(
                self.error(scanned) for scanned in clone(learner).iter_scans(self.X_fit, self.y_fit)
            )
        except DIVERGED:
            errors += [1.0] * (learner.get_params()["scans"] - len(errors))
        return errors


def _finite(output: Array) -> Array:
    # Squared distances must be finite as well, hence the square root of the largest number.
    if not np.all(np.abs(output) < 1e150):
        raise Diverged("the output is not finite")
    return output
