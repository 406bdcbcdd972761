"""LEGO: online metric learning from pairs with target distances, kept positive definite by LogDet."""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _num_samples

from mloml.kernels.stack import layout
from mloml.learners.triplets import Rule, distance_percentiles

from .base import Array, MetricLearner
from .online import OnlineLearner, Triplets
from .targets import FEWEST_ROWS, two_numbers
from .widening import widened_square


class LEGO(OnlineLearner, MetricLearner):
    """LogDet exact gradient online: each pair is drawn towards a target distance.

    A triplet gives the pair (x, xp), whose squared distance should come to ``lower``, and then (x, xq), which
    should come to ``upper``. With ``z`` the difference and ``y`` the target of a pair, the step is ::

        M = argmin_{M PD}  tr(M M_prev⁻¹) - logdet(M M_prev⁻¹) + eta/2 (z'Mz - y)²
          = M_prev - c (M_prev z)(M_prev z)' / (1 + c ŷ),    ŷ = z'M_prev z,  c = eta (ȳ - y)

    where the new distance ``ȳ = z'Mz`` is the positive root of ``eta ŷ ȳ² + (1 - eta y ŷ) ȳ - ŷ = 0``. The
    step is taken on the factor, ``L -= k (L z)(M z)'``, in O(d²). M stays positive definite for every
    ``eta``.

    Parameters
    ----------
    eta : float, default=1e-3
        Weight of the loss.
    targets : "percentiles" or (lower, upper), default="percentiles"
        Target squared distances of similar and dissimilar pairs, in the units of the user's rows.
        ``"percentiles"`` takes them from the distances between the rows of ``fit`` (at most 2000 of them), so
        it is not strictly online; ``partial_fit`` takes them from the rows of its first call, which must be
        at least 7.
    percentiles : (float, float), default=(5, 95)
        Which percentiles.
    gate : bool, default=False
        Move a pair only when it violates its target: similar farther, dissimilar nearer.
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
        The factor ``L``, which takes the user's rows; starts at the identity over ``scale_``.
    targets_ : (float, float)
        The target squared distances in use, between the user's rows. The distances that are learned are
        those over ``scale_``, and so are the targets that they are drawn to.
    classes_, scale_, n_triplets_, n_updates_, n_cone_failures_, diverged_
        See :class:`~mloml.learners.online.OnlineLearner`; updates count pairs, and no step leaves the cone.

    Notes
    -----
    Features should be of one size (``StandardScaler``), or rows of one length (``Normalizer``); the length of
    rows itself does not matter with ``scale="auto"``.

    The default ``eta`` has the best mean over eight settings among those nowhere more than .01 below
    plain 5-NN (``benchmarks/defaults.py --choose``); 0.01 was .07 below on one of
    them. Choose it by cross-validation as in the example.

    Without ``gate`` both pairs of every triplet are moved, so ``n_updates_`` near twice ``n_triplets_`` is as
    it should be; fewer says that pairs coincide under the metric.

    References
    ----------
    P. Jain, B. Kulis, I. Dhillon, K. Grauman. Online metric learning and fast similarity search. NIPS, 2008.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import GridSearchCV, cross_val_score
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), LEGO(random_state=0), KNeighborsClassifier())
    >>> print(f"{cross_val_score(model, X, y).mean():.3f}")
    0.972
    >>> search = GridSearchCV(model, {"lego__eta": [1e-4, 1e-3, 1e-2, 1e-1]})  # fit: tries all four
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **OnlineLearner._parameter_constraints,
        "eta": [Interval(Real, 0, None, closed="left")],
        "targets": [StrOptions({"percentiles"}), "array-like"],
        "percentiles": ["array-like"],
        "gate": ["boolean"],
    }

    step_parameter = "eta"

    _scan = "lego.lego_scan"

    def __init__(
        self,
        eta: float = 1e-3,
        *,
        targets: str | ArrayLike = "percentiles",
        percentiles: tuple[float, float] = (5, 95),
        gate: bool = False,
        scale: str | float | None = "auto",
        scans: int = 20,
        shuffle: bool = True,
        random_state: Any = None,
        triplets: Rule = "released",
    ) -> None:
        self.eta = eta
        self.targets = targets
        self.percentiles = percentiles
        self.gate = gate
        self.scale = scale
        self.scans = scans
        self.shuffle = shuffle
        self.random_state = random_state
        self.triplets = triplets

    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Go on learning from rows that arrive now; the first call may have to set the targets."""
        if not hasattr(self, "_stream"):
            self._require_rows(_num_samples(X))
        return super().partial_fit(X, y, classes)

    def _start_stream(self, X: Array, y: NDArray[Any] | None) -> None:
        self._require_rows(len(X))
        super()._start_stream(X, y)

    def _require_rows(self, count: int) -> None:
        if isinstance(self.targets, str) and count < FEWEST_ROWS:
            raise ValueError(
                f"targets='percentiles' needs at least {FEWEST_ROWS} rows in the first call of partial_fit, "
                f"got {count} sample(s); give targets=(lower, upper) for a stream"
            )

    def _start(self, n_features: int, X: Array | None = None, y: NDArray[Any] | None = None) -> None:
        self.targets_ = self._find_targets(X)
        self._L = np.eye(n_features)
        self._counters = np.zeros(layout.INTEGERS, dtype=np.int64)

    def _find_targets(self, X: Array | None) -> tuple[float, float]:
        if isinstance(self.targets, str):
            low, high = two_numbers("percentiles", self.percentiles, 100.0)
            assert X is not None  # only explicit targets do without rows
            lower, upper = distance_percentiles(X, (low, high))
            return float(lower), float(upper)
        return two_numbers("targets", self.targets)

    def _widen(self, n_features: int) -> None:
        self._L = widened_square(self._L, n_features)

    def _learn(self, rows: Array, triplets: Triplets) -> None:
        from mloml.kernels.lego import lego_scan

        if self.diverged_:
            return
        lower, upper = (target / self.scale_ / self.scale_ for target in self.targets_)
        settings = (lower, upper, bool(self.gate), float(self.eta))
        if lego_scan(rows, triplets, self._L, *settings, self._counters) < len(triplets):
            self._stop_beyond_bounds()

    def _factor(self) -> Array:
        return self._L
