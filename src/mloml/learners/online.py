"""What every online learner shares: scans over shuffled rows, one pass over triplets for several steps."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from copy import deepcopy
from numbers import Integral, Real
from threading import RLock
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, _fit_context, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_consistent_length
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from mloml.arrays import Array, Index, Triplets

from .choosing import BLOCK, GAMMAS, chosen
from .comparisons import Comparisons
from .labels import announced_labels, checked_labels, encoded, sorted_labels
from .linalg import FAILURES, NOTHING, REFUSED, UPDATES, WEAK, WEAK_SHARE
from .rows import SparseRows, features_unless_refused, learnable, scale_of, takes_sparse, validate_rows
from .stream import WINDOW, StepWatch, Stream, learned, make_writable, parameters_to_keep, show
from .triplets import RULES, Rule, TripletStream

STREAM_PARAMETERS = ("scans", "shuffle", "random_state", "triplets", "scale")
# Rows that a scan takes in at a time, so that it holds no copy of all of them.
ROWS_AT_ONCE = 2**13
# What is left of the step size of a learner that diverged.
DAMPING = 0.1
# Attributes that belong to this process, or can be made again.
NOT_KEPT = ("_room", "_valid", "_lock")


class OnlineLearner(Comparisons, Stream, BaseEstimator, ABC):
    """Base of the learners that see one triplet after the other.

    A subclass has the parameters ``gamma``, ``scale``, ``scans``, ``shuffle``, ``random_state`` and
    ``triplets`` beside its own, and :meth:`_new_state`, which returns the
    :class:`~mloml.learners.layers.Layer` that learns.

    All that is learned refers to rows divided by ``scale_``; what is handed out (``components_``, ``M``)
    carries the division, so that it takes the user's rows.

    One thread may learn while others read: a reader gets the metric as it was before a call of
    ``partial_fit`` or ``learn_one``, or as it is after it.

    Attributes
    ----------
    classes_ : array
        The labels seen so far (or announced to ``partial_fit``), sorted.
    gamma_ : float
        The step size in use: with ``gamma="auto"`` the one that was chosen, 0 where none was better than no
        learning.
    scale_ : float
        What rows are divided by; in a stream with ``scale="auto"`` it follows the rows.
    n_triplets_ : int
        Triplets seen so far.
    n_updates_ : int or array
        Steps that changed the metric (per layer for a multi-layer learner).
    n_cone_failures_ : int or array
        Steps that would have left the cone of metrics and were treated by the learner's own rule.
    n_unlabelled_ : int
        Rows whose label was None or NaN; they teach nothing.
    n_shortened_ : int
        Rows of a stream that were far longer than ``scale_`` and were shortened before they were learned.
    n_restarts_ : int
        How often numbers became too large: the triplet was passed over, and where the metric itself had grown
        out of bounds, learning went on from the last good one with a tenth of the step size.
    diverged_ : bool
        Whether that happened at all.
    """

    n_features_in_: int
    scale_: float
    n_triplets_: int
    n_unlabelled_: int
    n_shortened_: int
    _rivals: list[Any]
    _steps: list[float]
    _leader: int
    _lock: Any

    _parameter_constraints: dict[str, list[Any]] = {
        "gamma": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "scale": [StrOptions({"auto"}), Interval(Real, 0, np.inf, closed="neither"), None],
        "scans": [Interval(Integral, 1, None, closed="left")],
        "shuffle": ["boolean", StrOptions({"once"})],
        "random_state": ["random_state"],
        "triplets": [StrOptions(set(RULES))],
    }

    # The step sizes that gamma="auto" chooses from; the first learns nothing.
    _gammas: tuple[float, ...] = GAMMAS

    # Parameters beside the step that may change while a stream goes on.
    _may_change: tuple[str, ...] = ()

    # What to try when the learner diverges or hardly learns any more.
    _remedy = "gamma='auto', a smaller step size, or rows of a length near 1 (scale='auto')"

    def __init__(
        self, gamma: Any, scale: Any, scans: int, shuffle: bool | str, random_state: Any, triplets: Rule
    ) -> None:
        self.gamma = gamma
        self.scale = scale
        self.scans = scans
        self.shuffle = shuffle
        self.random_state = random_state
        self.triplets = triplets

    # hooks -----------------------------------------------------------------------------------------------

    @abstractmethod
    def _new_state(self, n_features: int, X: Any, step: float) -> Any:
        """Return the state at its start; ``X`` are the first rows, not yet divided by ``scale_``."""

    # Whether the depth of a stack is to be chosen.
    _open = False

    def _chooses(self) -> bool:
        """Say whether the step size or the depth is to be chosen."""
        return len(self._tried_steps()) > 1 or self._open

    def _tried_steps(self) -> list[float]:
        """Return the step sizes to choose from."""
        return list(self._gammas) if isinstance(self.gamma, str) else [self._given_step()]

    def _set_step(self, state: Any, step: float) -> None:
        """Give a state its step size."""
        state.step = step * state.damping

    def _learn(self, state: Any, D: Array, triplets: Triplets) -> int:
        """Let a state learn from the triplets of ``D``; return how many were seen."""
        seen: int = state.learn(D, NOTHING)
        return seen

    def _factor(self) -> Any:
        """Return a factor on rows divided by ``scale_``; it may be the array that is learned on."""
        return self._state.factor()

    # what was learned ------------------------------------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        return "_stream" in self.__dict__

    @property
    def _state(self) -> Any:
        return self._rivals[self._leader]

    @learned
    def components_(self) -> Any:
        """Return the factor that takes the user's rows: the learned one over ``scale_``."""
        factor = self._factor()
        return factor / self.scale_ if self.scale_ != 1.0 else factor.copy()

    @learned
    def classes_(self) -> NDArray[Any]:
        """Return the labels seen or announced, sorted."""
        return sorted_labels(dict.fromkeys([*self._codes, *(self._announced or [])]))

    @property
    def gamma_(self) -> float:
        """The step size in use."""
        check_is_fitted(self)
        return self._steps[self._leader]

    @property
    def n_updates_(self) -> Any:
        """Steps that changed the metric."""
        return self._count(UPDATES)

    @property
    def n_cone_failures_(self) -> Any:
        """Steps that would have left the cone."""
        return self._count(FAILURES)

    def _count(self, which: int) -> Any:
        check_is_fitted(self)
        counts = self._state.counts[..., which]
        return counts.copy() if counts.ndim else int(counts)

    @property
    def n_restarts_(self) -> int:
        """How often numbers became too large."""
        check_is_fitted(self)
        return int(self._state.restarts)

    @property
    def diverged_(self) -> bool:
        """Whether numbers became too large."""
        return self.n_restarts_ > 0

    # learning from all rows ------------------------------------------------------------------------------

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from scratch, going ``scans`` times over the rows."""
        with self._writing():
            for _ in self._fit_scans(X, y):
                pass
        return self

    def iter_scans(self, X: ArrayLike, y: ArrayLike) -> Iterator[Self]:
        """Learn from scratch like ``fit``, pausing after each scan to hand out the learner as it is then."""
        self._validate_params()
        yield from self._fit_scans(X, y)

    def _fit_scans(self, X: ArrayLike, y: ArrayLike) -> Iterator[Self]:
        rows, codes = self._begin(X, y)
        step, view = chosen(self, rows, codes) if self._chooses() else (self._given_step(), 0)
        self._start(rows, step)
        self._state.view = view
        for _ in self._scan([self], rows, codes):
            yield self
        self._end()

    def fit_grid(self, X: ArrayLike, y: ArrayLike, name: str, values: Sequence[Any]) -> list[Self]:
        """Return one fitted learner per value of parameter ``name``; they share the triplets."""
        tried = [clone(self).set_params(**{name: value}) for value in values]
        if name in STREAM_PARAMETERS or any(learner._chooses() for learner in tried):
            return [learner.fit(X, y) for learner in tried]
        for learner in tried:
            learner._validate_params()
        if not tried:
            return []
        rows, codes = tried[0]._begin(X, y)
        if name == "gamma":
            return self._fit_steps(rows, codes, values, tried[0])
        for learner in tried:
            learner._begin(X, y)
            learner._start(rows, learner._given_step())
        return self._fit_together(tried, rows, codes)

    def _fit_steps(
        self, rows: Any, codes: Index, values: Sequence[float], model: Self | None = None
    ) -> list[Self]:
        """Return one learner per step size, fitted to checked rows; ``model`` knows the rows' labels."""
        if model is None:
            model = clone(self)
            model._forget()
        model._start(rows, 0.0)
        learners: list[Self] = []
        for value in values:
            learner = deepcopy(model).set_params(gamma=value)
            learner._steps = [learner._given_step()]
            learner._set_step(learner._state, learner._steps[0])
            learners.append(learner)
        return self._fit_together(learners, rows, codes)

    def _fit_together(self, learners: list[Self], rows: Any, codes: Index) -> list[Self]:
        for _ in learners[0]._scan(learners, rows, codes):
            pass
        for learner in learners:
            learner._stream = deepcopy(learner._stream)  # each may go on by itself
            learner._end()
        return learners

    def _begin(self, X: ArrayLike, y: ArrayLike) -> tuple[Any, Index]:
        """Check the input, forget everything learned, and return rows and class codes."""
        rows, labels = self._check(X, y, reset=True)
        self._forget()
        self.n_unlabelled_ = self._n_missing
        return rows, encoded(labels, self._codes)

    def _start(self, rows: Any, step: float) -> None:
        """Get ready to learn from all rows."""
        self.scale_ = scale_of(rows, self.scale)
        self._lead([self._new_state(rows.shape[1], rows, step)], [step])

    def _scan(self, learners: Sequence[Self], X: Any, codes: Index) -> Iterator[None]:
        """Let learners see the rows, scan by scan; pause after each."""
        size = max(ROWS_AT_ONCE, 4 * int(codes.max(initial=0)))  # each time a sample of every class is copied
        for order in self._orders(len(X)):
            stream = TripletStream(self.triplets)
            for first in range(0, max(1, len(X)), size):
                part = order[first : first + size]
                show(learners, stream, *stream.push(self._scaled(X[part]), codes[part]))
            yield

    def _end(self) -> None:
        """Say so where nothing was learned."""
        if self.n_triplets_ == 0:
            message = "formed no triplet (it needs two classes, one of them with two rows): "
            self._warn(message + "the metric stays at its start")
        elif np.max(self._step_counts()[0]) < WINDOW:  # too few steps for a window: judge them all
            self._warn_if_stalled(least=1)

    def _check(self, X: ArrayLike, y: Any, reset: bool) -> tuple[Any, NDArray[Any]]:
        """Return rows that have a label, in the form that learners learn from, and their labels."""
        with features_unless_refused(self):
            checked = ("no_validation",) if y is not None else (None,)
            rows: Any = validate_rows(self, X, *checked, order="C", reset=reset)
            labels, there = checked_labels(y)
            check_consistent_length(rows, labels)
        self._n_missing = int(there.size - there.sum())
        return (learnable(rows), labels) if there.all() else (learnable(rows[there]), labels[there])

    def _forget(self) -> None:
        """Return to a stream of which nothing has been seen: what follows may be refused."""
        self._writing()
        for name in ("_stream", "_room"):
            self.__dict__.pop(name, None)
        self._began_with = parameters_to_keep(self)
        self._announced: dict[Any, None] | None = None
        self._codes: dict[Any, int] = {}
        self._kept: dict[str, Any] = {}
        self._watch = StepWatch()
        self._recent: Any = None
        self._judge: Any = None
        self._scale_known, self._awaits_rows = True, False
        self.n_triplets_ = self.n_unlabelled_ = self.n_shortened_ = 0

    def _writing(self) -> Any:
        """Return the lock that a thread holds while it learns, or looks at what was learned."""
        return self.__dict__.setdefault("_lock", RLock())

    def _lead(self, rivals: list[Any], steps: list[float], leader: int = 0) -> None:
        """Learn with these states from now on."""
        self._rivals, self._steps, self._leader = rivals, steps, leader
        for state in rivals:
            state.remember()

    def _given_step(self) -> float:
        """Return the step size that was given; nothing is chosen where it has no effect."""
        return 0.0 if isinstance(self.gamma, str) else float(self.gamma)

    def _scaled(self, rows: Any) -> Any:
        return rows / self.scale_ if self.scale_ != 1.0 else rows

    def _learn_piece(self, D: Any, triplets: Triplets) -> None:
        """Learn from triplets of a piece ``D``, or of sparse rows."""
        for state, step in zip(self._rivals, self._steps, strict=True):
            if not state.idle:
                self._teach(state, step, D, triplets)
        before, self.n_triplets_ = self.n_triplets_, self.n_triplets_ + len(triplets)
        if self.n_triplets_ // BLOCK > before // BLOCK:
            for state in self._rivals:
                state.remember()

    def _teach(self, state: Any, step: float, D: Any, triplets: Triplets) -> None:
        """Let one state learn; a triplet that would lead to infinite numbers is passed over."""
        sparse, count = isinstance(D, SparseRows), len(triplets)
        done = state.learn_sparse(D, triplets, NOTHING) if sparse else self._learn(state, D, triplets)
        while done < count:
            state.restarts += 1
            if not state.sane():
                state.recall()
                state.damping *= DAMPING
                self._set_step(state, step)
            if state.restarts == 1 and len(self._rivals) == 1:
                self._warn(
                    f"diverged after {self.n_triplets_ + done} triplets: one was passed over, and "
                    f"learning goes on from the last good metric; try {self._remedy}"
                )
            done += 1
            rest = triplets[done:]
            done += state.learn_sparse(D, rest, NOTHING) if sparse else self._learn(state, D[done:], rest)

    def _admit_labels(self, labels: Sequence[Any], classes: ArrayLike | None = None) -> None:
        """Note the announced classes; refuse labels outside of them."""
        announced = self._announced if classes is None else announced_labels(classes)
        if announced is None:
            return
        if self._announced is None:
            labels = [*labels, *self._codes]
        elif classes is not None and announced.keys() != self._announced.keys():
            raise ValueError(f"classes={classes!r} is not the same as on last call to partial_fit")
        unknown = sorted({label for label in labels if label not in announced}, key=str)
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
        if self._watch.told or len(self._rivals) > 1:  # rivals are judged by what they are good for
            return
        if self._watch.stalled(*self._step_counts(), least):
            self._watch.told = True
            self._warn(
                f"hardly learns: more than half of its last {WINDOW} active steps changed the metric by less "
                f"than {WEAK_SHARE:.0%} of what the full step asked; try {self._remedy}"
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
        if "_kept" in state:
            self._writing()
        make_writable(self)

    def __getstate__(self) -> dict[str, Any]:
        if "_lock" not in self.__dict__:
            return dict(super().__getstate__())
        with self._lock:  # another thread may go on learning while the copy is written
            state = {name: value for name, value in super().__getstate__().items() if name not in NOT_KEPT}
            return deepcopy(state | {"_kept": {}})

    def __sklearn_tags__(self) -> Tags:
        tags: Any = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = takes_sparse(self)
        return tags
