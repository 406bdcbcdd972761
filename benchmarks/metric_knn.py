"""MetricKNN in a stream: what a row costs, beside river's KNNClassifier and a window that is mapped anew.

python benchmarks/metric_knn.py

Each row is predicted, then learned. The models take turns, so that a busy moment of the machine meets all of
them. "follow" is what it takes to bring the window up to the metric, in shares of a query.
"""

import time
from collections.abc import Callable
from typing import Any

import measure
import numpy as np
from river.neighbors import KNNClassifier, LazySearch
from scipy.spatial.distance import cdist

from mloml import MOML, MetricKNN

SIZES = ((20, 1000), (100, 1000), (20, 10_000), (100, 10_000))
ROWS, TURNS = 40, 7


class MappedAnew:
    """The same neighbours by mapping the whole window before each prediction."""

    def __init__(self, X: Any, y: Any) -> None:
        self.metric = MOML(gamma=1e-3, scale=float(np.sqrt(X.shape[1]))).partial_fit(X, y)
        self.X, self.y, self.place = X.copy(), y.copy(), 0

    def __call__(self, x: Any, y: Any) -> Any:
        """Predict the row, then learn it."""
        distances = cdist(self.metric.transform_one(x)[None], self.X @ self.metric.components_.T)[0]
        label = np.bincount(self.y[np.argpartition(distances, 5)[:5]]).argmax()
        self.metric.learn_one(x, y)
        self.X[self.place], self.y[self.place] = x, y
        self.place = (self.place + 1) % len(self.X)
        return label


def rows(n: int, d: int, seed: int = 0) -> tuple[Any, Any]:
    """Return rows of three classes."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, d)), rng.integers(3, size=n)
    X[np.arange(n), y] += 2
    return X, y


def models(d: int, window: int) -> tuple[dict[str, Callable[[Any, Any], Any]], MetricKNN]:
    """Return, by name, what is done with one row, each with a full window; and the first of them."""
    X, y = rows(window, d)
    ours = MetricKNN(MOML(gamma=1e-3, scale=float(np.sqrt(d))), window=window).partial_fit(X, y)
    plain = MetricKNN(None, window=window).partial_fit(X, y)
    river = KNNClassifier(n_neighbors=5, engine=LazySearch(window_size=window))
    for row, label in zip(X, y.tolist(), strict=True):
        river.learn_one(dict(enumerate(row.tolist())), label)

    def in_turn(model: Any) -> Callable[[Any, Any], Any]:
        return lambda x, y: (model.predict_one(x), model.learn_one(x, y))

    def as_dict(x: Any, y: Any) -> Any:
        row = dict(enumerate(x.tolist()))
        return river.predict_one(row), river.learn_one(row, y)

    return {
        "MetricKNN(MOML)": in_turn(ours), "MetricKNN(None)": in_turn(plain), "mapped anew": MappedAnew(X, y),
        "river KNNClassifier": as_dict,
    }, ours  # fmt: skip


def measured(d: int, window: int) -> list[measure.Row]:
    """Return microseconds per row of each, as many times those of MetricKNN, and the share of following."""
    does, ours = models(d, window)
    X, y = rows((ROWS + 5) * TURNS * 2, d, seed=1)
    stream = iter(zip(X, y.tolist(), strict=True))
    times: dict[str, list[float]] = {name: [] for name in does}
    shares = []
    for _ in range(TURNS):
        part = [next(stream) for _ in range(ROWS)]
        for name, step in does.items():
            some = part[:3] if name.startswith("river") else part
            start = time.process_time()
            for x, label in some:
                step(x, label)
            times[name].append((time.process_time() - start) / len(some) * 1e6)
        follow, query = 0.0, 0.0
        for x, label in part:
            ours.learn_one(x, label)
            start = time.process_time()
            ours._window.follow(ours.metric_)
            middle = time.process_time()
            ours.predict_one(x)
            follow, query = follow + middle - start, query + time.process_time() - middle
        shares.append(follow / query)
    medians = {name: measure.median_and_spread(values) for name, values in times.items()}
    base = medians["MetricKNN(MOML)"][0]
    return [
        {
            "what": name, "features": d, "window": window, "us per row": us, "spread": spread,
            "times MetricKNN": us / base,
            "follow / query": float(np.median(shares)) if name == "MetricKNN(MOML)" else "",
        }
        for name, (us, spread) in medians.items()
    ]  # fmt: skip


def main() -> list[measure.Row]:
    return measure.write("metric_knn", [row for size in SIZES for row in measured(*size)])


if __name__ == "__main__":
    main()
