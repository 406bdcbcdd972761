"""Theorem 1: whether every metric of a stack stays positive definite, and whether the condition tells.

The theorem says: ``gamma <= lambda_min(M) / 4`` keeps ``M - gamma A`` positive definite on unit rows.
A stack is run step by step with its eigenvalues in view, and what happens is counted.  The step itself
is that of the learners (frame-preserving root, the whole push and, where it must be, a shortened pull),
written out with full matrices. Counted is not that shortening but what the theorem is about: whether the
full step ``M - gamma A`` would leave the cone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from mloml.arrays import Array, Counts, Triplets
from mloml.learners.moml import ALARM, DRIFT, SINGULAR, pull_length, root_and_inverse

KEEP, FLOOR = 0.1, 0.1
TOLERANCE = 1e-10
STEPS, MEASURED, BROKEN, FAILED, SURPRISES = range(5)
SMALLEST, LARGEST, WIDEST, EXCESS = range(4)


@dataclass
class Track:
    """What has been seen of each layer; arrays have one row per layer.

    ``counts``: steps that move the metric, steps whose eigenvalues were computed, of these those that
    break the theorem's condition, steps that would leave the cone, and of these those at which the
    condition held.
    ``extremes``: smallest and largest eigenvalue seen, largest squared distance within a triplet, and by
    how much an eigenvalue left ``[lambda_min - gamma p'p, lambda_max + gamma q'q]``.
    """

    layers: Array
    inverses: Array
    counts: Counts
    extremes: Array

    @classmethod
    def start(cls, n_layers: int, d: int) -> Track:
        """Return the state before the first triplet: every metric is the identity."""
        eye = np.repeat(np.eye(d)[None], n_layers, axis=0)
        extremes = np.tile([np.inf, 0.0, 0.0, -np.inf], (n_layers, 1))
        return cls(eye, eye.copy(), np.zeros((n_layers, 5), np.int64), extremes)

    def frame(self) -> pd.DataFrame:
        """Return one row per layer with shares of steps."""
        steps, measured, broken, failed, surprises = self.counts.T
        return pd.DataFrame(
            {
                "layer": np.arange(1, len(self.counts) + 1),
                "steps": steps,
                "steps_looked_at": measured,
                "smallest_eigenvalue": self.extremes[:, SMALLEST],
                "largest_eigenvalue": self.extremes[:, LARGEST],
                "share_condition_broken": broken / np.maximum(measured, 1),
                "share_leaving_cone": failed / np.maximum(steps, 1),
                "left_although_condition_held": surprises,
                "largest_squared_distance": self.extremes[:, WIDEST],
                "sandwich_excess": self.extremes[:, EXCESS],
            }
        )


def follow(
    X: Array, stream: Iterable[Triplets], gamma: float, n_layers: int = 3, every: int = 1, relu: bool = True
) -> Track:
    """Run a stack over a stream and watch its eigenvalues.

    Parameters
    ----------
    X : rows of unit norm
    stream : triplets of each scan
    gamma, n_layers : as in MLOML
    every : compute the eigenvalues of each ``every``-th step of a layer (and of every step that would
        leave the cone), which costs O(d³)
    relu : bool
        ReLU between layers; otherwise none.

    Raises
    ------
    AssertionError
        When an eigenvalue of layer 1 leaves its interval by more than 1e-10: the one part of the theorem
        that is certain.
    """
    track = Track.start(n_layers, X.shape[1])
    for triplets in stream:
        for triplet in triplets:
            H = X[triplet].T
            for layer in range(n_layers):
                _watch(track, layer, H[:, 0] - H[:, 1], H[:, 0] - H[:, 2], gamma, every)
                H = track.layers[layer] @ H
                if relu and layer < n_layers - 1:
                    H = np.maximum(H, 0.0)
        check_sandwich(track)
    return track


def check_sandwich(track: Track) -> None:
    """Raise when layer 1 breaks the inequality that Theorem 1 rests on."""
    scale = max(1.0, float(track.extremes[0, LARGEST]))
    excess = float(track.extremes[0, EXCESS])
    if excess > TOLERANCE * scale:
        raise AssertionError(f"layer 1: an eigenvalue leaves its interval by {excess:.3g}")


def _watch(track: Track, layer: int, p: Array, q: Array, gamma: float, every: int) -> None:
    """Let one layer learn from a triplet, and count."""
    L, N, counts = track.layers[layer], track.inverses[layer], track.counts[layer]
    pq = np.stack([p, q], axis=1)
    u, v = (L @ pq).T
    if 1.0 + u @ u - v @ v <= 0.0:
        return
    RS = N @ pq
    if counts[STEPS] % 32 == 0 or not _drift(u, v, p, q, L @ RS) <= DRIFT:
        N[:] = np.linalg.inv(L.T @ L)
        RS = N @ pq
        if not _drift(u, v, p, q, L @ RS) <= ALARM:  # too near singular: left out, as the learner does
            counts[STEPS] += 1
            counts[FAILED] += 1
            return
    (a, c), (_, b) = pq.T @ RS
    full = 1.0 + gamma * (b - a - gamma * max(0.0, a * b - c * c))
    failed = not full > SINGULAR * (2.0 + gamma * (b - a))
    sampled = counts[STEPS] % every == 0
    if sampled or failed:
        _measure(L.T @ L, p, q, gamma, failed, sampled, counts, track.extremes[layer])
    counts[STEPS] += 1
    counts[FAILED] += failed
    g_p, determinant = pull_length(a, b, c, p @ p, gamma, KEEP, FLOOR)
    F, G = root_and_inverse(a, b, c, g_p, gamma, determinant)
    L += L @ RS @ np.array([[F[0], F[1]], [F[1], F[2]]]) @ pq.T
    N += RS @ np.array([[G[0], G[1]], [G[1], G[2]]]) @ RS.T


def _drift(u: Array, v: Array, p: Array, q: Array, V: Array) -> float:
    """Return how far ``(L p)'V`` is from ``p'p``, relatively, for p and q: 0 where ``N = (L'L)^-1``."""
    errors = abs(u @ V[:, 0] - p @ p), abs(v @ V[:, 1] - q @ q)
    lengths = p @ p, q @ q
    return float(max(e / n if n > 0 else 0.0 for e, n in zip(errors, lengths, strict=True)))


def _measure(
    M: Array, p: Array, q: Array, gamma: float, failed: bool, sampled: bool, counts: Counts, extremes: Array
) -> None:
    """Compute the eigenvalues before and after the full step, and note what they say."""
    old = np.linalg.eigvalsh(M)
    new = np.linalg.eigvalsh(M - gamma * (np.outer(p, p) - np.outer(q, q)))
    a, b = p @ p, q @ q
    holds = gamma <= old[0] / 4.0
    if sampled:
        counts[MEASURED] += 1
        counts[BROKEN] += not holds
    counts[SURPRISES] += failed and holds
    extremes[SMALLEST] = min(extremes[SMALLEST], old[0])
    extremes[LARGEST] = max(extremes[LARGEST], old[-1])
    extremes[WIDEST] = max(extremes[WIDEST], a, b)
    excess = max(old[0] - gamma * a - new[0], new[-1] - old[-1] - gamma * b)
    extremes[EXCESS] = max(extremes[EXCESS], excess)
