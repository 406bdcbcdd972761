"""Passes over the rows of a square matrix; each reads (and mends) a row once and gets all it can out of it.

``A`` is one of the stacks ``L``, ``K`` and ``base`` the flat position of a layer's matrix in it. ``x``,
``left``, ``right``, ``out`` are flat positions in ``vectors`` of up to three vectors that follow one
another. Two rows are treated at a time, so that what is loaded for one serves the other.
"""

from __future__ import annotations

from collections.abc import Callable

from mloml.arrays import Array
from mloml.kernels.padding import WIDTH
from mloml.kernels.simd import exact, exact_as, fma, load, spread, spread_from, store, store_totals, times


def _make_map(rank: int, outputs: int) -> Callable[..., None]:
    """Compile ``A += left right'`` and ``out = A x`` for a change of rank 0, 2 or 3 and 2 or 3 vectors."""

    @exact_as(f"_map_{rank}_{outputs}")
    def sweep(A: Array, base: int, V: Array, x: int, out: int, left: int, right: int, d: int) -> None:
        m = V.shape[1]
        for r in range(0, d, 2):
            row = base + r * m
            if rank > 0:
                a0, a1 = spread_from(V, left + r), spread_from(V, left + r + 1)
                b0, b1 = spread_from(V, left + m + r), spread_from(V, left + m + r + 1)
            if rank > 2:
                c0, c1 = spread_from(V, left + 2 * m + r), spread_from(V, left + 2 * m + r + 1)
            u0 = u1 = v0 = v1 = z0 = z1 = spread(0.0)
            for j in range(0, m, WIDTH):
                y0, y1 = load(A, row + j), load(A, row + m + j)
                if rank > 0:
                    change = load(V, right + j)
                    y0, y1 = fma(a0, change, y0), fma(a1, change, y1)
                    change = load(V, right + m + j)
                    y0, y1 = fma(b0, change, y0), fma(b1, change, y1)
                    if rank > 2:
                        change = load(V, right + 2 * m + j)
                        y0, y1 = fma(c0, change, y0), fma(c1, change, y1)
                    store(A, row + j, y0)
                    store(A, row + m + j, y1)
                seen = load(V, x + j)
                u0, u1 = fma(y0, seen, u0), fma(y1, seen, u1)
                seen = load(V, x + m + j)
                v0, v1 = fma(y0, seen, v0), fma(y1, seen, v1)
                if outputs > 2:
                    seen = load(V, x + 2 * m + j)
                    z0, z1 = fma(y0, seen, z0), fma(y1, seen, z1)
            store_totals(V, out + r, u0, u1)
            store_totals(V, out + m + r, v0, v1)
            if outputs > 2:
                store_totals(V, out + 2 * m + r, z0, z1)

    return sweep


_map_0_2, _map_0_3 = _make_map(0, 2), _make_map(0, 3)
_map_2_2, _map_2_3 = _make_map(2, 2), _make_map(2, 3)
_map_3_2, _map_3_3 = _make_map(3, 2), _make_map(3, 3)


@exact
def map_rows(
    A: Array, base: int, V: Array, x: int, out: int, left: int, right: int, rank: int, all_three: bool, d: int
) -> None:
    """Set ``A += left right'``, then ``out = A x`` for two or all three vectors."""
    if rank == 2:
        if all_three:
            _map_2_3(A, base, V, x, out, left, right, d)
        else:
            _map_2_2(A, base, V, x, out, left, right, d)
    elif rank == 0:
        if all_three:
            _map_0_3(A, base, V, x, out, left, right, d)
        else:
            _map_0_2(A, base, V, x, out, left, right, d)
    elif all_three:
        _map_3_3(A, base, V, x, out, left, right, d)
    else:
        _map_3_2(A, base, V, x, out, left, right, d)


