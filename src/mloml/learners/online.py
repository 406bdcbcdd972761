"""What every online learner shares: scans over shuffled rows, streams, and one set of triplets for a grid."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from copy import deepcopy
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, _fit_context, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from mloml.arrays import Array, Counts, Triplets
from mloml.kernels.stack import layout
from mloml.learners.triplets import RULES, Rule, TripletStream

from .labels import sorted_labels
from .learned import learned
from .one_row import OneRow
from .scaling import RowLengths, given_scale
from .sparse_rows import SparseRows, learnable, takes_sparse, validate_rows
from .stalling import WINDOW, StepWatch

STREAM_PARAMETERS = ("scans", "shuffle", "random_state", "triplets", "scale")


class OnlineLearner(OneRow, BaseEstimator, ABC):
    """Base of the learners that see one triplet after the other.

    A subclass has the parameters ``scale``, ``scans``, ``shuffle``, ``random_state`` and ``triplets`` beside
    its own, and these hooks: ``_start`` allocates the state, ``_learn`` runs the compiled update over
    triplets in order, ``_finish`` publishes counters, ``_factor`` gives the factor when it is asked for.

    All that is learned refers to rows divided by ``scale_``; what is handed out (``components_``, ``M``)
    carries the division, so that it takes the user's rows.

    Attributes
    ----------
    classes_ : array
        The labels seen so far (or announced to ``partial_fit``), sorted.
    scale_ : float
        What rows are divided by; in a stream with ``scale="auto"`` 1 until the first triplet.
    n_triplets_ : int
        Triplets seen so far.
    n_updates_ : int or array
        Steps that changed the metric (per layer for a multi-layer learner).
    n_cone_failures_ : int or array
        Steps that would have left the cone of metrics and were treated by the learner's own rule.
    diverged_ : bool
        Whether learning had to stop because the numbers grew beyond all bounds.
    """

    scale: Any
    scans: int
    shuffle: bool
    random_state: Any
    triplets: Rule
    scale_: float
    n_triplets_: int
    n_features_in_: int
    n_updates_: Any
    n_cone_failures_: Any
    diverged_: bool
    _counters: Counts

    _parameter_constraints: dict[str, list[Any]] = {
        "scale": [StrOptions({"auto"}), Interval(Real, 0, np.inf, closed="neither"), None],
        "scans": [Interval(Integral, 1, None, closed="left")],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
        "triplets": [StrOptions(set(RULES))],
    }

    step_parameter = "gamma"
    """Name of the parameter that scales the steps; 0 leaves the metric at its start."""

    _starts_alike = True
    """Whether learners that differ in ``step_parameter`` only have the same state at the start."""

    _remedy = "a smaller step size, or rows of a length near 1 (scale='auto')"
    """What to try when the learner diverges or hardly learns any more."""

    # hooks -----------------------------------------------------------------------------------------------

    @abstractmethod
    def _start(self, n_features: int, X: Array | None = None, y: NDArray[Any] | None = None) -> None:
        """Allocate the state at its start; ``X`` and ``y`` are the first rows, in the user's units."""

    def _start_stream(self, X: Array, y: NDArray[Any] | None) -> None:
        """Start with the first rows of a stream, which may be too few for some learners."""
        self._start(X.shape[1], X, y)

    def _scale_is_set(self) -> None:
        """Bring what was set up in the user's units to the units of learning: ``scale_`` is known now."""

    def _arrange(self, rows: Array) -> Array:
        """Return rows in the form ``_learn`` is fastest with; the learners of a grid share it."""
        return rows

    @abstractmethod
    def _learn(self, rows: Array, triplets: Triplets) -> None:
        """Update the state with ``triplets`` in order; they index ``rows``, which are in stream order."""

    def _widen(self, n_features: int) -> None:
        """Bring the state to more features, see :meth:`add_features`."""
        raise NotImplementedError(f"{type(self).__name__} cannot take new features on the way")

    def _finish(self) -> None:
        """Publish the counters; called before control returns to the user."""
        self.n_updates_ = int(self._counters[layout.UPDATES])
        self.n_cone_failures_ = int(self._counters[layout.FAILURES])

    def _factor(self) -> Array:
        """Return a factor ``L`` on rows divided by ``scale_``; it may be the array that is learned on."""
        raise NotImplementedError

    def _step_counts(self) -> tuple[Any, Any]:
        """Return how many steps were active (asked for) and how many of them were weak, since the start.

        A weak step changed the metric by less than ``layout.WEAK_SHARE`` of what the full step asked.
        """
        counts = self._counters
        return counts[layout.UPDATES] + counts[layout.REFUSED], counts[layout.WEAK]

    _scan = ""
    """Name of the compiled kernel that ``_learn`` calls, see :mod:`mloml.checks.problems`."""

    def _kernels(self) -> set[str]:
        """Return the names of the compiled kernels that ``fit`` calls."""
        own = {self._scan} if self._scan else set()
        return own | {"triplets.triplet_pass"} | ({"lengths.add_lengths"} if self.scale == "auto" else set())

    # what was learned ------------------------------------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_stream")

    @learned
    def components_(self) -> Array:
        """Return the factor that takes the user's rows: the learned one over ``scale_``."""
        return self._factor() / self.scale_ if self.scale_ != 1.0 else self._factor().copy()

    @learned
    def classes_(self) -> NDArray[Any]:
        """Return the labels seen or announced, sorted."""
        announced = [] if self._announced is None else self._announced.tolist()
        return sorted_labels(dict.fromkeys([*self._codes, *announced]))

    # what the user calls ---------------------------------------------------------------------------------

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from scratch, going ``scans`` times over the rows."""
        X, codes = self._begin(X, y)
        for stream, rows, triplets in self._scans(X, codes):
            self._see(stream, rows, triplets)
        self._end()
        return self

    def iter_scans(self, X: ArrayLike, y: ArrayLike) -> Iterator[Self]:
        """Learn from scratch like ``fit``, pausing after each scan to hand out the learner as it is then."""
        self._validate_params()
        X, codes = self._begin(X, y)
        for stream, rows, triplets in self._scans(X, codes):
            self._see(stream, rows, triplets)
            self._finish()
            yield self
        self._end()

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Go on learning from rows that arrive now, once and in the order given, whatever ``scans`` is.

        ``classes`` may announce all labels on the first call; without it labels may turn up at any time.
        After ``fit`` the stream goes on where the last scan ended.
        """
        first = not hasattr(self, "_stream")
        X, y = self._check(X, y, reset=first)
        if first:
            self._forget()
        labels = y.tolist()
        self._admit_labels(labels, classes)
        if first:
            self._open_stream(X, y)
        codes = [self._codes.setdefault(label, len(self._codes)) for label in labels]
        self._take(X, codes)
        self._finish()
        return self

    def add_features(self, count: int) -> Self:
        """Let the rows to come have ``count`` more features; the rows so far count as zeros in them.

        The metric starts as the identity on the new features and is learned on from where it is: the same
        metric as if all rows had had these features, with zeros in the early ones. (With ``"bp"`` and
        ``"fbp"`` only nearly: a penalty, or a sigmoid's 1/2 at zero, would have moved the new part before.)
        """
        check_is_fitted(self)
        if isinstance(count, bool) or not isinstance(count, Integral) or count < 0:
            raise ValueError(f"count is {count!r}, expected an integer >= 0")
        if count:
            n_features = self.n_features_in_ + int(count)
            self._widen(n_features)
            self._stream.widen(n_features)
            self.n_features_in_ = n_features
            self.__dict__.pop("feature_names_in_", None)
            self.__dict__.pop("_room", None)
            self._kept.clear()
        return self

    def fit_grid(self, X: ArrayLike, y: ArrayLike, name: str, values: Sequence[Any]) -> list[Self]:
        """Return one fitted learner per value of parameter ``name``; they share the triplets."""
        if name in STREAM_PARAMETERS:
            return [clone(self).set_params(**{name: value}).fit(X, y) for value in values]
        learners: list[Self] = []
        for value in values:
            alike = self._starts_alike and name == self.step_parameter and learners
            learner = deepcopy(learners[0]) if alike else clone(self)
            learner.set_params(**{name: value})._validate_params()
            if not alike:
                rows, codes = learner._begin(X, y)
            learners.append(learner)
        for stream, seen, triplets in learners[0]._scans(rows, codes) if learners else ():
            for learner in learners:
                learner._see(stream, seen, triplets)
        for learner in learners:
            learner._stream = deepcopy(learner._stream)  # each may go on by itself
            learner._end()
        return learners

    # inner workings --------------------------------------------------------------------------------------

    def _check(self, X: ArrayLike, y: ArrayLike, reset: bool) -> tuple[Array, NDArray[Any]]:
        rows, labels = validate_rows(self, X, y, order="C", reset=reset)
        check_classification_targets(labels)
        return learnable(rows), labels

    def _begin(self, X: ArrayLike, y: ArrayLike) -> tuple[Array, Triplets]:
        """Check the input, forget everything learned, and return rows and class codes."""
        rows, labels = self._check(X, y, reset=True)
        self._forget()
        classes, codes = np.unique(labels, return_inverse=True)
        self._codes.update((label, code) for code, label in enumerate(classes.tolist()))
        self._start(rows.shape[1], rows, labels)
        scale = given_scale(self.scale)
        if scale is None:
            lengths = RowLengths()
            lengths.add(rows)
            scale = lengths.root_mean_square
        self._set_scale(scale)
        return self._scaled(rows), codes

    def _forget(self) -> None:
        """Return to a stream of which nothing has been seen."""
        self._announced: NDArray[Any] | None = None
        self._codes: dict[Any, int] = {}
        self._kept: dict[str, Any] = {}
        self._watch = StepWatch()
        self.n_triplets_ = 0
        self.diverged_ = False

    def _open_stream(self, X: Array, y: NDArray[Any] | None) -> None:
        """Get ready for a stream that begins with these rows."""
        self._start_stream(X, y)
        scale = given_scale(self.scale)
        self._lengths: RowLengths | None = None
        if scale is None:
            self.scale_, self._lengths = 1.0, RowLengths()
        else:
            self._set_scale(scale)
        self._stream = TripletStream(self.triplets)

    def _set_scale(self, scale: float) -> None:
        self.scale_, self._lengths = scale, None
        self._scale_is_set()

    def _scaled(self, rows: Array) -> Array:
        return rows / self.scale_ if self.scale_ != 1.0 else rows

    def _scans(self, X: Array, codes: Triplets) -> Iterator[tuple[TripletStream, Array, Triplets]]:
        """Yield, for each scan, a new stream, the rows in their order and the triplets they give."""
        rng = check_random_state(self.random_state)
        for _ in range(self.scans):
            stream = TripletStream(self.triplets)
            order = rng.permutation(len(X)) if self.shuffle else slice(None)
            rows, triplets = stream.push(X[order], codes[order])
            yield stream, self._arrange(rows), triplets

    def _take(self, X: Array, codes: Sequence[int]) -> None:
        """Let rows of the stream arrive; the first triplet ends the rows that the scale is taken from."""
        if isinstance(X, SparseRows):
            self.__dict__.pop("_room", None)  # the next single row has to be looked at
        rows, triplets = self._stream.push(self._scaled(X), codes)
        if self._lengths is not None:
            earlier = len(rows) - len(X)
            count = triplets[0, 0] + 1 - earlier if len(triplets) else len(X)
            self._lengths.add(X[:count])
            if len(triplets):
                self._set_scale(self._lengths.root_mean_square)
                rows = self._scaled(rows)
                self._stream.divide(self.scale_)
        self._see(self._stream, self._arrange(rows), triplets)

    def _see(self, stream: TripletStream, rows: Array, triplets: Triplets) -> None:
        """Learn from the triplets, and keep the stream that ``partial_fit`` would go on with."""
        self._stream = stream
        self._kept.clear()
        if len(triplets):
            self._learn(rows, triplets)
            self.n_triplets_ += len(triplets)
            self._warn_if_stalled()

    def _end(self) -> None:
        """Publish what a fit has learned, and say so where it was nothing."""
        self._finish()
        if self.n_triplets_ == 0:
            warnings.warn(
                f"{type(self).__name__} formed no triplet (it needs two classes, one of them with two rows): "
                "the metric stays at its start",
                ConvergenceWarning,
                stacklevel=3,
            )
        elif np.max(self._step_counts()[0]) < WINDOW:  # too few steps for a window: judge them all
            self._warn_if_stalled(least=1)

    def _admit_labels(self, labels: list[Any], classes: ArrayLike | None = None) -> None:
        """Note the announced classes; refuse labels outside of them."""
        if classes is not None:
            announced = np.unique(np.asarray(classes))
            if self._announced is not None and not np.array_equal(announced, self._announced):
                raise ValueError(f"classes={classes!r} is not the same as on last call to partial_fit")
            self._announced = announced
            self._kept.clear()
        if self._announced is not None:
            unknown = sorted(set(labels) - set(self._announced.tolist()), key=str)
            if unknown:
                raise ValueError(f"y has labels {unknown} that are not in classes={self._announced.tolist()}")

    def _warn_if_stalled(self, least: int = WINDOW) -> None:
        """Say, once, that most of the recent steps hardly changed the metric."""
        if not self._watch.told and self._watch.stalled(*self._step_counts(), least):
            self._watch.told = True
            warnings.warn(
                f"{type(self).__name__} hardly learns: more than half of its last {WINDOW} active steps "
                f"changed the metric by less than {layout.WEAK_SHARE:.0%} of what the full step asked; try "
                f"{self._remedy}",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _stop_beyond_bounds(self) -> None:
        """Learn no more, and say so; what was learned before is kept."""
        self.diverged_ = True
        warn_of_divergence(self, self._remedy)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_room", None)
        if "_kept" in state:
            state["_kept"] = {}
        return state

    def __sklearn_tags__(self) -> Tags:
        tags: Any = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = takes_sparse(self)
        return tags


def warn_of_divergence(learner: Any, remedy: str) -> None:
    """Tell the user that learning stopped, and that what was learned before is kept."""
    warnings.warn(
        f"{type(learner).__name__} diverged in the scan after {learner.n_triplets_} triplets: it stays as it "
        f"was before the step that led beyond all bounds; try {remedy}",
        ConvergenceWarning,
        stacklevel=4,
    )
