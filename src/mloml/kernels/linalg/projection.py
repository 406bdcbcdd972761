"""Projection onto the PSD cone after a rank-one term was taken from a PSD matrix.

``M - tau e e'`` (``M`` PSD, ``e`` a unit vector) has at most one negative eigenvalue ``mu``. A Cholesky
factorisation tells whether there is one. Its eigenvector is ``(M - mu I)^-1 e`` and so lies in the Krylov
space of ``M`` and ``e``: the Lanczos process started at ``e`` finds it. In the Lanczos basis ``M`` is
tridiagonal, and ``mu`` solves the secular equation ``1 / (e' (M - mu I)^-1 e) = tau``, whose left side is a
continued fraction of the tridiagonal's entries, concave and decreasing. A handful of matrix-vector products
usually suffices, where a full eigendecomposition would cost ten times as much as the factorisation.
"""

from __future__ import annotations

from math import sqrt

from mloml.arrays import Array
from mloml.kernels.compiled import kernel
from mloml.kernels.linalg.passes import dot, product
from mloml.kernels.stack.layout import WEAK_SHARE

RESIDUAL = 1e-14
"""Residual of the eigenpair, relative to the size of the matrix, at which it counts as found."""

NEGLIGIBLE = 1e-13
"""An eigenvalue less negative than this, relative to the largest diagonal entry or tau, is rounding."""


NONE, PROJECTED, UNDONE = range(3)
"""No projection was due; one was; it took back nearly all of the term."""


@kernel
def subtract_and_project(M: Array, z: Array, step: float, basis: Array, work: Array) -> int:
    """Set ``M`` to the PSD projection of ``M - step z z'``; return whether a projection was due, see NONE.

    ``M`` is symmetric PSD, ``basis`` (d + 1, d) and ``work`` (4, d + 1) are workspace.
    """
    length = sqrt(dot(z, z))
    tau = step * length * length
    if tau <= 0.0:
        return NONE
    _subtract(M, z, step)
    if _is_definite(M, tau, basis):
        return NONE
    mu, size = _negative_eigenvalue(M, z, length, tau, basis, work)
    vector = basis[size]
    _ritz_vector(basis, work[3], size, vector)
    _subtract(M, vector, mu)
    along = dot(z, vector)
    left = tau * tau + mu * mu + 2.0 * step * mu * along * along  # ||step z z' + mu v v'||², mu <= 0
    return UNDONE if left < (WEAK_SHARE * tau) * (WEAK_SHARE * tau) else PROJECTED


@kernel
def _is_definite(M: Array, tau: float, factor: Array) -> bool:
    """Say whether ``M`` is PSD up to rounding, by its Cholesky factorisation in ``factor``."""
    d = M.shape[0]
    largest = tau
    for i in range(d):
        largest = max(largest, M[i, i])
    slack = NEGLIGIBLE * largest
    for i in range(d):
        for j in range(i):
            known = 0.0
            for k in range(j):
                known += factor[i, k] * factor[j, k]
            factor[i, j] = (M[i, j] - known) * factor[j, j]
        pivot = M[i, i] + slack
        for k in range(i):
            pivot -= factor[i, k] * factor[i, k]
        if pivot <= 0.0:
            return False
        factor[i, i] = 1.0 / sqrt(pivot)
    return True


@kernel
def _negative_eigenvalue(
    M: Array, z: Array, length: float, tau: float, basis: Array, work: Array
) -> tuple[float, int]:
    """Run the Lanczos process on ``M`` (the term taken off) until ``mu`` stays; return it and the size.

    ``work`` holds the diagonal, the off-diagonal, the pivots and the eigenvector in the Lanczos basis.
    """
    d = z.shape[0]
    diagonal, beside, pivots, coordinates = work[0], work[1], work[2], work[3]
    for j in range(d):
        basis[0, j] = z[j] / length
    scale = tau
    mu = 0.0
    for k in range(d):
        new = basis[k + 1]
        product(M, basis[k], new)
        diagonal[k] = dot(basis[k], new) + (tau if k == 0 else 0.0)
        scale = max(scale, abs(diagonal[k]))
        beside[k] = _orthogonalise(basis, k + 1, new)
        exhausted = beside[k] <= RESIDUAL * scale or k == d - 1
        if exhausted or k % 4 == 3:  # looking at every step would cost more than the steps saved
            mu = _secular_root(diagonal, beside, k + 1, tau, scale, pivots)
            residual = beside[k] * _eigenvector(beside, pivots, k + 1, coordinates)
            if exhausted or residual <= RESIDUAL * scale:
                break
        for j in range(d):
            new[j] /= beside[k]
    return mu, k + 1


