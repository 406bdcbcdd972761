"""The two halves of the policy `split` on a triangular factor ``M = R'R``: push and solve, then pull.

With ``Q = R^-T v`` the factor of ``R'R + g v v' = R' (I + g Q Q') R`` is ``U R``, where ``U`` is triangular
and follows from the partial sums of the squares of ``Q`` alone. Row ``k`` of ``U R`` is a mixture of row
``k`` of ``R`` and of what is left of ``v`` when the rows above have been taken out of it, and that is what
solving ``R'Q = v`` leaves behind anyway. So no row waits for the root and the divisions of the row above it,
as in the textbook's update, and whether a pull stays in the cone is known before anything is written.

Matrices lie in stacks, (n, m, m) with ``m`` the padded number of features, and are zero from ``d`` on.
Nothing is read or written to the left of a diagonal. Two rows are treated at a time: one entry after the
other as far as the four columns reach in which their diagonals lie, from there on four entries at a time.
"""

from __future__ import annotations

from math import sqrt

from mloml.arrays import Array
from mloml.kernels.padding import WIDTH
from mloml.kernels.simd import exact, fma, load, minus, spread, store, times


@exact
def push_and_solve(A: Array, r: int, B: Array, o: int, V: Array, v: int, g: float, d: int) -> float:
    """Set ``B[o]`` to the factor of ``R'R + g v v'``, ``R = A[r]``, solve ``B[o]' y = x``, return ``y'y``.

    Rows ``v``, ``v + 1`` and ``v + 2`` of ``V`` hold ``v``, ``x`` and ``y``; the first two are used up.
    """
    m = V.shape[1]
    x, y = v + 1, v + 2
    t = root = inverse = 1.0  # t = 1 + g (Q'Q so far), its root, and one over that
    square = 0.0
    for k in range(0, d, 2):
        tail = (k // WIDTH + 1) * WIDTH
        own0 = own1 = mixed0 = mixed1 = part0 = part1 = solved0 = solved1 = 0.0
        for i in range(k, min(k + 2, d)):
            reciprocal = 1.0 / A[r, i, i]
            part = V[v, i] * reciprocal
            t += g * part * part
            before, before_inverse = root, inverse
            root = sqrt(t)
            inverse = 1.0 / root
            own, mixed = before * inverse, g * part * before_inverse * inverse
            solved = V[x, i] * (reciprocal * own)
            square += solved * solved
            B[o, i, i] = A[r, i, i] * (root * before_inverse)
            V[y, i] = solved
            for j in range(i + 1, tail):
                changed = own * A[r, i, j] + mixed * V[v, j]
                V[v, j] -= part * A[r, i, j]
                V[x, j] -= solved * changed
                B[o, i, j] = changed
            if i == k:
                own0, mixed0, part0, solved0 = own, mixed, part, solved
            else:
                own1, mixed1, part1, solved1 = own, mixed, part, solved
        a0, b0, c0, e0 = spread(own0), spread(mixed0), spread(-part0), spread(-solved0)
        a1, b1, c1, e1 = spread(own1), spread(mixed1), spread(-part1), spread(-solved1)
        row, to = (r * m + k) * m, (o * m + k) * m
        for j in range(tail, m, WIDTH):
            left, rest = load(V, v * m + j), load(V, x * m + j)
            entry = load(A, row + j)
            changed0 = fma(a0, entry, times(b0, left))
            store(B, to + j, changed0)
            left = fma(c0, entry, left)
            entry = load(A, row + m + j)
            changed1 = fma(a1, entry, times(b1, left))
            store(B, to + m + j, changed1)
            store(V, v * m + j, fma(c1, entry, left))
            store(V, x * m + j, fma(e1, changed1, fma(e0, changed0, rest)))
    return square


@exact
def pull(A: Array, r: int, B: Array, o: int, V: Array, x: int, g: float, d: int) -> None:
    """Set ``B[o]`` to the factor of ``R'R - g x x'``, ``R = A[r]``, where ``1 - g y'y > 0``.

    Rows ``x`` and ``x + 1`` of ``V`` hold ``x``, which is used up, and ``y = R^-T x``.
    """
    m = V.shape[1]
    y = x + 1
    root = inverse = 1.0
    square = 0.0
    for k in range(0, d, 2):
        tail = (k // WIDTH + 1) * WIDTH
        own0 = own1 = mixed0 = mixed1 = solved0 = solved1 = 0.0
        for i in range(k, min(k + 2, d)):
            solved = V[y, i]
            square += solved * solved  # in the order of `push_and_solve`: it ends where that did
            before_inverse = inverse
            root = sqrt(1.0 - g * square)
            inverse = 1.0 / root
            own, mixed = root * before_inverse, g * solved * before_inverse * inverse
            B[o, i, i] = own * A[r, i, i]
            for j in range(i + 1, tail):
                V[x, j] -= solved * A[r, i, j]
                B[o, i, j] = own * A[r, i, j] - mixed * V[x, j]
            if i == k:
                own0, mixed0, solved0 = own, mixed, solved
            else:
                own1, mixed1, solved1 = own, mixed, solved
        a0, b0, c0 = spread(own0), spread(mixed0), spread(-solved0)
        a1, b1, c1 = spread(own1), spread(mixed1), spread(-solved1)
        row, to = (r * m + k) * m, (o * m + k) * m
        for j in range(tail, m, WIDTH):
            y0, y1 = load(A, row + j), load(A, row + m + j)
            rest = fma(c0, y0, load(V, x * m + j))
            store(B, to + j, minus(times(a0, y0), times(b0, rest)))
            rest = fma(c1, y1, rest)
            store(B, to + m + j, minus(times(a1, y1), times(b1, rest)))
            store(V, x * m + j, rest)
