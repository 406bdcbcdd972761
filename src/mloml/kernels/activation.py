"""Non-linearities between metric layers, and their derivatives."""

from __future__ import annotations

from math import exp

import numpy as np
from numpy.typing import NDArray

from mloml.kernels.layout import RELU, SIGMOID
from mloml.kernels.padding import WIDTH
from mloml.kernels.simd import exact, keep_where_positive, load, minus, store

Array = NDArray[np.float64]


@exact
def squash(z: float, activation: int) -> float:
    """Return the logistic function or the hyperbolic tangent of ``z``; neither overflows."""
    e = exp(-abs(z)) if activation == SIGMOID else exp(-2.0 * abs(z))
    if activation == SIGMOID:
        return (1.0 if z >= 0.0 else e) / (1.0 + e)
    value = (1.0 - e) / (1.0 + e)
    return value if z >= 0.0 else -value


@exact
def activate(V: Array, out: int, x: int, activation: int, d: int) -> None:
    """Turn a layer's outputs (u, v, z) into the next layer's inputs (p, q, h).

    The three samples are ``z``, ``z - u``, ``z - v``; then ``p = phi(z) - phi(z - u)`` and likewise q.
    """
    m = V.shape[1]
    if activation == RELU:
        for j in range(0, m, WIDTH):
            z = load(V, out + 2 * m + j)
            zp, zq = minus(z, load(V, out + j)), minus(z, load(V, out + m + j))
            h = keep_where_positive(z, z)
            store(V, x + j, minus(h, keep_where_positive(zp, zp)))
            store(V, x + m + j, minus(h, keep_where_positive(zq, zq)))
            store(V, x + 2 * m + j, h)
        return
    flat = V.reshape(V.size)
    for j in range(d):
        z = flat[out + 2 * m + j]
        h = squash(z, activation)
        flat[x + j] = h - squash(z - flat[out + j], activation)
        flat[x + m + j] = h - squash(z - flat[out + m + j], activation)
        flat[x + 2 * m + j] = h


@exact
def derive(V: Array, out: int, x: int, g: int, activation: int, d: int) -> None:
    """Multiply the three gradients at ``g`` (for t, p, q) by the derivative at each sample.

    ``out`` are the layer's outputs, ``x`` the next layer's inputs, i.e. the values of the activation.
    """
    m = V.shape[1]
    if activation == RELU:
        for j in range(0, m, WIDTH):
            z = load(V, out + 2 * m + j)
            zp, zq = minus(z, load(V, out + j)), minus(z, load(V, out + m + j))
            store(V, g + j, keep_where_positive(z, load(V, g + j)))
            store(V, g + m + j, keep_where_positive(zp, load(V, g + m + j)))
            store(V, g + 2 * m + j, keep_where_positive(zq, load(V, g + 2 * m + j)))
        return
    flat = V.reshape(V.size)
    for j in range(d):
        h = flat[x + 2 * m + j]
        flat[g + j] *= slope(h, activation)
        flat[g + m + j] *= slope(h - flat[x + j], activation)
        flat[g + 2 * m + j] *= slope(h - flat[x + m + j], activation)


@exact
def slope(h: float, activation: int) -> float:
    """Return the derivative, from the *value* ``h`` of the activation."""
    return h * (1.0 - h) if activation == SIGMOID else 1.0 - h * h
