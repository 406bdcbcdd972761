"""Eight single-precision numbers at a time, spelt out like the four doubles of ``simd``.

For searches that only narrow down: half the width of a number is half the time of a pass over all rows, and
what it finds is computed again in double precision.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import models, register_model

from mloml.kernels.simd import operation

SINGLES = 8
"""Single-precision numbers that are treated at a time."""


class Singles(types.Type):
    """Eight single-precision numbers in a register."""

    def __init__(self) -> None:
        super().__init__(name="vector of 8 singles")


singles = Singles()
EIGHT = ir.VectorType(ir.FloatType(), SINGLES)
_INDEX = ir.IntType(32)


@register_model(Singles)
class _SinglesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, fe_type: Any) -> None:
        super().__init__(manager, fe_type, EIGHT)


def _is_single(array: Any) -> bool:
    return isinstance(array, types.Array) and array.layout == "C" and array.dtype == types.float32


def _data(context: Any, builder: Any, array_type: Any, array: Any, offset: Any) -> Any:
    return builder.gep(context.make_array(array_type)(context, builder, array).data, [offset])


def _spread(builder: Any, value: Any) -> Any:
    one = builder.insert_element(ir.Constant(EIGHT, ir.Undefined), value, _INDEX(0))
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(_INDEX, SINGLES), [0] * SINGLES))


@operation
def load8(typingctx: Any, array: Any, offset: Any) -> Any:
    """Read the eight entries from flat position ``offset`` of a C-contiguous array of singles."""
    if not _is_single(array):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = builder.bitcast(_data(context, builder, signature.args[0], *args), EIGHT.as_pointer())
        return builder.load(address, align=4)

    return singles(array, types.intp), generate


@operation
def spread8(typingctx: Any, value: Any) -> Any:
    """Round one number to single precision and put it into all eight places."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _spread(builder, builder.fptrunc(args[0], ir.FloatType()))

    return singles(types.float64), generate


@operation
def fma8(typingctx: Any, a: Any, b: Any, c: Any) -> Any:
    """Return ``a b + c``, with one rounding where the processor can."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(EIGHT, [EIGHT] * 3), "llvm.fmuladd.v8f32"
        )
        return builder.call(function, args)

    return singles(singles, singles, singles), generate


@operation
def times8(typingctx: Any, a: Any, b: Any) -> Any:
    """Return ``a b``."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fmul(*args)

    return singles(singles, singles), generate


@operation
def minus8(typingctx: Any, a: Any, b: Any) -> Any:
    """Return ``a - b``."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fsub(*args)

    return singles(singles, singles), generate


@operation
def any_at_most(typingctx: Any, a: Any, b: Any) -> Any:
    """Say whether ``a <= b`` in any place."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        places = builder.bitcast(builder.fcmp_ordered("<=", *args), ir.IntType(SINGLES))
        return builder.icmp_unsigned("!=", places, ir.IntType(SINGLES)(0))

    return types.boolean(singles, singles), generate


@operation
def most8(typingctx: Any, a: Any, b: Any) -> Any:
    """Return the larger of ``a`` and ``b`` in each place."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", *args), *args)

    return singles(singles, singles), generate
