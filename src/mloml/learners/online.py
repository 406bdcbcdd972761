"""What every online learner shares: scans over shuffled rows, streams, and one set of triplets for a grid."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from copy import deepcopy
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, _fit_context, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from mloml.constraints import RULES, Rule, TripletStream

Array = NDArray[np.float64]
Triplets = NDArray[np.intp]

STREAM_PARAMETERS = ("scans", "shuffle", "random_state", "triplets")


class OnlineLearner(BaseEstimator, ABC):
    """Base of the learners that see one triplet after the other.

    A subclass has the parameters ``scans``, ``shuffle``, ``random_state`` and ``triplets`` beside its own,
    and three hooks: ``_start`` allocates the state, ``_learn`` runs the compiled update over triplets in
    order, ``_finish`` publishes what was learned.

    Attributes
    ----------
    classes_ : array
        The labels seen so far (or announced to ``partial_fit``), sorted.
    n_triplets_ : int
        Triplets seen so far.
    n_updates_ : int or array
        Steps that changed the metric (per layer for a multi-layer learner).
    n_cone_failures_ : int or array
        Steps that would have left the cone of metrics and were treated by the learner's own rule.
    """

    scans: int
    shuffle: bool
    random_state: Any
    triplets: Rule
    classes_: NDArray[Any]
    n_triplets_: int
    n_updates_: Any
    n_cone_failures_: Any

    _parameter_constraints: dict[str, list[Any]] = {
        "scans": [Interval(Integral, 1, None, closed="left")],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
        "triplets": [StrOptions(set(RULES))],
    }

    _step_parameters: tuple[str, ...] = ()
    """Parameters that only scale the steps: learners that differ in one of them start alike."""

    # hooks -----------------------------------------------------------------------------------------------

    @abstractmethod
    def _start(self, n_features: int, X: Array | None = None, y: NDArray[Any] | None = None) -> None:
        """Allocate the state at its start; ``X`` and ``y`` are the first rows it will be given."""

    def _arrange(self, rows: Array) -> Array:
        """Return rows in the form ``_learn`` is fastest with; the learners of a grid share it."""
        return rows

    @abstractmethod
    def _learn(self, rows: Array, triplets: Triplets) -> None:
        """Update the state with ``triplets`` in order; they index ``rows``, which are in stream order."""

    def _finish(self) -> None:
        """Publish the learned attributes; called before control returns to the user."""

    # what the user calls ---------------------------------------------------------------------------------

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from scratch, going ``scans`` times over the rows."""
        X, codes = self._begin(X, y)
        for stream, rows, triplets in self._scans(X, codes):
            self._see(stream, rows, triplets)
        self._finish()
        self._warn_if_idle()
        return self

    def iter_scans(self, X: ArrayLike, y: ArrayLike) -> Iterator[Self]:
        """Learn from scratch like ``fit``, pausing after each scan to hand out the learner as it is then."""
        self._validate_params()
        X, codes = self._begin(X, y)
        for stream, rows, triplets in self._scans(X, codes):
            self._see(stream, rows, triplets)
            self._finish()
            yield self
        self._warn_if_idle()

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
        self._admit_labels(y, classes)
        if first:
            self._start(X.shape[1], X, y)
            self._stream = TripletStream(self.triplets)
        codes = [self._codes.setdefault(label, len(self._codes)) for label in y.tolist()]
        rows, triplets = self._stream.push(X, codes)
        self._see(self._stream, self._arrange(rows), triplets)
        self._finish()
        return self

    def fit_grid(self, X: ArrayLike, y: ArrayLike, name: str, values: Sequence[Any]) -> list[Self]:
        """Return one fitted learner per value of parameter ``name``; they share the triplets."""
        if name in STREAM_PARAMETERS:
            return [clone(self).set_params(**{name: value}).fit(X, y) for value in values]
        learners: list[Self] = []
        for value in values:
            alike = name in self._step_parameters and learners
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
            learner._finish()
            learner._warn_if_idle()
        return learners

    # inner workings --------------------------------------------------------------------------------------

    def _check(self, X: ArrayLike, y: ArrayLike, reset: bool) -> tuple[Array, NDArray[Any]]:
        rows, labels = validate_data(self, X, y, dtype=np.float64, order="C", reset=reset)
        check_classification_targets(labels)
        return rows, labels

    def _begin(self, X: ArrayLike, y: ArrayLike) -> tuple[Array, Triplets]:
        """Check the input, forget everything learned, and return rows and class codes."""
        rows, labels = self._check(X, y, reset=True)
        self._forget()
        self.classes_, codes = np.unique(labels, return_inverse=True)
        self._codes.update((label, code) for code, label in enumerate(self.classes_.tolist()))
        self._start(rows.shape[1], rows, labels)
        return rows, codes

    def _forget(self) -> None:
        """Return to a stream of which nothing has been seen."""
        self.__dict__.pop("classes_", None)
        self._announced: NDArray[Any] | None = None
        self._codes: dict[Any, int] = {}
        self.n_triplets_ = 0

    def _scans(self, X: Array, codes: Triplets) -> Iterator[tuple[TripletStream, Array, Triplets]]:
        """Yield, for each scan, a new stream, the rows in their order and the triplets they give."""
        rng = check_random_state(self.random_state)
        for _ in range(self.scans):
            stream = TripletStream(self.triplets)
            order = rng.permutation(len(X)) if self.shuffle else slice(None)
            rows, triplets = stream.push(X[order], codes[order])
            yield stream, self._arrange(rows), triplets

    def _see(self, stream: TripletStream, rows: Array, triplets: Triplets) -> None:
        """Learn from the triplets, and keep the stream that ``partial_fit`` would go on with."""
        self._stream = stream
        if len(triplets):
            self._learn(rows, triplets)
            self.n_triplets_ += len(triplets)

    def _admit_labels(self, y: NDArray[Any], classes: ArrayLike | None) -> None:
        """Keep ``classes_`` up to date; refuse labels outside the announced ones."""
        if classes is not None:
            announced = np.unique(np.asarray(classes))
            if self._announced is not None and not np.array_equal(announced, self._announced):
                raise ValueError(f"classes={classes!r} is not the same as on last call to partial_fit")
            self._announced = announced
        if self._announced is not None:
            unknown = np.setdiff1d(y, self._announced)
            if unknown.size:
                raise ValueError(f"y has labels {unknown.tolist()} that are not in classes={classes!r}")
            y = self._announced
        self.classes_ = np.union1d(getattr(self, "classes_", y), y)

    def _warn_if_idle(self) -> None:
        if self.n_triplets_ == 0:
            warnings.warn(
                f"{type(self).__name__} formed no triplet (it needs two classes, one of them with two rows): "
                "the metric stays at its start",
                ConvergenceWarning,
                stacklevel=3,
            )

    def __sklearn_tags__(self) -> Tags:
        tags: Any = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
