"""L-BFGS: minimise a function of many variables from its values and gradients, in Python.

With the last steps s = x⁺ - x, what they did to the gradient, y = g⁺ - g, and ρ = 1 / s'y, the inverse of the
Hessian is approximated by

    H⁺ = (I - ρ s y') H (I - ρ y s') + ρ s s'

from the multiple of the identity that suits the newest pair. The direction is d = -H g; the step along it
meets the weak Wolfe conditions, which also suit functions with kinks:

    f(x + t d) <= f(x) + DECREASE t g'd,      g(x + t d)'d >= CURVATURE g'd

J. Nocedal. Updating quasi-Newton matrices with limited storage. Mathematics of Computation 35, 1980.
A. S. Lewis, M. L. Overton. Nonsmooth optimization via quasi-Newton methods. Mathematical Programming 141,
2013.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import numpy as np

from mloml.arrays import Array

from .compiled import entry, ready
from .linalg import dot

PAIRS = 40  # steps and changes of the gradient that are remembered
LOOK_BACK = 5  # steps that together must gain something
TRIALS = 30  # steps tried along one direction
DECREASE, CURVATURE = 1e-3, 0.9

Objective = Callable[[Array], tuple[float, Array]]


@dataclass(frozen=True)
class Descent:
    """Where a descent ended, with value and gradient; its first value, its steps, whether it converged."""

    x: Array
    value: float
    gradient: Array
    start_value: float
    n_iter: int
    converged: bool


@entry
def set_direction(S: Array, Y: Array, products: Array, newest: int, kept: int, g: Array, d: Array) -> float:
    """Set d = -H g by the two-loop recursion, over the newest ``kept`` pairs; return g'd.

    ``products[0]`` are the s'y of the pairs, ``products[1]`` is room.
    """
    for a in range(g.size):
        d[a] = -g[a]
    for back in range(kept):
        k = (newest - back) % S.shape[0]
        share = products[1, k] = dot(S[k], d) / products[0, k]
        for a in range(g.size):
            d[a] -= share * Y[k, a]
    if kept > 0:
        scale = products[0, newest] / dot(Y[newest], Y[newest])
        for a in range(g.size):
            d[a] *= scale
    for back in range(kept - 1, -1, -1):
        k = (newest - back) % S.shape[0]
        share = products[1, k] - dot(Y[k], d) / products[0, k]
        for a in range(g.size):
            d[a] += share * S[k, a]
    return dot(g, d)


def descend(objective: Objective, start: Array, tol: float, max_iter: int) -> Descent:
    """Minimise ``objective``, which returns value and gradient, from ``start``, an array of any shape.

    Ends when the last five steps together lowered the value by at most ``tol`` times the value, or when it is
    below ``tol`` times the value at the start (a value that can be zero never meets a relative rule). Where
    no step lowers the value, the pairs are forgotten; where that does not help, the point is final. After
    ``max_iter`` steps it has not converged.
    """
    ready("descent")
    x = np.array(start, dtype=np.float64, order="C")
    S, Y, products = np.empty((PAIRS, x.size)), np.empty((PAIRS, x.size)), np.empty((2, PAIRS))
    d, n_iter, newest, kept, length = np.empty(x.size), 0, -1, 0, 1.0
    value, gradient = objective(x)
    start_value, recent = value, deque([value], LOOK_BACK + 1)

    def ended(converged: bool) -> Descent:
        return Descent(x, value, gradient, start_value, n_iter, converged)

    while n_iter < max_iter:
        g = np.ascontiguousarray(gradient).ravel()
        slope = set_direction(S, Y, products, newest, kept, g, d)
        first = 1.0 if kept else length / (sqrt(-slope) if slope < 0.0 else 1.0)
        found = search(objective, x, value, d.reshape(x.shape), slope, first) if slope < 0.0 else None
        if found is None:
            if not kept:
                return ended(True)
            kept = 0
            continue
        t, x, value, gradient, new_slope = found
        n_iter += 1
        length = t * sqrt(d @ d)
        product = t * (new_slope - slope)
        if product > -1e-15 * t * slope:  # the slope rose: the pair has something to tell
            newest, kept = (newest + 1) % PAIRS, min(kept + 1, PAIRS)
            np.multiply(d, t, out=S[newest])
            np.subtract(gradient.ravel(), g, out=Y[newest])
            products[0, newest] = product
        recent.append(value)
        gained_little = len(recent) > LOOK_BACK and recent[0] - value <= tol * value
        if gained_little or value <= tol * start_value:
            return ended(True)
    return ended(False)


def search(
    objective: Objective, x: Array, value: float, d: Array, slope: float, t: float
) -> tuple[float, Array, float, Array, float] | None:
    """Find a step t along d: double it until it is too long, then halve the interval that holds one.

    Returns the step, the point, value, gradient and slope there; None if no step lowers the value.
    """
    low, high, best = 0.0, np.inf, None
    for _ in range(TRIALS):
        there = x + t * d
        new_value, gradient = objective(there)
        new_slope = float(np.vdot(gradient, d))
        if new_value < value and new_value <= value + DECREASE * t * slope:
            low, best = t, (t, there, new_value, gradient, new_slope)
            if new_slope >= CURVATURE * slope:
                break
        else:
            high = t
        t = 2.0 * low if high == np.inf else 0.5 * (low + high)
    return best
