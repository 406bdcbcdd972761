"""LMDML's search for the farthest target and the nearest impostor of a row under M.

``h`` holds ``x_l' M x_l`` of every row, kept up to date, so that a distance needs one product per row only:
``D(x_i, x_l) = h_i + h_l - 2 x_l'(M x_i)``. What a step does to h is done in the pass of the next visit: all
rows are read once per visit. The pass is in single precision (``lmdml_rows``) and followed by a bound on its
error: rows that it puts farther from the best than twice the bound cannot be the best. The others, most often
one, are measured by differences in double precision; the first row wins a tie.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mloml.kernels.lmdml_rows import (
    BLOCK,
    ROUNDING,
    below,
    places_of_class,
    row_pass,
    row_pass_after_step,
    smaller,
    smallest,
)
from mloml.kernels.lmdml_rows import WIDTH as WIDE
from mloml.kernels.lmdml_rows import load as wide_load
from mloml.kernels.lmdml_rows import spread as wide_spread
from mloml.kernels.padding import WIDTH
from mloml.kernels.simd import exact, fma, load, minus, spread, store, total
from mloml.kernels.wide import first_place

Array = NDArray[np.float64]
Singles = NDArray[np.float32]
Index = NDArray[np.intp]
ALL = (1 << WIDE) - 1  # every place of a register
UNDERFLOW = 1e-30  # far above what all numbers too small for single precision can add up to


@exact
def quadratic(A: Array, X: Array, i: int, out: Array) -> float:
    """``out = A x`` for row i of X; return ``x' A x``."""
    d, m = A.shape
    a, value = 0, 0.0
    while a + 4 <= d:  # four rows share what is read of x
        at = a * m
        s0 = s1 = s2 = s3 = spread(0.0)
        for b in range(0, m, WIDTH):
            x = load(X, i * m + b)
            s0, s1 = fma(load(A, at + b), x, s0), fma(load(A, at + m + b), x, s1)
            s2, s3 = fma(load(A, at + 2 * m + b), x, s2), fma(load(A, at + 3 * m + b), x, s3)
        out[a], out[a + 1], out[a + 2], out[a + 3] = total(s0), total(s1), total(s2), total(s3)
        a += 4
    while a < d:
        s0 = spread(0.0)
        for b in range(0, m, WIDTH):
            s0 = fma(load(A, a * m + b), load(X, i * m + b), s0)
        out[a] = total(s0)
        a += 1
    for b in range(d):
        value += out[b] * X[i, b]
    return value


@exact
def difference(X: Array, j: int, i: int, out: Array, k: int) -> None:
    """``out_k = x_j - x_i``."""
    m = X.shape[1]
    for a in range(0, m, WIDTH):
        store(out, k * m + a, minus(load(X, j * m + a), load(X, i * m + a)))


@exact
def self_products(M: Array, X: Array, units: Array, places: Index, h: Singles) -> None:
    """``h_l = x_l' M x_l`` for all rows, in units."""
    work = np.empty(M.shape[1])
    unit = units[0] * units[0] * units[1]
    for i in range(X.shape[0]):
        h[places[i]] = unit * quadratic(M, X, i, work)


@exact
def _square(x: Array, start: int, m: int) -> float:
    """Return ``x'x`` of the m numbers from ``start`` on, zeros in the padding."""
    s = spread(0.0)
    for a in range(start, start + m, WIDTH):
        part = load(x, a)
        s = fma(part, part, s)
    return total(s)


@exact
def _largest_product(M: Array, units: Array) -> float:
    """Return a bound on all h, in units: the trace of M times the squared length of the longest row."""
    trace = 0.0
    for a in range(M.shape[0]):
        trace += M[a, a]
    return units[1] * trace * units[2]


@exact
def error_of_products(M: Array, units: Array) -> float:
    """Return a bound on the error of h after :func:`self_products`, in units."""
    return 2.0 * ROUNDING * _largest_product(M, units) + UNDERFLOW


@exact
def error_of_pass(y: Array, units: Array, M: Array, d: int) -> float:
    """Return a bound on what a pass adds to the error of h: the product of d terms, and two roundings."""
    product = units[0] * units[1] * np.sqrt(_square(y, 0, M.shape[1]) * units[2])
    return ROUNDING * (2.0 * (d + 6) * product + 2.0 * _largest_product(M, units)) + UNDERFLOW


