"""Theorem 2: regret of the MOML recursion, the bound the paper claims and the one its argument gives.

The regret compares the loss of each matrix *before* it learns from a triplet with the loss of one
fixed matrix ``U`` over the same triplets. The paper's proof bounds ``gamma`` times the regret and
calls it the regret; dividing by ``gamma`` gives the usual order ``sqrt(T)``.
"""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from mloml.arrays import Array
from mloml.learners.compiled import exact

HORIZONS = (100, 300, 1000, 3000, 10_000, 30_000, 100_000)
PHIS = (1.0, 4.0)
# Of the counterexample's table.
COLUMNS = [
    "T", "phi", "regret", "regret_after", "claimed_bound", "corrected_bound", "smallest_eigenvalue",
    "gamma_over_limit",
]  # fmt: skip
# What it is compared with; a loss up to the other number is 0.
COMPARATOR, ROUNDING = np.array([[1.0, 0.25], [0.25, 1.0]]), 1e-9


def regrets(P: Array, Q: Array, horizons: Sequence[int], phis: Sequence[float] = PHIS) -> pd.DataFrame:
    """Return the regret of MOML's recursion at each horizon, against I, 0 and the best fixed PSD matrix.

    Each horizon is a run of its own with ``gamma = 1 / (Phi sqrt(T))``, as in the theorem. The recursion
    is the proof's, without projection; losses are taken before each step.

    Returns
    -------
    DataFrame
        One row per T, Phi and comparator: regret, both bounds, and for the best matrix how far below its
        loss any other could lie (``hindsight_gap``).
    """
    rows, d = [], P.shape[1]
    for T in horizons:
        best = best_fixed_matrix(P[:T], Q[:T])
        gap = best.loss - best.lower
        fixed = ("I", np.eye(d), 0.0), ("0", np.zeros((d, d)), 0.0), ("best", best.U, gap)
        for phi in phis:
            losses = moml_losses(P[:T], Q[:T], step_size(T, phi))
            for name, U, slack in fixed:
                row = _regret_row(losses, U, P[:T], Q[:T], phi)
                rows.append({**row, "comparator": name, "hindsight_gap": slack})
    return pd.DataFrame(rows)


def counterexample_regrets(
    horizons: Sequence[int] = (*HORIZONS, 300_000, 1_000_000), phis: Sequence[float] = (1.0, 8.0)
) -> pd.DataFrame:
    """Return the regret on one triplet of unit rows, given T times, against a positive definite ``U``.

    With ``x = (1, 0), xp = (0, 1), xq = (0, -1)`` every ``A`` is ``[[0, -2], [-2, 0]]``. After k steps
    ``M = [[1, m], [m, 1]]`` with ``m = 2 k gamma``. Its loss is ``1 - 4m``, its eigenvalues are ``1 - m`` and
    ``1 + m``, and steps end once ``m >= 1/4``. ``U = [[1, 1/4], [1/4, 1]]`` has no loss, so the regret is the
    sum of ``1 - 8 k gamma`` while positive: ``Phi sqrt(T) / 16 + 1/2`` where ``1 / (8 gamma)`` is whole. With
    losses taken after each step it is 1 less. Theorem 1's condition holds while ``gamma_over_limit``, the
    largest ``4 gamma / lambda_min(M)``, is at most 1.

    >>> frame = counterexample_regrets([1_000_000], [1.0])
    >>> frame[["regret", "regret_after", "claimed_bound"]].round(2).values.tolist()
    [[63.0, 62.0, 32.06]]
    """
    rows = []
    for phi, T in itertools.product(phis, horizons):
        P, Q = counterexample(T + 1)  # all triplets are equal: the loss after a step is the next one's before
        gamma = step_size(T, phi)
        losses = moml_losses(P, Q, gamma)
        smallest = 1.0 - 2.0 * gamma * np.count_nonzero(losses[:T] > ROUNDING)
        row = _regret_row(losses[:T], COMPARATOR, P[:T], Q[:T], phi)
        row["regret_after"] = row["regret"] + losses[T] - losses[0]
        rows.append({**row, "smallest_eigenvalue": smallest, "gamma_over_limit": 4.0 * gamma / smallest})
    return pd.DataFrame(rows)[COLUMNS]


