"""Passes over the rows of a square matrix; each reads (and changes) a row only once.

``A`` is one of the stacks ``L``, ``K`` and ``base`` the flat position of a layer's matrix in it. ``x``,
``left``, ``right``, ``out`` are flat positions in ``vectors`` of up to three vectors that follow one
another. Two rows are treated at a time, so that what is loaded for one serves the other.
"""

from __future__ import annotations

from collections.abc import Callable

from mloml.arrays import Array
from mloml.kernels.padding import WIDTH
from mloml.kernels.simd import exact, exact_as, fma, load, spread, spread_from, store, store_totals, times

NOTHING, OUTPUTS, GRADIENTS = range(3)
"""What a pass sends back through the matrix: ``sums = A' out``, ``sums = A' g``, or nothing."""


def _make_pass(name: str, rank: int, vectors: int, back: int) -> Callable[..., None]:
    """Compile ``A += left right'``, ``out = A x`` and perhaps ``sums = A' out`` or ``A' g``, in one pass.

    The change has rank 0, 2 or 3, and there are 2 or 3 vectors. The sums of outputs take in two rows when the
    next two are read: by then their part of ``out`` is known.
    """

    @exact_as(name)
    def sweep(
        A: Array, base: int, V: Array, x: int, g: int, out: int, sums: int, left: int, right: int, d: int
    ) -> None:
        m = V.shape[1]
        if back != NOTHING:
            for j in range(0, vectors * m, WIDTH):
                store(V, sums + j, spread(0.0))
        before = base  # the rows whose part of the sums is still to be added
        p0 = p1 = q0 = q1 = h0 = h1 = spread(0.0)
        for r in range(0, d, 2):
            row = base + r * m
            if rank > 0:
                a0, a1 = spread_from(V, left + r), spread_from(V, left + r + 1)
                b0, b1 = spread_from(V, left + m + r), spread_from(V, left + m + r + 1)
            if rank > 2:
                c0, c1 = spread_from(V, left + 2 * m + r), spread_from(V, left + 2 * m + r + 1)
            if back == GRADIENTS:
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
                if vectors > 2:
                    seen = load(V, x + 2 * m + j)
                    z0, z1 = fma(y0, seen, z0), fma(y1, seen, z1)
                if back == OUTPUTS:
                    y0, y1 = load(A, before + j), load(A, before + m + j)
                if back != NOTHING:
                    store(V, sums + j, fma(p1, y1, fma(p0, y0, load(V, sums + j))))
                    store(V, sums + m + j, fma(q1, y1, fma(q0, y0, load(V, sums + m + j))))
                if back == GRADIENTS:
                    store(V, sums + 2 * m + j, fma(h1, y1, fma(h0, y0, load(V, sums + 2 * m + j))))
            store_totals(V, out + r, u0, u1)
            store_totals(V, out + m + r, v0, v1)
            if vectors > 2:
                store_totals(V, out + 2 * m + r, z0, z1)
            if back == OUTPUTS:
                p0, p1 = spread_from(V, out + r), spread_from(V, out + r + 1)
                q0, q1 = spread_from(V, out + m + r), spread_from(V, out + m + r + 1)
                before = row
        if back == OUTPUTS:
            for j in range(0, m, WIDTH):
                y0, y1 = load(A, before + j), load(A, before + m + j)
                store(V, sums + j, fma(p1, y1, fma(p0, y0, load(V, sums + j))))
                store(V, sums + m + j, fma(q1, y1, fma(q0, y0, load(V, sums + m + j))))

    return sweep


_map_0_2, _map_2_2, _map_3_2 = (_make_pass(f"_map_{rank}_2", rank, 2, NOTHING) for rank in (0, 2, 3))
_map_0_3, _map_2_3, _map_3_3 = (_make_pass(f"_map_{rank}_3", rank, 3, NOTHING) for rank in (0, 2, 3))
_project_0, _project_2, _project_3 = (_make_pass(f"_project_{rank}", rank, 2, OUTPUTS) for rank in (0, 2, 3))
_exchange_0, _exchange_2, _exchange_3 = (
    _make_pass(f"_exchange_{rank}", rank, 3, GRADIENTS) for rank in (0, 2, 3)
)


@exact
def map_rows(
    A: Array,
    base: int,
    V: Array,
    x: int,
    out: int,
    left: int,
    right: int,
    rank: int,
    all_three: bool,
    descent: bool | None,
    d: int,
) -> None:
    """Set ``A += left right'``, then ``out = A x`` for two or all three vectors.

    ``descent`` is None where no gradient moves the matrix: changes of rank 3 are gradients' alone, and the
    compiler then leaves those passes out, here and in :func:`project_rows`.
    """
    if rank == 2:
        if all_three:
            _map_2_3(A, base, V, x, 0, out, 0, left, right, d)
        else:
            _map_2_2(A, base, V, x, 0, out, 0, left, right, d)
    elif rank == 0:
        if all_three:
            _map_0_3(A, base, V, x, 0, out, 0, left, right, d)
        else:
            _map_0_2(A, base, V, x, 0, out, 0, left, right, d)
    elif descent is not None:
        if all_three:
            _map_3_3(A, base, V, x, 0, out, 0, left, right, d)
        else:
            _map_3_2(A, base, V, x, 0, out, 0, left, right, d)


@exact
def project_rows(
    A: Array,
    base: int,
    V: Array,
    x: int,
    out: int,
    sums: int,
    left: int,
    right: int,
    rank: int,
    descent: bool | None,
    d: int,
) -> None:
    """Set ``A += left right'``, ``out = A x``, ``sums = A' out`` for two vectors; ``out`` may be ``left``."""
    if rank == 2:
        _project_2(A, base, V, x, 0, out, sums, left, right, d)
    elif rank == 0:
        _project_0(A, base, V, x, 0, out, sums, left, right, d)
    elif descent is not None:
        _project_3(A, base, V, x, 0, out, sums, left, right, d)


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
