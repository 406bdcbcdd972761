"""SLMOML: passive-aggressive triplet learning under LogDet closeness (reconstructed from its description)."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from mloml.kernels.stack import layout
from mloml.learners.triplets import Rule

from .base import Array, MetricLearner
from .online import OnlineLearner, Triplets
from .roots import symmetric_root
from .widening import widened_square


class SLMOML(OnlineLearner, MetricLearner):
    """Online metric learning with LogDet closeness and a hinge on triplets.

    Neither text nor code of the original was at hand; its description (passive-aggressive, LogDet closeness,
    triplet hinge, aggressiveness C) determines this problem, with ``A = p p' - q q'`` ::

        M = argmin_{M PD}  D_ld(M, M_prev) + C [margin + tr(M A)]+

    solved by ``M⁻¹ = M_prev⁻¹ + tau A``: ``tau`` is the length at which the hinge becomes 0, at most ``C``.
    Written out through ``M_prev p`` and ``M_prev q`` the step costs O(d²), and M stays positive definite for
    every ``C``.

    Parameters
    ----------
    C : float, default=1e-3
        Aggressiveness, the largest step.
    margin : float, default=1.0
        By how much ``xq`` has to be farther away than ``xp``.
    scale : "auto", float or None, default="auto"
        What rows are divided by before anything is learned: a step size and the margin 1 mean something only
        when rows have a length near 1. "auto": the root mean square of their norms, of all rows in ``fit``,
        of the rows up to the first triplet in a stream. None: nothing. ``transform`` takes rows as they are.
    scans : int, default=20
        How often ``fit`` goes over the rows.
    shuffle : bool, default=True
        Whether each scan of ``fit`` puts the rows into a new random order.
    random_state : int, RandomState instance or None, default=None
        Seed of these orders.
    triplets : {"released", "latest"}, default="released"
        How partners are chosen, see :mod:`mloml.learners.triplets`.

    Attributes
    ----------
    components_ : array of shape (d, d)
        The symmetric root of M, which takes the user's rows and starts at the identity over ``scale_``. It is
        computed when asked for, in O(d³).
    classes_, scale_, n_triplets_, n_updates_, n_cone_failures_, diverged_
        See :class:`~mloml.learners.online.OnlineLearner`; no step leaves the cone.

    Notes
    -----
    Features should be of one size (``StandardScaler``), or rows of one length (``Normalizer``); the length of
    rows itself does not matter with ``scale="auto"``.

    The default ``C`` has the best mean over eight settings among those nowhere more than .01 below
    plain 5-NN (``benchmarks/defaults.py --choose``); 0.01 was .07 below on one of
    them. Choose it by cross-validation as in the example.

    ``n_updates_ / n_triplets_`` is the share of triplets that violate the margin.

    References
    ----------
    G. Zhong, Y. Zheng, S. Li, Y. Fu. SLMOML: online metric learning with global convergence. IEEE
    Transactions on Circuits and Systems for Video Technology, 2018.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import GridSearchCV, cross_val_score
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), SLMOML(random_state=0), KNeighborsClassifier())
    >>> print(f"{cross_val_score(model, X, y).mean():.3f}")
    0.955
    >>> search = GridSearchCV(model, {"slmoml__C": [1e-4, 1e-3, 1e-2, 1e-1]})  # fit: tries all four
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **OnlineLearner._parameter_constraints,
        "C": [Interval(Real, 0, None, closed="left")],
        "margin": [Interval(Real, 0, None, closed="neither")],
    }

    step_parameter = "C"

    _scan = "slmoml.slmoml_scan"

    def __init__(
        self,
        C: float = 1e-3,
        *,
        margin: float = 1.0,
        scale: str | float | None = "auto",
        scans: int = 20,
        shuffle: bool = True,
        random_state: Any = None,
        triplets: Rule = "released",
    ) -> None:
        self.C = C
        self.margin = margin
        self.scale = scale
        self.scans = scans
        self.shuffle = shuffle
        self.random_state = random_state
        self.triplets = triplets

    def _start(self, n_features: int, X: Array | None = None, y: NDArray[Any] | None = None) -> None:
        self._metric = np.eye(n_features)
        self._counters = np.zeros(layout.INTEGERS, dtype=np.int64)

    def _widen(self, n_features: int) -> None:
        self._metric = widened_square(self._metric, n_features)

    def _learn(self, rows: Array, triplets: Triplets) -> None:
        from mloml.kernels.slmoml import slmoml_scan

        if self.diverged_:
            return
        settings = (float(self.C), float(self.margin))
        if slmoml_scan(rows, triplets, self._metric, *settings, self._counters) < len(triplets):
            self._stop_beyond_bounds()

    def _factor(self) -> Array:
        return symmetric_root(self._metric)
