"""Damaged cells: whatever happens to a file, no other number is ever taken for the cell's."""

import json
import os
import random
from hashlib import sha256

import pytest
from tests.damages import damages

from mloml.config.schema import Algorithm, ProtocolConfig
from mloml.errors import CellFileError
from mloml.experiments.cell import Cell
from mloml.experiments.store import Store

EUCLIDEAN = Algorithm("euclidean", "Euclidean", "Euclidean")
CELL, OTHER = (Cell("iris", "c" * 64, EUCLIDEAN, ProtocolConfig(), split) for split in range(2))


def a_record(cell, **changes):
    names = {"dataset": "iris", "algorithm": "euclidean", "protocol": "paper", "split": cell.split}
    numbers = {"error": 0.25 + cell.split / 8, "chosen": {"gamma": 1e-2}, "seconds": {"total": 0.25}}
    return names | numbers | {"key": cell.key, "grid": [{"gamma": 0.1}] * 5} | changes


@pytest.fixture
def store(tmp_path):
    found = Store(tmp_path / "store")
    for cell in (CELL, OTHER):
        found.put(cell, a_record(cell))
    return found


def test_of_a_thousand_random_damages_none_is_accepted(store):
    whole, other = (store.path(cell).read_bytes() for cell in (CELL, OTHER))
    accepted = []
    for name, content in damages([(whole, other)] * 1000, random.Random(20)):
        store.path(CELL).write_bytes(content)
        store.damaged.clear()
        if store.get(CELL) is not None or list(store.damaged) != [store.path(CELL)]:
            accepted.append((name, content))
    assert not accepted
    store.path(CELL).write_bytes(whole)
    assert store.get(CELL) == a_record(CELL)


def test_a_cell_that_was_deleted_is_absent_and_not_damaged(store):
    store.path(CELL).unlink()
    assert store.get(CELL) is None
    assert not store.damaged


def test_swapped_files_are_told_like_damaged_ones(store):
    one, two = store.path(CELL), store.path(OTHER)
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)
    assert store.get_all([CELL, OTHER]) == {}
    assert store.damaged == dict.fromkeys((one, two), "it holds another cell")
    assert not list(store.records())


def test_a_record_whose_key_only_begins_like_the_cells_is_another_cell(store):
    store.put(CELL, a_record(CELL, key=CELL.key[:16] + "0" * 48))
    assert store.get(CELL) is None
    assert store.damaged == {store.path(CELL): "it holds another cell"}


@pytest.mark.parametrize("kind", ["folder", "pipe", "socket"])
def test_something_else_than_a_file_is_an_error_of_that_cell_and_never_waited_for(store, kind):
    path = store.path(CELL)
    path.unlink()
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        os.mknod(path, 0o140644)
    with pytest.raises(CellFileError, match=r"json: cannot be read \(") as caught:
        store.get(CELL)
    assert "\n" not in str(caught.value)
    assert list(store.get_all([CELL, OTHER])) == [OTHER.key]
    assert len(list(store.records())) == 1


def test_a_link_to_nowhere_counts_as_absent_and_is_replaced(store):
    path = store.path(CELL)
    path.unlink()
    path.symlink_to("nowhere")
    assert store.get(CELL) is None
    store.put(CELL, a_record(CELL))
    assert not path.is_symlink()
    assert store.get(CELL) == a_record(CELL)


def test_a_file_far_too_large_is_not_even_read(store):
    with store.path(CELL).open("r+b") as file:
        file.truncate(1 << 40)  # takes no room on the disk
    assert store.get(CELL) is None
    assert store.damaged == {store.path(CELL): "it is too large for a cell"}


def test_a_record_is_json_that_any_tool_can_read(store):
    content = json.loads(store.path(CELL).read_bytes())
    assert content["record"] == a_record(CELL)
    assert len(content["sha256"]) == 64


def test_cells_of_earlier_versions_can_still_be_read(store):
    record = a_record(CELL)
    canonical = json.dumps(record, sort_keys=True, separators=(",", ":"))
    old = {"sha256": sha256(canonical.encode()).hexdigest(), "record": record}
    store.path(CELL).write_text(json.dumps(old, sort_keys=True, indent=1) + "\n")
    assert store.get(CELL) == record
    store.path(CELL).write_text(store.path(CELL).read_text().replace("0.25", "0.26"))
    assert store.get(CELL) is None