def _make_project(rank: int) -> Callable[..., None]:
    """Compile ``A += left right'``, ``out = A x`` and ``sums = A' out`` for two vectors, in one pass.

    The sums take in two rows when the next two are read: by then their part of ``out`` is known.
    """

    @exact_as(f"_project_{rank}")
    def sweep(
        A: Array, base: int, V: Array, x: int, out: int, sums: int, left: int, right: int, d: int
    ) -> None:
        m = V.shape[1]
        for j in range(0, 2 * m, WIDTH):
            store(V, sums + j, spread(0.0))
        before = base  # the rows whose part of the sums is still to be added
        p0 = p1 = q0 = q1 = spread(0.0)
        for r in range(0, d, 2):
            row = base + r * m
            if rank > 0:
                a0, a1 = spread_from(V, left + r), spread_from(V, left + r + 1)
                b0, b1 = spread_from(V, left + m + r), spread_from(V, left + m + r + 1)
            if rank > 2:
                c0, c1 = spread_from(V, left + 2 * m + r), spread_from(V, left + 2 * m + r + 1)
            u0 = u1 = v0 = v1 = spread(0.0)
            for j in range(0, m, WIDTH):
                y0, y1 = load(A, row + j), load(A, row + m + j)
                if rank > 0:
                    change = load(V, right + j)
                    y0, y1 = fma(a0, change, y0), fma(a1, change, y1)
                    change = load(V, right + m + j)
                    y0, y1 = fma(b0, change, y0), fma(b1, change, y1)
                    if rank > 2:
                        change = load(V, right + 2 * m + j)
                        y0, y1 = fma(c0, change, y0), fma(c1, change, y1)
                    store(A, row + j, y0)
                    store(A, row + m + j, y1)
                seen = load(V, x + j)
                u0, u1 = fma(y0, seen, u0), fma(y1, seen, u1)
                seen = load(V, x + m + j)
                v0, v1 = fma(y0, seen, v0), fma(y1, seen, v1)
                y0, y1 = load(A, before + j), load(A, before + m + j)
                store(V, sums + j, fma(p1, y1, fma(p0, y0, load(V, sums + j))))
                store(V, sums + m + j, fma(q1, y1, fma(q0, y0, load(V, sums + m + j))))
            store_totals(V, out + r, u0, u1)
            store_totals(V, out + m + r, v0, v1)
            p0, p1 = spread_from(V, out + r), spread_from(V, out + r + 1)
            q0, q1 = spread_from(V, out + m + r), spread_from(V, out + m + r + 1)
            before = row
        for j in range(0, m, WIDTH):
            y0, y1 = load(A, before + j), load(A, before + m + j)
            store(V, sums + j, fma(p1, y1, fma(p0, y0, load(V, sums + j))))
            store(V, sums + m + j, fma(q1, y1, fma(q0, y0, load(V, sums + m + j))))

    return sweep


_project_0, _project_2, _project_3 = _make_project(0), _make_project(2), _make_project(3)


@exact
def project_rows(
    A: Array, base: int, V: Array, x: int, out: int, sums: int, left: int, right: int, rank: int, d: int
) -> None:
    """Set ``A += left right'``, ``out = A x``, ``sums = A' out`` for two vectors; ``out`` may be ``left``."""
    if rank == 2:
        _project_2(A, base, V, x, out, sums, left, right, d)
    elif rank == 0:
        _project_0(A, base, V, x, out, sums, left, right, d)
    else:
        _project_3(A, base, V, x, out, sums, left, right, d)


