"""Which stored cells are called stale: those of other code, data or settings, not those with other extras."""

from dataclasses import replace

import pytest

from mloml.config.schema import Algorithm, ProtocolConfig
from mloml.experiments.cell import Cell
from mloml.experiments.key import key_fields
from mloml.experiments.stale import stale_lines
from mloml.experiments.store import Store

OPML = Algorithm("opml", "OPML", "OPML", params={"gamma": 0.1}, grid={"rate": [1, 2]})
CELL = Cell("iris", "0" * 64, OPML, ProtocolConfig(), 0, ("scans",))
BEFORE = key_fields(CELL)
SETTINGS = {name: dict(BEFORE[name]) for name in ("algorithm", "protocol")}


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


def put_another(store, changed, cell=CELL, key="f" * 64):
    """Store a cell of the same place under another key."""
    other = replace(cell)
    other.__dict__["key"] = key
    names = {"dataset": "iris", "algorithm": "opml", "protocol": "paper", "split": cell.split, "key": key}
    numbers = {"error": 0.1, "chosen": {}, "seconds": {"total": 1.0}}
    store.put(other, names | numbers | {"key_fields": key_fields(cell) | changed})


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"record": []}, ""),
        ({"checksum": "1"}, "the data changed"),
        ({"code": "1", "record": []}, "the code that computes them changed; record was [], is ['scans']"),
        (
            {"algorithm": SETTINGS["algorithm"] | {"params": {"gamma": 0.2}}},
            "algorithm.gamma was 0.2, is 0.1",
        ),
        (
            {"algorithm": SETTINGS["algorithm"] | {"grid": {"rate": [1]}}},
            "algorithm.grid.rate was [1], is [1, 2]",
        ),
        ({"protocol": SETTINGS["protocol"] | {"shuffled": None}}, "protocol.shuffled was None, is not there"),
        ({"a field of other times": 1}, "another version of mloml stored them"),
    ],
)
def test_a_cell_that_only_recorded_something_else_is_not_stale(store, changed, said):
    put_another(store, changed)
    expected = f"stale: 1 stored cell of iris/opml is not used: {said}"
    assert stale_lines(store, [CELL]) == ([expected] if said else [])


def test_the_stored_cell_with_the_fewest_differences_is_the_one_explained(store):
    put_another(store, {"checksum": "1", "code": "1"}, key="e" * 64)
    put_another(store, {"checksum": "1"}, key="f" * 64)
    assert stale_lines(store, [CELL]) == ["stale: 1 stored cell of iris/opml is not used: the data changed"]


def test_of_equally_many_differences_every_split_names_the_same(store):
    cells = [replace(CELL, split=split) for split in range(2)]
    for cell in cells:
        keys = ("e" * 64, "f" * 64) if cell.split else ("f" * 64, "e" * 64)
        for scans, key in zip((1, 5), keys, strict=True):
            put_another(store, {"protocol": SETTINGS["protocol"] | {"scans": scans}}, cell, key)
    (line,) = stale_lines(store, cells)
    assert line.startswith("stale: 2 stored cells of iris/opml are not used: protocol.scans was 1, is ")


def test_cells_that_cannot_be_read_explain_nothing(store):
    put_another(store, {"checksum": "1"})
    (path,) = store.folder.glob("*/*/*.json")
    path.unlink()
    path.mkdir()
    assert stale_lines(store, [CELL]) == []
