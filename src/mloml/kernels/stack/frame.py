"""The frame-preserving root: a factor ``L`` that follows the metric and keeps its axes, in O(d²).

A step pulls on ``p`` and pushes along ``q``: ``M <- M - g_p p p' + g_q q q'``. With ``K = L^-T``, ``P = K p``
and ``Q = K q`` the new metric is ``L' (I + V C V') L``, ``V = [P Q]``, ``C = diag(-g_p, g_q)``. The symmetric
root of the bracket is ``I + V F V'`` and its inverse ``I + V H V'`` with symmetric 2 x 2 matrices ``F`` and
``H`` that follow from ``B = I + C V'V`` alone: with ``R = B^(1/2)``, ``F = (R + I)^-1 C`` and ``H = -R^-1
F``. Hence::

    L <- L + V F [p q]'          K <- K + V H (K'V)'

without eigenvectors, so that ``P`` parallel to ``Q`` or zero is no special case; the step stays in the cone
if and only if ``det B > 0``. Eq. 6 takes ``g_p = g_q``; the policy `split` takes the whole push and shortens
the pull, see :func:`pull_step`.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from mloml.arrays import Array, Counts
from mloml.kernels.linalg.refine import refine
from mloml.kernels.padding import WIDTH
from mloml.kernels.simd import exact, fma, load, spread, store, times, total
from mloml.kernels.stack import layout as at
from mloml.kernels.stack.row_passes import fold_rows, project_rows

SHRINKAGE = 0.9
"""How far towards the border of the cone a step goes that would have crossed it."""

SINGULAR = 1e-12
"""A relative eigenvalue below this counts as outside the cone."""

REFINE_EVERY = 256
"""Steps after which K is refined at the latest."""

REFINE_SOONEST = 32
"""Steps before which K is not refined again, whatever the residual."""

DRIFT = 1e-9
"""Relative residual of ``(L p)'(K p) = p'p`` at which K is refined at the next step."""

ALARM = 1e-5
"""Residual at which K is refined before the step; if that does not help, the step is left out."""


@exact
def cone_test(a: float, b: float, c: float, g: float) -> tuple[float, float]:
    """Return ``det B`` and ``tr B`` for the Gram entries ``a = P'P``, ``b = Q'Q``, ``c = P'Q``."""
    return 1.0 + g * (b - a - g * max(0.0, a * b - c * c)), 2.0 + g * (b - a)


@exact
def largest_step(a: float, b: float, c: float) -> float:
    """Return ``g_max``: ``M - g A`` is positive definite exactly for ``g`` below it."""
    s = a + b
    low = a - b + sqrt(max(0.0, (s - 2.0 * c) * (s + 2.0 * c)))
    return 2.0 / low if low > 0.0 else np.inf


@exact
def pull_step(s: float, pp: float, g: float, keep: float, floor: float) -> float:
    """Return the pull that the policy `split` takes: ``max(0, min(g, (1 - keep) / s, 1/s - floor / p'p))``.

    ``s = p'(M + g q q')^-1 p``. The metric's determinant falls by ``1 - g_p s >= keep`` at most, and a pull
    that the floor shortens leaves ``p'M^-1 p <= p'p / floor``.
    """
    if not (s > 0.0 and pp > 0.0):
        return g
    share = min(1.0 - keep, 1.0 - floor * (s / pp))
    return g if g * s <= share else max(0.0, share) / s


@exact
def split_steps(
    a: float, b: float, c: float, pp: float, g: float, keep: float, floor: float
) -> tuple[float, float, float, float, bool]:
    """Return what :func:`admissible_steps` does, for the policy `split`: the whole push, a part of the pull.

    ``s = a - g c² / (1 + g b)`` is written without cancellation, as is ``det B = (1 + g b) (1 - g_p s)``.
    """
    push = 1.0 + g * b
    s = (a + g * max(0.0, a * b - c * c)) / push
    pull = pull_step(s, pp, g, keep, floor)
    determinant, trace = push * (1.0 - pull * s), 2.0 + g * b - pull * a
    if determinant > SINGULAR * trace:
        return pull, g, determinant, trace, pull < g
    return 0.0, 0.0, 1.0, 2.0, True  # numbers beyond all bounds