def _make_exchange(rank: int) -> Callable[..., None]:
    """Compile ``A += left right'``, ``out = A x`` and ``sums = A' g`` for three vectors, in one pass."""

    @exact_as(f"_exchange_{rank}")
    def sweep(
        A: Array, base: int, V: Array, x: int, g: int, out: int, sums: int, left: int, right: int, d: int
    ) -> None:
        m = V.shape[1]
        for j in range(0, 3 * m, WIDTH):
            store(V, sums + j, spread(0.0))
        for r in range(0, d, 2):
            row = base + r * m
            if rank > 0:
                a0, a1 = spread_from(V, left + r), spread_from(V, left + r + 1)
                b0, b1 = spread_from(V, left + m + r), spread_from(V, left + m + r + 1)
            if rank > 2:
                c0, c1 = spread_from(V, left + 2 * m + r), spread_from(V, left + 2 * m + r + 1)
            p0, p1 = spread_from(V, g + r), spread_from(V, g + r + 1)
            q0, q1 = spread_from(V, g + m + r), spread_from(V, g + m + r + 1)
            h0, h1 = spread_from(V, g + 2 * m + r), spread_from(V, g + 2 * m + r + 1)
            u0 = u1 = v0 = v1 = z0 = z1 = spread(0.0)
            for j in range(0, m, WIDTH):
                y0, y1 = load(A, row + j), load(A, row + m + j)
                if rank > 0:
                    change = load(V, right + j)
                    y0, y1 = fma(a0, change, y0), fma(a1, change, y1)
                    change = load(V, right + m + j)
                    y0, y1 = fma(b0, change, y0), fma(b1, change, y1)
                    if rank > 2:
                        change = load(V, right + 2 * m + j)
                        y0, y1 = fma(c0, change, y0), fma(c1, change, y1)
                    store(A, row + j, y0)
                    store(A, row + m + j, y1)
                seen = load(V, x + j)
                u0, u1 = fma(y0, seen, u0), fma(y1, seen, u1)
                seen = load(V, x + m + j)
                v0, v1 = fma(y0, seen, v0), fma(y1, seen, v1)
                seen = load(V, x + 2 * m + j)
                z0, z1 = fma(y0, seen, z0), fma(y1, seen, z1)
                store(V, sums + j, fma(p1, y1, fma(p0, y0, load(V, sums + j))))
                store(V, sums + m + j, fma(q1, y1, fma(q0, y0, load(V, sums + m + j))))
                store(V, sums + 2 * m + j, fma(h1, y1, fma(h0, y0, load(V, sums + 2 * m + j))))
            store_totals(V, out + r, u0, u1)
            store_totals(V, out + m + r, v0, v1)
            store_totals(V, out + 2 * m + r, z0, z1)

    return sweep


_exchange_0, _exchange_2, _exchange_3 = _make_exchange(0), _make_exchange(2), _make_exchange(3)


@exact
def exchange_rows(
    A: Array,
    base: int,
    V: Array,
    x: int,
    g: int,
    out: int,
    sums: int,
    left: int,
    right: int,
    rank: int,
    d: int,
) -> None:
    """Set ``A += left right'``, ``out = A x`` and ``sums = A' g`` for three vectors."""
    if rank == 2:
        _exchange_2(A, base, V, x, g, out, sums, left, right, d)
    elif rank == 0:
        _exchange_0(A, base, V, x, g, out, sums, left, right, d)
    else:
        _exchange_3(A, base, V, x, g, out, sums, left, right, d)


@exact
def pull_rows(A: Array, base: int, V: Array, g: int, sums: int, d: int) -> None:
    """Set ``sums = A' g`` for three vectors."""
    m = V.shape[1]
    for j in range(0, 3 * m, WIDTH):
        store(V, sums + j, spread(0.0))
    for r in range(0, d, 2):
        row = base + r * m
        a0, a1 = spread_from(V, g + r), spread_from(V, g + r + 1)
        b0, b1 = spread_from(V, g + m + r), spread_from(V, g + m + r + 1)
        c0, c1 = spread_from(V, g + 2 * m + r), spread_from(V, g + 2 * m + r + 1)
        for j in range(0, m, WIDTH):
            y0, y1 = load(A, row + j), load(A, row + m + j)
            store(V, sums + j, fma(a1, y1, fma(a0, y0, load(V, sums + j))))
            store(V, sums + m + j, fma(b1, y1, fma(b0, y0, load(V, sums + m + j))))
            store(V, sums + 2 * m + j, fma(c1, y1, fma(c0, y0, load(V, sums + 2 * m + j))))


@exact
def fold_rows(A: Array, base: int, V: Array, left: int, right: int, rank: int, d: int) -> None:
    """Set ``A += left right'`` with the same roundings as the passes above."""
    m = V.shape[1]
    for r in range(d):
        for j in range(0, m, WIDTH):
            y = load(A, base + r * m + j)
            for k in range(rank):
                y = fma(spread_from(V, left + k * m + r), load(V, right + k * m + j), y)
            store(A, base + r * m + j, y)


@exact
def scale_rows(A: Array, base: int, m: int, factor: float) -> None:
    """Set ``A *= factor``."""
    for j in range(base, base + m * m, WIDTH):
        store(A, j, times(spread(factor), load(A, j)))
