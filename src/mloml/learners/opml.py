"""OPML: one-pass metric learning with a closed-form step on the factor (Li et al. 2018)."""

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
from .sparse_rows import SparseRows
from .widening import widened_square


class OPML(OnlineLearner, MetricLearner):
    """One-pass closed-form solution for online metric learning.

    For each triplet, with ``p = x - xp``, ``q = x - xq`` and ``A = p p' - q q'``, the objective is::

        min_L  1/2 ||L - L_prev||²_F + gamma/2 [||L p||² + 1 - ||L q||²]+

    and while the hinge at ``L_prev`` is positive the step is ``L = L_prev (I + gamma A)^-1``, the
    stationary point of the active side. The inverse is written out (``A`` has rank 2), so a step costs
    O(d²) and ``M = L'L`` is a metric by construction.

    Where differences are so long that ``I + gamma A`` is not positive definite, or nearly so, that point
    does not exist. The step is then split: ``p`` is drawn together in full, the push along ``q`` shortened::

        L = L_prev (I + gamma p p' - g_q q q')^-1,   g_q = min(gamma, 0.9 / s'),
        s' = q' (I + gamma p p')^-1 q

    so that the push multiplies the determinant of ``L`` by 10 at most. No step is left out.

    Parameters
    ----------
    gamma : float, default=1e-4
        Weight of the hinge. Shortened steps are counted in ``n_cone_failures_``; rows of unit norm and
        ``gamma < 0.225`` never lead to one. ``gamma`` times the squared length of a difference should stay
        well below 1, which the default sees to with ``scale="auto"``: pushes multiply ``L``, so where they
        are longer than pulls it may grow beyond all bounds, within some 1e5 rows of unit norm at 0.1, and
        within some 50 steps where every push has to be shortened. Learning then stops with a warning.
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
    classes_, scale_, n_triplets_, n_updates_, n_cone_failures_, diverged_
        See :class:`~mloml.learners.online.OnlineLearner`.

    Notes
    -----
    Features should be of one size (``StandardScaler``), or rows of one length (``Normalizer``); the length of
    rows itself does not matter with ``scale="auto"``.

    The default ``gamma`` has the best mean over twelve settings, of 1e-5, 3e-5, 1e-4, 3e-4 and 1e-3, among
    those nowhere more than .008 below plain 5-NN (``benchmarks/defaults.py --choose``). Steps multiply
    ``L``, so a ``gamma`` that is too large does more harm than in MOML: at 0.01 the loss on the
    generated set of that benchmark, rows of unit norm, was .14. On four settings that had no part in the
    choice the default gained .03 and .04 on two and lost less than .003 on two (``benchmarks/defaults.py
    --repeats 5``, "judged on"). An earlier default, 3e-4, had been chosen on eight of the twelve and failed
    on another. Choose ``gamma`` by cross-validation as in the example.

    Rows of unit norm never shorten a push at ``gamma < 0.225``: ``n_cone_failures_`` above 0 says that
    ``gamma`` is too large for the rows.

    References
    ----------
    W. Li, Y. Gao, L. Wang, L. Zhou, J. Huo, Y. Shi. OPML: A one-pass closed-form solution for online metric
    learning. Pattern Recognition, 2018.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import GridSearchCV, cross_val_score
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), OPML(random_state=0), KNeighborsClassifier())
    >>> print(f"{cross_val_score(model, X, y).mean():.3f}")
    0.955
    >>> search = GridSearchCV(model, {"opml__gamma": [1e-4, 1e-3, 1e-2, 1e-1]})  # fit: tries all four
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **OnlineLearner._parameter_constraints,
        "gamma": [Interval(Real, 0, None, closed="left")],
    }

    step_parameter = "gamma"

    _scan = "opml.opml_scan"

    _takes_sparse = True  # O(d non-zeros) a step

    def __init__(
        self,
        gamma: float = 1e-4,
        *,
        scale: str | float | None = "auto",
        scans: int = 20,
        shuffle: bool = True,
        random_state: Any = None,
        triplets: Rule = "released",
    ) -> None:
        self.gamma = gamma
        self.scale = scale
        self.scans = scans
        self.shuffle = shuffle
        self.random_state = random_state
        self.triplets = triplets

    def _start(self, n_features: int, X: Array | None = None, y: NDArray[Any] | None = None) -> None:
        self._L = np.eye(n_features)
        self._counters = np.zeros(layout.INTEGERS, dtype=np.int64)

    def _widen(self, n_features: int) -> None:
        self._L = widened_square(self._L, n_features)

    def _learn(self, rows: Array, triplets: Triplets) -> None:
        from mloml.kernels.opml import opml_scan

        if self.diverged_:
            return
        rest = (triplets, self._L, float(self.gamma), self._counters)
        if isinstance(rows, SparseRows):
            from mloml.kernels.sparse_square import sparse_opml_scan

            done = sparse_opml_scan(rows.data, rows.indices, rows.starts, *rest)
        else:
            done = opml_scan(rows, *rest)
        if done < len(triplets):
            self._stop_beyond_bounds()

    def _factor(self) -> Array:
        return self._L
