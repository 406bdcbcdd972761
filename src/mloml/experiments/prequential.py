"""A cell that is a stream: each sample is predicted, then learned from, once and in its order.

Predictions are those of k-NN over the last ``protocol.window`` samples under the algorithm's metric, or
those of a classifier from elsewhere. Before a method sees a sample, each feature loses its mean and is
divided by its standard deviation, both over the samples so far (``protocol.rows: standardised``).
"""

from __future__ import annotations

import pickle
import time
import warnings
from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np
from hydra.utils import instantiate
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from mloml.arrays import Array, Codes
from mloml.config.lookup import is_stream_classifier, learner_class, parameter_names
from mloml.experiments.cell import Cell, make_learner, versions
from mloml.experiments.measures import BLOCKS, blocks, last_label, majority
from mloml.experiments.preprocessing import unit_rows
from mloml.knn import MetricKNN
from mloml.learners import Euclidean
from mloml.learners.online import OnlineLearner

if TYPE_CHECKING:
    from mloml.datasets import Dataset

COUNTERS = ("gamma", "n_triplets", "n_updates", "n_cone_failures", "n_shortened", "n_restarts")


def run_stream(cell: Cell, data: Dataset) -> dict[str, Any]:
    """Test, then train, over the samples in their order; return the cell's record.

    ``error`` is the share of wrong predictions, ``hits`` counts the right ones by block, ``confusion`` has a
    row per class and a last column for "no answer", ``memory`` is the size of the pickled model at the end.
    The seconds of a sample leave out the first block, in which code may have to be compiled.
    """
    if data.checksum != cell.checksum:
        raise ValueError(f"{cell.dataset}: the data's checksum is {data.checksum}, not {cell.checksum}")
    X, y = data.X[: cell.protocol.length], data.y[: cell.protocol.length]
    start = time.perf_counter()
    with threadpool_limits(1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rows = standardised_so_far(X) if cell.protocol.rows == "standardised" else unit_rows(X)
        model = make_classifier(cell, len(data.labels))
        predicted, clock = predict_then_learn(model, rows, y)
        memory = len(pickle.dumps(model))
    hits = predicted[1:] == y[1:]
    confusion = np.zeros((len(data.labels), len(data.labels) + 1), dtype=int)
    np.add.at(confusion, (y[1:], predicted[1:]), 1)  # -1, no answer, is the last column
    first = int(np.searchsorted(blocks(len(y)), 1)) + 1
    per_row = float(clock[-1] - clock[first - 1]) / max(1, len(y) - first)
    metric = getattr(model, "metric_", None)
    counters = {name: getattr(metric, f"{name}_", None) for name in COUNTERS}
    return {
        "dataset": cell.dataset,
        "algorithm": cell.algorithm.name,
        "protocol": cell.protocol.name,
        "split": cell.split,
        "key": cell.key,
        "error": 1 - float(hits.mean()),
        "chosen": {},
        "rows": len(y),
        "hits": np.bincount(blocks(len(y)), weights=hits, minlength=BLOCKS).astype(int).tolist(),
        "confusion": confusion.tolist(),
        "last_label": last_label(y),
        "majority": majority(y.tolist()),
        "seconds": {"total": time.perf_counter() - start, "row": per_row},
        "memory": memory,
        "counters": {name: None if v is None else np.asarray(v).tolist() for name, v in counters.items()},
        "seeds": {"stream": cell.seed("stream")},
        "versions": versions(),
        "checksum": data.checksum,
        "warnings": sorted({str(warning.message) for warning in caught}),
        "status": "ok",
    }


def standardised_so_far(X: Array) -> Array:
    """Scale each row by the mean and deviation of the rows up to and including it; constant features are 0.

    >>> standardised_so_far(np.array([[1.0, 5.0], [3.0, 5.0], [5.0, 5.0]])).round(3).tolist()
    [[0.0, 0.0], [1.0, 0.0], [1.225, 0.0]]
    """
    rows = np.zeros_like(X)
    mean, squares = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for count, x in enumerate(X, start=1):  # Welford's recurrence
        gap = x - mean
        mean += gap / count
        squares += gap * (x - mean)
        np.divide(x - mean, np.sqrt(squares / count), out=rows[count - 1], where=squares > 0)
    return rows


def predict_then_learn(model: Any, rows: Array, y: Codes) -> tuple[Codes, Array]:
    """Return the predictions (-1 where there is none) and the time after every sample."""
    predicted, clock = np.full(len(y), -1, dtype=np.int64), np.empty(len(y))
    for i, (row, label) in enumerate(zip(rows, y.tolist(), strict=True)):
        answer = model.predict_one(row) if i else None
        if answer is not None:
            predicted[i] = answer
        model.learn_one(row, label)
        clock[i] = time.perf_counter()
    return predicted, clock


def make_classifier(cell: Cell, classes: int) -> Any:
    """Return what predicts and learns the rows of a stream: an object with ``predict_one`` and ``learn_one``.

    An online learner or Euclidean distance is the metric of a :class:`mloml.MetricKNN`; any other metric is
    fitted anew to the window every ``protocol.refit`` rows. A classifier from elsewhere is used as it is. A
    parameter of it that has a ``_target_`` is an object, made by Hydra.
    """
    kind, protocol = learner_class(cell.algorithm.learner), cell.protocol
    settings: dict[str, Any] = {"n_neighbors": protocol.neighbours, "window": protocol.window}
    if is_stream_classifier(kind):
        seeds = {name: cell.seed("stream") for name in ("seed", "random_state")}
        own = {name: seed for name, seed in seeds.items() if name in parameter_names(kind)}
        target = {"_target_": cell.algorithm.learner, "_convert_": "all"}
        model = instantiate(target | own | cell.algorithm.params)
        return DictRows(model) if hasattr(model, "predict_one") else FewRows(model, classes)
    learner: Any = make_learner(cell)
    if isinstance(learner, OnlineLearner | Euclidean):
        return MetricKNN(None if isinstance(learner, Euclidean) else learner, **settings)
    return Refitted(learner, protocol.refit, settings)


class DictRows:
    """A classifier of river's, whose rows are dicts."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def predict_one(self, row: Array) -> Any:
        """Return the label of a row, or None."""
        return self.model.predict_one(dict(enumerate(row.tolist())))

    def learn_one(self, row: Array, label: int) -> None:
        """Learn from a row."""
        self.model.learn_one(dict(enumerate(row.tolist())), label)


class FewRows:
    """A classifier of scikit-learn's that learns by ``partial_fit``."""

    def __init__(self, model: Any, classes: int) -> None:
        self.model, self.classes = model, np.arange(classes)

    def predict_one(self, row: Array) -> Any:
        """Return the label of a row."""
        return self.model.predict(row[None])[0]

    def learn_one(self, row: Array, label: int) -> None:
        """Learn from a row."""
        self.model.partial_fit(row[None], [label], classes=self.classes)


class Refitted:
    """k-NN over the last rows under a metric that is fitted anew to them every so many rows.

    Before the first fit, and where a fit fails (too few rows of a class, for instance), the metric stays as
    it was; it starts as Euclidean distance.
    """

    def __init__(self, learner: Any, every: int, settings: dict[str, Any]) -> None:
        self.learner, self.every, self.settings = learner, every, settings
        self.window: deque[tuple[Array, int]] = deque(maxlen=settings["window"])
        self.knn, self.metric_, self.seen = MetricKNN(None, **settings), None, 0

    def predict_one(self, row: Array) -> Any:
        """Return the label of a row."""
        return self.knn.predict_one(self._mapped(row[None])[0])

    def learn_one(self, row: Array, label: int) -> None:
        """Take a row into the window; fit the metric when it is time."""
        self.window.append((row, label))
        self.knn.learn_one(self._mapped(row[None])[0], label)
        self.seen += 1
        if self.seen % self.every == 0:
            rows, labels = (np.array(part) for part in zip(*self.window, strict=True))
            try:
                self.metric_ = clone(self.learner).fit(rows, labels)
            except ValueError as error:
                warnings.warn(f"not refitted: {error}", stacklevel=2)
                return
            self.knn = MetricKNN(None, **self.settings).partial_fit(self._mapped(rows), labels)

    def _mapped(self, rows: Array) -> Array:
        return rows if self.metric_ is None else self.metric_.transform(rows)
