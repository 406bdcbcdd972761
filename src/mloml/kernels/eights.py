"""Eight doubles at a time, spelt out like the four of ``simd``, and the small products made of them.

For passes that do nothing but multiply and compare: where the processor has registers of eight doubles, they
take half the time of four. Matrices are padded with zeros to a multiple of eight columns and of four rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import models, register_model
from numpy.typing import NDArray

from mloml.kernels.simd import exact, operation

Array = NDArray[np.float64]

WIDE = 8
"""Doubles that are treated at a time."""

ROWS = 4
"""Rows of a product that are made at a time."""


class Eight(types.Type):
    """Eight doubles in a register, or in as many as the processor needs for them."""

    def __init__(self) -> None:
        super().__init__(name="vector of 8 doubles")


eight = Eight()
_EIGHT = ir.VectorType(ir.DoubleType(), WIDE)
_INDEX = ir.IntType(32)


@register_model(Eight)
class _EightModel(models.PrimitiveModel):
    def __init__(self, manager: Any, fe_type: Any) -> None:
        super().__init__(manager, fe_type, _EIGHT)


def _is_contiguous(array: Any) -> bool:
    return isinstance(array, types.Array) and array.layout == "C" and array.dtype == types.float64


def _data(context: Any, builder: Any, array_type: Any, array: Any, offset: Any) -> Any:
    return builder.gep(context.make_array(array_type)(context, builder, array).data, [offset])


def _spread(builder: Any, value: Any) -> Any:
    one = builder.insert_element(ir.Constant(_EIGHT, ir.Undefined), value, _INDEX(0))
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(_INDEX, WIDE), [0] * WIDE))


@operation
def load_wide(typingctx: Any, array: Any, offset: Any) -> Any:
    """Read the eight entries from flat position ``offset`` of a C-contiguous array."""
    if not _is_contiguous(array):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = builder.bitcast(_data(context, builder, signature.args[0], *args), _EIGHT.as_pointer())
        return builder.load(address, align=8)

    return eight(array, types.intp), generate


@operation
def store_wide(typingctx: Any, array: Any, offset: Any, value: Any) -> Any:
    """Write eight entries at flat position ``offset`` of a C-contiguous array."""
    if not _is_contiguous(array):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = _data(context, builder, signature.args[0], *args[:2])
        builder.store(args[2], builder.bitcast(address, _EIGHT.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.void(array, types.intp, eight), generate


@operation
def spread_wide(typingctx: Any, value: Any) -> Any:
    """Put one number into all eight places."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _spread(builder, args[0])

    return eight(types.float64), generate


@operation
def spread_wide_from(typingctx: Any, array: Any, offset: Any) -> Any:
    """Put the entry at flat position ``offset`` of a C-contiguous array into all eight places."""
    if not _is_contiguous(array):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _spread(builder, builder.load(_data(context, builder, signature.args[0], *args)))

    return eight(array, types.intp), generate


@operation
def fma_wide(typingctx: Any, a: Any, b: Any, c: Any) -> Any:
    """Return ``a b + c``, with one rounding where the processor can."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(_EIGHT, [_EIGHT] * 3), "llvm.fmuladd.v8f64"
        )
        return builder.call(function, args)

    return eight(eight, eight, eight), generate


@operation
def plus_wide(typingctx: Any, a: Any, b: Any) -> Any:
    """Return ``a + b``."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fadd(*args)

    return eight(eight, eight), generate


@operation
def minus_wide(typingctx: Any, a: Any, b: Any) -> Any:
    """Return ``a - b``."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fsub(*args)

    return eight(eight, eight), generate


@operation
def choose_below(typingctx: Any, a: Any, b: Any, x: Any, y: Any) -> Any:
    """Return ``x`` where ``a < b``, else ``y``."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered("<", *args[:2]), *args[2:])

    return eight(eight, eight, eight, eight), generate


