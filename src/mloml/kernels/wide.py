"""Vectors of 64 bytes, spelt out like the four doubles of ``simd``: the widest registers there are today.

Where a processor's registers are narrower, LLVM takes two or four of them; every place of a vector is
computed by itself, so the width of its registers changes no number. For passes over many rows.

    vectors = Vectors(types.float64)
    load, fma = vectors.load, vectors.fma   # kernels call operations by names of their module
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import models, register_model

from mloml.kernels.compiled import compiled
from mloml.kernels.simd import operation

Operation = Callable[..., Any]
BYTES = 64
_INDEX = ir.IntType(32)


def borrowing(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile like :func:`mloml.kernels.simd.exact` a function that makes no array of its own.

    It counts no references to the arrays it is given. Where it takes them from a tuple, again and again in
    its inner loops, that counting would cost more than all the rest.
    """
    return compiled(function, error_model="numpy", _nrt=False)


class Wide(types.Type):
    """A vector of 64 bytes in a register."""

    def __init__(self, element: types.Float) -> None:
        self.element = element
        self.width = BYTES * 8 // element.bitwidth
        super().__init__(name=f"vector of {self.width} {element}")


@register_model(Wide)
class _WideModel(models.PrimitiveModel):
    def __init__(self, manager: Any, fe_type: Any) -> None:
        super().__init__(manager, fe_type, _register(fe_type))


def _register(vector: Wide) -> ir.VectorType:
    return ir.VectorType(ir.DoubleType() if vector.element.bitwidth == 64 else ir.FloatType(), vector.width)


class Vectors:
    """The operations on vectors of one type of number; ``width`` is how many numbers they hold.

    - ``load(array, offset)`` reads the entries from flat position ``offset`` of a C-contiguous array,
      ``store(array, offset, vector)`` writes them
    - ``spread(number)`` and ``spread_from(array, offset)`` put one number into all places
    - ``plus``, ``minus``, ``times``, ``most``, ``least`` and ``fma(a, b, c)`` (``a b + c``, with one rounding
      where the processor can) work in each place; ``choose(places, a, b)`` takes a there, b elsewhere
    - ``below(a, b)`` returns the places where ``a < b``, the lowest bit for the first
    - ``total(vector)`` returns the sum, halves added to halves; ``smallest(vector)`` the smallest number
    """

    def __init__(self, element: types.Float) -> None:
        vector = Wide(element)
        self.width = vector.width
        self.load, self.store = _load(vector), _store(vector)
        self.spread, self.spread_from = _spread_number(vector), _spread_from(vector)
        self.plus, self.minus, self.times = (_arithmetic(vector, name) for name in ("fadd", "fsub", "fmul"))
        self.most, self.least, self.fma = _extreme(vector, ">"), _extreme(vector, "<"), _fma(vector)
        self.total, self.smallest = _folded(vector, _sum), _folded(vector, _smaller)
        self.below, self.choose = _below(vector), _choose(vector)


def _holds(array: Any, vector: Wide) -> bool:
    return isinstance(array, types.Array) and array.layout == "C" and array.dtype == vector.element


def _entry(context: Any, builder: Any, array_type: Any, array: Any, offset: Any) -> Any:
    return builder.gep(context.make_array(array_type)(context, builder, array).data, [offset])


def _in_all_places(builder: Any, vector: Wide, value: Any) -> Any:
    register = _register(vector)
    one = builder.insert_element(ir.Constant(register, ir.Undefined), value, _INDEX(0))
    places = ir.Constant(ir.VectorType(_INDEX, vector.width), [0] * vector.width)
    return builder.shuffle_vector(one, one, places)