@kernel
def _orthogonalise(basis: Array, size: int, new: Array) -> float:
    """Take the components along the first ``size`` basis vectors out of ``new``, twice; return its length."""
    for _ in range(2):
        for i in range(size):
            overlap = dot(basis[i], new)
            for j in range(new.shape[0]):
                new[j] -= overlap * basis[i, j]
    return sqrt(dot(new, new))


@kernel
def _continued_fraction(
    diagonal: Array, beside: Array, size: int, mu: float, pivots: Array
) -> tuple[float, float]:
    """Return ``1 / (e1' (T - mu)^-1 e1)`` and its derivative, or (-1, -1) when ``T - mu`` is not PD."""
    value = diagonal[size - 1] - mu
    slope = -1.0
    pivots[size - 1] = value
    for i in range(size - 2, -1, -1):
        if value <= 0.0:
            return -1.0, -1.0
        ratio = beside[i] / value
        slope = -1.0 + ratio * ratio * slope
        value = diagonal[i] - mu - beside[i] * ratio
        pivots[i] = value
    if value <= 0.0:
        return -1.0, -1.0
    return value, slope


@kernel
def _secular_root(
    diagonal: Array, beside: Array, size: int, tau: float, scale: float, pivots: Array
) -> float:
    """Solve ``1 / (e1' (T - mu)^-1 e1) = tau`` for ``mu <= 0`` by safeguarded Newton; 0 when there is none.

    On return ``pivots`` belong to the root, as :func:`_eigenvector` needs them.
    """
    value, slope = _continued_fraction(diagonal, beside, size, 0.0, pivots)
    if value >= tau:
        return 0.0
    low, high = -tau - 10.0 * NEGLIGIBLE * scale, 0.0  # M itself may be negative by rounding
    mu = max(low, (tau - value) / slope) if value > 0.0 else low
    for _ in range(100):
        value, slope = _continued_fraction(diagonal, beside, size, mu, pivots)
        if value >= tau:
            low = mu
        else:
            high = mu
        guess = mu + (tau - value) / slope if value > 0.0 else low
        if not low < guess < high:
            guess = 0.5 * (low + high)
        if abs(guess - mu) <= 4e-16 * tau or guess in (low, high):
            break
        mu = guess
    return mu


@kernel
def _eigenvector(beside: Array, pivots: Array, size: int, coordinates: Array) -> float:
    """Set the unit vector along ``(T - mu)^-1 e1`` from the pivots; return the size of its last entry."""
    coordinates[0] = 1.0
    total = 1.0
    for i in range(1, size):
        coordinates[i] = -beside[i - 1] / pivots[i] * coordinates[i - 1]
        total += coordinates[i] * coordinates[i]
    total = sqrt(total)
    for i in range(size):
        coordinates[i] /= total
    return abs(coordinates[size - 1])


@kernel
def _ritz_vector(basis: Array, coordinates: Array, size: int, vector: Array) -> None:
    """Set ``vector`` to the unit combination of the first ``size`` basis vectors."""
    for j in range(vector.shape[0]):
        vector[j] = 0.0
    for i in range(size):
        for j in range(vector.shape[0]):
            vector[j] += coordinates[i] * basis[i, j]
    length = sqrt(dot(vector, vector))
    for j in range(vector.shape[0]):
        vector[j] /= length


@kernel
def _subtract(M: Array, z: Array, factor: float) -> None:
    """Set ``M -= factor z z'``."""
    for i in range(M.shape[0]):
        for j in range(M.shape[1]):
            M[i, j] -= factor * (z[i] * z[j])
