"""RDML: regularised distance metric learning, a perceptron on pairs with projection onto the PSD cone."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from mloml.kernels.stack import layout
from mloml.learners.triplets import Rule

from .base import Array, MetricLearner
from .online import OnlineLearner, Triplets
from .roots import symmetric_root
from .signed_form import Eigen, SignedForm, has_negative
from .widening import widened_square


class RDML(SignedForm, OnlineLearner, MetricLearner):
    """Online regularised distance metric learning from pairs.

    With ``z`` the difference of a pair and ``s`` = +1 for a similar, -1 for a dissimilar one ::

        s (1 - z'Mz) > 0 :  M stays
        otherwise        :  M <- Proj_PSD(M - lam s z z')

    Only the step of a similar pair can leave the cone, and then by one negative eigenvalue, whose eigenpair
    is taken out again: that is the projection. All else costs O(d²).

    Parameters
    ----------
    lam : float, default=1e-3
        Step size, the λ of the paper's grid.
    init : {"zero", "identity"}, default="zero"
        Start of M: 0 as in the original, or I as in the layers of the multi-layer framework. From 0, with a
        small ``lam``, M is ``lam`` times a sum over dissimilar pairs: nearest neighbours do not depend on it.
    pairs : {"triplets", "adjacent"}, default="triplets"
        ``"triplets"``: each triplet gives (x, xp), then (x, xq). ``"adjacent"``: only that one of the two
        pairs whose samples follow each other in the stream.
    cone : {"project", "free"}, default="project"
        "free" leaves out the projection. ``M`` may become indefinite, which is no metric: neighbours are then
        found by the signed form ``(x - y)' M (x - y)``, see ``similarity``. It is not the published
        algorithm; it is here to find out what the paper's numbers were made with.
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
        The symmetric root of M, which takes the user's rows. It is computed when asked for, in O(d³).
    classes_, scale_, n_triplets_, n_updates_, n_cone_failures_, diverged_
        See :class:`~mloml.learners.online.OnlineLearner`; updates count pairs, cone failures projections.

    Notes
    -----
    Features should be of one size (``StandardScaler``), or rows of one length (``Normalizer``); the length of
    rows itself does not matter with ``scale="auto"``.

    No ``lam`` and ``init`` were good everywhere on the eight settings of ``benchmarks/defaults.py --choose``.
    The default is the best from zero, .01 below plain 5-NN in the mean; but on wine with rows of unit norm
    every ``lam`` from zero lost .13: a metric that starts at zero knows only directions that it has pushed.
    ``init="identity"`` lost nothing there, and up to .05 to .13 on the generated rows of unit norm. Choose
    both by cross-validation as in the example.

    ``n_cone_failures_`` counts projections, which from zero are many; what matters is that ``n_updates_``
    goes on growing.

    References
    ----------
    R. Jin, S. Wang, Y. Zhou. Regularized distance metric learning: theory and algorithm. NIPS, 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import GridSearchCV, cross_val_score
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), RDML(random_state=0), KNeighborsClassifier())
    >>> print(f"{cross_val_score(model, X, y).mean():.3f}")
    0.983
    >>> grid = {"rdml__lam": [1e-4, 1e-3, 1e-2, 1e-1], "rdml__init": ["zero", "identity"]}
    >>> search = GridSearchCV(model, grid)  # fit: tries all eight
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **OnlineLearner._parameter_constraints,
        "lam": [Interval(Real, 0, None, closed="left")],
        "init": [StrOptions({"zero", "identity"})],
        "pairs": [StrOptions({"triplets", "adjacent"})],
        "cone": [StrOptions({"project", "free"})],
    }

    step_parameter = "lam"

    _scan = "rdml.rdml_scan"

    def __init__(
        self,
        lam: float = 1e-3,
        *,
        init: str = "zero",
        pairs: str = "triplets",
        cone: str = "project",
        scale: str | float | None = "auto",
        scans: int = 20,
        shuffle: bool = True,
        random_state: Any = None,
        triplets: Rule = "released",
    ) -> None:
        self.lam = lam
        self.init = init
        self.pairs = pairs
        self.cone = cone
        self.scale = scale
        self.scans = scans
        self.shuffle = shuffle
        self.random_state = random_state
        self.triplets = triplets

    def _start(self, n_features: int, X: Array | None = None, y: NDArray[Any] | None = None) -> None:
        self._metric = np.eye(n_features) if self.init == "identity" else np.zeros((n_features, n_features))
        self._counters = np.zeros(layout.INTEGERS, dtype=np.int64)

    def _widen(self, n_features: int) -> None:
        self._metric = widened_square(self._metric, n_features, float(self.init == "identity"))

    def _learn(self, rows: Array, triplets: Triplets) -> None:
        from mloml.kernels.rdml import rdml_scan

        if self.diverged_:
            return
        settings = (self.pairs == "adjacent", self.cone == "project", float(self.lam))
        if rdml_scan(rows, triplets, self._metric, *settings, self._counters) < len(triplets):
            self._stop_beyond_bounds()

    _definite = "cone='project'"

    def _signed_eigen(self) -> Eigen | None:
        if self.cone == "project":
            return None
        values, vectors = np.linalg.eigh(self._metric)
        return (values, vectors) if has_negative(values) else None

    def get_mahalanobis_matrix(self) -> Array:
        """Return ``M``."""
        check_is_fitted(self)
        return self._metric / self.scale_ / self.scale_

    def _factor(self) -> Array:
        self._require_factor("components_", AttributeError)
        return symmetric_root(self._metric)
