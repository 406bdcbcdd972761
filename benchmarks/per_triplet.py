"""Time per triplet: every online method against plain NumPy, side by side.

python benchmarks/per_triplet.py            # about two minutes
python benchmarks/per_triplet.py 21 100     # only these numbers of features

Every hinge is active: rows are so short that no triplet reaches the margin. Ours is the second scan of
``iter_scans``, so that drawing the triplets counts; NumPy (:mod:`numpy_online`) gets them for free.
"""

import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import measure
import numpy as np
import numpy_online as plain
from threadpoolctl import threadpool_limits

from mloml import LEGO, MLOML, MOML, OASIS, OPML, RDML, SLMOML
from mloml.learners.triplets import scan_triplets

FEATURES = (4, 21, 57, 100, 200, 400)
CLASSES, REPEATS = 4, 10
STEP, RATE = 1e-4, 1e-6


class Method(NamedTuple):
    """A method as it is timed; ``length`` is that of the rows."""

    name: str
    learner: Any
    plain: Callable[[np.ndarray, np.ndarray], Any]
    length: float = 0.4


def stack(name: str, n: int, activation: str = "relu", strategy: str = "fp") -> Method:
    learner = MLOML(
        n_layers=n, activation=activation, propagation=strategy, gamma=STEP, layer_params={"rate": RATE}
    )
    numpy = partial(plain.mloml, n=n, activation=activation, strategy=strategy, gamma=STEP, rate=RATE)
    return Method(f"{name}, {n} layers, {strategy.upper()}", learner, numpy)


METHODS = [
    Method("MOML, M only", MOML(gamma=STEP, cone="free"), partial(plain.moml, gamma=STEP)),
    Method("OPML", OPML(gamma=STEP), partial(plain.opml, gamma=STEP)),
    # pairs are judged by their distance
    Method(
        "LEGO", LEGO(gamma=STEP, targets=(0.1, 1.0)), partial(plain.lego, eta=STEP, lower=0.1, upper=1.0), 1.0
    ),
    Method("RDML", RDML(gamma=STEP), partial(plain.rdml, lam=STEP), 1.0),
    Method("OASIS", OASIS(gamma=STEP), partial(plain.oasis, C=STEP)),
    Method("SLMOML", SLMOML(gamma=STEP), partial(plain.slmoml, C=STEP)),
    *(stack("MLOML-r", n) for n in (1, 3, 5)),
    *(stack(f"MLOML-{name[0]}", 3, name) for name in ("sigmoid", "tanh")),
    *(stack("MLOML-r", 3, strategy=strategy) for strategy in ("bp", "fbp")),
]


def short_rows(d: int, count: int, length: float = 0.4) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and labels; of rows of length 0.4 all squared distances are below .64."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(count, d))
    return length * X / np.linalg.norm(X, axis=1, keepdims=True), np.arange(count) % CLASSES


def microseconds(learner: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Return processor microseconds per triplet of a second scan."""
    run = learner.set_params(scans=2, scale=None, random_state=0).iter_scans(X, y)
    next(run)
    seen, start = learner.n_triplets_, time.thread_time()  # other processes shall not count
    next(run)
    return (time.thread_time() - start) / (learner.n_triplets_ - seen) * 1e6


def plain_microseconds(method: Method, X: np.ndarray, triplets: np.ndarray) -> float:
    start = time.thread_time()
    method.plain(X, triplets)
    return (time.thread_time() - start) / len(triplets) * 1e6


def side_by_side(method: Method, d: int) -> measure.Row:
    """Time ours and NumPy's by turns: the ratio is the median over pairs of runs that follow each other."""
    X, y = short_rows(d, int(np.clip(80_000 // d, 300, 4000)), method.length)
    few = scan_triplets(y)[: int(np.clip(3000 // d, 6, 60))]
    pairs = [
        (microseconds(method.learner, X, y), plain_microseconds(method, X, few)) for _ in range(REPEATS)
    ][1:]  # the first runs warm up
    row: measure.Row = {"method": method.name, "features": d}
    row["ours us"], row["spread"] = measure.median_and_spread([ours for ours, _ in pairs])
    row["NumPy us"], row["NumPy spread"] = measure.median_and_spread([theirs for _, theirs in pairs])
    ratios = [theirs / ours for ours, theirs in pairs]
    row["NumPy / ours"], row["ratio spread"] = measure.median_and_spread(ratios)
    return row


def main(features: list[int]) -> list[measure.Row]:
    with threadpool_limits(1):
        return measure.write("per_triplet", [side_by_side(method, d) for d in features for method in METHODS])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main([int(word) for word in sys.argv[1:]] or list(FEATURES))
