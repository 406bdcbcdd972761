"""Four doubles at a time, spelt out: what a compiler does with a plain loop depends on what stands around it.

Inner loops written with these few operations come out the same wherever they are inlined, so sums are always
added up in the same order: a stack's first layer equals MOML bit by bit, and a stack of three equals the
first three layers of a stack of five. LLVM turns the operations into whatever vectors the processor has.

Matrices and vectors are padded with zeros to a multiple of four columns, see ``padding``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

from mloml.kernels.compiled import compiled
from mloml.kernels.padding import WIDTH


def exact(function: Callable[..., Any], inline: Literal["never", "always"] = "never") -> Callable[..., Any]:
    """Compile like :func:`mloml.kernels.compiled.kernel`, but leave the order of sums as written."""
    return compiled(function, error_model="numpy", inline=inline)


def exact_as(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile one of several functions made from the same lines, under a name of its own."""

    def compile_named(function: Callable[..., Any]) -> Callable[..., Any]:
        function.__qualname__ = function.__name__ = name
        return exact(function)

    return compile_named


def exact_inline(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function with its caller: a long one is then optimised once, not once per level of calls."""
    return exact(function, inline="always")


class Vector(types.Type):
    """Four doubles in a register."""

    def __init__(self) -> None:
        super().__init__(name="vector of 4 doubles")


vector = Vector()
operation: Callable[[Callable[..., Any]], Callable[..., Any]] = intrinsic
_DOUBLE = ir.DoubleType()
FOUR = ir.VectorType(_DOUBLE, WIDTH)
_INDEX = ir.IntType(32)


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, fe_type: Any) -> None:
        super().__init__(manager, fe_type, FOUR)


def _address(context: Any, builder: Any, array_type: Any, array: Any, offset: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [offset]), FOUR.as_pointer())


def _is_contiguous(array: Any) -> bool:
    return isinstance(array, types.Array) and array.layout == "C" and array.dtype == types.float64


@operation
def load(typingctx: Any, array: Any, offset: Any) -> Any:
    """Read the four entries from flat position ``offset`` of a C-contiguous array."""
    if not _is_contiguous(array):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(_address(context, builder, signature.args[0], *args), align=8)

    return vector(array, types.intp), generate


@operation
def store(typingctx: Any, array: Any, offset: Any, value: Any) -> Any:
    """Write four entries at flat position ``offset`` of a C-contiguous array."""
    if not _is_contiguous(array):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        target = _address(context, builder, signature.args[0], *args[:2])
        builder.store(args[2], target, align=8)
        return context.get_dummy_value()

    return types.void(array, types.intp, vector), generate


@operation
def spread(typingctx: Any, value: Any) -> Any:
    """Put one number into all four places."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _spread(builder, args[0])

    return vector(types.float64), generate


def _spread(builder: Any, value: Any) -> Any:
    one = builder.insert_element(ir.Constant(FOUR, ir.Undefined), value, _INDEX(0))
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(_INDEX, WIDTH), [0] * WIDTH))


@operation
def spread_from(typingctx: Any, array: Any, offset: Any) -> Any:
    """Put the entry at flat position ``offset`` of a C-contiguous array into all four places."""
    if not _is_contiguous(array):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return _spread(builder, builder.load(builder.gep(data, [args[1]])))

    return vector(array, types.intp), generate


@operation
def fma(typingctx: Any, a: Any, b: Any, c: Any) -> Any:
    """Return ``a b + c``, with one rounding where the processor can."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(FOUR, [FOUR] * 3), "llvm.fmuladd.v4f64"
        )
        return builder.call(function, args)

    return vector(vector, vector, vector), generate


def _arithmetic(instruction: str) -> Callable[..., Any]:
    """Return the operation on two vectors that LLVM calls ``instruction``."""

    def operate(typingctx: Any, a: Any, b: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return getattr(builder, instruction)(*args)

        return vector(vector, vector), generate

    return operation(operate)


times, minus, plus, over = (_arithmetic(name) for name in ("fmul", "fsub", "fadd", "fdiv"))
"""``a b``, ``a - b``, ``a + b`` and ``a / b``."""


@operation
def choose(typingctx: Any, condition: Any, a: Any, b: Any) -> Any:
    """Return ``a`` where ``condition > 0``, else ``b``."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        zero = ir.Constant(FOUR, [0.0] * WIDTH)
        return builder.select(builder.fcmp_ordered(">", args[0], zero), args[1], args[2])

    return vector(vector, vector, vector), generate


@operation
def total(typingctx: Any, a: Any) -> Any:
    """Return the sum of the four entries, as ``(a0 + a2) + (a1 + a3)``."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pair = ir.VectorType(_INDEX, 2)
        low = builder.shuffle_vector(args[0], args[0], ir.Constant(pair, [0, 1]))
        high = builder.shuffle_vector(args[0], args[0], ir.Constant(pair, [2, 3]))
        both = builder.fadd(low, high)
        return builder.fadd(
            builder.extract_element(both, _INDEX(0)), builder.extract_element(both, _INDEX(1))
        )

    return types.float64(vector), generate


@operation
def store_totals(typingctx: Any, array: Any, offset: Any, a: Any, b: Any) -> Any:
    """Write the sums of ``a`` and of ``b`` side by side at ``offset``, each as ``(x0 + x1) + (x2 + x3)``."""
    if not _is_contiguous(array):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data, a, b = args[:2], args[2], args[3]
        four, two = ir.VectorType(_INDEX, WIDTH), ir.VectorType(_INDEX, 2)
        even = builder.shuffle_vector(a, b, ir.Constant(four, [0, 4, 2, 6]))
        odd = builder.shuffle_vector(a, b, ir.Constant(four, [1, 5, 3, 7]))
        halves = builder.fadd(even, odd)  # a0 + a1, b0 + b1, a2 + a3, b2 + b3
        low = builder.shuffle_vector(halves, halves, ir.Constant(two, [0, 1]))
        high = builder.shuffle_vector(halves, halves, ir.Constant(two, [2, 3]))
        address = _address(context, builder, signature.args[0], *data)
        pair = ir.VectorType(_DOUBLE, 2).as_pointer()
        builder.store(builder.fadd(low, high), builder.bitcast(address, pair), align=8)
        return context.get_dummy_value()

    return types.void(array, types.intp, vector, vector), generate
