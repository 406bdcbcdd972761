"""Theorem 1: whether every metric of a stack stays positive definite, and whether the condition tells.

The theorem says: on samples of unit norm, ``gamma <= lambda_min(M) / 4`` keeps ``M - gamma A`` positive
definite. We run a stack step by step, compute its eigenvalues and count what happens. The steps are the
learner's own (frame-preserving root, the whole push and, where needed, a shortened pull). What is counted is
not that shortening but the theorem's subject: whether the full step ``M - gamma A`` would leave the cone.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from mloml.arrays import Array, Triplets
from mloml.learners.linalg import REFUSED, UPDATES
from mloml.learners.moml import SINGULAR, MOMLLayer

TOLERANCE = 1e-10


@dataclass
class WatchedLayer:
    """A layer ``L``, the inverse ``N`` of its metric ``M = L'L``, and what has been seen of it.

    ``steps`` move the metric. ``steps_looked_at`` are a sample of them whose eigenvalues were computed, and
    ``condition_broken`` those of the sample that break the theorem's condition. ``leaving_cone`` counts all
    steps that would leave the cone. ``sandwich_excess`` is how far an eigenvalue left the interval
    ``[lambda_min - gamma p'p, lambda_max + gamma q'q]``.
    """

    layer: MOMLLayer
    steps: int = 0
    steps_looked_at: int = 0
    smallest_eigenvalue: float = np.inf
    largest_eigenvalue: float = 0.0
    condition_broken: int = 0
    leaving_cone: int = 0
    left_although_condition_held: int = 0
    largest_squared_distance: float = 0.0
    sandwich_excess: float = -np.inf

    def learn(self, D: Array, every: int) -> None:
        """Learn from a triplet, ``D`` being ``x - xp``, ``x - xq`` and ``x``, and count what happens."""
        pq, gamma, L, N = D[:2].T, self.layer.step, self.layer.L.copy(), self.layer.N.copy()
        before = self.layer.counts.copy()
        self.layer.learn(D[None], np.empty((0, *D.shape)))
        updated, refused = (self.layer.counts - before)[[UPDATES, REFUSED]]
        if not (updated or refused):
            return
        sampled, self.steps = self.steps % every == 0, self.steps + 1
        (a, c), (_, b) = pq.T @ N @ pq
        full = 1.0 + gamma * (b - a - gamma * max(0.0, a * b - c * c))
        leaves = bool(refused) or not full > SINGULAR * (2.0 + gamma * (b - a))
        self.leaving_cone += leaves
        if updated and (leaves or sampled):
            self._look(L.T @ L, D[0], D[1], leaves, sampled)

    def _look(self, M: Array, p: Array, q: Array, leaves: bool, sampled: bool) -> None:
        """Compute the eigenvalues before and after the full step."""
        gamma, a, b = self.layer.step, p @ p, q @ q
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
    layers = [WatchedLayer(MOMLLayer(X.shape[1], gamma)) for _ in range(n_layers)]
    for triplets in stream:
        for triplet in triplets:
            H = X[triplet]
            for watched in layers:
                watched.learn(np.stack([H[0] - H[1], H[0] - H[2], H[0]]), every)
                H = H @ watched.layer.L.T
                H = np.maximum(H, 0.0) if relu else H
        check_sandwich(layers[0])
    return layers


def check_sandwich(first: WatchedLayer) -> None:
    """Raise when layer 1 breaks the inequality that Theorem 1 rests on."""
    if first.sandwich_excess > TOLERANCE * max(1.0, first.largest_eigenvalue):
        raise AssertionError(f"layer 1: an eigenvalue leaves its interval by {first.sandwich_excess:.3g}")


def layers_frame(layers: Sequence[WatchedLayer]) -> pd.DataFrame:
    """Return one row per layer: what has been seen of it, with shares of steps instead of counts."""
    frame = pd.DataFrame([vars(layer) for layer in layers]).drop(columns="layer")
    frame["condition_broken"] /= frame["steps_looked_at"].clip(lower=1)
    frame["leaving_cone"] /= frame["steps"].clip(lower=1)
    frame.insert(0, "layer", range(1, len(layers) + 1))
    return frame.rename(columns={name: f"share_{name}" for name in ("condition_broken", "leaving_cone")})
