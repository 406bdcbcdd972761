"""What a triplet costs under FP, BP and FBP, measured side by side on one thread."""

from __future__ import annotations

import time
from collections.abc import Sequence
from statistics import median

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from mloml.learners import MLOML

WIDTHS = (4, 8, 21, 34, 57, 100)
"""Numbers of features, those of the paper's datasets."""

STRATEGIES = ("fp", "bp", "fbp")
COLUMNS = ("features", "activation", "strategy", "microseconds", "lowest", "highest", "triplets", "times_fp")


def cost_per_triplet(
    widths: Sequence[int] = WIDTHS,
    activations: Sequence[str] = ("relu", "tanh"),
    rows: int = 1000,
    repeats: int = 5,
) -> pd.DataFrame:
    """Time one scan of a three-layer MLOML under each strategy.

    The three strategies take turns, so that a busy moment of the machine meets all of them. Times are
    medians over ``repeats`` and include drawing the triplets, which is the same for all.

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
                table += _side_by_side(X, y, activation, repeats)
    return pd.DataFrame(table, columns=list(COLUMNS))


def _side_by_side(X: np.ndarray, y: np.ndarray, activation: str, repeats: int) -> list[tuple[object, ...]]:
    learners = {name: _learner(name, activation) for name in STRATEGIES}
    times: dict[str, list[float]] = {name: [] for name in STRATEGIES}
    for learner in learners.values():
        learner.fit(X, y)  # compiles, and warms the caches
    for _ in range(repeats):
        for name, learner in learners.items():
            start = time.perf_counter()
            learner.fit(X, y)
            times[name].append(1e6 * (time.perf_counter() - start) / learner.n_triplets_)
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


def _learner(propagation: str, activation: str) -> MLOML:
    return MLOML(
        n_layers=3,
        activation=activation,
        propagation=propagation,
        gamma=1e-2,
        rate=1e-4,
        scans=1,
        random_state=0,
    )


def _unit_rows(rows: int, features: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw four overlapping classes and divide each row by its norm, as the protocol does."""
    rng = np.random.default_rng(features)
    y = np.arange(rows) % 4
    X = rng.normal(size=(rows, features)) + rng.normal(size=(4, features))[y]
    return X / np.linalg.norm(X, axis=1, keepdims=True), y
