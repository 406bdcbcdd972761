"""How rows and labels come in: checked, scaled, in the order of a scan or a stream, and made triplets of."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets

from mloml.arrays import Array, Triplets
from mloml.kernels.stack import layout
from mloml.learners.triplets import Rule, TripletStream

from .kept_parameters import parameters_to_keep
from .labels import announced_labels, sorted_labels
from .scaling import RowLengths, given_scale
from .sparse_rows import SparseRows, features_unless_refused, learnable, validate_rows
from .stalling import WINDOW, StepWatch, warn_of_divergence


class Intake:
    """What :class:`~mloml.learners.online.OnlineLearner` does between its users' rows and its hooks."""

    scale: Any
    scans: int
    shuffle: bool
    random_state: Any
    triplets: Rule
    scale_: float
    n_triplets_: int
    diverged_: bool

    _start: Any
    _start_stream: Any
    _scale_is_set: Any
    _arrange: Any
    _learn: Any
    _finish: Any
    _step_counts: Any
    _remedy: str

    def _check(self, X: ArrayLike, y: ArrayLike, reset: bool) -> tuple[Array, NDArray[Any]]:
        with features_unless_refused(self):
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
            scale = self._lengths.up_to_a_triplet(X, triplets[:, 0] - (len(rows) - len(X)))
            if scale is not None:
                self._set_scale(scale)
                rows = self._scaled(rows)
                self._stream.divide(scale)
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

    def _warn_if_stalled(self, least: int = WINDOW) -> None:
        """Say, once, that most of the recent steps hardly changed the metric."""
        active, weak = self._step_counts()
        if not self._watch.told and self._watch.stalled(active, weak, least):
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