@exact
def admissible_steps(
    a: float, b: float, c: float, pp: float, g: float, policy: int, keep: float, floor: float
) -> tuple[float, float, float, float, bool]:
    """Return the steps to take along p and q (0: none), ``det B``, ``tr B``, and whether g was too much.

    Too much means that the step would have left the cone or, under `split`, that the pull is shortened.
    """
    if policy == at.SPLIT:
        return split_steps(a, b, c, pp, g, keep, floor)
    determinant, trace = cone_test(a, b, c, g)
    if determinant > SINGULAR * trace:
        return g, g, determinant, trace, False
    if policy == at.SHRINK:
        g = SHRINKAGE * largest_step(a, b, c)
        determinant, trace = cone_test(a, b, c, g)
        if determinant > SINGULAR * trace:  # not so where rows are so large that rounding hides the border
            return g, g, determinant, trace, True
    return 0.0, 0.0, 1.0, 2.0, True


@exact
def root_coefficients(
    a: float, b: float, c: float, g_p: float, g_q: float, determinant: float, trace: float
) -> tuple[float, float, float, float, float, float]:
    """Return the entries 11, 12, 22 of ``F`` and of ``H``; determinant and trace are those of ``B``.

    ``R = (B + s I) / t`` with ``s = det R`` and ``t = tr R``; so ``det(R + I) = 1 + s + t`` and, for H,
    ``det(R (R + I)) = s (1 + s + t)``, without cancellation.
    """
    s = sqrt(determinant)
    t = sqrt(trace + 2.0 * s)
    b11, b22, b21 = 1.0 - g_p * a, 1.0 + g_q * b, g_q * c  # b12 = -g_p c
    f_p, f_q = g_p / (1.0 + s + t), g_q / (1.0 + s + t)
    h_p, h_q = f_p / s, f_q / s
    more = 1.0 + 1.0 / t
    f11, f12, f22 = -f_p * ((b22 + s) / t + 1.0), f_p * b21 / t, f_q * ((b11 + s) / t + 1.0)
    h11, h12, h22 = h_p * (b22 * more + s / t), -h_p * b21 * more, -h_q * (b11 * more + s / t)
    return f11, f12, f22, h11, h12, h22


@exact
def frame_step(
    i: int,
    L: Array,
    K: Array,
    V: Array,
    counts: Counts,
    g: float,
    policy: int,
    keep: float,
    floor: float,
    work: Array,
    descent: bool | None,
    d: int,
) -> None:
    """Take the MOML step ``M - g A`` on layer ``i``, whose inputs and outputs are in place.

    ``L`` is up to date; its change, and K's, are left waiting, and the outputs follow at once.
    """
    m = V.shape[1]
    base, own = i * m * m, i * at.ROWS * m
    x, left, right = own + at.INPUT * m, own + at.K_LEFT * m, own + at.K_RIGHT * m
    for _ in range(2):
        if counts[i, at.AGE] >= REFINE_EVERY:
            fold_rows(K, base, V, left, right, counts[i, at.K_RANK], d)
            counts[i, at.K_RANK] = 0
            refine(L, K, base, m, d, work)
            counts[i, at.AGE] = 0
        project_rows(K, base, V, x, left, own + at.SPARE * m, left, right, counts[i, at.K_RANK], descent, d)
        counts[i, at.K_RANK] = 0
        a, b, c, pp, qq, pq, ph, qh, drift = survey(V, own)
        if drift <= ALARM or counts[i, at.AGE] == 0:
            break
        counts[i, at.AGE] = REFINE_EVERY
    if drift > DRIFT and counts[i, at.AGE] >= REFINE_SOONEST:
        counts[i, at.AGE] = REFINE_EVERY
    g_p, g_q, determinant, trace, failed = admissible_steps(a, b, c, pp, g, policy, keep, floor)
    usable = drift <= ALARM
    if failed or not usable:
        counts[i, at.FAILURES] += 1
    if g_q < at.WEAK_SHARE * g or not usable:
        counts[i, at.WEAK] += 1
    if g_q == 0.0 or not usable:
        counts[i, at.REFUSED] += 1
        return
    f11, f12, f22, h11, h12, h22 = root_coefficients(a, b, c, g_p, g_q, determinant, trace)
    commit(V, own, f11, f12, f22, h11, h12, h22, pp, qq, pq, ph, qh)
    counts[i, at.RANK] = counts[i, at.K_RANK] = 2
    counts[i, at.AGE] += 1
    counts[i, at.UPDATES] += 1


