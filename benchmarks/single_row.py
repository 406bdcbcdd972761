"""One row at a time: what ``learn_one`` and ``transform_one`` cost beside scikit-learn's SGDClassifier.

python benchmarks/single_row.py

The learners take turns, so that a busy moment of the machine meets all of them; processor time is counted.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

import measure
import numpy as np
from sklearn.linear_model import SGDClassifier

from mloml import LEGO, MLOML, MOML, OASIS, OPML, RDML, SLMOML

FEATURES = (20, 100)
WARM_UP, ROWS, TURNS = 300, 200, 9
LEARNERS = {
    "MOML": MOML(gamma=1e-3),
    "MOML, M only": MOML(gamma=1e-3, cone="free"),
    "OPML": OPML(),
    "LEGO": LEGO(targets=(10.0, 80.0)),
    "RDML": RDML(),
    "OASIS": OASIS(),
    "SLMOML": SLMOML(),
    "MLOML, 3 layers": MLOML(gamma=1e-3),
}


def stream(d: int, seed: int = 0) -> Iterator[tuple[Any, Any]]:
    """Yield rows of three classes without end."""
    rng = np.random.default_rng(seed)
    while True:
        y = int(rng.integers(3))
        x = rng.normal(size=d)
        x[y] += 2
        yield x, y


def steps(d: int) -> dict[str, Callable[[Any, Any], Any]]:
    """Return, by name, what is done with one row: learned from, mapped, or learned from by scikit-learn."""
    from sklearn.base import clone

    found: dict[str, Callable[[Any, Any], Any]] = {}
    for name, learner in LEARNERS.items():
        found[f"{name}: learn_one"] = clone(learner).learn_one
    moml = clone(LEARNERS["MOML"]).partial_fit(np.eye(4, d), [0, 1, 0, 1])
    found["MOML: partial_fit"] = lambda x, y: moml.partial_fit(x[None], [y])
    found["MOML: transform_one"] = lambda x, y: moml.transform_one(x)
    found["MOML: learn_one, transform_one"] = lambda x, y: moml.learn_one(x, y).transform_one(x)
    linear = SGDClassifier().partial_fit(np.zeros((1, d)), [0], classes=[0, 1, 2])
    found["SGDClassifier: partial_fit"] = lambda x, y: linear.partial_fit(x[None], [y])
    return found


def measured(d: int) -> list[measure.Row]:
    """Return the microseconds per row of each, and how many times SGDClassifier's they are."""
    does, rows = steps(d), stream(d)
    for step in does.values():
        for _, (x, y) in zip(range(WARM_UP), rows, strict=False):
            step(x, y)
    times: dict[str, list[float]] = {name: [] for name in does}
    for _ in range(TURNS):
        part = [next(rows) for _ in range(ROWS)]
        for name, step in does.items():
            start = time.process_time()
            for x, y in part:
                step(x, y)
            times[name].append((time.process_time() - start) / ROWS * 1e6)
    medians = {name: measure.median_and_spread(values) for name, values in times.items()}
    yardstick = medians["SGDClassifier: partial_fit"][0]
    return [
        {
            "what": name,
            "features": d,
            "us per row": us,
            "spread": spread,
            "times SGDClassifier": us / yardstick,
        }
        for name, (us, spread) in medians.items()
    ]


def main() -> list[measure.Row]:
    return measure.write("single_row", [row for d in FEATURES for row in measured(d)])


if __name__ == "__main__":
    main()
