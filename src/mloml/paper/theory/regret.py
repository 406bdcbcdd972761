"""Theorem 2: regret of the MOML recursion, the bound the paper claims and the one its argument gives.

The regret compares the loss of each matrix *before* it learns from a triplet with the loss of one
fixed matrix ``U`` over the same triplets.  The paper's proof bounds ``gamma`` times the regret and
calls it the regret; dividing by ``gamma`` gives the usual order ``sqrt(T)``.
"""

from __future__ import annotations

import numpy as np

from mloml.arrays import Array
from mloml.learners.compiled import exact


@exact
def _run(
    P: Array, Q: Array, M: Array, gamma: float, start: int, floor: float, losses: Array
) -> tuple[int, float]:
    """Take Eq. (6)'s steps from triplet ``start`` on, writing each loss before its step.

    ``floor`` is a lower bound of the smallest eigenvalue of M, lowered by each step; the run stops after
    the step that makes it negative.  Returns the next triplet and the bound.
    """
    d = P.shape[1]
    for t in range(start, P.shape[0]):
        p, q = P[t], Q[t]
        hinge, squared = 1.0, 0.0
        for i in range(d):
            squared += p[i] * p[i]
            for j in range(d):
                hinge += M[i, j] * (p[i] * p[j] - q[i] * q[j])
        losses[t] = max(hinge, 0.0)
        if hinge <= 0.0:
            continue
        for i in range(d):
            for j in range(d):
                M[i, j] -= gamma * (p[i] * p[j] - q[i] * q[j])
        floor -= gamma * squared
        if floor < 0.0:
            return t + 1, floor
    return P.shape[0], floor


def moml_losses(P: Array, Q: Array, gamma: float, project: bool = False) -> Array:
    """Return the loss ``[1 + tr(M_t A_t)]+`` of every triplet, taken before MOML learns from it.

    Parameters
    ----------
    P, Q : arrays of shape (T, d)
        Rows ``x - xp`` and ``x - xq`` of each triplet, in the order of the stream.
    gamma : float
        Step size of Eq. (6), constant over the run.
    project : bool, default=False
        Project ``M`` onto the positive semi-definite cone after each step.  The proof leaves this out.

    Examples
    --------
    >>> moml_losses(*counterexample(3), gamma=0.1)
    array([5. , 3.4, 1.8])
    """
    P, Q = np.ascontiguousarray(P, float), np.ascontiguousarray(Q, float)
    losses, M = np.empty(len(P)), np.eye(P.shape[1])
    done, floor = 0, 1.0 if project else np.inf
    while done < len(P):
        done, floor = _run(P, Q, M, gamma, done, floor, losses)
        if floor < 0.0:
            values, vectors = np.linalg.eigh(M)
            floor = max(float(values[0]), 0.0)
            if values[0] < 0.0:
                M[:] = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return losses


def hinge_arguments(U: Array, P: Array, Q: Array) -> Array:
    """Return ``1 + tr(U A_t)`` of every triplet under one fixed symmetric matrix ``U``."""
    return 1.0 + np.einsum("ti,ti->t", P @ U, P) - np.einsum("ti,ti->t", Q @ U, Q)


def fixed_losses(U: Array, P: Array, Q: Array) -> Array:
    """Return the loss ``[1 + tr(U A_t)]+`` of every triplet under one fixed symmetric matrix ``U``."""
    return np.maximum(hinge_arguments(U, P, Q), 0.0)


def step_size(T: int, phi: float) -> float:
    """Return the theorem's ``gamma = 1 / (Phi sqrt(T))``."""
    return 1.0 / (phi * np.sqrt(T))


def claimed_bound(U: Array, phi: float) -> float:
    """Return the paper's bound ``(1/2)||I - U||_F² + 32 / Phi²``, which does not grow with T.

    >>> claimed_bound(np.array([[-0.25]]), phi=1.0)
    32.78125
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
    """Return the stream that refutes the claim: ``x = 1, xp = -1, xq = 1`` on the line, T times."""
    return np.full((T, 1), 2.0), np.zeros((T, 1))