@operation
def places_above(typingctx: Any, a: Any, b: Any) -> Any:
    """Return a number whose bits say, lowest first, in which places ``a > b``."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        places = builder.bitcast(builder.fcmp_ordered(">", *args), ir.IntType(WIDE))
        return builder.zext(places, ir.IntType(64))

    return types.int64(eight, eight), generate


def wide_zeros(rows: int, columns: int) -> Array:
    """Return zeros with rows and columns padded, whose data start at a cache line.

    >>> wide_zeros(5, 9).shape
    (8, 16)
    """
    shape = -(-rows // ROWS) * ROWS, -(-columns // WIDE) * WIDE
    size = shape[0] * shape[1]
    buffer = np.zeros(size + WIDE)
    skip = (-buffer.ctypes.data % 64) // 8
    return buffer[skip : skip + size].reshape(shape)


@exact
def multiply(P: Array, Q: Array, inner: int, R: Array) -> None:
    """Set ``R = P Q`` with all three padded; ``inner`` is the number of columns of P that count."""
    (rows, p), m = P.shape, Q.shape[1]
    for i in range(0, rows, ROWS):
        at, j = i * p, 0
        while j + 2 * WIDE <= m:  # eight sums at once: with four, each waits for the one before
            r0 = r1 = r2 = r3 = s0 = s1 = s2 = s3 = spread_wide(0.0)
            for a in range(inner):
                q, t = load_wide(Q, a * m + j), load_wide(Q, a * m + j + WIDE)
                w = spread_wide_from(P, at + a)
                r0, s0 = fma_wide(w, q, r0), fma_wide(w, t, s0)
                w = spread_wide_from(P, at + p + a)
                r1, s1 = fma_wide(w, q, r1), fma_wide(w, t, s1)
                w = spread_wide_from(P, at + 2 * p + a)
                r2, s2 = fma_wide(w, q, r2), fma_wide(w, t, s2)
                w = spread_wide_from(P, at + 3 * p + a)
                r3, s3 = fma_wide(w, q, r3), fma_wide(w, t, s3)
            _store_column(R, i * m + j, m, r0, r1, r2, r3)
            _store_column(R, i * m + j + WIDE, m, s0, s1, s2, s3)
            j += 2 * WIDE
        if j < m:
            r0 = r1 = r2 = r3 = spread_wide(0.0)
            for a in range(inner):
                q = load_wide(Q, a * m + j)
                r0 = fma_wide(spread_wide_from(P, at + a), q, r0)
                r1 = fma_wide(spread_wide_from(P, at + p + a), q, r1)
                r2 = fma_wide(spread_wide_from(P, at + 2 * p + a), q, r2)
                r3 = fma_wide(spread_wide_from(P, at + 3 * p + a), q, r3)
            _store_column(R, i * m + j, m, r0, r1, r2, r3)


@exact
def _store_column(R: Array, at: int, m: int, r0: object, r1: object, r2: object, r3: object) -> None:
    store_wide(R, at, r0)
    store_wide(R, at + m, r1)
    store_wide(R, at + 2 * m, r2)
    store_wide(R, at + 3 * m, r3)


@exact
def two_products(C: Array, U: Array, E: Array, M: Array, inner: int, R: Array) -> None:
    """Set ``R = C'U + E'M``, all padded alike; ``inner`` is the number of their rows that count."""
    m = U.shape[1]
    for i in range(0, R.shape[0], ROWS):
        for j in range(0, m, WIDE):
            r0 = r1 = r2 = r3 = s0 = s1 = s2 = s3 = spread_wide(0.0)
            for c in range(inner):
                at = c * m + i
                u, v = load_wide(U, c * m + j), load_wide(M, c * m + j)
                r0 = fma_wide(spread_wide_from(C, at), u, r0)
                r1 = fma_wide(spread_wide_from(C, at + 1), u, r1)
                r2 = fma_wide(spread_wide_from(C, at + 2), u, r2)
                r3 = fma_wide(spread_wide_from(C, at + 3), u, r3)
                s0 = fma_wide(spread_wide_from(E, at), v, s0)
                s1 = fma_wide(spread_wide_from(E, at + 1), v, s1)
                s2 = fma_wide(spread_wide_from(E, at + 2), v, s2)
                s3 = fma_wide(spread_wide_from(E, at + 3), v, s3)
            r0, r1, r2, r3 = plus_wide(r0, s0), plus_wide(r1, s1), plus_wide(r2, s2), plus_wide(r3, s3)
            _store_column(R, i * m + j, m, r0, r1, r2, r3)
