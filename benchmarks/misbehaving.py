"""Default learners on streams that misbehave: rows that grow, shrink, or are far too long now and then.

python benchmarks/misbehaving.py                    # one seed
python benchmarks/misbehaving.py --seeds 4          # four; shared between cores
python benchmarks/misbehaving.py --seeds 4 MOML     # only these learners

Five classes in 16 features, ``X = normal + 1.6 e_y``, 60,000 rows; what is done to their length is in
``STREAMS``. After 1,000 rows and then after every tenth of the stream, 3,000 fresh rows of the latest size
are classified by 5-NN among 3,000 others. Gains are over plain 5-NN, means over the seeds, at the worst
checkpoint and at the last; the steps are those of the last tenth. What loses more than .02 anywhere, or warns
more than once, is named.
"""

import argparse
import sys
import warnings
from collections.abc import Callable
from typing import Any

import measure
import numpy as np
from joblib import Parallel, delayed

from mloml import LEGO, MLOML, MOML, OASIS, OPML, RDML, SLMOML, DiagonalMOML, Euclidean, LowRankMOML
from mloml.experiments.neighbours import Rows

FEATURES, CLASSES, SHIFT, NEIGHBOURS = 16, 5, 1.6, 5
COUNT, FIRST, FRESH = 60_000, 1_000, 3_000
ALLOWED_LOSS = 0.02

# What each row is multiplied by, given the rows' numbers; the last factor is the latest size.
STREAMS: dict[str, Callable[[Any], Any]] = {
    "clean": lambda t: np.ones(t.size),
    "x 100 midway": lambda t: np.where(t < COUNT // 2, 1.0, 100.0),
    "/ 100 midway": lambda t: np.where(t < COUNT // 2, 1.0, 0.01),
    "first six x 0.01": lambda t: np.where(t < 6, 0.01, 1.0),
    "first six x 1000": lambda t: np.where(t < 6, 1000.0, 1.0),
    "one in 1,000 x 100": lambda t: np.where(t % 1000 == 500, 100.0, 1.0),
    "one in 10,000 x 10,000": lambda t: np.where(t % 10_000 == 5_000, 1e4, 1.0),
    "growing to 300": lambda t: 300.0 ** (t / COUNT),
}

LEARNERS = {kind.__name__: kind for kind in (MOML, OPML, MLOML, LEGO, RDML, OASIS, SLMOML, DiagonalMOML)}
LEARNERS["LowRankMOML, rank 5"] = lambda **params: LowRankMOML(n_components=5, **params)


def rows(rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    y = rng.integers(0, CLASSES, count)
    X = rng.normal(size=(count, FEATURES))
    X[np.arange(count), y] += SHIFT
    return X, y


def run(stream: str, name: str, seed: int) -> dict[str, Any]:
    """Take a new learner through a stream."""
    X, y = rows(np.random.default_rng([seed, 1]), COUNT)
    sizes = STREAMS[stream](np.arange(COUNT))
    learner, gains, before, done = LEARNERS[name](random_state=seed), [], 0, 0
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for end in (FIRST, *range(COUNT // 10, COUNT + 1, COUNT // 10)):
            part = slice(done, end)
            before, done = int(np.min(learner.n_updates_)) if done else 0, end
            learner.partial_fit(X[part] * sizes[part, np.newaxis], y[part])
            rng = np.random.default_rng([seed, 2, end])
            size = np.median(sizes[max(0, end - 9) : end])
            (A, a), (B, b) = rows(rng, FRESH), rows(rng, FRESH)
            fresh = Rows(A * size, a, B * size, b, NEIGHBOURS)
            plain = fresh.error(Euclidean().fit(A[:10], a[:10]))
            gains.append(plain - fresh.error(learner))
    steps = int(np.min(learner.n_updates_)) - before
    numbers = {"gains": gains, "gamma": learner.gamma_, "steps": steps, "warnings": len(said)}
    return numbers | {"shortened": learner.n_shortened_, "restarts": learner.n_restarts_}


def main(seeds: int, names: list[str]) -> list[measure.Row]:
    cases = [(stream, name) for stream in STREAMS for name in names or LEARNERS]
    found = Parallel(n_jobs=-1)(
        delayed(run)(stream, name, seed) for stream, name in cases for seed in range(seeds)
    )
    table = []
    for i, (stream, name) in enumerate(cases):
        some = found[i * seeds : (i + 1) * seeds]
        gains = np.array([each["gains"] for each in some])
        table.append(
            {
                "stream": stream,
                "learner": name,
                "seeds": seeds,
                "least gain": float(gains.mean(axis=0).min()),
                "least of one seed": float(gains.min()),
                "last gain": float(gains.mean(axis=0)[-1]),
                "gammas": " ".join(f"{each['gamma']:g}" for each in some),
                "steps": " ".join(str(each["steps"]) for each in some),
                "most warnings": max(each["warnings"] for each in some),
                "shortened": max(each["shortened"] for each in some),
                "restarts": max(each["restarts"] for each in some),
            }
        )
    for row in table:
        if row["least gain"] < -ALLOWED_LOSS or row["most warnings"] > 1:
            print(f"worse than meant: {row['learner']}, {row['stream']}")
    return measure.write("misbehaving", table)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("learners", nargs="*", metavar="learner", help=", ".join(LEARNERS))
    parser.add_argument("--seeds", type=int, default=1)
    given = parser.parse_args()
    unknown = sorted(set(given.learners) - set(LEARNERS))
    if unknown:
        sys.exit(f"error: {', '.join(unknown)}: not one of {', '.join(LEARNERS)}")
    main(given.seeds, given.learners)
