"""What a triplet costs under FP, BP and FBP, measured side by side on one thread."""

from __future__ import annotations

import time
from collections.abc import Sequence
from statistics import median

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from mloml.learners import MLOML

WIDTHS = (4, 8, 21, 34, 57, 100)
"""Numbers of features, those of the paper's datasets."""

STRATEGIES = ("fp", "bp", "fbp")
COLUMNS = ("features", "activation", "strategy", "microseconds", "lowest", "highest", "triplets", "times_fp")


def cost_per_triplet(
    widths: Sequence[int] = WIDTHS,
    activations: Sequence[str] = ("relu", "tanh"),
    rows: int = 400,
    scans: int = 5,
    repeats: int = 5,
) -> pd.DataFrame:
    """Time scans of a three-layer MLOML under each strategy.

    Processor time of this process, so that other programs matter little; the three strategies take turns,
    so that a slow moment meets all of them. The first scan, which also checks the input, is not timed.
    Times include drawing the triplets, which is the same for all.

    Returns
    -------
    DataFrame
        Microseconds per triplet (median, lowest, highest), and the ratio to FP's median.
    """
    table = []
    with threadpool_limits(1):
        for features in widths:
            X, y = _unit_rows(rows, features)
            for activation in activations:
                table += _side_by_side(X, y, activation, scans, repeats)
    return pd.DataFrame(table, columns=list(COLUMNS))


def _side_by_side(
    X: np.ndarray, y: np.ndarray, activation: str, scans: int, repeats: int
) -> list[tuple[object, ...]]:
    learners = {name: _learner(name, activation, scans) for name in STRATEGIES}
    times: dict[str, list[float]] = {name: [] for name in STRATEGIES}
    for learner in learners.values():
        learner.fit(X, y)  # compiles, and warms the caches
    for _ in range(repeats):
        for name, learner in learners.items():
            times[name].append(_microseconds(learner, X, y))
    base = median(times["fp"])
    return [
        (
            X.shape[1],
            activation,
            name,
            median(t),
            min(t),
            max(t),
            int(learners[name].n_triplets_),
            median(t) / base,
        )
        for name, t in times.items()
    ]


def _microseconds(learner: MLOML, X: np.ndarray, y: np.ndarray) -> float:
    """Return the processor time per triplet of all scans but the first."""
    run = learner.iter_scans(X, y)
    next(run)
    before, start = int(learner.n_triplets_), time.process_time()
    for _ in run:
        pass
    return 1e6 * (time.process_time() - start) / (int(learner.n_triplets_) - before)


def _learner(propagation: str, activation: str, scans: int) -> MLOML:
    steps = {"gamma": 1e-2, "rate": 1e-4}
    return MLOML(
        n_layers=3,
        activation=activation,
        propagation=propagation,
        scans=scans + 1,
        random_state=0,
        **steps,
        scale=None,
    )


def _unit_rows(rows: int, features: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw four overlapping classes and divide each row by its norm, as the protocol does."""
    rng = np.random.default_rng(features)
    y = np.arange(rows) % 4
    X = rng.normal(size=(rows, features)) + rng.normal(size=(4, features))[y]
    return X / np.linalg.norm(X, axis=1, keepdims=True), y
