"""Learners on an endless stream: whether they go on learning, stay healthy and follow when the world changes.

python benchmarks/streams.py                            # one seed
python benchmarks/streams.py --seeds 5                  # five seeds, means over them; shared between cores
python benchmarks/streams.py --seeds 5 MOML MLOML-r     # only these learners

Three classes in 20 features, ``X = normal + 2 e_y``: 300,000 rows in calls of 10,000. Then other features
tell the classes apart, ``X = normal + 2 e_(y + 10)``, for another 100,000. Every learner meets the same rows,
as they are (``scale="auto"`` sees to their length) and divided by their norms. Counted are the steps of each
block of 100,000 rows, in the layer that takes fewest; the least eigenvalue of any layer at the end of any
call; and the accuracy of 5-NN on 2,000 fresh rows with 2,000 others as neighbours, before the change and at
the end, beside that of plain 5-NN and of an untrained stack.
"""

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import measure
import numpy as np
import stream_figure
from joblib import Parallel, delayed
from scipy.sparse import issparse

from mloml.experiments.neighbours import Rows
from mloml.learners import (
    LEGO,
    MLOML,
    MOML,
    OASIS,
    OPML,
    RDML,
    SLMOML,
    DiagonalMOML,
    Euclidean,
    ExplicitMLOML,
    LowRankMOML,
)

FEATURES, CLASSES, SHIFT, NEIGHBOURS = 20, 3, 2.0, 5
CALL, BLOCK = 10_000, 100_000
BEFORE, AFTER = 3, 1  # blocks before and after the change
FRESH = 2_000

LEARNERS: dict[str, Callable[[], Any]] = {
    "MOML": MOML,
    "MOML, shrink": lambda: ExplicitMLOML(n_layers=1, gamma=1e-3, cone="shrink"),
    "MOML, diagonal": lambda: DiagonalMOML(gamma=1e-1),
    "MOML, rank 5": lambda: LowRankMOML(n_components=5, gamma=1e-2, random_state=0),
    "MLOML": MLOML,
    "MLOML-r": lambda: MLOML(activation="relu", gamma=1e-2),
    "OPML": OPML,
    "LEGO": LEGO,
    "RDML": RDML,
    "OASIS": OASIS,
    "SLMOML": SLMOML,
    "OPML, 3 layers": lambda: MLOML(layer="opml"),
    "LEGO, 3 layers": lambda: MLOML(layer="lego"),
    "RDML, 3 layers": lambda: MLOML(layer="rdml"),
}

SCALINGS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "as they are": lambda X: X,
    "unit rows": lambda X: X / np.linalg.norm(X, axis=1, keepdims=True),
}


class Run(NamedTuple):
    """What one learner did on one stream: after each call, per layer; and its accuracies."""

    steps: np.ndarray  # (calls, layers), in all so far
    least: np.ndarray  # (calls, layers), eigenvalues
    before: float
    after: float
    plain: tuple[float, float]
    untrained: tuple[float, float]
    seconds: float