@exact
def survey(V: Array, own: int) -> tuple[float, float, float, float, float, float, float, float, float]:
    """Return all inner products a step needs, and the drift of K.

    They are P'P, Q'Q, P'Q, p'p, q'q, p'q, p'h, q'h. The drift is how far ``(L p)'(K p)`` is from ``p'p``,
    relatively, for p and q: 0 where ``K = L^-T``.
    """
    m = V.shape[1]
    a = b = c = pp = qq = pq = ph = qh = pu = qv = spread(0.0)
    for j in range(own, own + m, WIDTH):
        p, q, h = load(V, j + at.INPUT * m), load(V, j + (at.INPUT + 1) * m), load(V, j + (at.INPUT + 2) * m)
        pp, qq, pq, ph, qh = fma(p, p, pp), fma(q, q, qq), fma(p, q, pq), fma(p, h, ph), fma(q, h, qh)
        P, Q = load(V, j + at.K_LEFT * m), load(V, j + (at.K_LEFT + 1) * m)
        a, b, c = fma(P, P, a), fma(Q, Q, b), fma(P, Q, c)
        pu, qv = fma(P, load(V, j + at.OUTPUT * m), pu), fma(Q, load(V, j + (at.OUTPUT + 1) * m), qv)
    near, far = total(pp), total(qq)
    drift = 0.0
    for error, length in ((abs(total(pu) - near), near), (abs(total(qv) - far), far)):
        if not error <= drift * length:
            drift = error / length
    return total(a), total(b), total(c), near, far, total(pq), total(ph), total(qh), drift


@exact
def commit(
    V: Array,
    own: int,
    f11: float,
    f12: float,
    f22: float,
    h11: float,
    h12: float,
    h22: float,
    pp: float,
    qq: float,
    pq: float,
    ph: float,
    qh: float,
) -> None:
    """Leave the changes ``V F [p q]'`` and ``V H (K'V)'`` waiting, and bring the outputs up to them."""
    m = V.shape[1]
    for j in range(own, own + m, WIDTH):
        P, Q = load(V, j + at.K_LEFT * m), load(V, j + (at.K_LEFT + 1) * m)
        to_p = fma(spread(f11), P, times(spread(f12), Q))
        to_q = fma(spread(f12), P, times(spread(f22), Q))
        store(V, j + at.LEFT * m, to_p)
        store(V, j + (at.LEFT + 1) * m, to_q)
        store(V, j + at.RIGHT * m, load(V, j + at.INPUT * m))
        store(V, j + (at.RIGHT + 1) * m, load(V, j + (at.INPUT + 1) * m))
        u, v, z = (
            load(V, j + at.OUTPUT * m),
            load(V, j + (at.OUTPUT + 1) * m),
            load(V, j + (at.OUTPUT + 2) * m),
        )
        store(V, j + at.OUTPUT * m, fma(spread(pp), to_p, fma(spread(pq), to_q, u)))
        store(V, j + (at.OUTPUT + 1) * m, fma(spread(pq), to_p, fma(spread(qq), to_q, v)))
        store(V, j + (at.OUTPUT + 2) * m, fma(spread(ph), to_p, fma(spread(qh), to_q, z)))
        s, t = load(V, j + at.SPARE * m), load(V, j + (at.SPARE + 1) * m)
        store(V, j + at.K_RIGHT * m, fma(spread(h11), s, times(spread(h12), t)))
        store(V, j + (at.K_RIGHT + 1) * m, fma(spread(h12), s, times(spread(h22), t)))
