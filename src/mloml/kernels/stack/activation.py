"""Non-linearities between metric layers, and their derivatives."""

from __future__ import annotations

from mloml.arrays import Array
from mloml.kernels.padding import WIDTH
from mloml.kernels.simd import choose, exact, load, minus, over, plus, spread, store, times
from mloml.kernels.stack.layout import RELU, SIGMOID
from mloml.kernels.stack.vector_exp import exp_of_negative


@exact
def phi(z: Array, activation: int) -> Array:
    """Return the activation of four numbers; nothing overflows."""
    zero, one = spread(0.0), spread(1.0)
    if activation == RELU:
        return choose(z, z, zero)
    e = choose(z, minus(zero, z), z)  # -|z|
    if activation == SIGMOID:
        e = exp_of_negative(e)
        return over(choose(z, one, e), plus(one, e))
    e = exp_of_negative(plus(e, e))
    value = over(minus(one, e), plus(one, e))
    return choose(z, value, minus(zero, value))


@exact
def activate(V: Array, out: int, x: int, activation: int, d: int) -> None:
    """Turn a layer's outputs (u, v, z) into the next layer's inputs (p, q, h).

    The three samples are ``z``, ``z - u``, ``z - v``; then ``p = phi(z) - phi(z - u)`` and likewise q.
    """
    m = V.shape[1]
    for j in range(0, m, WIDTH):
        z = load(V, out + 2 * m + j)
        h = phi(z, activation)
        store(V, x + j, minus(h, phi(minus(z, load(V, out + j)), activation)))
        store(V, x + m + j, minus(h, phi(minus(z, load(V, out + m + j)), activation)))
        store(V, x + 2 * m + j, h)
    row = x // m + 2
    for j in range(d, m):  # the sigmoid of the padding is not 0
        V[row, j] = 0.0


@exact
def derive(V: Array, out: int, x: int, g: int, activation: int) -> None:
    """Multiply the three gradients at ``g`` (for t, p, q) by the derivative at each sample.

    ``out`` are the layer's outputs, ``x`` the next layer's inputs, i.e. the values of the activation.
    """
    m = V.shape[1]
    zero = spread(0.0)
    for j in range(0, m, WIDTH):
        t, p, q = load(V, g + j), load(V, g + m + j), load(V, g + 2 * m + j)
        if activation == RELU:
            z = load(V, out + 2 * m + j)
            t = choose(z, t, zero)
            p = choose(minus(z, load(V, out + j)), p, zero)
            q = choose(minus(z, load(V, out + m + j)), q, zero)
        else:
            h = load(V, x + 2 * m + j)
            t = times(t, slope(h, activation))
            p = times(p, slope(minus(h, load(V, x + j)), activation))
            q = times(q, slope(minus(h, load(V, x + m + j)), activation))
        store(V, g + j, t)
        store(V, g + m + j, p)
        store(V, g + 2 * m + j, q)


@exact
def slope(h: Array, activation: int) -> Array:
    """Return the derivative of sigmoid or tanh, from the *value* ``h`` of the activation."""
    one = spread(1.0)
    if activation == SIGMOID:
        return times(h, minus(one, h))
    return minus(one, times(h, h))
