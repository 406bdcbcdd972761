"""Theorem 1: whether every metric of a stack stays positive definite, and whether the condition tells.

The theorem says: on samples of unit norm, ``gamma <= lambda_min(M) / 4`` keeps ``M - gamma A`` positive
definite. We run a stack step by step, compute its eigenvalues and count what happens. The step is that of
the learners (frame-preserving root, the whole push and, where needed, a shortened pull), written with full
matrices. What is counted is not that shortening but the theorem's subject: whether the full step
``M - gamma A`` would leave the cone.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from mloml.arrays import Array, Triplets
from mloml.learners.moml import ALARM, DRIFT, SINGULAR, pull_length, root_and_inverse

KEEP, FLOOR = 0.1, 0.1
TOLERANCE = 1e-10


@dataclass
class WatchedLayer:
    """A layer ``L``, the inverse ``N`` of its metric ``M = L'L``, and what has been seen of it.

    ``steps`` move the metric. ``steps_looked_at`` are a sample of them whose eigenvalues were computed, and
    ``condition_broken`` those of the sample that break the theorem's condition. ``leaving_cone`` counts all
    steps that would leave the cone. ``sandwich_excess`` is how far an eigenvalue left the interval
    ``[lambda_min - gamma p'p, lambda_max + gamma q'q]``.
    """

    L: Array
    N: Array
    steps: int = 0
    steps_looked_at: int = 0
    smallest_eigenvalue: float = np.inf
    largest_eigenvalue: float = 0.0
    condition_broken: int = 0
    leaving_cone: int = 0
    left_although_condition_held: int = 0
    largest_squared_distance: float = 0.0
    sandwich_excess: float = -np.inf

    def learn(self, p: Array, q: Array, gamma: float, every: int) -> None:
        """Learn from a triplet with ``p = x - xp`` and ``q = x - xq``, and count what happens."""
        pq = np.stack([p, q], axis=1)
        u, v = (self.L @ pq).T
        if 1.0 + u @ u - v @ v <= 0.0:
            return
        step, self.steps = self.steps, self.steps + 1
        RS = self.N @ pq
        if step % 32 == 0 or not _drift(u, v, p, q, self.L @ RS) <= DRIFT:
            self.N[:] = np.linalg.inv(self.L.T @ self.L)
            RS = self.N @ pq
            if not _drift(u, v, p, q, self.L @ RS) <= ALARM:  # nearly singular: the learner skips it too
                self.leaving_cone += 1
                return
        (a, c), (_, b) = pq.T @ RS
        full = 1.0 + gamma * (b - a - gamma * max(0.0, a * b - c * c))
        leaves = not full > SINGULAR * (2.0 + gamma * (b - a))
        self.leaving_cone += leaves
        if leaves or step % every == 0:
            self._look(p, q, gamma, leaves, sampled=step % every == 0)
        g_p, determinant = pull_length(a, b, c, p @ p, gamma, KEEP, FLOOR)
        F, G = root_and_inverse(a, b, c, g_p, gamma, determinant)
        self.L += self.L @ RS @ np.array([[F[0], F[1]], [F[1], F[2]]]) @ pq.T
        self.N += RS @ np.array([[G[0], G[1]], [G[1], G[2]]]) @ RS.T

    def _look(self, p: Array, q: Array, gamma: float, leaves: bool, sampled: bool) -> None:
        """Compute the eigenvalues before and after the full step."""
        M, a, b = self.L.T @ self.L, p @ p, q @ q
        old = np.linalg.eigvalsh(M)
        new = np.linalg.eigvalsh(M - gamma * (np.outer(p, p) - np.outer(q, q)))
        holds = bool(gamma <= old[0] / 4.0)
        self.steps_looked_at += sampled
        self.condition_broken += sampled and not holds
        self.left_although_condition_held += leaves and holds
        self.smallest_eigenvalue = min(self.smallest_eigenvalue, float(old[0]))
        self.largest_eigenvalue = max(self.largest_eigenvalue, float(old[-1]))
        self.largest_squared_distance = max(self.largest_squared_distance, float(a), float(b))
        below, above = old[0] - gamma * a - new[0], new[-1] - old[-1] - gamma * b
        self.sandwich_excess = max(self.sandwich_excess, float(below), float(above))


def _drift(u: Array, v: Array, p: Array, q: Array, V: Array) -> float:
    """Return how far ``(L p)'V`` is from ``p'p``, relatively, for p and q: 0 where ``N = (L'L)^-1``."""
    errors = abs(u @ V[:, 0] - p @ p), abs(v @ V[:, 1] - q @ q)
    lengths = p @ p, q @ q
    return float(max(e / n if n > 0 else 0.0 for e, n in zip(errors, lengths, strict=True)))


def follow(
    X: Array, stream: Iterable[Triplets], gamma: float, n_layers: int = 3, every: int = 1, relu: bool = True
) -> list[WatchedLayer]:
    """Run a stack over a stream and watch its eigenvalues.

    Parameters
    ----------
    X : samples of unit norm
    stream : triplets of each scan
    gamma, n_layers : as in MLOML
    every : compute the eigenvalues of every so many steps of a layer, at O(d³) each; those of steps that
        would leave the cone are always computed
    relu : bool
        ReLU between layers; otherwise none.

    Raises
    ------
    AssertionError
        When an eigenvalue of layer 1 leaves its interval by more than 1e-10: this part of the theorem is
        certain.
    """
    layers = [WatchedLayer(np.eye(X.shape[1]), np.eye(X.shape[1])) for _ in range(n_layers)]
    for triplets in stream:
        for triplet in triplets:
            H = X[triplet].T
            for layer in layers:
                layer.learn(H[:, 0] - H[:, 1], H[:, 0] - H[:, 2], gamma, every)
                H = np.maximum(layer.L @ H, 0.0) if relu else layer.L @ H
        check_sandwich(layers[0])
    return layers


def check_sandwich(first: WatchedLayer) -> None:
    """Raise when layer 1 breaks the inequality that Theorem 1 rests on."""
    if first.sandwich_excess > TOLERANCE * max(1.0, first.largest_eigenvalue):
        raise AssertionError(f"layer 1: an eigenvalue leaves its interval by {first.sandwich_excess:.3g}")


def layers_frame(layers: Sequence[WatchedLayer]) -> pd.DataFrame:
    """Return one row per layer: what has been seen of it, with shares of steps instead of counts."""
    frame = pd.DataFrame([vars(layer) for layer in layers]).drop(columns=["L", "N"])
    frame["condition_broken"] /= frame["steps_looked_at"].clip(lower=1)
    frame["leaving_cone"] /= frame["steps"].clip(lower=1)
    frame.insert(0, "layer", range(1, len(layers) + 1))
    return frame.rename(columns={name: f"share_{name}" for name in ("condition_broken", "leaving_cone")})
