"""Theorem 2 on data: regret against three comparators at growing horizons, beside both bounds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from mloml.paper.theory.hindsight import best_fixed_matrix
from mloml.paper.theory.regret import (
    claimed_bound,
    corrected_bound,
    counterexample,
    fixed_losses,
    moml_losses,
    step_size,
    worst_case_bound,
)
from mloml.arrays import Array

HORIZONS = (100, 300, 1000, 3000, 10_000, 30_000, 100_000)
PHIS = (1.0, 4.0)


def regrets(P: Array, Q: Array, horizons: Sequence[int], phis: Sequence[float] = PHIS) -> pd.DataFrame:
    """Return the regret of MOML's recursion at each horizon, against I, 0 and the best fixed PSD matrix.

    Each horizon is a run of its own with ``gamma = 1 / (Phi sqrt(T))``, as the theorem has it.  The recursion
    is the proof's, without projection; losses are taken before each step.

    Returns
    -------
    DataFrame
        One row per T, Phi and comparator: regret, both bounds, and for the best matrix how far below its
        loss any other could lie (``hindsight_gap``).
    """
    rows = []
    for T in horizons:
        p, q = P[:T], Q[:T]
        best = best_fixed_matrix(p, q)
        comparators = {"I": np.eye(P.shape[1]), "0": np.zeros((P.shape[1],) * 2), "best": best.U}
        for phi in phis:
            losses = moml_losses(p, q, step_size(T, phi))
            for name, U in comparators.items():
                gap = best.loss - best.lower if name == "best" else 0.0
                rows.append({**_row(losses, U, p, q, phi), "comparator": name, "hindsight_gap": gap})
    return pd.DataFrame(rows)


def _row(losses: Array, U: Array, P: Array, Q: Array, phi: float) -> dict[str, float]:
    T = len(P)
    return {
        "T": T,
        "phi": phi,
        "gamma": step_size(T, phi),
        "loss": float(losses.sum()),
        "regret": float((losses - fixed_losses(U, P, Q)).sum()),
        "claimed_bound": claimed_bound(U, phi),
        "corrected_bound": corrected_bound(U, P, Q, step_size(T, phi)),
        "worst_case_bound": worst_case_bound(U, T, phi),
    }


def counterexample_regrets(horizons: Sequence[int] = HORIZONS, phi: float = 1.0) -> pd.DataFrame:
    """Return the regret on the line, where every triplet is ``x = 1, xp = -1, xq = 1``, against U = -1/4.

    >>> frame = counterexample_regrets([10_000])
    >>> frame[["regret", "claimed_bound"]].round(1).values.tolist()
    [[80.6, 32.8]]
    """
    U = np.array([[-0.25]])
    rows = []
    for T in horizons:
        P, Q = counterexample(T)
        rows.append(_row(moml_losses(P, Q, step_size(T, phi)), U, P, Q, phi))
    return pd.DataFrame(rows)


def slopes(frame: pd.DataFrame) -> pd.DataFrame:
    """Fit log regret on log T where the regret is positive at three horizons or more.

    A slope of 0 is the claim (a constant), 1/2 the usual order of online gradient descent.

    >>> line = counterexample_regrets([100, 10_000, 1_000_000]).assign(dataset="line", comparator="-1/4")
    >>> slopes(line)["slope"].round(2).tolist()
    [0.47]
    """
    rows = []
    for (dataset, phi, comparator), part in frame.groupby(["dataset", "phi", "comparator"], sort=False):
        positive = part[part["regret"] > 0]
        row = {"dataset": dataset, "phi": phi, "comparator": comparator, "horizons": len(part)}
        row |= {"positive": len(positive), "slope": np.nan}
        if len(positive) >= 3:
            row["slope"] = float(np.polyfit(np.log(positive["T"]), np.log(positive["regret"]), 1)[0])
        rows.append(row)
    return pd.DataFrame(rows)
