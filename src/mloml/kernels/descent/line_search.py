"""The line search of Moré and Thuente, one trial step at a time: the caller evaluates, and asks for the next.

A step is accepted when it lowers the value by ``DECREASE`` of what the slope promised and leaves at most
``CURVATURE`` of the slope, or when the interval that holds such a step has become too short to matter. Same
rules and constants as in L-BFGS-B, so that a descent takes the steps it would take there.

``q`` holds the search between two calls: the trial step, the ends x (the best step so far) and y of the
interval with values and slopes, and the bounds of the next trial.

J. J. Moré, D. J. Thuente. Line search algorithms with guaranteed sufficient decrease. ACM Transactions on
Mathematical Software 20, 1994.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from mloml.kernels.compiled import kernel

Array = NDArray[np.float64]

DECREASE, CURVATURE, SHORTEST = 1e-3, 0.9, 0.1
LARGEST = 1e10
STEP, VALUE, SLOPE, X, X_VALUE, X_SLOPE, Y, Y_VALUE, Y_SLOPE = range(9)
LOWER, UPPER, WIDTH, WIDTH_BEFORE, BRACKETED, STAGE = range(9, 15)
SEARCH_SIZE = 15


@kernel
def begin_search(q: Array, value: float, slope: float, step: float) -> None:
    """Start at a point with this value and (negative) slope; ``step`` is the first trial."""
    q[STEP], q[VALUE], q[SLOPE] = step, value, slope
    q[X], q[X_VALUE], q[X_SLOPE] = 0.0, value, slope
    q[Y], q[Y_VALUE], q[Y_SLOPE] = 0.0, value, slope
    q[LOWER], q[UPPER] = 0.0, 5.0 * step
    q[WIDTH], q[WIDTH_BEFORE] = LARGEST, 2.0 * LARGEST
    q[BRACKETED], q[STAGE] = 0.0, 1.0


@kernel
def accepted(q: Array, value: float, slope: float) -> bool:
    """Take note of value and slope at the trial step; False when ``q[STEP]`` is a new one to try."""
    step = q[STEP]
    promised = DECREASE * q[SLOPE]
    enough = value <= q[VALUE] + step * promised
    if enough and slope >= 0.0:
        q[STAGE] = 2.0
    bracketed = q[BRACKETED] > 0.0
    if bracketed and (step <= q[LOWER] or step >= q[UPPER] or _short(q)):
        return True
    if step == LARGEST and enough and slope <= promised:
        return True
    if enough and abs(slope) <= -CURVATURE * q[SLOPE]:
        return True
    # While steps gain, but too little, the search is for a zero of the promised decrease's own derivative.
    shift = promised if q[STAGE] == 1.0 and value <= q[X_VALUE] and not enough else 0.0
    step = _move_interval(q, step, value - shift * step, slope - shift, shift)
    bracketed = q[BRACKETED] > 0.0
    if bracketed:
        width = abs(q[Y] - q[X])
        if width >= 0.66 * q[WIDTH_BEFORE]:
            step = q[X] + 0.5 * (q[Y] - q[X])
        q[WIDTH_BEFORE], q[WIDTH] = q[WIDTH], width
        q[LOWER], q[UPPER] = min(q[X], q[Y]), max(q[X], q[Y])
    else:
        q[LOWER], q[UPPER] = step + 1.1 * (step - q[X]), step + 4.0 * (step - q[X])
    step = min(max(step, 0.0), LARGEST)
    if bracketed and (step <= q[LOWER] or step >= q[UPPER] or _short(q)):
        step = q[X]
    q[STEP] = step
    return False


@kernel
def _short(q: Array) -> bool:
    return q[UPPER] - q[LOWER] <= SHORTEST * q[UPPER]


@kernel
def _move_interval(q: Array, step: float, value: float, slope: float, shift: float) -> float:
    """Put the trial in place of one end of the interval; return the next trial by interpolation."""
    x, fx, dx = q[X], q[X_VALUE] - shift * q[X], q[X_SLOPE] - shift
    y, fy, dy = q[Y], q[Y_VALUE] - shift * q[Y], q[Y_SLOPE] - shift
    bracketed = q[BRACKETED] > 0.0
    turned = slope * dx < 0.0
    if value > fx:  # a minimum lies between x and the trial
        cubic = _cubic(x, fx, dx, step, value, slope, False)
        quadratic = x + 0.5 * (step - x) * dx / ((fx - value) / (step - x) + dx)
        nearer = abs(cubic - x) <= abs(quadratic - x)
        following = cubic if nearer else cubic + 0.5 * (quadratic - cubic)
        q[BRACKETED] = 1.0
    elif turned:  # so it does here
        cubic = _cubic(step, value, slope, x, fx, dx, False)
        secant = step + slope / (slope - dx) * (x - step)
        following = cubic if abs(cubic - step) > abs(secant - step) else secant
        q[BRACKETED] = 1.0
    elif abs(slope) < abs(dx):
        cubic = _cubic(step, value, slope, x, fx, dx, True)
        if not np.isfinite(cubic):
            cubic = q[UPPER] if step > x else q[LOWER]
        secant = step + slope / (slope - dx) * (x - step)
        further = abs(cubic - step) > abs(secant - step)
        if bracketed:
            following = secant if further else cubic
            end = step + 0.66 * (y - step)
            following = min(end, following) if step > x else max(end, following)
        else:
            following = min(max(cubic if further else secant, q[LOWER]), q[UPPER])
    elif bracketed:
        following = _cubic(step, value, slope, y, fy, dy, False)
    else:
        following = q[UPPER] if step > x else q[LOWER]

    if value > fx:
        q[Y], q[Y_VALUE], q[Y_SLOPE] = step, value + shift * step, slope + shift
    else:
        if turned:
            q[Y], q[Y_VALUE], q[Y_SLOPE] = x, fx + shift * x, dx + shift
        q[X], q[X_VALUE], q[X_SLOPE] = step, value + shift * step, slope + shift
    return following


@kernel
def _cubic(a: float, fa: float, da: float, b: float, fb: float, db: float, ahead: bool) -> float:
    """Return where the cubic through both ends has its minimum, infinity if that does not lie ``ahead`` of a.

    ``ahead`` asks for a minimum on the far side of a, as seen from b.
    """
    theta = 3.0 * (fa - fb) / (b - a) + da + db
    size = max(abs(theta), max(abs(da), abs(db)))
    gamma = size * sqrt(max(0.0, (theta / size) ** 2 - (da / size) * (db / size)))
    if b < a:
        gamma = -gamma
    ratio = (gamma - da + theta) / (gamma - da + gamma + db)
    if ahead and not (ratio < 0.0 and gamma != 0.0):
        return np.inf
    return a + ratio * (b - a)
