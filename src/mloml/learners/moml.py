"""MOML: Mahalanobis-based online metric learning, the paper's metric layer (Section III-B)."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions

from mloml.constraints import Rule
from mloml.kernels import layout
from mloml.kernels.padding import padded, with_padding, zeros

from .base import Array, MetricLearner
from .online import OnlineLearner, Triplets
from .roots import symmetric_root
from .stack_state import Layer, Propagation, StackState, choose_cone


class MOML(OnlineLearner, MetricLearner):
    """Online metric learning with a closed-form step on the metric.

    For each triplet, with ``p = x - xp``, ``q = x - xq`` and ``A = p p' - q q'``, the objective (Eq. 4) is::

        min_M  1/2 ||M - M_prev||²_F + gamma [1 + tr(M A)]+ ,   M positive semi-definite

    and where the hinge at ``M_prev`` is positive the step (Eq. 6) is ``M = M_prev - gamma A``. The default
    factor ``L`` with ``M = L'L`` follows in O(d²) without turning; ``MOML`` is exactly a stack of one layer.

    Parameters
    ----------
    gamma : float, default=1e-2
        Step size.
    variant : {"paper", "pa"}, default="paper"
        "paper" takes Eq. 6 as it stands; "pa" the exact minimiser without the cone,
        ``M_prev - min(gamma, hinge / ||A||²) A``, which never overshoots the margin.
    factor : {"frame", "cholesky", "symmetric", "none"}, default="frame"
        Which ``L`` is kept: the frame-preserving root, the Cholesky factor, the symmetric root (O(d³) per
        step), or none during learning (the fastest; ``components_`` is the symmetric root at the end).
    cone : {"shrink", "clip", "skip"} or None, default=None
        What to do with a step that would leave the cone of positive definite matrices: shorten it to 0.9 of
        the way to the border, clip eigenvalues at 1e-8 (O(d³); only for "symmetric" and "none", where it is
        the default), or leave it out. None: the factor's default, "shrink" for "frame" and "cholesky".
    scans, shuffle, random_state, triplets
        See :class:`~mloml.learners.opml.OPML`.

    Attributes
    ----------
    components_ : array of shape (d, d)
        The factor ``L``; starts at the identity.
    n_cone_failures_ : int
        Steps that would have left the cone.
    diverged_ : bool
        Whether learning had to stop because the numbers grew beyond all bounds.
    classes_, n_triplets_, n_updates_
        See :class:`~mloml.learners.online.OnlineLearner`.

    References
    ----------
    W. Li, Y. Liu, J. Huo, Y. Shi, Y. Gao, L. Wang, J. Luo. A multilayer framework for online metric
    learning. IEEE Transactions on Neural Networks and Learning Systems, 2022 (arXiv 1805.05510).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import Normalizer
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_pipeline(Normalizer(), MOML(gamma=1e-2, random_state=0), KNeighborsClassifier())
    >>> print(f"{cross_val_score(model, X, y).mean():.2f}")
    0.98
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **OnlineLearner._parameter_constraints,
        "gamma": [Interval(Real, 0, None, closed="left")],
        "variant": [StrOptions(set(layout.VARIANTS))],
        "factor": [StrOptions({"frame", "cholesky", "symmetric", "none"})],
        "cone": [StrOptions(set(layout.POLICIES)), None],
    }

    def __init__(
        self,
        gamma: float = 1e-2,
        *,
        variant: str = "paper",
        factor: str = "frame",
        cone: str | None = None,
        scans: int = 20,
        shuffle: bool = True,
        random_state: Any = None,
        triplets: Rule = "released",
    ) -> None:
        self.gamma = gamma
        self.variant = variant
        self.factor = factor
        self.cone = cone
        self.scans = scans
        self.shuffle = shuffle
        self.random_state = random_state
        self.triplets = triplets

    def _start(self, n_features: int, X: Array | None = None, y: NDArray[Any] | None = None) -> None:
        cone = choose_cone(self.factor, self.cone)
        self.diverged_ = False
        self._state: StackState | MetricState
        if self.factor == "none":
            self._state = MetricState(n_features, float(self.gamma), cone, self.variant)
        else:
            layer = Layer(self.factor, float(self.gamma), cone, self.variant)
            self._state = StackState(n_features, [layer])

    def _arrange(self, rows: Array) -> Array:
        return with_padding(rows)

    def _learn(self, rows: Array, triplets: Triplets) -> None:
        if not self.diverged_ and not self._state.learn(rows, triplets, Propagation()):
            self.diverged_ = True
            warn_of_divergence(self, "rows of a smaller norm")

    def _finish(self) -> None:
        self.components_ = self._state.layers[0]
        counts = self._state.counts[0]
        self.n_updates_, self.n_cone_failures_ = int(counts[layout.UPDATES]), int(counts[layout.FAILURES])


class MetricState:
    """The metric alone, without a factor, and a certified lower bound of its least eigenvalue."""

    def __init__(self, n_features: int, gamma: float, cone: str, variant: str) -> None:
        d, m = n_features, padded(n_features)
        self.n_features = n_features
        self.gamma, self.cone, self.variant = gamma, cone, variant
        self.M = zeros(m, d)
        self.M[range(d), range(d)] = 1.0
        self.bound = np.array([0.999])
        self.counts = np.zeros((1, layout.INTEGERS), dtype=np.int64)

    @property
    def layers(self) -> Array:
        """The symmetric root of the metric as learned so far, (1, d, d)."""
        d = self.n_features
        return symmetric_root(self.M[:d, :d])[np.newaxis]

    def learn(self, rows: Array, triplets: Triplets, how: Propagation) -> bool:
        """Run one compiled scan; False when it had to stop."""
        from mloml.kernels.moml import moml_scan

        d, m = self.n_features, len(self.M)
        data = with_padding(rows)
        choice = (layout.POLICIES.index(self.cone), layout.VARIANTS.index(self.variant))
        room = zeros(layout.ROWS, d)
        work = zeros(2, m, d)
        done = moml_scan(
            data, triplets, self.M, room, self.bound, self.counts[0], self.gamma, *choice, work, d
        )
        return bool(done == len(triplets))


def warn_of_divergence(learner: Any, remedy: str) -> None:
    """Tell the user that learning stopped, and that what was learned before is kept."""
    warnings.warn(
        f"{type(learner).__name__} diverged in the scan after {learner.n_triplets_} triplets: it stays as it "
        f"was before the step that led beyond all bounds; try {remedy}",
        ConvergenceWarning,
        stacklevel=4,
    )
