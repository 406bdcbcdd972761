"""The store: a cell is whole or absent, whatever happens to its file; no other number is taken for it."""

import json
import os
import random
import time

import pytest
from tests.damages import damages

from mloml.config.schema import Algorithm, ProtocolConfig
from mloml.errors import CellFileError, StoreError
from mloml.experiments.cell import Cell
from mloml.experiments.store import COLUMNS, MOST_BYTES, MOST_SECONDS, Store, cells_frame


def a_cell(split=0, **protocol):
    algorithm = Algorithm("euclidean", "Euclidean", "Euclidean")
    return Cell("iris", "c" * 64, algorithm, ProtocolConfig(**protocol), split)


CELL, OTHER = a_cell(0), a_cell(1)


def a_record(cell, **changes):
    names = {"dataset": "iris", "algorithm": "euclidean", "protocol": "paper", "split": cell.split}
    numbers = {"error": 0.1 + cell.split / 8, "chosen": {"gamma": 1e-2}, "seconds": {"total": 0.25}}
    return names | numbers | {"key": cell.key, "grid": [{"gamma": 0.1}] * 5} | changes


@pytest.fixture
def store(tmp_path):
    found = Store(tmp_path / "store")
    for cell in (CELL, OTHER):
        found.put(cell, a_record(cell))
    return found


def test_a_cell_comes_back_as_it_was_stored_and_any_tool_can_read_it(store):
    cell = a_cell(7)
    assert store.get(cell) is None
    path = store.put(cell, a_record(cell))
    assert path == store.folder / "iris" / "euclidean" / f"7-{cell.key[:16]}.json"
    assert store.get(cell) == a_record(cell) == json.loads(path.read_bytes())["record"]
    assert store.read_cell("iris", "euclidean", 7, cell.key) == a_record(cell)
    assert not store.damaged


@pytest.mark.parametrize(("error", "seconds"), [(0, 0), (1, MOST_SECONDS), (0.5, 1)])
def test_all_errors_that_can_be_are_read(store, error, seconds):
    store.put(CELL, a_record(CELL, error=error, seconds={"total": seconds}))
    assert store.get(CELL)["error"] == error


def test_another_protocol_is_another_cell(store):
    new = a_cell(scans=5)
    store.put(new, a_record(new, protocol="other"))
    assert store.get(a_cell(scans=6)) is None and store.get(new) is not None


def test_of_a_thousand_random_damages_none_is_accepted(store):
    whole, other = (store.path(cell).read_bytes() for cell in (CELL, OTHER))
    accepted = []
    for name, content in damages([(whole, other)] * 1000, random.Random(20)):
        store.path(CELL).write_bytes(content)
        store.damaged.clear()
        if store.get(CELL) is not None or list(store.damaged) != [store.path(CELL)]:
            accepted.append((name, content))
    assert not accepted
    store.put(CELL, a_record(CELL))
    assert store.get(CELL) == a_record(CELL)


def test_swapped_files_and_similar_keys_are_told_like_damaged_ones(store):
    one, two = store.path(CELL), store.path(OTHER)
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)
    assert store.get_all([CELL, OTHER]) == {}
    assert set(store.damaged) == {one, two}
    assert store.get(CELL) is None
    store.put(CELL, a_record(CELL, key=CELL.key[:16] + "0" * 48))
    assert store.get(CELL) is None


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
    with pytest.raises(CellFileError, match=r"json: cannot be read \(it is a (folder|pipe or device)\)$"):
        store.get(CELL)
    assert list(store.get_all([CELL, OTHER])) == [OTHER.key]


def test_a_link_to_nowhere_counts_as_absent_and_is_replaced(store):
    path = store.path(CELL)
    path.unlink()
    path.symlink_to("nowhere")
    assert store.get(CELL) is None and not store.damaged
    store.put(CELL, a_record(CELL))
    assert not path.is_symlink()
    assert store.get(CELL) == a_record(CELL)


def test_a_file_far_too_large_is_not_even_read(store):
    with store.path(CELL).open("r+b") as file:
        file.truncate(MOST_BYTES + 1)  # takes no room on the disk
    assert store.get(CELL) is None
    assert store.damaged == {store.path(CELL): "it is too large for a cell"}


def test_what_killed_writers_left_is_removed_when_it_is_old(store):
    places = [".x.tmp", "iris/euclidean/.0-abc.json-12.tmp"]
    for place in places:
        (store.folder / place).write_text("half")
        os.utime(store.folder / place, (time.time() - 3600,) * 2)
    (store.folder / ".young.tmp").write_text("half")
    store.clear_leftovers()
    assert not any((store.folder / place).exists() for place in places)
    assert (store.folder / ".young.tmp").exists()
    assert store.get(CELL) == a_record(CELL)


def test_a_store_that_cannot_be_a_folder_is_refused_at_once(store, tmp_path):
    store.require_writable()
    assert not list(store.folder.glob(".*"))
    (tmp_path / "file").write_text("")
    with pytest.raises(
        StoreError, match=r"^execution.results=.*file: cannot be written \(a part of the path"
    ):
        Store(tmp_path / "file" / "store").require_writable()


def test_the_frame_has_a_row_for_every_cell_in_the_order_asked_for(store):
    cells = [a_cell(2), OTHER, a_cell(3)]
    frame = cells_frame(cells, store.get_all(cells))
    assert tuple(frame.columns) == COLUMNS
    assert list(frame["split"]) == [2, 1, 3]
    assert list(frame["status"]) == ["missing", "ok", "missing"]
    assert frame.loc[1, "error"] == 0.225 and frame.loc[1, "seconds"] == 0.25
    assert frame.loc[1, "chosen"] == '{"gamma": 0.01}'
    assert frame["error"].isna().sum() == 2