def _load(vector: Wide) -> Operation:
    @operation
    def load(typingctx: Any, array: Any, offset: Any) -> Any:
        if not _holds(array, vector):
            return None

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            address = _entry(context, builder, signature.args[0], *args)
            address = builder.bitcast(address, _register(vector).as_pointer())
            return builder.load(address, align=vector.element.bitwidth // 8)

        return vector(array, types.intp), generate

    return load


def _store(vector: Wide) -> Operation:
    @operation
    def store(typingctx: Any, array: Any, offset: Any, value: Any) -> Any:
        if not _holds(array, vector):
            return None

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            address = _entry(context, builder, signature.args[0], *args[:2])
            address = builder.bitcast(address, _register(vector).as_pointer())
            builder.store(args[2], address, align=vector.element.bitwidth // 8)
            return context.get_dummy_value()

        return types.void(array, types.intp, vector), generate

    return store


def _spread_number(vector: Wide) -> Operation:
    @operation
    def spread(typingctx: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            number = args[0] if vector.element.bitwidth == 64 else builder.fptrunc(args[0], ir.FloatType())
            return _in_all_places(builder, vector, number)

        return vector(types.float64), generate

    return spread


def _spread_from(vector: Wide) -> Operation:
    @operation
    def spread_from(typingctx: Any, array: Any, offset: Any) -> Any:
        if not _holds(array, vector):
            return None

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            entry = builder.load(_entry(context, builder, signature.args[0], *args))
            return _in_all_places(builder, vector, entry)

        return vector(array, types.intp), generate

    return spread_from


def _arithmetic(vector: Wide, instruction: str) -> Operation:
    @operation
    def operate(typingctx: Any, a: Any, b: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return getattr(builder, instruction)(*args)

        return vector(vector, vector), generate

    return operate


def _extreme(vector: Wide, order: str) -> Operation:
    @operation
    def extreme(typingctx: Any, a: Any, b: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.select(builder.fcmp_ordered(order, *args), *args)

        return vector(vector, vector), generate

    return extreme


def _fma(vector: Wide) -> Operation:
    register, name = _register(vector), f"llvm.fmuladd.v{vector.width}f{vector.element.bitwidth}"

    @operation
    def fma(typingctx: Any, a: Any, b: Any, c: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kind = ir.FunctionType(register, [register] * 3)
            return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), args)

        return vector(vector, vector, vector), generate

    return fma


def _below(vector: Wide) -> Operation:
    @operation
    def below(typingctx: Any, a: Any, b: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            places = builder.bitcast(builder.fcmp_ordered("<", *args), ir.IntType(vector.width))
            return builder.zext(places, ir.IntType(64))

        return types.int64(vector, vector), generate

    return below


def _choose(vector: Wide) -> Operation:
    @operation
    def choose(typingctx: Any, places: Any, a: Any, b: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            bits = builder.trunc(args[0], ir.IntType(vector.width))
            return builder.select(
                builder.bitcast(bits, ir.VectorType(ir.IntType(1), vector.width)), *args[1:]
            )

        return vector(types.int64, vector, vector), generate

    return choose


def _sum(builder: Any, a: Any, b: Any) -> Any:
    return builder.fadd(a, b)


def _smaller(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.fcmp_ordered("<", a, b), a, b)


def _folded(vector: Wide, combine: Operation) -> Operation:
    @operation
    def folded(typingctx: Any, a: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            halves, value = vector.width, args[0]
            while halves > 1:
                halves //= 2
                kind = ir.VectorType(_INDEX, halves)
                low = builder.shuffle_vector(value, value, ir.Constant(kind, list(range(halves))))
                high = builder.shuffle_vector(
                    value, value, ir.Constant(kind, list(range(halves, 2 * halves)))
                )
                value = combine(builder, low, high)
            return builder.extract_element(value, _INDEX(0))

        return vector.element(vector), generate

    return folded


def _widened(first: int) -> Operation:
    @operation
    def widened(typingctx: Any, singles: Any) -> Any:
        doubles = Wide(types.float64)

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            places = ir.Constant(
                ir.VectorType(_INDEX, doubles.width), list(range(first, first + doubles.width))
            )
            return builder.fpext(builder.shuffle_vector(args[0], args[0], places), _register(doubles))

        return doubles(Wide(types.float32)), generate

    return widened


first_doubles, last_doubles = _widened(0), _widened(8)
"""The first and the last eight of sixteen numbers of single precision, in double precision."""


@operation
def count_places(typingctx: Any, places: Any) -> Any:
    """Return how many bits are set."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.int64), generate


@operation
def first_place(typingctx: Any, places: Any) -> Any:
    """Return the number of the lowest bit that is set; some bit must be."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), generate
