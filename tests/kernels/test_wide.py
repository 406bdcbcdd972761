"""Vectors of 64 bytes against NumPy, number by number."""

from typing import Any

import numpy as np
import pytest
from numba import njit, types

from mloml.kernels.wide import Vectors, count_places, first_doubles, first_place, last_doubles

ELEMENTS = {np.float64: types.float64, np.float32: types.float32}


@pytest.fixture(params=[np.float64, np.float32])
def numbers(request: Any) -> Any:
    rng = np.random.default_rng(0)
    return rng.integers(-4, 5, size=(3, 40)).astype(request.param)


def test_every_operation_works_place_by_place(numbers: Any) -> None:
    vectors = Vectors(ELEMENTS[numbers.dtype.type])
    load, store, spread, spread_from = vectors.load, vectors.store, vectors.spread, vectors.spread_from
    plus, minus, times, most, fma = vectors.plus, vectors.minus, vectors.times, vectors.most, vectors.fma
    least, smallest = vectors.least, vectors.smallest
    below, choose, total, width = vectors.below, vectors.choose, vectors.total, vectors.width

    @njit  # type: ignore[untyped-decorator]
    def run(a: Any, b: Any, c: Any, out: Any) -> Any:
        x, y, z = load(a, 3), load(b, 0), load(c, 8)
        places = below(x, y)
        results = (plus(x, y), minus(x, y), times(x, y), most(x, y), fma(x, y, z), choose(places, x, y))
        for k, result in enumerate(results):
            store(out, k * width, result)
        store(out, 6 * width, spread(2.5))
        store(out, 7 * width, spread_from(a, 5))
        store(out, 8 * width, least(x, y))
        return places, total(x), smallest(x)

    a, b, c = numbers
    out = np.zeros((9, width), dtype=numbers.dtype)
    places, sum_of_x, least_of_x = run(a, b, c, out)
    x, y, z = a[3 : 3 + width], b[:width], c[8 : 8 + width]
    expected = [x + y, x - y, x * y, np.maximum(x, y), x * y + z, np.where(x < y, x, y)]
    np.testing.assert_array_equal(out[:6], expected)
    assert (out[6] == 2.5).all()
    assert (out[7] == a[5]).all()
    np.testing.assert_array_equal(out[8], np.minimum(x, y))
    assert sum_of_x == x.sum()
    assert least_of_x == x.min()
    assert [bool(places >> k & 1) for k in range(width)] == list(x < y)


def test_singles_are_widened_to_doubles() -> None:
    singles, doubles = Vectors(types.float32), Vectors(types.float64)
    load, store = singles.load, doubles.store

    @njit  # type: ignore[untyped-decorator]
    def run(a: Any, out: Any) -> None:
        store(out, 0, first_doubles(load(a, 1)))
        store(out, 8, last_doubles(load(a, 1)))

    a, out = np.random.default_rng(1).normal(size=20).astype(np.float32), np.zeros(16)
    run(a, out)
    np.testing.assert_array_equal(out, a[1:17].astype(np.float64))


def test_places_are_counted_and_found() -> None:
    @njit  # type: ignore[untyped-decorator]
    def run(places: int) -> Any:
        found = []
        while places != 0:
            found.append(first_place(places))
            places &= places - 1
        return found

    @njit  # type: ignore[untyped-decorator]
    def count(places: int) -> Any:
        return count_places(places)

    assert run(0b1011000000000001) == [0, 12, 13, 15]
    assert count(0b1011000000000001) == 4


def test_arrays_of_another_type_or_layout_are_refused() -> None:
    load = Vectors(types.float64).load

    @njit  # type: ignore[untyped-decorator]
    def run(a: Any) -> Any:
        return load(a, 0)

    with pytest.raises(Exception, match="load"):
        run(np.zeros(16, dtype=np.float32))
    with pytest.raises(Exception, match="load"):
        run(np.zeros((8, 8)).T)