def _regret_row(losses: Array, U: Array, P: Array, Q: Array, phi: float) -> dict[str, float]:
    T, gamma = len(P), step_size(len(P), phi)
    return {
        "T": T,
        "phi": phi,
        "gamma": gamma,
        "loss": float(losses.sum()),
        "regret": float((losses - fixed_losses(U, P, Q)).sum()),
        "claimed_bound": claimed_bound(U, phi),
        "corrected_bound": corrected_bound(U, P, Q, gamma),
        "worst_case_bound": worst_case_bound(U, T, phi),
    }


def slopes(frame: pd.DataFrame) -> pd.DataFrame:
    """Fit log regret on log T where the regret is positive at three horizons or more.

    A slope of 0 is the claim (a constant), 1/2 the usual order of online gradient descent.
    """
    rows = []
    for run, part in frame.groupby(["dataset", "phi", "comparator"], sort=False):
        positive = part[part["regret"] > 0]
        slope = np.nan
        if len(positive) >= 3:
            slope = np.polyfit(np.log(positive["T"]), np.log(positive["regret"]), 1)[0]
        rows.append((*run, len(part), len(positive), slope))
    return pd.DataFrame(rows, columns=["dataset", "phi", "comparator", "horizons", "positive", "slope"])


@exact
def moml_losses(P: Array, Q: Array, gamma: float) -> Array:
    """Return the loss ``[1 + tr(M_t A_t)]+`` of every triplet, taken before MOML learns from it.

    Parameters
    ----------
    P, Q : arrays of shape (T, d)
        ``x - xp`` and ``x - xq`` of each triplet, in the order of the stream.
    gamma : float
        Step size of Eq. (6), constant over the run.
    """
    T, d = P.shape
    M, losses = np.eye(d), np.empty(T)
    for t in range(T):
        p, q, hinge = P[t], Q[t], 1.0
        for i in range(d):
            for j in range(d):
                hinge += M[i, j] * (p[i] * p[j] - q[i] * q[j])
        losses[t] = max(hinge, 0.0)
        if hinge > 0.0:
            for i in range(d):
                for j in range(d):
                    M[i, j] -= gamma * (p[i] * p[j] - q[i] * q[j])
    return losses


def hinge_arguments(U: Array, P: Array, Q: Array) -> Array:
    """Return ``1 + tr(U A_t)`` of every triplet under one fixed symmetric matrix ``U``."""
    return 1.0 + np.einsum("ti,ti->t", P @ U, P) - np.einsum("ti,ti->t", Q @ U, Q)


def fixed_losses(U: Array, P: Array, Q: Array) -> Array:
    """Return the loss ``[1 + tr(U A_t)]+`` of every triplet under one fixed symmetric matrix ``U``."""
    return np.maximum(hinge_arguments(U, P, Q), 0.0)


def step_size(T: int, phi: float) -> float:
    """Return the theorem's ``gamma = 1 / (Phi sqrt(T))``."""
    return float(1.0 / (phi * np.sqrt(T)))


def claimed_bound(U: Array, phi: float) -> float:
    """Return the paper's bound ``(1/2)||I - U||_F² + 32 / Phi²``, which does not grow with T.

    >>> claimed_bound(COMPARATOR, phi=1.0)
    32.0625
    """
    return float(0.5 * np.sum((np.eye(len(U)) - U) ** 2) + 32.0 / phi**2)


def corrected_bound(U: Array, P: Array, Q: Array, gamma: float) -> float:
    """Return ``||I - U||_F² / (2 gamma) + (gamma/2) sum_t ||A_t||_F²``: what the argument does prove."""
    a, b, c = (np.einsum("ti,ti->t", left, right) for left, right in ((P, P), (Q, Q), (P, Q)))
    norms = a**2 + b**2 - 2.0 * c**2
    return float(np.sum((np.eye(len(U)) - U) ** 2) / (2.0 * gamma) + 0.5 * gamma * norms.sum())


def worst_case_bound(U: Array, T: int, phi: float) -> float:
    """Return ``sqrt(T) (Phi ||I - U||_F² / 2 + 8 / Phi)``: the corrected bound for any unit rows.

    On unit rows ``||A||_F`` is at most 4 (the paper's proof uses 8).
    """
    distance = float(np.sum((np.eye(len(U)) - U) ** 2))
    return float(np.sqrt(T) * (0.5 * phi * distance + 8.0 / phi))


def counterexample(T: int) -> tuple[Array, Array]:
    """Return the stream that refutes the claim: ``x = (1, 0), xp = (0, 1), xq = (0, -1)``, T times."""
    return np.tile([1.0, -1.0], (T, 1)), np.ones((T, 2))


