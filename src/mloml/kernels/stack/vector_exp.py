"""``exp`` of four doubles at a time, for arguments that are not positive; to the last digit or two."""

from __future__ import annotations

from math import factorial, log
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils

from mloml.kernels.padding import WIDTH
from mloml.kernels.simd import FOUR, operation, vector

_LOWEST = -700.0  # below, the result is as good as 0; it must not become a subnormal
_LN2_HIGH = float.fromhex("0x1.62e42fefa0000p-1")  # its last bits are 0, so that products with n are exact
_LN2_LOW = float.fromhex("0x1.cf79abc9e3b3ap-40")
_SHIFTER = 1.5 * 2.0**52  # added to a small number, it leaves the nearest integer in the last bits
_DEGREE = 13
_INTEGERS = ir.VectorType(ir.IntType(64), WIDTH)


def _all(value: float) -> Any:
    return ir.Constant(FOUR, [value] * WIDTH)


@operation
def exp_of_negative(typingctx: Any, a: Any) -> Any:
    """Return ``exp(a)`` for ``a <= 0``: ``2^n exp(r)``, ``a = n ln 2 + r``, Taylor's series for ``r``."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(FOUR, [FOUR] * 3)
        fma = cgutils.get_or_insert_function(builder.module, kind, "llvm.fmuladd.v4f64")
        x = args[0]
        x = builder.select(builder.fcmp_ordered("<", x, _all(_LOWEST)), _all(_LOWEST), x)
        shifted = builder.call(fma, [x, _all(1 / log(2)), _all(_SHIFTER)])
        n = builder.fsub(shifted, _all(_SHIFTER))
        r = builder.call(fma, [n, _all(-_LN2_HIGH), x])
        r = builder.call(fma, [n, _all(-_LN2_LOW), r])
        series = _all(1 / factorial(_DEGREE))
        for k in range(_DEGREE - 1, -1, -1):
            series = builder.call(fma, [series, r, _all(1 / factorial(k))])
        exponent = builder.shl(builder.bitcast(shifted, _INTEGERS), ir.Constant(_INTEGERS, [52] * WIDTH))
        bits = builder.add(builder.bitcast(series, _INTEGERS), exponent)  # multiplies by 2^n
        return builder.bitcast(bits, FOUR)

    return vector(vector), generate
