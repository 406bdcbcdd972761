"""Backward propagation (BP), and forward then backward (FBP): gradients of the loss layer, Eq. (1), in O(d²).

With the three samples as columns ``Z = [z_t z_p z_q]`` the hinge of a layer has the gradient ``2 E(Z)``,
``E(Z) = [z_q - z_p, z_p - z_t, z_t - z_q] = [u - v, -u, v]`` in terms of ``u = z_t - z_p``, ``v = z_t -
z_q``. All gradients are computed before any layer moves.
"""

from __future__ import annotations

from mloml.arrays import Array, Counts
from mloml.kernels.linalg.woodbury import follow_inverse
from mloml.kernels.padding import WIDTH
from mloml.kernels.simd import exact, fma, load, minus, spread, store, times
from mloml.kernels.stack import layout as at
from mloml.kernels.stack.activation import derive
from mloml.kernels.stack.row_passes import pull_rows, scale_rows
from mloml.kernels.stack.vectors import add, clear, copy, inner, scale, squares

LARGEST_CHANGE = 1e15
"""An entry of a layer that would change by more than this is taken as the sign of a diverging run."""

NO_LOCAL_LOSS, HINGE, SCALED_HINGE = 0, 1, 2


@exact
def hinge_gradient(V: Array, out: int, target: int, factor: float, onto: bool) -> None:
    """Set (or add, with ``onto``) ``factor E(Z)`` at ``target``."""
    m = V.shape[1]
    f = spread(factor)
    keep = spread(1.0 if onto else 0.0)
    for j in range(0, m, WIDTH):
        u, v = times(f, load(V, out + j)), times(f, load(V, out + m + j))
        store(V, target + j, fma(keep, load(V, target + j), minus(u, v)))
        store(V, target + m + j, minus(times(keep, load(V, target + m + j)), u))
        store(V, target + 2 * m + j, fma(keep, load(V, target + 2 * m + j), v))


@exact
def local_factor(i: int, V: Array, numbers: Array, local: int, rate: float, freeze: bool) -> float:
    """Return ``2 w_i s`` where the layer's hinge is active, else 0; ``w_i`` takes its own step."""
    m = V.shape[1]
    near, far = squares(V, (i * at.ROWS + at.OUTPUT) * m)
    hinge = 1.0 + near - far
    if local == NO_LOCAL_LOSS or hinge <= 0.0:
        return 0.0
    s = 1.0 if local == HINGE else numbers[i, at.STEP]
    w = numbers[i, at.WEIGHT]
    if not freeze:
        numbers[i, at.WEIGHT] = max(0.0, w - rate * s * hinge)
    return 2.0 * w * s


@exact
def backward(
    L: Array,
    V: Array,
    numbers: Array,
    counts: Counts,
    activation: int,
    local: int,
    own_too: bool,
    rate: float,
    freeze: bool,
    d: int,
) -> bool:
    """Set each layer's DELTA, the gradient by its outputs; False when all of them are zero.

    A layer's local loss moves the layers below it and, with ``own_too``, the layer itself.
    """
    m = V.shape[1]
    top = L.shape[0] - 1
    near, far = squares(V, (top * at.ROWS + at.OUTPUT) * m)
    final = 1.0 if 1.0 + near - far > 0.0 else 0.0
    alive = False
    for i in range(top, -1, -1):
        own = i * at.ROWS * m
        out, delta, full = own + at.OUTPUT * m, own + at.DELTA * m, own + at.SPARE * m
        if i == top:
            hinge_gradient(V, out, delta, final, False)
            alive = final > 0.0
        elif alive:
            pull_back(i, L, V, counts, delta, d)
            derive(V, out, own + (at.ROWS + at.INPUT) * m, delta, activation)
        else:
            clear(V, delta, 3)
        factor = local_factor(i, V, numbers, local, rate, freeze)
        copy(V, delta, full, 3)
        if factor > 0.0:
            hinge_gradient(V, out, full, factor, True)
            alive = True
            if own_too:
                copy(V, full, delta, 3)
    return alive


@exact
def pull_back(i: int, L: Array, V: Array, counts: Counts, delta: int, d: int) -> None:
    """Set ``delta = L_above' full_above``, with the change that still waits for ``L_above``."""
    m = V.shape[1]
    above = (i + 1) * at.ROWS * m
    full = above + at.SPARE * m
    pull_rows(L, (i + 1) * m * m, V, full, delta, d)
    for k in range(counts[i + 1, at.RANK]):
        left, right = above + (at.LEFT + k) * m, above + (at.RIGHT + k) * m
        for sample in range(3):
            add(V, right, delta + sample * m, inner(V, left, full + sample * m))


@exact
def sensible(L: Array, V: Array, rate: float) -> bool:
    """Say whether every layer's change is a number of reasonable size."""
    m = V.shape[1]
    for i in range(L.shape[0]):
        own = i * at.ROWS * m
        gradient = inputs = 0.0
        for k in range(3):
            g, x = own + (at.DELTA + k) * m, own + (at.INPUT + k) * m
            gradient += inner(V, g, g)
            inputs += inner(V, x, x)
        if not rate * rate * gradient * inputs < LARGEST_CHANGE * LARGEST_CHANGE:
            return False
    return True


@exact
def descend(
    L: Array,
    K: Array,
    V: Array,
    counts: Counts,
    options: Counts,
    rate: float,
    decay: float,
    has_inverse: bool,
    d: int,
) -> None:
    """Leave ``L_i <- (1 - rate decay) L_i - rate DELTA H'`` waiting in every layer; K follows.

    In terms of (p, q, h): ``DELTA H' = -delta_p p' - delta_q q' + (delta_t + delta_p + delta_q) h'``.
    """
    m = V.shape[1]
    shrink = 1.0 - rate * decay
    top = L.shape[0] - 1
    for i in range(L.shape[0]):
        own = i * at.ROWS * m
        delta, g, left = own + at.DELTA * m, own + at.SPARE * m, own + at.LEFT * m
        for j in range(0, m, WIDTH):
            t, p, q = load(V, delta + j), load(V, delta + m + j), load(V, delta + 2 * m + j)
            store(V, g + j, minus(spread(0.0), p))
            store(V, g + m + j, minus(spread(0.0), q))
            both = fma(spread(1.0), p, q)
            store(V, g + 2 * m + j, fma(spread(1.0), both, t) if i < top else spread(0.0))
        if has_inverse and not follow_inverse(i, K, V, counts, options, rate / shrink, shrink, d):
            continue
        if counts[i, at.RANK] == 0:
            clear(V, left, 2)
            copy(V, own + at.INPUT * m, own + at.RIGHT * m, 2)
        if shrink != 1.0:
            scale_rows(L, i * m * m, m, shrink)
            scale(V, left, 2, shrink)
        clear(V, left + 2 * m, 1)
        copy(V, own + (at.INPUT + 2) * m, own + (at.RIGHT + 2) * m, 1)
        for k in range(3):
            add(V, g + k * m, left + k * m, -rate)
        counts[i, at.RANK] = 2 if i == top else 3
        counts[i, at.MOVED] = 1