class Hindsight(NamedTuple):
    """A fixed matrix, its summed loss, and a lower bound of the loss of any other.

    ``lower`` is a certificate from the dual problem: no positive semi-definite matrix with a trace
    up to twice that of ``U`` (or of I, if that is larger) has a smaller summed loss.
    """

    U: Array
    loss: float
    lower: float


def best_fixed_matrix(P: Array, Q: Array, iterations: int = 150) -> Hindsight:
    """Minimise ``sum_t [1 + tr(U A_t)]+`` over positive semi-definite ``U``.

    The hinge is smoothed (a quadratic of width ``mu`` at the kink), the smooth problem is solved by
    accelerated projected gradients, and ``mu`` shrinks from 1 to 1e-3, each stage starting at the
    last one's answer. Returned is the matrix with the smallest *true* loss of all iterates, I and 0.

    Examples
    --------
    >>> best_fixed_matrix(*counterexample(10)).loss
    0.0
    """
    d = P.shape[1]
    U, lower = np.eye(d), -np.inf
    best = min(
        (np.zeros((d, d)), float(len(P))), (U, float(fixed_losses(U, P, Q).sum())), key=lambda pair: pair[1]
    )
    for mu in (1.0, 1e-1, 1e-2, 1e-3):
        U, best = _minimise_smoothed(P, Q, U, mu, iterations, best)
        radius = 2.0 * max(float(np.trace(best[0])), float(d))
        lower = max(lower, _dual_bound(P, Q, U, mu, radius))
    return Hindsight(*best, lower)


def _minimise_smoothed(
    P: Array, Q: Array, U: Array, mu: float, iterations: int, best: tuple[Array, float]
) -> tuple[Array, tuple[Array, float]]:
    """Return the last and the best iterate of accelerated projected gradients (backtracking, restarts)."""
    current, point, momentum, step = U, U, 1.0, mu
    value = _smoothed(hinge_arguments(U, P, Q), mu)
    for _ in range(iterations):
        margins = hinge_arguments(point, P, Q)
        gradient = _weighted_sum(P, Q, np.clip(margins / mu, 0.0, 1.0)) / len(P)
        at_point = _smoothed(margins, mu)
        step *= 1.5
        while True:
            trial = _project(point - step * gradient)
            move = trial - point
            trial_margins = hinge_arguments(trial, P, Q)
            trial_value = _smoothed(trial_margins, mu)
            allowed = at_point + np.sum(gradient * move) + np.sum(move**2) / (2.0 * step)
            if trial_value <= allowed + 1e-12 or step < 1e-12:
                break
            step /= 2.0
        best = min(best, (trial, float(np.maximum(trial_margins, 0.0).sum())), key=lambda pair: pair[1])
        restart = trial_value > value
        following = 1.0 if restart else (1.0 + np.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
        point = trial if restart else trial + (momentum - 1.0) / following * (trial - current)
        if not restart and value - trial_value < 1e-10 and np.abs(trial - current).max() < 1e-8:
            return trial, best
        current, value, momentum = trial, trial_value, following
    return current, best


def _smoothed(margins: Array, mu: float) -> float:
    """Return the mean of the smoothed hinge."""
    inside = np.clip(margins, 0.0, mu)
    return float(np.mean(inside**2 / (2.0 * mu) + np.maximum(margins - mu, 0.0)))


def _weighted_sum(P: Array, Q: Array, weights: Array) -> Array:
    """Return ``sum_t weights_t A_t``."""
    return (P * weights[:, None]).T @ P - (Q * weights[:, None]).T @ Q


def _project(U: Array) -> Array:
    values, vectors = np.linalg.eigh((U + U.T) / 2.0)
    return (vectors * np.maximum(values, 0.0)) @ vectors.T


def _dual_bound(P: Array, Q: Array, U: Array, mu: float, radius: float) -> float:
    """Return a lower bound of the summed hinge over all PSD matrices with a trace up to ``radius``.

    For weights ``0 <= alpha_t <= 1`` each hinge is at least ``alpha_t (1 + tr(V A_t))``, and
    ``tr(V S) >= tr(V) min(0, lambda_min(S))`` with ``S = sum alpha_t A_t``.
    """
    weights = np.clip(hinge_arguments(U, P, Q) / mu, 0.0, 1.0)
    smallest = float(np.linalg.eigvalsh(_weighted_sum(P, Q, weights))[0])
    return float(weights.sum()) + radius * min(0.0, smallest)
