"""MOML: Mahalanobis-based online metric learning, the paper's metric layer (Section III-B)."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from mloml.kernels.padding import with_padding
from mloml.kernels.stack import layout
from mloml.learners.triplets import Rule

from .base import Array, MetricLearner
from .diagonal_state import DiagonalState
from .low_rank_state import LowRankState, first_factor
from .metric_form import require_possible
from .metric_state import MetricState
from .online import OnlineLearner, Triplets
from .signed_form import Eigen, SignedForm
from .stack_state import Layer, Propagation, StackState, choose_cone, scan_name, step_counts
from .stalling import warn_of_divergence

FORWARD = Propagation()


class MOML(SignedForm, OnlineLearner, MetricLearner):
    """Online metric learning with a closed-form step on the metric.

    For each triplet, with ``p = x - xp``, ``q = x - xq`` and ``A = p p' - q q'``, the objective (Eq. 4) is::

        min_M  1/2 ||M - M_prev||²_F + gamma [1 + tr(M A)]+ ,   M positive semi-definite

    and where the hinge at ``M_prev`` is positive the step (Eq. 6) is ``M = M_prev - gamma A``: a push along
    ``q`` and a pull on ``p``. The default factor ``L`` with ``M = L'L`` follows in O(d²) and keeps its axes;
    ``MOML`` is exactly a stack of one layer.

    A pull that is too long would leave the cone of positive definite matrices. The default policy, "split",
    always takes the whole push and shortens only the pull, to::

        g_p = max(0, min(gamma, (1 - cone_keep)/s, 1/s - cone_floor/||p||²)),  s = p'(M + gamma q q')^-1 p

    so that no step is refused and learning never comes to a stop at the border.

    Parameters
    ----------
    gamma : float, default=1e-4
        Step size. The default is cautious: 1e-3 learns faster, and follows a stream that changes sooner, but
        lost .09 to plain 5-NN on one of the settings below. 0.01 and more can lose on rows of unit norm with
        many noisy features.
    variant : {"paper", "pa"}, default="paper"
        "paper" takes Eq. 6 as it stands; "pa" the exact minimiser without the cone,
        ``M_prev - min(gamma, hinge / ||A||²) A``, which never overshoots the margin.
    factor : {"frame", "cholesky", "symmetric", "none"} or None, default=None
        Which ``L`` is kept: the frame-preserving root, the Cholesky factor, the symmetric root (O(d³) per
        step), or none during learning (the fastest; ``components_`` is the symmetric root of ``M``). None:
        "frame", or "none" where ``cone`` is "free".
    cone : {"split", "shrink", "clip", "skip", "free"} or None, default=None
        What to do with a step that would leave the cone of positive definite matrices. None: the factor's
        default, "split" for "frame" and "cholesky", "clip" for "symmetric" and "none".

        - "split": the whole push and a shortened pull, as above. Only for "frame" and "cholesky".
        - "shrink": the whole step, to 0.9 of the way to the border. The smallest eigenvalue falls by ten each
          time, until nearly every step is refused.
        - "skip": no step.
        - "clip": eigenvalues below 1e-8 become 1e-8, O(d³). Only for "symmetric" and "none".
        - "free": Eq. 6 as printed. ``M`` may become indefinite, which is no metric: neighbours are then found
          by the signed form ``(x - y)' M (x - y)``, see ``similarity``. Only without a factor.
    cone_keep : float, default=0.1
        Under "split", the share of the determinant of ``M + gamma q q'`` that a pull leaves at least.
    cone_floor : float, default=0.1
        Under "split", how far a direction that is pulled on may be squeezed: a pull ends where ``p'M^-1 p``
        reaches ``||p||² / cone_floor``. 0: no such limit.
    metric : {"full", "diagonal"}, default="full"
        "diagonal" learns one weight per feature, for very many features and for sparse rows: O(d) a step,
        O(non-zeros) for CSR rows, by the split rule on each weight, see :mod:`mloml.kernels.diagonal`. In
        rows of many features each entry is small, so ``gamma`` has to be larger than for a full metric, 1 or
        10 for texts. ``components_`` and ``M`` are sparse matrices then. It has no ``factor``, and no
        ``cone`` but "split".
    n_components : int or None, default=None
        Rank of the metric: ``components_`` is (k, d) and ``transform`` gives k columns. A step costs O(k d),
        O(k non-zeros) for CSR rows, and is the closed-form step on ``L`` of :mod:`mloml.kernels.low_rank`;
        it has no ``factor``, ``cone`` or ``variant`` to choose. None: d.
    init : {"pca", "random"}, default="pca"
        Where a metric of low rank starts: at the principal axes of the rows of the first call, or at random
        orthonormal rows, scaled so that rows keep their mean squared distance. Rows that have fewer than k
        axes, as the first one of a stream does, are helped out by random ones.
    scale, scans, shuffle, random_state, triplets
        See :class:`~mloml.learners.opml.OPML`.

    Attributes
    ----------
    components_ : array of shape (d, d), or (n_components, d)
        The factor ``L``, which takes the user's rows; starts at the identity over ``scale_``. An indefinite
        ``M`` has none.
    feature_weights_ : array of shape (d,)
        The diagonal of ``M``, on the user's rows; only with ``metric="diagonal"``.
    n_cone_failures_ : int
        Steps that would have left the cone; under "split", shortened pulls; under "free", 0, since every step
        is taken as it is.
    diverged_ : bool
        Whether learning had to stop because the numbers grew beyond all bounds.
    classes_, scale_, n_triplets_, n_updates_
        See :class:`~mloml.learners.online.OnlineLearner`.

    Notes
    -----
    Features should be of one size (``StandardScaler``), or rows of one length (``Normalizer``); the length of
    rows itself does not matter with ``scale="auto"``.

    The default ``gamma`` has the best mean over twelve settings, of 1e-5, 3e-5, 1e-4, 3e-4 and 1e-3, among
    those nowhere more than .008 below plain 5-NN (``benchmarks/defaults.py --choose``). It is safe rather
    than good: on four settings that had no part in the choice it gained .02 on two and stayed within .002 of
    plain 5-NN on two (``benchmarks/defaults.py --repeats 5``, "judged on"). An earlier default, 1e-3, had
    been chosen on eight of the twelve and failed on others. So choose it by cross-validation as in the
    example.

    ``n_updates_ / n_triplets_`` is the share of triplets that violate the margin; ``n_cone_failures_`` near
    ``n_updates_`` says that most pulls are cut short, as happens with ``gamma`` too large for the rows.

    References
    ----------
    W. Li, Y. Liu, J. Huo, Y. Shi, Y. Gao, L. Wang, J. Luo. A multilayer framework for online metric
    learning. IEEE Transactions on Neural Networks and Learning Systems, 2022 (arXiv 1805.05510).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import GridSearchCV, cross_val_score
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), MOML(random_state=0), KNeighborsClassifier())
    >>> print(f"{cross_val_score(model, X, y).mean():.3f}")
    0.949
    >>> search = GridSearchCV(model, {"moml__gamma": [1e-4, 1e-3, 1e-2, 1e-1]})  # fit: tries all four
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **OnlineLearner._parameter_constraints,
        "gamma": [Interval(Real, 0, None, closed="left")],
        "variant": [StrOptions(set(layout.VARIANTS))],
        "factor": [StrOptions({"frame", "cholesky", "symmetric", "none"}), None],
        "cone": [StrOptions(set(layout.POLICIES)), None],
        "cone_keep": [Interval(Real, 0, 1, closed="neither")],
        "cone_floor": [Interval(Real, 0, 1, closed="left")],
        "metric": [StrOptions({"full", "diagonal"})],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "init": [StrOptions({"pca", "random"})],
    }

    def __init__(
        self,
        gamma: float = 1e-4,
        *,
        variant: str = "paper",
        factor: str | None = None,
        cone: str | None = None,
        cone_keep: float = 0.1,
        cone_floor: float = 0.1,
        metric: str = "full",
        n_components: int | None = None,
        init: str = "pca",
        scale: str | float | None = "auto",
        scans: int = 20,
        shuffle: bool = True,
        random_state: Any = None,
        triplets: Rule = "released",
    ) -> None:
        self.gamma = gamma
        self.variant = variant
        self.factor = factor
        self.cone = cone
        self.cone_keep = cone_keep
        self.cone_floor = cone_floor
        self.metric = metric
        self.n_components = n_components
        self.init = init
        self.scale = scale
        self.scans = scans
        self.shuffle = shuffle
        self.random_state = random_state
        self.triplets = triplets

    _definite = "cone='split'"

    def _signed_eigen(self) -> Eigen | None:
        state = self._state
        return state.eigen if isinstance(state, MetricState) and state.is_indefinite else None

    def get_mahalanobis_matrix(self) -> Array:
        """Return ``M``."""
        check_is_fitted(self)
        state = self._state
        if isinstance(state, MetricState):
            return state.metric / self.scale_ / self.scale_
        return super().get_mahalanobis_matrix()

    @property
    def feature_weights_(self) -> Array:
        """The diagonal of ``M`` on the user's rows, for ``metric="diagonal"``."""
        check_is_fitted(self)
        if not isinstance(self._state, DiagonalState):
            raise AttributeError("feature_weights_ exists only with metric='diagonal'; see components_")
        return self._state.w / self.scale_ / self.scale_

    def _start(self, n_features: int, X: Array | None = None, y: NDArray[Any] | None = None) -> None:
        require_possible(self, n_features)
        factor = self.factor or ("none" if self.cone == "free" else "frame")
        cone = choose_cone(factor, self.cone)
        self.diverged_ = False
        keep, floor = float(self.cone_keep), float(self.cone_floor)
        self._state: StackState | MetricState | DiagonalState | LowRankState
        if self.metric == "diagonal":
            self._state = DiagonalState(n_features, float(self.gamma), keep, floor, self.variant)
        elif self.n_components is not None:
            start = first_factor(X, self.n_components, self.init, self.random_state)
            self._state = LowRankState(start, float(self.gamma))
        elif factor == "none":
            self._state = MetricState(n_features, float(self.gamma), cone, self.variant)
        else:
            layer = Layer(factor, float(self.gamma), cone, self.variant, keep=keep, floor=floor)
            self._state = StackState(n_features, [layer])

    _starts_alike = False  # the step is part of the state
    _form_parameters = ("metric", "n_components")

    def _take_step(self) -> None:
        self._state.take_steps([float(self.gamma)])

    @property
    def _takes_sparse(self) -> bool:
        return self.metric == "diagonal" or self.n_components is not None

    @property
    def _scan(self) -> str:  # type: ignore[override]
        if self.metric == "diagonal":
            return "diagonal.diagonal_scan"
        if self.n_components is not None:
            return "low_rank.low_rank_scan"
        factor = self.factor or ("none" if self.cone == "free" else "frame")
        return "moml_metric.moml_scan" if factor == "none" else scan_name("fp", [factor])

    def _widen(self, n_features: int) -> None:
        if isinstance(self._state, LowRankState):
            super()._widen(n_features)  # says that a factor of low rank cannot
        else:
            self._state.widen(n_features)

    def _arrange(self, rows: Array) -> Array:
        return rows if self._takes_sparse else with_padding(rows)

    def _learn(self, rows: Array, triplets: Triplets) -> None:
        if not self.diverged_ and not self._state.learn(rows, triplets, FORWARD):
            self.diverged_ = True
            warn_of_divergence(self, "rows of a smaller norm")

    def _finish(self) -> None:
        counts = self._state.counts[0]
        self.n_updates_, self.n_cone_failures_ = int(counts[layout.UPDATES]), int(counts[layout.FAILURES])

    def _factor(self) -> Any:
        self._require_factor("components_", AttributeError)
        factor: Any = self._state.layers[0]  # sparse where it is diagonal
        return factor

    def _step_counts(self) -> tuple[Any, Any]:
        return step_counts(self._state.counts)
