"""L-BFGS for compiled objectives: the caller evaluates where it is told to, until it is told to stop.

    value = objective(x, gradient)
    while advance(x, value, gradient, memory, tol, max_iter) == EVALUATE:
        value = objective(x, gradient)

No call goes back to Python and nothing is allocated between two evaluations. Directions, line search and
restarts are those of L-BFGS-B without bounds; the stopping rule is our own, see :func:`advance`.

R. H. Byrd, P. Lu, J. Nocedal, C. Zhu. A limited memory algorithm for bound constrained optimization. SIAM
Journal on Scientific Computing 16, 1995.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mloml.kernels.compiled import kernel
from mloml.kernels.descent.line_search import SEARCH_SIZE, SLOPE, STEP, VALUE, accepted, begin_search
from mloml.kernels.linalg.passes import dot

Array = NDArray[np.float64]

LOOK_BACK = 5
PAIRS = 20  # steps and changes of the gradient that are remembered
TRIALS_AT_MOST = 20
EPSILON = 2.220446049250313e-16

EVALUATE, CONVERGED, OUT_OF_STEPS = 0, 1, 2

DIRECTION, POINT, GRADIENT = range(3)  # the current direction; where it starts, and the gradient there
START, LAST, RUN_START, RECENT = range(4)  # values: at the start, now, at the start of the run, then a ring
STEPS, RUN_STEPS, KEPT, NEWEST, TRIALS = range(5)


class Memory(NamedTuple):
    """What lasts from one evaluation to the next; ``numbers`` and ``counts`` by the names above."""

    S: Array  # steps
    Y: Array  # what they did to the gradient
    products: Array  # s'y of each pair, and the coefficients of the recursion
    vectors: Array
    search: Array
    numbers: Array
    counts: NDArray[np.int64]


def new_memory(size: int) -> Memory:
    """Return the memory of a descent over ``size`` variables that has not begun."""
    counts = np.zeros(5, dtype=np.int64)
    counts[STEPS] = -1
    pairs = np.zeros((2, PAIRS, size))
    return Memory(
        pairs[0], pairs[1], np.zeros((2, PAIRS)), np.zeros((3, size)), np.zeros(SEARCH_SIZE),
        np.zeros(RECENT + LOOK_BACK + 1), counts,
    )  # fmt: skip


@kernel
def advance(x: Array, value: float, gradient: Array, m: Memory, tol: float, max_iter: int) -> int:
    """Take note of value and gradient at x; move x to where they are wanted next, or say why not.

    ``CONVERGED``: the last five steps together lowered the value by at most ``tol`` times the value, or it is
    below ``tol`` times the value at the start (a value that can be zero never meets a relative rule); x is
    the last point accepted. Hinges have kinks, where the search may find no descent along the quasi-Newton
    direction; it then starts again from the same point without its memory, and a point where that gains
    nothing is final, too. ``OUT_OF_STEPS``: ``max_iter`` steps were taken before.
    """
    if m.counts[STEPS] < 0:
        m.counts[STEPS] = 0
        m.numbers[START] = value
        _begin_run(value, m)
        run_over = False
    else:
        slope = dot(gradient, m.vectors[DIRECTION])
        m.counts[TRIALS] += 1
        if accepted(m.search, value, slope):
            gained = value < m.search[VALUE]
            _remember(gradient, slope, m)
            if _rule_met(value, m, tol):
                return CONVERGED
            run_over = not gained or m.counts[STEPS] >= max_iter
        elif m.counts[TRIALS] < TRIALS_AT_MOST:
            _try_step(x, m)
            return EVALUATE
        else:
            run_over = _go_back(x, gradient, m)
    while True:
        if not run_over and _begin_step(x, gradient, m):
            return EVALUATE
        run_over = run_over or _go_back(x, gradient, m)
        if run_over:
            value = m.numbers[LAST]
            if not m.numbers[RUN_START] - value > tol * value:
                return CONVERGED
            if m.counts[STEPS] >= max_iter:
                return OUT_OF_STEPS
            _begin_run(value, m)
            run_over = False


@kernel
def _begin_run(value: float, m: Memory) -> None:
    m.numbers[LAST] = m.numbers[RUN_START] = m.numbers[RECENT] = value
    m.counts[RUN_STEPS] = m.counts[KEPT] = 0


@kernel
def _begin_step(x: Array, gradient: Array, m: Memory) -> bool:
    """Choose a direction from x and its first trial step; False if there is no way down."""
    d, point, before = m.vectors[DIRECTION], m.vectors[POINT], m.vectors[GRADIENT]
    for a in range(x.size):
        point[a] = x[a]
        before[a] = gradient[a]
        d[a] = -gradient[a]
    _apply_inverse(m, d)
    slope = dot(gradient, d)
    if not slope < 0.0:
        return False
    step = 1.0 if m.counts[RUN_STEPS] > 0 else min(1.0 / sqrt(dot(d, d)), 1e10)
    begin_search(m.search, m.numbers[LAST], slope, step)
    m.counts[TRIALS] = 0
    _try_step(x, m)
    return True


@kernel
def _try_step(x: Array, m: Memory) -> None:
    step, d, point = m.search[STEP], m.vectors[DIRECTION], m.vectors[POINT]
    for a in range(x.size):
        x[a] = point[a] + step * d[a]


@kernel
def _go_back(x: Array, gradient: Array, m: Memory) -> bool:
    """Return to the last point accepted and forget all pairs; True if there was none to forget."""
    for a in range(x.size):
        x[a] = m.vectors[POINT, a]
        gradient[a] = m.vectors[GRADIENT, a]
    empty = m.counts[KEPT] == 0
    m.counts[KEPT] = 0
    return empty


@kernel
def _apply_inverse(m: Memory, d: Array) -> None:
    """Multiply d by the approximate inverse of the Hessian: the two-loop recursion."""
    kept = m.counts[KEPT]
    if kept == 0:
        return
    newest = m.counts[NEWEST]
    for back in range(kept):
        k = (newest - back) % PAIRS
        share = dot(m.S[k], d) / m.products[0, k]
        m.products[1, k] = share
        y = m.Y[k]
        for a in range(d.size):
            d[a] -= share * y[a]
    scale = m.products[0, newest] / dot(m.Y[newest], m.Y[newest])
    for a in range(d.size):
        d[a] *= scale
    for back in range(kept - 1, -1, -1):
        k = (newest - back) % PAIRS
        s = m.S[k]
        share = m.products[1, k] - dot(m.Y[k], d) / m.products[0, k]
        for a in range(d.size):
            d[a] += share * s[a]


@kernel
def _remember(gradient: Array, slope: float, m: Memory) -> None:
    """Keep the accepted step and what it did to the gradient, unless the slope did not rise."""
    step = m.search[STEP]
    product = (slope - m.search[SLOPE]) * step
    if product <= -EPSILON * m.search[SLOPE] * step:
        return
    k = (m.counts[NEWEST] + 1) % PAIRS
    m.counts[NEWEST] = k
    m.counts[KEPT] = min(PAIRS, m.counts[KEPT] + 1)
    s, y = m.S[k], m.Y[k]
    for a in range(gradient.size):
        s[a] = step * m.vectors[DIRECTION, a]
        y[a] = gradient[a] - m.vectors[GRADIENT, a]
    m.products[0, k] = product


@kernel
def _rule_met(value: float, m: Memory, tol: float) -> bool:
    m.counts[STEPS] += 1
    m.counts[RUN_STEPS] += 1
    done = m.counts[RUN_STEPS]
    m.numbers[LAST] = value
    m.numbers[RECENT + done % (LOOK_BACK + 1)] = value
    if value <= tol * m.numbers[START]:
        return True
    earlier = m.numbers[RECENT + (done + 1) % (LOOK_BACK + 1)]
    return done >= LOOK_BACK and earlier - value <= tol * value
