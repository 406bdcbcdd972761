"""A stream: rows that arrive in pieces or one by one, and what a learner remembers between them."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from numbers import Integral
from typing import Any, Generic, Self, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, issparse
from sklearn.base import _fit_context
from sklearn.utils.validation import check_is_fitted

from mloml.arrays import Array, Triplets

from .choosing import BLOCK, SPAN, Judge, Recent
from .labels import encoded, is_missing, require_label
from .rows import (
    BOUND,
    SMALLEST_SCALE,
    SparseRows,
    divided,
    given_scale,
    median_length,
    plain,
    require_takes_sparse,
    row_lengths,
    validate_rows,
)
from .triplets import NO_TRIPLET, ONE_TRIPLET, TripletStream, pieces

# Active steps that are judged together.
WINDOW = 1000
# Single rows between two looks at whether the learner still learns.
WATCH_EVERY = 256
# Parameters that may change while a stream goes on, or mean nothing to it.
NO_MATTER = ("gamma", "scans", "shuffle", "random_state")
# Triplets of sparse rows that are learned from together; a stack holds their outputs.
PIECE = 2**14
# How many times too large or too small a stream's scale may be before it is revised.
REVISED = 2.0
# In place of lengths that nobody asks for.
NO_LENGTHS = np.zeros(1)
BROKEN = "x contains NaN or infinity"
Value = TypeVar("Value")


class Stream:
    """What an :class:`~mloml.learners.online.OnlineLearner` does with rows that arrive one by one."""

    n_features_in_: int

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self: Any, X: Any, y: Any, classes: ArrayLike | None = None) -> Any:
        """Go on learning from rows that arrive now, once and in the order given, whatever ``scans`` is.

        ``classes`` may announce all labels on the first call; without it labels may turn up at any time. A
        row whose label is None or NaN teaches nothing. After ``fit`` the stream goes on where the last scan
        ended. The step size may be changed on the way; parameters that the learned state is made for may not.
        """
        with self._writing():
            first = not self.__sklearn_is_fitted__()
            if not first:
                require_kept(self)
            X, labels = self._check(X, y, reset=first)
            missing = self._n_missing
            if first:
                self._forget()
            self._admit_labels(labels.tolist(), classes)
            self._go_on(X, first)
            self.n_unlabelled_ += missing
            self._take(X, encoded(labels, self._codes))
        return self

    def learn_one(self: Any, x: ArrayLike, y: Any) -> Any:
        """Learn from one row with its label; exactly what ``partial_fit([x], [y])`` learns, at less cost.

        Parameters
        ----------
        x : array-like of shape (d,), or sparse matrix of shape (1, d)
            Finite numbers; nothing else is looked at.
        y : hashable
            Any label, a new one at any time; None and NaN: the row has none and teaches nothing.
        """
        if type(x) is not np.ndarray and issparse(x):
            require_takes_sparse(self, x)
            require_one_row(x)
            return self._learn_one_carefully(SparseRows.of(csr_array(x)), y)
        row = one_row(x)
        room = self.__dict__.get("_room")
        if room is None or (code := self._codes.get(y)) is None:
            return self._learn_one_carefully(row[np.newaxis], y)
        if row.size != self.n_features_in_:
            raise ValueError(wrong_length(self, row))
        with self._lock:
            self._take_one(row, code, room)
        return self

    def transform_one(self: Any, x: ArrayLike) -> Array:
        """Map one row, (d,); exactly what ``transform([x])[0]`` gives, at less cost."""
        components = self.components_
        if issparse(x):
            require_one_row(x)
            one = validate_rows(self, x, reset=False) @ components.T
            return one if issparse(one) else one[0]
        mapped: Array = (checked_row(self, x) @ components.T)[0]
        return mapped

    def add_features(self: Any, count: int) -> Any:
        """Let the rows to come have ``count`` more features; the rows so far count as zeros in them.

        The metric starts as the identity on the new features and is learned on from where it is: the same
        metric as if all rows had had these features, with zeros in the early ones. (With ``"bp"`` and
        ``"fbp"`` only nearly: a penalty, or a sigmoid's 1/2 at zero, would have moved the new part before.)
        """
        check_is_fitted(self)
        if isinstance(count, bool) or not isinstance(count, Integral) or count < 0:
            raise ValueError(f"count is {count!r}, expected an integer >= 0")
        if not count:
            return self
        n_features = self.n_features_in_ + int(count)
        with self._writing():
            try:
                for state in self._rivals:
                    state.widen(n_features)
                self._stream.widen(n_features)
                if self._recent is not None:
                    self._recent.widen(n_features)
                if self._judge is not None:
                    self._judge.widen(n_features)
                self.n_features_in_ = n_features
                for name in ("feature_names_in_", "_room"):
                    self.__dict__.pop(name, None)
                self._kept.clear()
            except NotImplementedError:
                name = type(self).__name__
                raise NotImplementedError(f"{name} cannot take new features on the way") from None
            except BaseException:  # Ctrl-C: what is wider already does not go with the rest
                for name in ("_stream", "_room"):
                    self.__dict__.pop(name, None)
                raise
        return self

    def _learn_one_carefully(self: Any, row: Any, label: Any) -> Any:
        """Learn from a row (1, d) that may be the first one, of a new class, without a label, or sparse."""
        sparse = isinstance(row, SparseRows)
        n_features = row.shape[1]
        with self._writing():
            first = not self.__sklearn_is_fitted__()
            if not self.__dict__.get("_valid"):  # the first row, or parameters were set since the last one
                self._validate_params()
                self._valid = True
            if not first and n_features != self.n_features_in_:
                raise ValueError(wrong_length(self, row))
            if not np.isfinite(row.data if sparse else row).all():
                raise ValueError(BROKEN)
            missing = is_missing(label)
            if not missing:
                require_label(label)
            if first:
                self.n_features_in_ = n_features
                self.__dict__.pop("feature_names_in_", None)
                self._forget()
            if not missing:
                self._admit_labels([label])
            if "_room" not in self.__dict__:
                if not first:
                    require_kept(self)
                self._go_on(row, first)
            if missing:
                self.n_unlabelled_ += 1
                return self
            if label not in self._codes:
                self._kept.pop("classes_", None)
            code = self._codes.setdefault(label, len(self._codes))
            if sparse:
                self._take(row, [code])
                return self
            self._stream.make_room(len(self._codes), n_features)
            if "_room" not in self.__dict__:
                self._room = np.zeros((1, 3, n_features))
            self._take_one(row[0], code, self._room)
        return self

    def _go_on(self: Any, X: Any, first: bool, judge: type[Judge] = Judge) -> None:
        """Get ready for rows of a stream, which ``fit`` may have begun; ``judge`` chooses the step size."""
        steps, judged = self._tried_steps(), self._chooses()
        if judged and type(self._judge) not in (type(None), judge):
            name = "gamma" if len(steps) > 1 else "n_layers"
            raise ValueError(
                f"{name} is 'auto', judged by labels or by comparisons, not by both: give a number"
            )
        if first:
            scale = given_scale(self.scale)
            self.scale_ = 1.0 if scale is None else scale
            self._scale_known = scale is not None
            start = self._new_state(X.shape[1], X, steps[0])
            self._lead([start, *(deepcopy(start) for _ in steps[1:])], steps)
            waits = [state.await_rows() for state in self._rivals]
            self._awaits_rows = any(waits)
            self._stream = TripletStream(self.triplets)
        elif len(steps) != len(self._rivals):  # after fit, or gamma was a number before, or is one now
            leader = int(np.argmin(np.abs(np.array(steps) - self.gamma_)))
            self._lead([deepcopy(self._state) for _ in steps], steps, leader)
            self._judge = None
        self._steps = steps
        for state, step in zip(self._rivals, steps, strict=True):
            self._set_step(state, step)
        if self._recent is None and (isinstance(self.scale, str) or judged or self._awaits_rows):
            self._recent = Recent(0 if first else BLOCK)
        if self._recent is not None:
            self._recent.keep = judged or self._awaits_rows
        if self._judge is None and judged:
            self._judge = judge(self._rivals)
            self._recent.forget()

    def _take(self: Any, X: Any, codes: Sequence[int]) -> None:
        """Let rows of the stream arrive, and look back at them after each block."""
        if isinstance(X, SparseRows):
            self.__dict__.pop("_room", None)  # the next single row has to be looked at
        self._kept.clear()
        recent, done = self._recent, 0
        while done < len(X):
            size = len(X) - done if recent is None else min(recent.room, len(X) - done)
            part, some = X[done : done + size], codes[done : done + size]
            if recent is None:
                rows = self._scaled(part)
            else:
                lengths = row_lengths(part)
                self._first_scale(lengths)
                rows = divided(part, lengths, self.scale_, self._bound)
                self._note_shortened(int((lengths > self._bound * self.scale_).sum()))
                recent.add(rows, some, lengths)
            show([self], self._stream, *self._stream.push(rows, some))
            done += size
            if recent is not None and not recent.room:
                self._look_back()

    def _take_one(self: Any, row: Array, code: int, room: Array) -> None:
        """Let one row arrive, as :meth:`_take` does."""
        recent = self._recent
        if recent is None:
            lengths, place, bound = NO_LENGTHS, 0, np.inf
        else:
            lengths, place, bound = recent.lengths, recent.count % BLOCK, self._bound
            if not self._scale_known:
                self._first_scale(row_lengths(row[np.newaxis]))
        found = self._stream.push_one(row, code, self.scale_, bound, lengths, place, room)
        if found < 0:
            raise ValueError(BROKEN)
        if self._kept:
            self._kept.clear()
        if found != NO_TRIPLET:
            self._learn_piece(room, ONE_TRIPLET[found])
            if self.n_triplets_ % WATCH_EVERY == 0:
                self._warn_if_stalled()
        if recent is not None:
            if lengths[place] > bound * self.scale_:
                self._note_shortened(1)
            recent.add_one(room, code)
            if not recent.room:
                self._look_back()

    # the scale and the step, looked at again and again ---------------------------------------------------

    @property
    def _bound(self: Any) -> float:
        return BOUND if isinstance(self.scale, str) else np.inf

    def _first_scale(self: Any, lengths: Array) -> None:
        """Take the length of the first row that is not zero for the scale."""
        if not self._scale_known and (lengths > SMALLEST_SCALE).any():
            self._scale_known = True
            self._rescale(float(lengths[lengths > SMALLEST_SCALE][0]))

    def _look_back(self: Any) -> None:
        """Revise the scale where the last rows say that it is wrong, and the step size after each block."""
        recent = self._recent
        if self._awaits_rows:
            for state in self._rivals:
                state.see_rows(recent.rows())
            self._awaits_rows = recent.count < BLOCK
        if self._judge is not None and len(recent.codes) >= SPAN:
            self._judge.judge(recent.rows(), recent.codes, self._rivals)
            n = len(self._rivals)
            view, self._leader = divmod(self._judge.best(n * self._state.view + self._leader), n)
            self._state.view = view
            self._kept.clear()
            recent.forget()
        elif self._judge is None and not self._awaits_rows:
            recent.keep = False
            recent.forget()
        if isinstance(self.scale, str):
            lengths = recent.last_lengths()
            typical = median_length(lengths)
            wrong = recent.count <= BLOCK or not 1 / REVISED < typical / self.scale_ < REVISED
            if wrong and (lengths > SMALLEST_SCALE).any():
                self._rescale(typical)
        recent.await_look()

    def _rescale(self: Any, scale: float) -> None:
        """Divide the rows to come by another scale; what was learned stays, and refers to that then."""
        ratio, self.scale_ = scale / self.scale_, scale
        self._stream.divide(ratio)
        self._recent.divide(ratio)
        for state in self._rivals:
            state.rescale(1 / ratio)
        self._kept.clear()

    def _note_shortened(self: Any, count: int) -> None:
        """Count rows that were far too long, and say so once."""
        if count and not self.n_shortened_:
            self._warn(f"shortens rows that are more than {BOUND:g} times as long as usual, see n_shortened_")
        self.n_shortened_ += count


def show(learners: Sequence[Any], stream: TripletStream, rows: Any, triplets: Triplets) -> None:
    """Let learners see the triplets, and keep the stream that ``partial_fit`` would go on with."""
    for learner in learners:
        learner._stream = stream
        learner._kept.clear()
    if isinstance(rows, SparseRows):
        parts: Any = ((rows, triplets[i : i + PIECE]) for i in range(0, len(triplets), PIECE))
    else:
        parts = pieces(rows, triplets)
    for D, piece in parts:
        for learner in learners:
            learner._learn_piece(D, piece)
    for learner in learners:
        learner._warn_if_stalled()


def one_row(x: ArrayLike) -> Array:
    """Return ``x`` as an array of the one kind that compiled code was made for."""
    row = np.asarray(x, dtype=np.float64)
    if row.ndim != 1 or row.size == 0:
        raise ValueError(f"x has shape {row.shape}, expected one row (n_features,)")
    return plain(row)


def checked_row(learner: Any, x: ArrayLike) -> Array:
    """Return a row of the features that were learned, (1, d), to be mapped."""
    row = one_row(x)
    if row.size != learner.n_features_in_:
        raise ValueError(wrong_length(learner, row))
    if not np.isfinite(row).all():
        raise ValueError(BROKEN)
    return row[np.newaxis]


def require_one_row(x: Any) -> None:
    """Refuse a sparse matrix that is more or less than one row."""
    if len(x.shape) != 2 or x.shape[0] != 1:
        raise ValueError(f"x has shape {x.shape}, expected one sparse row (1, n_features)")


def wrong_length(learner: Any, row: Any) -> str:
    """Return the message for a row that does not fit what was learned."""
    return f"x has {row.shape[-1]} features, but {type(learner).__name__} expects {learner.n_features_in_}"


def parameters_to_keep(learner: Any) -> dict[str, Any]:
    """Return the parameters, as they are now, that a stream of this learner goes on with.

    >>> from mloml import OPML
    >>> parameters_to_keep(OPML(gamma=0.1))
    {'scale': 'auto', 'triplets': 'released'}
    """
    free = {*NO_MATTER, *learner._may_change}
    return {name: value for name, value in learner.get_params(deep=False).items() if name not in free}


def require_kept(learner: Any) -> None:
    """Refuse to go on with a stream whose parameters were changed since it began."""
    for name, value in learner._began_with.items():
        now = getattr(learner, name)
        if now is not value and not _equal(now, value):
            raise ValueError(
                f"{name} was {value!r} when {type(learner).__name__} began to learn and is {now!r} now: "
                "what it has learned is made for the former; set it back, or fit anew"
            )


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    try:
        return bool(one == other)
    except ValueError:  # arrays inside say so for each entry
        return False


class learned(Generic[Value]):
    """Decorator like ``property``; the value is kept in the learner's ``_kept`` until that is cleared."""

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self.compute = compute
        self.name = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, learner: None, owner: type) -> Self: ...

    @overload
    def __get__(self, learner: Any, owner: type | None = None) -> Value: ...

    def __get__(self, learner: Any, owner: type | None = None) -> Any:
        if learner is None:
            return self
        with learner._writing():  # one thread may learn while others look
            if not learner.__sklearn_is_fitted__():  # the check itself takes longer than a row does
                check_is_fitted(learner)
            kept = learner._kept
            if self.name not in kept:
                kept[self.name] = self.compute(learner)
            return kept[self.name]


