"""A learner that has stopped learning says so: steps that come to nothing, numbers beyond all bounds."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

WINDOW = 1000
"""Active steps that are judged together."""


class StepWatch:
    """Compares how many steps were active with how many were weak, in windows of at least WINDOW steps.

    Parameters are totals since the start, for one metric or for each layer of a stack.

    >>> watch = StepWatch()
    >>> watch.stalled(1200, 500), watch.stalled(2000, 1300), watch.stalled(2500, 1300)
    (False, False, True)
    """

    def __init__(self) -> None:
        self.told = False
        self._active: Any = 0
        self._weak: Any = 0

    def stalled(self, active: ArrayLike, weak: ArrayLike, least: int = WINDOW) -> bool:
        """Say whether, since a window was last full, more than half of the steps were weak."""
        active, weak = np.asarray(active), np.asarray(weak)
        steps, lost = active - self._active, weak - self._weak
        full = steps >= least
        self._active = np.where(full, active, self._active)
        self._weak = np.where(full, weak, self._weak)
        return bool(np.any(full & (2 * lost > steps)))


def warn_of_divergence(learner: Any, remedy: str) -> None:
    """Tell the user that learning stopped, and that what was learned before is kept."""
    warnings.warn(
        f"{type(learner).__name__} diverged in the scan after {learner.n_triplets_} triplets: it stays as it "
        f"was before the step that led beyond all bounds; try {remedy}",
        ConvergenceWarning,
        stacklevel=4,
    )
