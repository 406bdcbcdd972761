"""Which stored cells are called stale: those of other code, data or settings, not those with other extras."""

from types import SimpleNamespace

import pytest

from mloml.config import Algorithm, ProtocolConfig
from mloml.evaluation.cell import Cell
from mloml.stale import determinants, stale_lines

CELL = Cell("iris", "0" * 64, Algorithm("kissme", "KISSME", "KISSME"), ProtocolConfig(), 0, ("layers",))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"record": []}, ""),
        ({}, "something else that determines them changed"),
        ({"data": "1"}, "the data changed"),
        ({"code": "1", "record": []}, "the code that computes them changed; record was [], is ['layers']"),
        ({"grid": {"mu": [1]}}, "grid.mu was [1], is None"),
    ],
)
def test_a_cell_that_only_recorded_something_else_is_not_stale(changed, said):
    store = SimpleNamespace(siblings=lambda cell: [{"determinants": determinants(cell) | changed}])
    expected = f"stale: 1 stored cells of iris/kissme are not used: {said}"
    assert stale_lines(store, [CELL]) == ([expected] if said else [])
