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

from mloml.kernels.lmdml_rows import BLOCK, ROUNDING, row_pass, row_pass_after_step
from mloml.kernels.padding import WIDTH
from mloml.kernels.simd import exact, fma, load, minus, spread, store, total
from mloml.kernels.singles import SINGLES, any_at_most, least8, load8, spread8, spread8_from, store8

Array = NDArray[np.float64]
Singles = NDArray[np.float32]
Index = NDArray[np.intp]
UNDERFLOW = 1e-30  # far above what all numbers too small for single precision can add up to


@exact
def quadratic(A: Array, X: Array, i: int, out: Array) -> float:
    """``out = A x`` for row i of X; return ``x' A x``."""
    d, m = A.shape
    value = 0.0
    for a in range(d):
        s = spread(0.0)
        for b in range(0, m, WIDTH):
            s = fma(load(A, a * m + b), load(X, i * m + b), s)
        out[a] = total(s)
        value += out[a] * X[i, a]
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
def _square(x: Array, d: int) -> float:
    """Return ``x'x``."""
    value = 0.0
    for a in range(d):
        value += x[a] * x[a]
    return value


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
    product = units[0] * units[1] * np.sqrt(_square(y, d) * units[2])
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
    D: Singles,
) -> float:
    """Put ``D(x_i, x_l) - h_i`` of all rows into D, ``y = M x_i``; return the bound on the error of h.

    If alpha is positive, h is first brought up to the step that made M (u and v are the rows of V). Its
    error then scales with h and grows by that of two squared products of d terms and of three roundings.
    """
    d = W.shape[1]
    of_rows, of_metric = units[0], units[1]
    for a in range(d):
        W[0, a] = of_rows * of_metric * y[a]
    if alpha == 0.0:
        row_pass(blocks, W, h, D)
        return error
    for a in range(d):
        W[1, a] = of_rows * V[0, a]
        W[2, a] = of_rows * V[1, a]
    row_pass_after_step(blocks, W, of_metric / (of_rows * of_rows) * alpha, scaling, h, D)
    size = of_metric * alpha * (_square(V[0], d) + _square(V[1], d)) * units[2]
    grown = error + 2.0 * (d + 8) * ROUNDING * size
    return scaling * grown + 8.0 * ROUNDING * _largest_product(M, units) + UNDERFLOW


@exact
def farthest_target(
    M: Array,
    X: Array,
    places: Index,
    targets: Index,
    i: int,
    D: Singles,
    margin: float,
    V: Array,
    work: Array,
) -> float:
    """Put ``x⁺ - x_i`` of the target x⁺ farthest from row i under M into the first row of V; return D."""
    roughly = -np.inf
    for t in range(targets.shape[1]):
        roughly = max(roughly, D[places[targets[i, t]]])
    worst, farthest, last = -1.0, targets[i, 0], -1
    for t in range(targets.shape[1]):
        if D[places[targets[i, t]]] < roughly - margin:
            continue
        last = targets[i, t]
        difference(X, last, i, V, 0)
        distance = quadratic(M, V, 0, work)
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
    margin: float,
    V: Array,
    work: Array,
) -> float:
    """Put ``x⁻ - x_i`` of the row x⁻ of another class nearest to row i under M into V; return D."""
    bar = spread8(_least(D, places, starts, own) + margin)
    best, nearest, measured = np.inf, 0 if own > 0 else starts[1], -1
    for c in range(starts.size - 1):
        if c == own:
            continue
        shift = places[starts[c]] - starts[c]
        for b in range(places[starts[c]], places[starts[c + 1] - 1] + 1, BLOCK):
            if not any_at_most(_least_of_block(D, b), bar):
                continue
            for place in range(b, min(b + BLOCK, places[starts[c + 1] - 1] + 1)):
                if any_at_most(spread8_from(D, place), bar):
                    measured = place - shift
                    difference(X, measured, i, V, 1)
                    distance = quadratic(M, V, 1, work)
                    if distance < best:
                        best, nearest = distance, measured
    if measured != nearest:
        difference(X, nearest, i, V, 1)
    return best if measured >= 0 else quadratic(M, V, 1, work)


@exact
def _least_of_block(D: Singles, b: int) -> object:
    """Return the least entries of a block, one of every eighth row."""
    return least8(least8(load8(D, b), load8(D, b + 8)), least8(load8(D, b + 16), load8(D, b + 24)))


@exact
def _least(D: Singles, places: Index, starts: Index, own: int) -> float:
    """Return the least entry of all classes but one."""
    least = np.empty(SINGLES, dtype=np.float32)
    eight = spread8(np.inf)
    for c in range(starts.size - 1):
        if c != own:
            for b in range(places[starts[c]], places[starts[c + 1] - 1] + 1, BLOCK):
                eight = least8(eight, _least_of_block(D, b))
    store8(least, 0, eight)
    value = np.inf
    for place in range(SINGLES):
        value = min(value, least[place])
    return value
