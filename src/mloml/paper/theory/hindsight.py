"""The best fixed positive semi-definite matrix in hindsight: the comparator a regret is measured against."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mloml.paper.theory.regret import fixed_losses, hinge_arguments
from mloml.arrays import Array


@dataclass(frozen=True)
class Hindsight:
    """A fixed matrix, its summed loss, and how much better any other could be.

    ``lower`` is a certificate from the dual problem: no positive semi-definite matrix with a trace
    up to ``radius`` has a smaller summed loss.
    """

    U: Array
    loss: float
    lower: float
    radius: float


def best_fixed_matrix(P: Array, Q: Array, iterations: int = 150) -> Hindsight:
    """Minimise ``sum_t [1 + tr(U A_t)]+`` over positive semi-definite ``U``.

    The hinge is smoothed (a quadratic of width ``mu`` at the kink), the smooth problem is solved by
    accelerated projected gradients, and ``mu`` shrinks from 1 to 1e-3, each stage starting at the
    last one's answer.  The matrix with the smallest *true* loss ever seen is returned.

    Examples
    --------
    >>> from mloml.paper.theory.regret import counterexample
    >>> best_fixed_matrix(*counterexample(10)).loss
    10.0
    """
    d = P.shape[1]
    best = _Best(P, Q, d)
    U = np.eye(d)
    lower, radius = -np.inf, 0.0
    for mu in (1.0, 1e-1, 1e-2, 1e-3):
        U = _minimise_smoothed(P, Q, U, mu, iterations, best)
        radius = 2.0 * max(float(np.trace(best.U)), float(d))
        lower = max(lower, _dual_bound(P, Q, U, mu, radius))
    return Hindsight(best.U, best.loss, lower, radius)


class _Best:
    """The matrix with the smallest summed hinge so far; starts with the obvious candidates."""

    def __init__(self, P: Array, Q: Array, d: int) -> None:
        self.U, self.loss = np.zeros((d, d)), float(len(P))
        self.offer(np.eye(d), float(fixed_losses(np.eye(d), P, Q).sum()))

    def offer(self, U: Array, loss: float) -> None:
        if loss < self.loss:
            self.U, self.loss = U.copy(), loss


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


def _minimise_smoothed(P: Array, Q: Array, U: Array, mu: float, iterations: int, best: _Best) -> Array:
    """Accelerated projected gradients with backtracking and restart; offers each iterate to ``best``."""
    current, point, momentum = U, U, 1.0
    value = _smoothed(hinge_arguments(U, P, Q), mu)
    step = mu
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
        best.offer(trial, float(np.maximum(trial_margins, 0.0).sum()))
        restart = trial_value > value
        following = 1.0 if restart else (1.0 + np.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
        point = trial if restart else trial + (momentum - 1.0) / following * (trial - current)
        if not restart and value - trial_value < 1e-10 and np.abs(trial - current).max() < 1e-8:
            return trial
        current, value, momentum = trial, trial_value, following
    return current


def _dual_bound(P: Array, Q: Array, U: Array, mu: float, radius: float) -> float:
    """Return a lower bound of the summed hinge over all PSD matrices with a trace up to ``radius``.

    For weights ``0 <= alpha_t <= 1`` each hinge is at least ``alpha_t (1 + tr(V A_t))``, and
    ``tr(V S) >= tr(V) min(0, lambda_min(S))`` with ``S = sum alpha_t A_t``.
    """
    weights = np.clip(hinge_arguments(U, P, Q) / mu, 0.0, 1.0)
    smallest = float(np.linalg.eigvalsh(_weighted_sum(P, Q, weights))[0])
    return float(weights.sum()) + radius * min(0.0, smallest)
