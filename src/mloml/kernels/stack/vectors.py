"""O(d) work on the padded vectors of a layer; positions are flat, vectors of a group follow each other."""

from __future__ import annotations

from mloml.arrays import Array
from mloml.kernels.padding import WIDTH
from mloml.kernels.simd import exact, fma, load, minus, spread, store, times, total


@exact
def inner(V: Array, a: int, b: int) -> float:
    """Return ``a'b``."""
    s = spread(0.0)
    for j in range(0, V.shape[1], WIDTH):
        s = fma(load(V, a + j), load(V, b + j), s)
    return total(s)


@exact
def gram(V: Array, a: int) -> tuple[float, float, float]:
    """Return ``p'p, q'q, p'q`` for two vectors p, q."""
    m = V.shape[1]
    pp = qq = pq = spread(0.0)
    for j in range(0, m, WIDTH):
        p, q = load(V, a + j), load(V, a + m + j)
        pp, qq, pq = fma(p, p, pp), fma(q, q, qq), fma(p, q, pq)
    return total(pp), total(qq), total(pq)


@exact
def squares(V: Array, a: int) -> tuple[float, float]:
    """Return ``u'u, v'v`` for two vectors u, v."""
    m = V.shape[1]
    uu = vv = spread(0.0)
    for j in range(0, m, WIDTH):
        u, v = load(V, a + j), load(V, a + m + j)
        uu, vv = fma(u, u, uu), fma(v, v, vv)
    return total(uu), total(vv)


@exact
def copy(V: Array, source: int, target: int, count: int) -> None:
    """Copy ``count`` vectors."""
    for j in range(0, count * V.shape[1], WIDTH):
        store(V, target + j, load(V, source + j))


@exact
def clear(V: Array, target: int, count: int) -> None:
    """Set ``count`` vectors to zero."""
    for j in range(0, count * V.shape[1], WIDTH):
        store(V, target + j, spread(0.0))


@exact
def mix(V: Array, a: int, out: int, f: float, g: float, h: float, k: float) -> None:
    """Set two vectors to ``f a0 + g a1`` and ``h a0 + k a1``."""
    m = V.shape[1]
    f4, g4, h4, k4 = spread(f), spread(g), spread(h), spread(k)
    for j in range(0, m, WIDTH):
        p, q = load(V, a + j), load(V, a + m + j)
        store(V, out + j, fma(f4, p, times(g4, q)))
        store(V, out + m + j, fma(h4, p, times(k4, q)))


@exact
def add_mix(V: Array, a: int, out: int, f: float, g: float, h: float, k: float) -> None:
    """Add ``f a0 + g a1`` and ``h a0 + k a1`` to two vectors."""
    m = V.shape[1]
    f4, g4, h4, k4 = spread(f), spread(g), spread(h), spread(k)
    for j in range(0, m, WIDTH):
        p, q = load(V, a + j), load(V, a + m + j)
        store(V, out + j, fma(f4, p, fma(g4, q, load(V, out + j))))
        store(V, out + m + j, fma(h4, p, fma(k4, q, load(V, out + m + j))))


@exact
def add_pair(V: Array, a: int, out: int, f: float, g: float) -> None:
    """Add ``f a0 + g a1`` to one vector."""
    m = V.shape[1]
    f4, g4 = spread(f), spread(g)
    for j in range(0, m, WIDTH):
        store(V, out + j, fma(f4, load(V, a + j), fma(g4, load(V, a + m + j), load(V, out + j))))


@exact
def add(V: Array, a: int, out: int, f: float) -> None:
    """Add ``f a`` to one vector."""
    f4 = spread(f)
    for j in range(0, V.shape[1], WIDTH):
        store(V, out + j, fma(f4, load(V, a + j), load(V, out + j)))


@exact
def scale(V: Array, target: int, count: int, factor: float) -> None:
    """Multiply ``count`` vectors by ``factor``."""
    f4 = spread(factor)
    for j in range(0, count * V.shape[1], WIDTH):
        store(V, target + j, times(f4, load(V, target + j)))


@exact
def take_triplet(rows: Array, t: int, p: int, q: int, V: Array, x: int) -> None:
    """Put ``rows[t] - rows[p]``, ``rows[t] - rows[q]`` and ``rows[t]`` at the first layer's inputs."""
    m = V.shape[1]
    for j in range(0, m, WIDTH):
        h = load(rows, t * m + j)
        store(V, x + j, minus(h, load(rows, p * m + j)))
        store(V, x + m + j, minus(h, load(rows, q * m + j)))
        store(V, x + 2 * m + j, h)