class StepWatch:
    """Compares how many steps were active with how many were weak, in windows of at least WINDOW steps.

    Parameters are totals since the start, for one metric or for each layer of a stack.

    >>> watch = StepWatch()
    >>> watch.stalled(1200, 500), watch.stalled(2000, 1300), watch.stalled(2500, 1300)
    (False, False, True)
    """

    def __init__(self) -> None:
        self.told = False
        self._active: Any = 0
        self._weak: Any = 0

    def stalled(self, active: ArrayLike, weak: ArrayLike, least: int = WINDOW) -> bool:
        """Say whether, since a window was last full, more than half of the steps were weak."""
        active, weak = np.asarray(active), np.asarray(weak)
        steps, lost = active - self._active, weak - self._weak
        full = steps >= least
        self._active = np.where(full, active, self._active)
        self._weak = np.where(full, weak, self._weak)
        return bool(np.any(full & (2 * lost > steps)))


def make_writable(holder: Any) -> None:
    """Copy all arrays of an object, and of our objects in it, that cannot be written to.

    joblib hands large arrays to its workers that way, and ``joblib.load(path, mmap_mode="r")`` all of them.
    """
    for name, value in list(vars(holder).items()):
        if isinstance(value, np.ndarray) and not value.flags.writeable:
            vars(holder)[name] = np.array(value)
        for part in value if isinstance(value, list) else [value]:
            own = type(part).__module__.split(".")[0] == __name__.split(".")[0]
            if own and hasattr(part, "__dict__") and not isinstance(part, SparseRows):
                make_writable(part)
