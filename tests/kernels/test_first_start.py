"""What makes a first start quicker changes nothing else."""

import gc
import itertools
import operator
from types import SimpleNamespace

import pytest
from numba import types
from numba.core.registry import cpu_target

from mloml.kernels.compiled import kernel
from mloml.kernels.first_start import OPERATORS, no_garbage_collection, operators_typed_once

NUMBERS = (types.intp, types.int32, types.float64, types.boolean, types.literal(2))


def test_operators_on_numbers_mean_what_numba_says_also_the_second_time():
    typing = cpu_target.typing_context
    typing.refresh()
    for sign in OPERATORS:
        for args in itertools.product(NUMBERS, repeat=1 if sign in (bool, operator.neg) else 2):
            meant = typing.resolve_function_type(sign, args, {})
            with operators_typed_once(typing):
                assert [typing.resolve_function_type(sign, args, {}) for _ in range(2)] == [meant, meant]


class Typing:
    """A typing context that counts how often it is asked."""

    def __init__(self):
        self.asked = []
        self.meanings = object()

    def _lookup_global(self, func):
        return self.meanings

    def resolve_function_type(self, func, args, kws):
        self.asked.append(args)
        return SimpleNamespace(args=args)


def test_numba_is_asked_once_and_again_when_there_are_new_meanings():
    typing = Typing()
    with operators_typed_once(typing):
        first = typing.resolve_function_type(operator.add, (types.intp, types.intp), {})
        assert typing.resolve_function_type(operator.add, (types.intp, types.intp), {}) is first
        assert typing.resolve_function_type(operator.add, (types.intp, types.float64), {}) is not first
        assert len(typing.asked) == 2
        typing.meanings = object()
        assert typing.resolve_function_type(operator.add, (types.intp, types.intp), {}) is not first
    assert "resolve_function_type" not in vars(typing)


@pytest.mark.parametrize(
    ("func", "args"),
    [(max, (types.intp, types.intp)), (operator.add, (types.unicode_type,) * 2), ([], (types.intp,))],
)
def test_whatever_is_no_operator_on_numbers_is_left_to_numba(func, args):
    typing = Typing()
    with operators_typed_once(typing):
        for _ in range(3):
            typing.resolve_function_type(func, args, {})
    assert typing.asked == [args] * 3


@pytest.mark.parametrize("collects", [True, False])
def test_garbage_is_collected_afterwards_exactly_if_it_was_before(collects):
    before = gc.isenabled()
    (gc.enable if collects else gc.disable)()
    try:
        with pytest.raises(KeyError), no_garbage_collection():
            assert not gc.isenabled()
            raise KeyError
        assert gc.isenabled() == collects
    finally:
        (gc.enable if before else gc.disable)()


def test_a_compilation_that_fails_leaves_no_trace():
    @kernel
    def wrong(x):
        return x + "1"

    with pytest.raises(Exception, match="No implementation"):
        wrong(1.0)
    assert "resolve_function_type" not in vars(cpu_target.typing_context)
    assert gc.isenabled()
