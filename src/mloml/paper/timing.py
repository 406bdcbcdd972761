"""Time of a single update on one thread: OPML and MOML (Figure 4), and FP, BP and FBP (Table III)."""

import time
from collections.abc import Sequence
from itertools import islice, product

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from mloml.arrays import Array, Codes, Triplets
from mloml.experiments.refit import Halves
from mloml.learners import MOML, OPML, PaperMLOML
from mloml.learners.linalg import FAILURES, UPDATES
from mloml.learners.triplets import differences
from mloml.paper.theory import triplet_scans

# Step size of the update loops: the default of the released OPML code; no step leaves the cone with it.
GAMMA = 1e-3
UPDATE_COLUMNS = ["method", "run", "features", "triplets", "updates", "cone_failures", "seconds"]

# Numbers of features, those of the paper's data sets.
WIDTHS = (4, 8, 21, 34, 57, 100)
COST_COLUMNS = [
    "features", "activation", "strategy", "microseconds", "lowest", "highest", "triplets", "times_fp",
]  # fmt: skip


def time_updates(half: Halves, n_scans: int, repeats: int = 9) -> pd.DataFrame:
    """Time the compiled update loops of OPML and MOML over the same triplets.

    The methods take turns, so that a busy moment of the machine slows all of them down. Not included are
    drawing triplets, checking input and, for "moml" (the explicit metric), the decomposition of M;
    "moml_frame" keeps a factor of M up to date in every step. Returns one row per run.
    """
    learners = {
        "opml": OPML(gamma=GAMMA),
        "moml": MOML(gamma=GAMMA, cone="free"),
        "moml_frame": MOML(gamma=GAMMA),
    }
    # One call for all scans: what is timed is the compiled loop, not the way into it.
    triplets = np.concatenate(list(islice(triplet_scans(half.y, half.seed), n_scans)))
    rows = []
    with threadpool_limits(1):
        for run in range(-1, repeats):  # the first compiles and warms the caches
            for name, learner in learners.items():
                seconds = _time_loop(learner, half.X, triplets)
                counts = len(triplets), *learner._state.counts[[UPDATES, FAILURES]]
                rows.append((name, run, half.X.shape[1], *counts, seconds))
    return pd.DataFrame(rows[len(learners) :], columns=UPDATE_COLUMNS)


def _time_loop(learner: MOML | OPML, X: Array, triplets: Triplets) -> float:
    """Return the seconds from the learner's start to its last triplet."""
    learner._forget()
    learner._start(X, GAMMA)
    D = np.empty((len(triplets), 3, X.shape[1]))
    differences(X, triplets, D)
    start = time.perf_counter()
    learner._learn(learner._state, D, triplets)
    return time.perf_counter() - start


def cost_per_triplet(
    widths: Sequence[int] = WIDTHS,
    activations: Sequence[str] = ("relu", "tanh"),
    rows: int = 400,
    scans: int = 5,
    repeats: int = 5,
) -> pd.DataFrame:
    """Time scans of a three-layer MLOML under FP, BP and FBP.

    Processor time of this process, so that other programs matter little. The strategies take turns, so that
    a slow moment affects all of them. The first scan, which also checks the input, is not timed. Drawing
    the triplets is, and takes the same time for all.

    Returns
    -------
    DataFrame
        Microseconds per triplet (median, lowest, highest), and the ratio to FP's median.
    """
    table = []
    with threadpool_limits(1):
        for features, activation in product(widths, activations):
            X, y = _unit_rows(rows, features)
            learners = {
                strategy: PaperMLOML(
                    n_layers=3, activation=activation, propagation=strategy, scans=scans + 1, gamma=1e-2,
                    rate=1e-4, random_state=0, scale=None,
                ).fit(X, y)  # compiles, and warms the caches
                for strategy in ("fp", "bp", "fbp")
            }  # fmt: skip
            turns = [[_time_scans(learner, X, y) for learner in learners.values()] for _ in range(repeats)]
            times = pd.DataFrame(turns, columns=list(learners))
            for strategy, (middle, low, high) in times.agg(["median", "min", "max"]).items():
                counted = int(learners[str(strategy)].n_triplets_)
                ratio = middle / times["fp"].median()
                table.append((features, activation, strategy, middle, low, high, counted, ratio))
    return pd.DataFrame(table, columns=COST_COLUMNS)


def _time_scans(learner: PaperMLOML, X: Array, y: Codes) -> float:
    """Return the microseconds of processor time per triplet of all scans but the first."""
    run = learner.iter_scans(X, y)
    next(run)
    before, start = int(learner.n_triplets_), time.process_time()
    for _ in run:
        pass
    return 1e6 * (time.process_time() - start) / (int(learner.n_triplets_) - before)


def _unit_rows(rows: int, features: int) -> tuple[Array, Codes]:
    """Draw four overlapping classes and divide each row by its norm, as the protocol does."""
    rng = np.random.default_rng(features)
    y = np.arange(rows) % 4
    X = rng.normal(size=(rows, features)) + rng.normal(size=(4, features))[y]
    return X / np.linalg.norm(X, axis=1, keepdims=True), y
