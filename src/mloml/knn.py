"""MetricKNN: nearest neighbours among the last rows of a stream, under a metric that goes on learning."""

from collections.abc import Hashable, Iterator
from numbers import Integral
from threading import RLock
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context, clone
from sklearn.utils import Tags, check_consistent_length
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from mloml.arrays import Array, Index
from mloml.learners.labels import (
    announced_labels,
    checked_labels,
    encoded,
    is_missing,
    require_label,
    sorted_labels,
)
from mloml.learners.moml import MOML
from mloml.learners.online import OnlineLearner
from mloml.learners.rows import features_unless_refused, takes_sparse, validate_rows
from mloml.learners.stream import checked_row, make_writable, require_one_row
from mloml.window import Window


class MetricKNN(ClassifierMixin, BaseEstimator):
    """Nearest neighbours among the last rows of a stream, under a metric that learns from the same rows.

    A prediction is that of an exhaustive search through the window under the metric as it is now: rows that
    came before the metric moved are in the right place. A learned row costs O(d²), a prediction O(window d),
    and where the metric moved in between, about as much again to follow it. That holds for MOML, OPML, LEGO
    and LowRankMOML. With an MLOML, whose map is not linear, the window is mapped anew; so it is after a step
    of RDML or SLMOML, whose factor is computed in O(d³).

    Parameters
    ----------
    metric : "auto", online learner or None, default="auto"
        The learner of the metric, which is copied, not learned on. "auto" is ``MOML(random_state=0)``; None
        is plain k-NN with Euclidean distance. With OASIS, and with ``MOML(cone="free")`` once M is
        indefinite, neighbours are the most similar rows.
    n_neighbors : int, default=5
        How many neighbours vote.
    window : int or None, default=1000
        How many of the last rows with a label are kept; None: all.
    weights : {"uniform", "distance"}, default="uniform"
        How much a neighbour's vote counts: 1, or the inverse of its distance. A neighbour at distance 0 then
        outvotes all others. A similarity has no distances.

    Attributes
    ----------
    metric_ : online learner or None
        The metric as it is now. It may also be taught directly, by comparisons for instance.
    classes_ : array
        The labels seen so far (or announced to ``partial_fit``), sorted.
    n_features_in_ : int
        Features of a row.

    Notes
    -----
    Of equally distant rows the earlier one is the nearer neighbour; where classes have equally many votes,
    the first in ``classes_`` wins. Rows without a label (None, NaN) are passed over. One thread may learn
    while others predict.

    Examples
    --------
    >>> from mloml import MOML, MetricKNN
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from sklearn.utils import shuffle
    >>> X, y = shuffle(*load_wine(return_X_y=True), random_state=0)
    >>> model, right = MetricKNN(MOML(gamma=1e-2)), 0
    >>> for row, label in zip(scale(X), y):
    ...     right += model.predict_one(row) == label
    ...     _ = model.learn_one(row, label)
    >>> int(right), len(y)
    (162, 178)
    """

    metric_: Any
    classes_: NDArray[Any]
    n_features_in_: int

    _parameter_constraints: dict[str, list[Any]] = {
        "metric": [StrOptions({"auto"}), OnlineLearner, None],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "window": [Interval(Integral, 1, None, closed="left"), None],
        "weights": [StrOptions({"uniform", "distance"})],
    }

    def __init__(
        self,
        metric: Any = "auto",
        *,
        n_neighbors: int = 5,
        window: int | None = 1000,
        weights: str = "uniform",
    ) -> None:
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.window = window
        self.weights = weights

    def __sklearn_is_fitted__(self) -> bool:
        return "_window" in self.__dict__

    # learning --------------------------------------------------------------------------------------------

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit the metric to all rows, with its scans, and keep the last ``window`` of them."""
        with self._writing(), features_unless_refused(self):
            rows, labels = self._checked(X, y, reset=True)
            if not labels.size:
                raise ValueError("y has no labels: all of them are None or NaN")
            metric = self._new_metric()
            if metric is not None:
                metric.fit(rows, labels)
            self._begin(metric, rows.shape[1])
            self._take(rows, labels)
        return self

    @_fit_context(prefer_skip_nested_validation=False)
    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Go on with rows that arrive now; ``classes`` may announce all labels."""
        with self._writing(), features_unless_refused(self):
            first = not self.__sklearn_is_fitted__()
            rows, labels = self._checked(X, y, reset=first)
            metric = self._new_metric() if first else self.metric_
            announced = {} if classes is None else announced_labels(classes)
            if metric is not None:
                metric.partial_fit(rows, labels, classes)
            if first:
                self._begin(metric, rows.shape[1])
            self._note_labels(announced)
            self._take(rows, labels)
        return self

    def learn_one(self, x: Any, y: Hashable) -> Self:
        """Learn from one row with its label, (d,) or a sparse (1, d); None and NaN: it has none."""
        with self._writing():
            if not self.__sklearn_is_fitted__():
                rows = x if issparse(x) else np.atleast_2d(np.asarray(x, dtype=np.float64))
                return self.partial_fit(rows, [y])
            row = self._one(x)
            missing = is_missing(y)
            if not missing:
                require_label(y)
            if self.metric_ is not None:
                self.metric_.learn_one(row if issparse(row) else row[0], y)
            if not missing:
                self._note_labels([y])
                self._window.add(row, [self._codes[y]])
        return self

    def add_features(self, count: int) -> Self:
        """Let the rows to come have ``count`` more features; the rows so far count as zeros in them."""
        check_is_fitted(self)
        if isinstance(count, bool) or not isinstance(count, Integral) or count < 0:
            raise ValueError(f"count is {count!r}, expected an integer >= 0")
        with self._writing():
            if self.metric_ is not None:
                self.metric_.add_features(count)
            self.n_features_in_ += int(count)
            self.__dict__.pop("feature_names_in_", None)
            self._window.widen(self.n_features_in_)
        return self

    # answers ---------------------------------------------------------------------------------------------

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the label of each row."""
        with self._writing():  # a class that is new meanwhile would move the others
            votes = self.predict_proba(X)
            labels: NDArray[Any] = self.classes_[votes.argmax(axis=1)]
        return labels

    def predict_proba(self, X: ArrayLike) -> Array:
        """Return each class's share of the votes, (n, classes), in the order of ``classes_``."""
        check_is_fitted(self)
        with self._writing():
            return self._votes(validate_rows(self, X, reset=False))

    def predict_one(self, x: Any) -> Any:
        """Return the label of one row; None where nothing was learned yet."""
        shares = self.predict_proba_one(x)
        return max(shares, key=shares.__getitem__) if shares else None

    def predict_proba_one(self, x: Any) -> dict[Any, float]:
        """Return each class's share of the votes by its label; nothing where nothing was learned yet."""
        with self._writing():
            if not self.__sklearn_is_fitted__() or not len(self._window):
                return {}
            return dict(zip(self.classes_.tolist(), self._votes(self._one(x))[0].tolist(), strict=True))

    def kneighbors(self, X: ArrayLike) -> tuple[Array, Index]:
        """Return the distances of each row's neighbours and their places in the window, 0 the earliest."""
        check_is_fitted(self)
        with self._writing():
            places, distances = zip(*self._neighbours(validate_rows(self, X, reset=False)), strict=True)
        return np.array(distances), np.array(places)

    def _neighbours(self, rows: Any) -> Iterator[tuple[Index, Array]]:
        if not len(self._window):
            raise ValueError(f"{type(self).__name__} has no rows with a label to vote")
        with np.errstate(over="ignore", invalid="ignore"):
            yield from self._window.neighbours(self.metric_, rows, self.n_neighbors)

    def _votes(self, rows: Any) -> Array:
        columns = self._columns[self._window.codes()]
        shares = np.zeros((rows.shape[0], self.classes_.size))
        for votes, (places, distances) in zip(shares, self._neighbours(rows), strict=True):
            np.add.at(votes, columns[places], self._weights(distances))
        return shares / shares.sum(axis=1, keepdims=True)

    def _weights(self, distances: Array) -> Any:
        """Return the weights of neighbours, nearest first."""
        if self.weights == "uniform":
            return 1.0
        least = distances[0]
        return least / distances if 0.0 < least < np.inf else distances == least

    # what is kept ----------------------------------------------------------------------------------------

    @property
    def _takes_sparse(self) -> bool:
        return self.metric is None or takes_sparse(self.metric)

    def _checked(self, X: ArrayLike, y: Any, reset: bool) -> tuple[Any, NDArray[Any]]:
        """Return the rows that have a label, and their labels."""
        rows = validate_rows(self, X, *((None,) if y is None else ()), reset=reset)
        labels, there = checked_labels(y)
        check_consistent_length(rows, labels)
        return rows[there], labels[there]

    def _one(self, x: Any) -> Any:
        """Return one row, (1, d)."""
        sparse: bool = issparse(x)
        if not sparse:
            return checked_row(self, x)
        require_one_row(x)
        return validate_rows(self, x, reset=False)

    def _new_metric(self) -> Any:
        metric = MOML(random_state=0) if isinstance(self.metric, str) else self.metric
        if metric is None:
            return None
        may_compare = not hasattr(metric, "transform") or getattr(metric, "cone", "") == "free"
        if self.weights == "distance" and may_compare:
            raise ValueError(f"weights is 'distance', but {metric!r} may have no distances; use 'uniform'")
        return clone(metric)

    def _begin(self, metric: Any, n_features: int) -> None:
        """Forget everything but the metric."""
        self.metric_ = metric
        self._codes: dict[Any, int] = {}
        self._note_labels([])
        self._window = Window(self.window, n_features)

    def _take(self, rows: Any, labels: NDArray[Any]) -> None:
        codes = encoded(labels, self._codes)
        self._note_labels(self._codes)
        self._window.add(rows, codes)

    def _note_labels(self, labels: Any) -> None:
        """Give labels that are new a number, and sort them all."""
        for label in labels:
            self._codes.setdefault(label, len(self._codes))
        if len(self._codes) != len(getattr(self, "_columns", ())):
            self.classes_ = sorted_labels(self._codes)
            place = {label: column for column, label in enumerate(self.classes_.tolist())}
            self._columns = np.array([place[label] for label in self._codes], dtype=np.intp)

    def _writing(self) -> Any:
        """Return the lock that a thread holds while it learns or predicts."""
        return self.__dict__.setdefault("_lock", RLock())

    def __getstate__(self) -> dict[str, Any]:
        with self._writing():
            return {name: value for name, value in super().__getstate__().items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        make_writable(self)

    def __sklearn_tags__(self) -> Tags:
        tags: Any = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse
        return tags