def rows(rng: np.random.Generator, count: int, first: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows whose class shows in the features from ``first`` on."""
    y = rng.integers(0, CLASSES, count)
    X = rng.normal(size=(count, FEATURES))
    X[np.arange(count), first + y] += SHIFT
    return X, y


def calls(rng: np.random.Generator) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for first, blocks in ((0, BEFORE), (10, AFTER)):
        for _ in range(blocks * BLOCK // CALL):
            yield rows(rng, CALL, first)


def layers(learner: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return steps and least eigenvalue of each layer; of a similarity, which has none, NaN."""
    steps = np.atleast_1d(learner.n_updates_)
    if hasattr(learner, "layers_"):
        metrics = [learner.get_mahalanobis_matrix(i + 1) for i in range(len(steps))]
    elif getattr(learner, "n_components", None):  # of the eigenvalues that are not zero by construction
        metrics = [learner.components_ @ learner.components_.T]
    elif hasattr(learner, "get_mahalanobis_matrix"):
        M = learner.get_mahalanobis_matrix()
        metrics = [M.toarray() if issparse(M) else M]
    else:
        return steps, np.full(len(steps), np.nan)
    return steps, np.array([np.linalg.eigvalsh(M)[0] for M in metrics])


def accuracy(learner: Any, scale: Callable[[np.ndarray], np.ndarray], first: int, seed: int) -> float:
    """Return the accuracy of 5-NN on fresh rows of one kind."""
    rng = np.random.default_rng([seed, first, 1])
    (X, y), (X_score, y_score) = rows(rng, FRESH, first), rows(rng, FRESH, first)
    return 1.0 - Rows(scale(X), y, scale(X_score), y_score, NEIGHBOURS).error(learner)


def untrained(learner: Any) -> Any:
    """Return the stack of identities that a learner of several layers starts from, else plain Euclid."""
    X, y = np.eye(4, FEATURES), np.arange(4) % 2
    if not isinstance(learner, MLOML):
        return Euclidean().fit(X, y)
    start = MLOML(n_layers=learner.n_layers, activation=learner.activation, gamma=0.0, scans=1)
    return start.set_params(scale=learner.scale_).fit(X, y)


def run(name: str, scaling: str, seed: int) -> Run:
    """Take a new learner through the stream."""
    warnings.simplefilter("ignore")  # what a learner warns of shows in its numbers
    scale, learner = SCALINGS[scaling], LEARNERS[name]()
    spent, seen, before = 0.0, [], float("nan")
    for number, (X, y) in enumerate(calls(np.random.default_rng(seed)), start=1):
        start = time.thread_time()
        learner.partial_fit(scale(X), y)
        spent += time.thread_time() - start
        seen.append(layers(learner))
        if number == BEFORE * BLOCK // CALL:
            before = accuracy(learner, scale, 0, seed)
    after = accuracy(learner, scale, 10, seed)
    steps, least = (np.array(part) for part in zip(*seen, strict=True))
    others = [
        tuple(accuracy(other, scale, first, seed) for first in (0, 10))
        for other in (untrained(None), untrained(learner))
    ]
    return Run(steps, least, before, after, *others, spent)


def summary(name: str, scaling: str, runs: list[Run]) -> measure.Row:
    """Return means over the seeds; of steps and eigenvalues the worst seed."""
    ends = np.arange(1, BEFORE + AFTER + 1) * BLOCK // CALL - 1
    blocks = np.array([np.diff(run.steps[ends], axis=0, prepend=0).min(axis=1) for run in runs])
    mean = {word: np.mean([getattr(run, word) for run in runs], axis=0) for word in Run._fields[2:]}
    plain, start = mean["plain"], mean["untrained"]
    return {
        "learner": name,
        "rows": scaling,
        "seeds": len(runs),
        **{f"steps {i + 1}": int(least) for i, least in enumerate(blocks.min(axis=0))},
        "least eigenvalue": float(min(run.least.min() for run in runs)),
        "before": float(mean["before"]),
        "before - plain 5-NN": float(mean["before"] - plain[0]),
        "after": float(mean["after"]),
        "after - plain 5-NN": float(mean["after"] - plain[1]),
        "untrained - plain 5-NN": float(start[1] - plain[1]),
        "us per row": float(mean["seconds"]) / (BEFORE + AFTER) / BLOCK * 1e6,
    }


def main(seeds: int, names: list[str]) -> list[measure.Row]:
    cases = [(scaling, name) for scaling in SCALINGS for name in names or LEARNERS]
    found = Parallel(n_jobs=-1)(
        delayed(run)(name, scaling, seed) for scaling, name in cases for seed in range(seeds)
    )
    table = [
        summary(name, scaling, found[i * seeds : (i + 1) * seeds]) for i, (scaling, name) in enumerate(cases)
    ]
    measure.write("streams", table)
    stream_figure.draw(table, BEFORE + AFTER, BLOCK, measure.RESULTS)
    return table


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("learners", nargs="*", metavar="learner", help=", ".join(LEARNERS))
    parser.add_argument("--seeds", type=int, default=1)
    given = parser.parse_args()
    unknown = sorted(set(given.learners) - set(LEARNERS))
    if unknown:
        sys.exit(f"error: {', '.join(unknown)}: not one of {', '.join(LEARNERS)}")
    main(given.seeds, given.learners)
