"""What every online learner shares: scans over shuffled rows, and one pass over triplets for a grid."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from copy import deepcopy
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, _fit_context, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets

from mloml.arrays import Array, Triplets

from .labels import announced_labels, sorted_labels
from .linalg import FAILURES, NOTHING, REFUSED, UPDATES, WEAK, WEAK_SHARE
from .rows import SparseRows, features_unless_refused, learnable, scale_of, takes_sparse, validate_rows
from .stream import WINDOW, StepWatch, Stream, learned, make_writable, parameters_to_keep, show
from .triplets import RULES, Rule, TripletStream

STREAM_PARAMETERS = ("scans", "shuffle", "random_state", "triplets", "scale")


class OnlineLearner(Stream, BaseEstimator, ABC):
    """Base of the learners that see one triplet after the other.

    A subclass has the parameters ``scale``, ``scans``, ``shuffle``, ``random_state`` and ``triplets`` beside
    its own, and :meth:`_new_state`, which returns the :class:`~mloml.learners.layers.Layer` that learns.

    All that is learned refers to rows divided by ``scale_``; what is handed out (``components_``, ``M``)
    carries the division, so that it takes the user's rows.

    Attributes
    ----------
    classes_ : array
        The labels seen so far (or announced to ``partial_fit``), sorted.
    scale_ : float
        What rows are divided by; in a stream with ``scale="auto"`` 1 until the first triplet with a row that
        is not all zeros.
    n_triplets_ : int
        Triplets seen so far.
    n_updates_ : int or array
        Steps that changed the metric (per layer for a multi-layer learner).
    n_cone_failures_ : int or array
        Steps that would have left the cone of metrics and were treated by the learner's own rule.
    diverged_ : bool
        Whether learning had to stop because the numbers became infinite.
    """

    n_features_in_: int
    n_updates_: Any
    n_cone_failures_: Any
    scale_: float
    n_triplets_: int
    diverged_: bool
    _state: Any

    _parameter_constraints: dict[str, list[Any]] = {
        "scale": [StrOptions({"auto"}), Interval(Real, 0, np.inf, closed="neither"), None],
        "scans": [Interval(Integral, 1, None, closed="left")],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
        "triplets": [StrOptions(set(RULES))],
    }

    # Name of the parameter that scales the steps; 0 leaves the metric at its start.
    step_parameter = "gamma"

    # Parameters that the learner no longer has, and what to write instead.
    _moved: ClassVar[dict[str, str]] = {}

    # Parameters beside the step that may change while a stream goes on.
    _may_change: tuple[str, ...] = ()

    # What to try when the learner diverges or hardly learns any more.
    _remedy = "a smaller step size, or rows of a length near 1 (scale='auto')"

    def __new__(cls, *args: Any, **params: Any) -> Self:
        """Answer parameters of earlier versions by what replaces them."""
        for name in params:
            if name in cls._moved:
                raise TypeError(f"{cls.__name__} has no parameter {name!r}: {cls._moved[name]}")
        return super().__new__(cls)

    def __init__(self, scale: Any, scans: int, shuffle: bool, random_state: Any, triplets: Rule) -> None:
        self.scale = scale
        self.scans = scans
        self.shuffle = shuffle
        self.random_state = random_state
        self.triplets = triplets

    # hooks -----------------------------------------------------------------------------------------------

    @abstractmethod
    def _new_state(self, n_features: int, X: Any) -> Any:
        """Return the state at its start; ``X`` are the first rows, in the user's units."""

    def _require_first_rows(self, count: int) -> None:
        """Refuse a stream that begins with too few rows."""

    def _take_step(self) -> None:
        """Follow a step size that may have been changed."""
        self._state.step = float(getattr(self, self.step_parameter))

    def _learn(self, D: Array, triplets: Triplets) -> int:
        """Learn from the triplets of ``D``; return how many were seen."""
        seen: int = self._state.learn(D, NOTHING)
        return seen

    def _factor(self) -> Any:
        """Return a factor on rows divided by ``scale_``; it may be the array that is learned on."""
        return self._state.factor()

    def _finish(self) -> None:
        """Publish the counters; called before control returns to the user."""
        counts = self._state.counts
        self.n_updates_, self.n_cone_failures_ = int(counts[UPDATES]), int(counts[FAILURES])

    # what was learned ------------------------------------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_stream")

    @learned
    def components_(self) -> Any:
        """Return the factor that takes the user's rows: the learned one over ``scale_``."""
        factor = self._factor()
        return factor / self.scale_ if self.scale_ != 1.0 else factor.copy()

    @learned
    def classes_(self) -> NDArray[Any]:
        """Return the labels seen or announced, sorted."""
        return sorted_labels(dict.fromkeys([*self._codes, *(self._announced or [])]))

    # learning from all rows ------------------------------------------------------------------------------

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from scratch, going ``scans`` times over the rows."""
        X, codes = self._begin(X, y)
        try:
            for scan in self._scans(X, codes):
                show([self], *scan)
        finally:  # also after Ctrl-C: what was learned until then can be used
            self._finish()
        self._end()
        return self

    def iter_scans(self, X: ArrayLike, y: ArrayLike) -> Iterator[Self]:
        """Learn from scratch like ``fit``, pausing after each scan to hand out the learner as it is then."""
        self._validate_params()
        X, codes = self._begin(X, y)
        for scan in self._scans(X, codes):
            show([self], *scan)
            self._finish()
            yield self
        self._end()

    def fit_grid(self, X: ArrayLike, y: ArrayLike, name: str, values: Sequence[Any]) -> list[Self]:
        """Return one fitted learner per value of parameter ``name``; they share the triplets."""
        if name in STREAM_PARAMETERS:
            return [clone(self).set_params(**{name: value}).fit(X, y) for value in values]
        learners: list[Self] = []
        for value in values:
            alike = bool(learners) and name == self.step_parameter
            learner = deepcopy(learners[0]) if alike else clone(self)
            learner.set_params(**{name: value})._validate_params()
            if alike:
                learner._take_step()
            else:
                rows, codes = learner._begin(X, y)
            learners.append(learner)
        for scan in learners[0]._scans(rows, codes) if learners else ():
            show(learners, *scan)
        for learner in learners:
            learner._stream = deepcopy(learner._stream)  # each may go on by itself
            learner._end()
        return learners

    def _begin(self, X: ArrayLike, y: ArrayLike) -> tuple[Any, Triplets]:
        """Check the input, forget everything learned, and return scaled rows and class codes."""
        rows, labels = self._check(X, y, reset=True)
        self._forget()
        classes, codes = np.unique(labels, return_inverse=True)
        self._codes.update((label, code) for code, label in enumerate(classes.tolist()))
        self._state = self._new_state(rows.shape[1], rows)
        self._set_scale(scale_of(rows, self.scale))
        return self._scaled(rows), codes

    def _scans(self, X: Any, codes: Triplets) -> Iterator[tuple[TripletStream, Any, Triplets]]:
        """Yield, for each scan, a new stream, the rows in their order and the triplets they give."""
        rng = check_random_state(self.random_state)
        for _ in range(self.scans):
            stream = TripletStream(self.triplets)
            order = rng.permutation(len(X)) if self.shuffle else slice(None)
            yield (stream, *stream.push(X[order], codes[order]))

    def _end(self) -> None:
        """Publish what a fit has learned, and say so where it was nothing."""
        self._finish()
        if self.n_triplets_ == 0:
            message = "formed no triplet (it needs two classes, one of them with two rows): "
            self._warn(message + "the metric stays at its start")
        elif np.max(self._step_counts()[0]) < WINDOW:  # too few steps for a window: judge them all
            self._warn_if_stalled(least=1)

    def _check(self, X: ArrayLike, y: ArrayLike, reset: bool) -> tuple[Any, NDArray[Any]]:
        with features_unless_refused(self):
            rows, labels = validate_rows(self, X, y, order="C", reset=reset)
            check_classification_targets(labels)
        return learnable(rows), labels

    def _forget(self) -> None:
        """Return to a stream of which nothing has been seen: what follows may be refused."""
        for name in ("_stream", "_room"):
            self.__dict__.pop(name, None)
        self._began_with = parameters_to_keep(self)
        self._announced: list[Any] | None = None
        self._codes: dict[Any, int] = {}
        self._kept: dict[str, Any] = {}
        self._watch = StepWatch()
        self.n_triplets_ = 0
        self.diverged_ = False

    def _set_scale(self, scale: float) -> None:
        self.scale_, self._lengths = scale, None
        self._state.set_scale(scale)

    def _scaled(self, rows: Any) -> Any:
        return rows / self.scale_ if self.scale_ != 1.0 else rows

    def _learn_piece(self, D: Any, triplets: Triplets) -> None:
        """Learn from triplets of a piece ``D``, or of sparse rows."""
        if not self.diverged_:
            sparse = isinstance(D, SparseRows)
            seen = self._state.learn_sparse(D, triplets, NOTHING) if sparse else self._learn(D, triplets)
            if seen < len(triplets):
                self._stop()
        self.n_triplets_ += len(triplets)

    def _admit_labels(self, labels: list[Any], classes: ArrayLike | None = None) -> None:
        """Note the announced classes; refuse labels outside of them."""
        announced = self._announced if classes is None else announced_labels(classes)
        if announced is None:
            return
        if self._announced is not None and set(announced) != set(self._announced):
            raise ValueError(f"classes={classes!r} is not the same as on last call to partial_fit")
        unknown = sorted({*labels, *self._codes} - set(announced), key=str)
        if unknown:
            known = sorted_labels(announced).tolist()
            raise ValueError(f"y has labels {unknown} that are not in classes={known}")
        if self._announced is None:
            self._announced = announced
            self._kept.clear()

    # telling how it goes ---------------------------------------------------------------------------------

    def _step_counts(self) -> tuple[Any, Any]:
        """Return how many steps were active (asked for) and how many of them were weak, since the start.

        A weak step changed the metric by less than ``WEAK_SHARE`` of what the full step asked.
        """
        counts = self._state.counts
        return counts[..., UPDATES] + counts[..., REFUSED], counts[..., WEAK]

    def _warn_if_stalled(self, least: int = WINDOW) -> None:
        """Say, once, that most of the recent steps hardly changed the metric."""
        if not self._watch.told and self._watch.stalled(*self._step_counts(), least):
            self._watch.told = True
            self._warn(
                f"hardly learns: more than half of its last {WINDOW} active steps changed the metric by less "
                f"than {WEAK_SHARE:.0%} of what the full step asked; try {self._remedy}"
            )

    def _stop(self) -> None:
        """Learn no more, and say so; what was learned before is kept."""
        self.diverged_ = True
        self._warn(
            f"diverged after {self.n_triplets_} triplets: it stays as it was before the step that led to "
            f"infinite numbers; try {self._remedy}"
        )

    def _warn(self, message: str) -> None:
        warnings.warn(f"{type(self).__name__} {message}", ConvergenceWarning, stacklevel=4)

    # scikit-learn ----------------------------------------------------------------------------------------

    def set_params(self, **params: Any) -> Self:
        """Set parameters by their names, see :meth:`partial_fit` for what a stream makes of it."""
        for name in ("_room", "_valid"):  # the next single row has to be looked at
            self.__dict__.pop(name, None)
        learner: Self = super().set_params(**params)
        return learner

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        make_writable(self)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        for name in ("_room", "_valid"):
            state.pop(name, None)
        if "_kept" in state:
            state["_kept"] = {}
        return state

    def __sklearn_tags__(self) -> Tags:
        tags: Any = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = takes_sparse(self)
        return tags
