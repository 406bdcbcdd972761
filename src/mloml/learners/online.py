"""What every online learner shares: scans over shuffled rows, streams, and one set of triplets for a grid."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from copy import deepcopy
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, _fit_context, clone
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from mloml.arrays import Array, Counts, Triplets
from mloml.kernels.stack import layout
from mloml.learners.triplets import RULES

from .intake import Intake
from .kept_parameters import require_kept
from .labels import sorted_labels
from .learned import learned
from .one_row import OneRow
from .sparse_rows import takes_sparse
from .writable import make_writable

STREAM_PARAMETERS = ("scans", "shuffle", "random_state", "triplets", "scale")


class OnlineLearner(Intake, OneRow, BaseEstimator, ABC):
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
        What rows are divided by; in a stream with ``scale="auto"`` 1 until the first triplet with a row that
        is not all zeros.
    n_triplets_ : int
        Triplets seen so far.
    n_updates_ : int or array
        Steps that changed the metric (per layer for a multi-layer learner).
    n_cone_failures_ : int or array
        Steps that would have left the cone of metrics and were treated by the learner's own rule.
    diverged_ : bool
        Whether learning had to stop because the numbers grew beyond all bounds.
    """

    n_features_in_: int
    n_updates_: Any
    n_cone_failures_: Any
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

    _may_change: tuple[str, ...] = ()
    """Parameters beside the step that may change while a stream goes on."""

    _form_parameters: tuple[str, ...] = ()
    """Parameters that decide what a state is made of, so that learners of a grid cannot share their rows."""

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

    def _take_step(self) -> None:
        """Follow a step size that may have been changed; not needed by those who read it at every step."""

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
        return sorted_labels(dict.fromkeys([*self._codes, *(self._announced or [])]))

    # what the user calls ---------------------------------------------------------------------------------

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from scratch, going ``scans`` times over the rows."""
        X, codes = self._begin(X, y)
        try:
            for stream, rows, triplets in self._scans(X, codes):
                self._see(stream, rows, triplets)
        finally:  # also after Ctrl-C: what was learned until then can be used
            self._finish()
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
        After ``fit`` the stream goes on where the last scan ended. The step size may be changed on the way;
        parameters that the learned state is made for may not.
        """
        first = not hasattr(self, "_stream")
        if not first:
            require_kept(self)
        X, y = self._check(X, y, reset=first)
        if first:
            self._forget()
        else:
            self._take_step()
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
            self._add_features(self.n_features_in_ + int(count))
        return self

    def _add_features(self, n_features: int) -> None:
        try:
            self._widen(n_features)
            self._stream.widen(n_features)
            self.n_features_in_ = n_features
            for name in ("feature_names_in_", "_room"):
                self.__dict__.pop(name, None)
            self._kept.clear()
        except NotImplementedError:  # nothing was done
            raise
        except BaseException:  # Ctrl-C: what is wider already does not go with the rest
            for name in ("_stream", "_room"):
                self.__dict__.pop(name, None)
            raise

    def fit_grid(self, X: ArrayLike, y: ArrayLike, name: str, values: Sequence[Any]) -> list[Self]:
        """Return one fitted learner per value of parameter ``name``; they share the triplets."""
        if name in (*STREAM_PARAMETERS, *self._form_parameters):
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
