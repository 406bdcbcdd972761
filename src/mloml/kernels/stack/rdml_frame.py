"""RDML's step on a frame: a factor ``L`` of the metric that follows it in steps, with ``K = L^-T``.

A layer needs L, not M, and one that can be inverted. So M stays above ``FLOOR``: where ``M - lam z z'`` has
an eigenvalue mu below it, with unit vector v, the step is ``M - lam z z' + (FLOOR - mu) v v'``, which is the
projection onto all metrics above the floor. Either way the change has the form ``[z v] diag(-lam, gain) [z
v]'``, and the factor follows by a root of rank two as in ``frame``, here for two different steps: O(d²). The
eigenpair is looked for only after a pull that leaves less than ``HALF`` of a direction.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from mloml.arrays import Array
from mloml.kernels.compiled import kernel
from mloml.kernels.linalg.passes import dot, product
from mloml.kernels.linalg.projection import _negative_eigenvalue, _ritz_vector
from mloml.kernels.stack.layout import WEAK_SHARE

FLOOR = 1e-4
"""Least eigenvalue of a layer's metric after a projection."""

HALF = 0.5
"""A pull whose direction keeps at least this share, ``1 - lam z'M^-1 z``, leads to no eigenvalue problem."""

UNCHANGED, UPDATED, PROJECTED, UNDONE, DRIFTED = range(5)
"""No step was due; it was taken; it was projected; the projection took back nearly all of it; not taken."""


@kernel
def rdml_frame_step(
    L: Array, K: Array, z: Array, u: Array, similar: bool, lam: float, d: int, rows: Array, work: Array
) -> int:
    """Take one step on ``L`` and ``K`` in place, ``u = L z``; return what happened.

    ``DRIFTED``: nothing was done, K is no longer the inverse and has to be made anew. ``rows`` (5, m) and
    ``work`` (m, m) are workspace.
    """
    distance = dot(u, u)
    if distance < 1.0 if similar else distance > 1.0:
        return UNCHANGED
    P = rows[0]
    product(K, z, P)
    length = dot(z, z)
    if not abs(dot(u, P) - length) <= 1e-7 * length:
        return DRIFTED
    a = dot(P, P)
    if not similar:
        _take_two(L, K, z, z, P, P, lam, 0.0, rows)
        return UPDATED
    if 1.0 - lam * a >= HALF:
        _take_two(L, K, z, z, P, P, -lam, 0.0, rows)
        return UPDATED
    Q, v = rows[1], rows[4]
    gain = _lift(L, z, sqrt(length), lam, d, work, v)
    product(K, v, Q)
    done = _take_two(L, K, z, v, P, Q, -lam, gain, rows)
    if not done:
        return DRIFTED
    if gain <= 0.0:
        return UPDATED
    tau, along = lam * length, dot(z, v)
    left = tau * tau + gain * gain - 2.0 * lam * gain * along * along  # ||lam z z' - gain v v'||²
    return UNDONE if left < (WEAK_SHARE * tau) * (WEAK_SHARE * tau) else PROJECTED


@kernel
def _lift(L: Array, z: Array, length: float, lam: float, d: int, work: Array, v: Array) -> float:
    """Return ``FLOOR - mu`` for the least eigenvalue mu of ``L'L - lam z z'`` if positive, else 0.

    ``v`` becomes the eigenvector.
    """
    M = work[:d, :d]
    for j in range(v.size):
        v[j] = 0.0
    for a in range(d):
        for b in range(d):
            M[a, b] = -lam * (z[a] * z[b])
        M[a, a] -= FLOOR
    for r in range(d):
        for a in range(d):
            factor = L[r, a]
            for b in range(d):
                M[a, b] += factor * L[r, b]
    basis, room = np.empty((d + 1, d)), np.empty((4, d + 1))
    mu, size = _negative_eigenvalue(M, z[:d], length, lam * length * length, basis, room)
    if mu < 0.0:
        _ritz_vector(basis, room[3], size, v[:d])
        return -mu
    return 0.0


@kernel
def _take_two(
    L: Array, K: Array, p: Array, q: Array, P: Array, Q: Array, g: float, h: float, rows: Array
) -> bool:
    """Move to the factor of ``M + g p p' + h q q'``, with ``P = K p``, ``Q = K q``; False if there is none.

    With ``B = I + C V'V``, ``C = diag(g, h)``, ``V = [P Q]`` and ``R = B^(1/2)``: ``F = (R + I)^-1 C``, ``H =
    -R^-1 F``, ``L <- L + V F [p q]'``, ``K <- K + V H (K'V)'``.
    """
    a, b, c = dot(P, P), dot(Q, Q), dot(P, Q)
    b11, b12, b21, b22 = 1.0 + g * a, g * c, h * c, 1.0 + h * b
    determinant = b11 * b22 - b12 * b21
    if not determinant > 0.0:
        return False
    s = sqrt(determinant)
    t = sqrt(b11 + b22 + 2.0 * s)
    r11, r12, r21, r22 = (b11 + s) / t, b12 / t, b21 / t, (b22 + s) / t
    e = 1.0 / (1.0 + s + t)  # 1 / det(R + I)
    f11, f12, f22 = e * (r22 + 1.0) * g, -e * r12 * h, e * (r11 + 1.0) * h
    h11 = -(r22 * f11 - r12 * f12) / s
    h12 = -(r22 * f12 - r12 * f22) / s
    h22 = -(r11 * f22 - r21 * f12) / s
    m = p.size
    X, Y = rows[2], rows[3]
    for j in range(m):
        X[j] = Y[j] = 0.0
    for i in range(m):
        for j in range(m):
            X[j] += K[i, j] * P[i]
            Y[j] += K[i, j] * Q[i]
    for i in range(m):
        to_p, to_q = f11 * P[i] + f12 * Q[i], f12 * P[i] + f22 * Q[i]
        of_p, of_q = h11 * P[i] + h12 * Q[i], h12 * P[i] + h22 * Q[i]
        for j in range(m):
            L[i, j] += to_p * p[j] + to_q * q[j]
            K[i, j] += of_p * X[j] + of_q * Y[j]
    return True
