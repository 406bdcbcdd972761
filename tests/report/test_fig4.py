"""Figure 4: medians, quartiles and ratios of times that were made up; multiplications counted in the code."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from mloml.learners import linalg, moml, opml
from mloml.report.artefacts.fig4 import build, multiplications, operations_frame, time_numbers


@pytest.fixture
def runs():
    """Five runs of each method, MOML twice as fast as OPML."""
    return pd.DataFrame(
        [(dataset, method, run, 22, 100, factor * size * (1 + run) * 1e-4)
         for dataset, size in (("iris", 1), ("wine", 5))
         for method, factor in (("opml", 1), ("moml", 0.5), ("moml_frame", 3)) for run in range(5)],
        columns=["dataset", "method", "run", "features", "triplets", "seconds"],
    )  # fmt: skip


def test_times_are_medians_with_quartiles(runs):
    numbers = time_numbers(runs)
    np.testing.assert_allclose(numbers["median"], [3, 1.5, 9, 15, 7.5, 45])
    np.testing.assert_allclose(numbers[["lower", "upper"]].iloc[0], [2.0, 4.0])


def test_the_page_gets_ratios_to_opml(runs, make_result):
    ratios = build(make_result(datasets=("iris", "wine")), runs).values["ratios"]
    np.testing.assert_allclose(ratios[["moml", "moml_frame"]], [[0.5, 3.0]] * 2)


class Counted(float):
    """A number that counts its products, in whatever it is combined with."""

    products = 0

    def __mul__(self, other):
        Counted.products += 1
        return Counted(float(self) * float(other))

    __rmul__ = __mul__


def _closed(name):
    def combined(*numbers):
        return Counted(getattr(float, name)(*map(float, numbers)))

    return combined


for name in ("add", "sub", "truediv"):
    for kind in (f"__{name}__", f"__r{name}__"):
        setattr(Counted, kind, _closed(kind))
for kind in ("__neg__", "__abs__"):
    setattr(Counted, kind, _closed(kind))


def counted(values):
    """Return an array of such numbers."""
    array = np.empty(np.shape(values), object)
    array.flat = [Counted(value) for value in np.ravel(values)]
    return array


@pytest.fixture
def interpreted(monkeypatch):
    """Run the compiled loops as plain Python on such numbers."""
    Counted.products = 0
    for module in (linalg, moml, opml):
        for name, function in list(vars(module).items()):
            if hasattr(function, "py_func"):
                monkeypatch.setattr(module, name, function.py_func)
        zeros = SimpleNamespace(zeros=lambda d: counted(np.zeros(d)), empty=lambda d: counted(np.zeros(d)))
        monkeypatch.setattr(module, "np", zeros)


def learn(method, d, triplets):
    """Return how many products it takes to learn from some triplets, all active."""
    steps, eye = np.zeros(5, int), np.eye(d)
    D = counted(np.random.default_rng(0).normal(0, 0.1 / np.sqrt(d), (triplets, 3, d)))
    before, gamma, nothing = Counted.products, Counted(1e-3), np.empty((0, 3, 0))
    if method == "opml":
        opml.opml_scan(D, counted(eye), gamma, steps, nothing)
    elif method == "moml":
        moml.metric_scan(D, counted(eye), gamma, steps)
    else:
        moml.moml_scan(D, counted(eye), counted(eye), gamma, Counted(0.1), Counted(0.1), steps, nothing)
    assert steps[linalg.UPDATES] == triplets and steps[linalg.FAILURES] == 0
    return Counted.products - before


@pytest.mark.parametrize("d", [2, 5])
def test_multiplications_are_those_of_the_loops(d, interpreted):
    for method in ("opml", "moml", "moml_frame"):  # what a whole scan adds is in both
        assert learn(method, d, 3) - learn(method, d, 2) == multiplications(method, d)
    before = Counted.products
    linalg.renew(counted(np.eye(d)), counted(np.eye(d)))
    assert Counted.products - before == multiplications("renewal", d)


def test_widths_are_at_equal_distances_as_differences_of_their_counts_need():
    table = operations_frame().pivot_table(index="features", columns="method", values="multiplications")
    assert len(table) > 3 and len(set(np.diff(table.index))) == 1
    assert np.diff(table["renewal"], 3).all() and not np.diff(table["opml"], 3).any()