@exact
def search_pass(
    blocks: Singles,
    y: Array,
    V: Array,
    W: Singles,
    units: Array,
    alpha: float,
    scaling: float,
    M: Array,
    error: float,
    h: Singles,
    own: tuple[int, int],
    D: Singles,
    least: Singles,
) -> float:
    """Put ``D(x_i, x_l) - h_i`` of other classes into D, ``y = M x_i``; return the bound on the error of h.

    If alpha is positive, h is first brought up to the step that made M (u and v are the rows of V). Its
    error then scales with h and grows by that of two squared products of d terms and of three roundings.
    """
    d = W.shape[1]
    of_rows, of_metric = units[0], units[1]
    for a in range(d):
        W[0, a] = of_rows * of_metric * y[a]
    if alpha == 0.0:
        row_pass(blocks, W, h, own, D, least)
        return error
    for a in range(d):
        W[1, a] = of_rows * V[0, a]
        W[2, a] = of_rows * V[1, a]
    row_pass_after_step(blocks, W, of_metric / (of_rows * of_rows) * alpha, scaling, h, own, D, least)
    size = of_metric * alpha * _square(V, 0, V.size) * units[2]
    grown = error + 2.0 * (d + 8) * ROUNDING * size
    return scaling * grown + 8.0 * ROUNDING * _largest_product(M, units) + UNDERFLOW


@exact
def farthest_target(
    M: Array,
    X: Array,
    places: Index,
    targets: Index,
    i: int,
    h: Singles,
    units: Array,
    margin: float,
    D: Singles,
    V: Array,
    y: Array,
) -> float:
    """Put ``x⁺ - x_i`` of the target x⁺ farthest from row i under M into the first row of V; return D.

    ``y = M x_i``, not kept; the pass has left the targets' places in D free.
    """
    m, unit, roughly = X.shape[1], units[0] * units[0] * units[1], -np.inf
    for t in range(targets.shape[1]):
        place, s = places[targets[i, t]], spread(0.0)
        for a in range(0, m, WIDTH):
            s = fma(load(X, targets[i, t] * m + a), load(y, a), s)
        D[place] = h[place] - 2.0 * unit * total(s)
        roughly = max(roughly, D[place])
    worst, farthest, last = -1.0, targets[i, 0], -1
    for t in range(targets.shape[1]):
        if D[places[targets[i, t]]] < roughly - margin:
            continue
        last = targets[i, t]
        difference(X, last, i, V, 0)
        distance = quadratic(M, V, 0, y)
        if distance > worst:
            worst, farthest = distance, last
    if last != farthest:
        difference(X, farthest, i, V, 0)
    return worst


@exact
def nearest_impostor(
    M: Array,
    X: Array,
    places: Index,
    starts: Index,
    own: int,
    i: int,
    D: Singles,
    least: Singles,
    margin: float,
    V: Array,
    work: Array,
) -> float:
    """Put ``x⁻ - x_i`` of the row x⁻ of another class nearest to row i under M into V; return D."""
    bar = wide_spread(_smallest(least, places, starts, own, D.size) + margin)
    best, nearest, measured = np.inf, 0 if own > 0 else starts[1], -1
    for c in range(starts.size - 1):
        if c == own:
            continue
        first, last = places_of_class(places, starts, c, D.size)
        end = places[starts[c + 1] - 1]
        for b in range(first, last, BLOCK):
            if below(bar, wide_load(least, b // BLOCK * WIDE)) == ALL:
                continue
            for at in range(b, b + BLOCK, WIDE):
                near = ALL ^ below(bar, wide_load(D, at))
                while near != 0:
                    place = at + first_place(near)
                    near &= near - 1
                    if place > end:
                        break
                    measured = starts[c] + place - first
                    difference(X, measured, i, V, 1)
                    distance = quadratic(M, V, 1, work)
                    if distance < best:
                        best, nearest = distance, measured
    if measured != nearest:
        difference(X, nearest, i, V, 1)
    return best if measured >= 0 else quadratic(M, V, 1, work)


@exact
def _smallest(least: Singles, places: Index, starts: Index, own: int, size: int) -> float:
    """Return the smallest distance to the rows of all classes but one."""
    sixteen = wide_spread(np.inf)
    for c in range(starts.size - 1):
        if c != own:
            first, last = places_of_class(places, starts, c, size)
            for b in range(first, last, BLOCK):
                sixteen = smaller(sixteen, wide_load(least, b // BLOCK * WIDE))
    return smallest(sixteen)
