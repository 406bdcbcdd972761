"""The store: a cell is whole or absent, whatever happens to the process, the file or the disk."""

import errno
import os
import resource
import signal
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mloml.config.schema import Algorithm, ProtocolConfig
from mloml.errors import StoreError
from mloml.experiments.cell import Cell
from mloml.experiments.store import COLUMNS, Store, write_atomically


def a_cell(split=0, **protocol):
    algorithm = Algorithm("euclidean", "Euclidean", "Euclidean")
    return Cell("iris", "c" * 64, algorithm, ProtocolConfig(**protocol), split)


def a_record(cell, error=0.1 + 0.2):
    return {
        "dataset": cell.dataset,
        "algorithm": cell.algorithm.name,
        "protocol": cell.protocol.name,
        "split": cell.split,
        "key": cell.key,
        "error": error,
        "chosen": {"gamma": 1e-2},
        "seconds": {"total": 0.25},
    }


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


def test_a_cell_comes_back_as_it_was_stored(store):
    cell = a_cell(split=7)
    assert store.get(cell) is None
    path = store.put(cell, a_record(cell))
    assert path == store.folder / "iris" / "euclidean" / f"7-{cell.key[:16]}.json"
    assert store.get(cell) == a_record(cell)
    assert not store.damaged


def test_another_protocol_is_another_cell(store):
    store.put(a_cell(), a_record(a_cell()))
    assert store.get(a_cell(scans=5)) is None
    (new, siblings), (stored, none) = store.siblings([a_cell(scans=5), a_cell()])
    assert (new, [record["key"] for record in siblings]) == (a_cell(scans=5), [a_cell().key])
    assert (stored, none) == (a_cell(), [])


@given(share=st.floats(0, 1, exclude_max=True))
def test_a_truncated_cell_counts_as_absent(tmp_path_factory, share):
    store = Store(tmp_path_factory.mktemp("store"))
    path = store.put(a_cell(), a_record(a_cell()))
    whole = path.read_bytes().rstrip()
    path.write_bytes(whole[: int(share * len(whole))])
    assert store.get(a_cell()) is None
    assert list(store.damaged) == [path]


@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_a_flipped_bit_never_changes_a_result(tmp_path_factory, place, bit):
    store = Store(tmp_path_factory.mktemp("store"))
    path = store.put(a_cell(), a_record(a_cell()))
    content = bytearray(path.read_bytes())
    content[int(place * len(content))] ^= 1 << bit
    path.write_bytes(content)
    assert store.get(a_cell()) in (None, a_record(a_cell()))  # the same: white space was hit


def test_a_damaged_cell_is_replaced_by_the_next_result(store):
    path = store.put(a_cell(), a_record(a_cell()))
    path.write_text("no JSON")
    assert store.get(a_cell()) is None
    store.put(a_cell(), a_record(a_cell()))
    assert store.get(a_cell()) == a_record(a_cell())


def test_a_full_disk_is_one_line_and_keeps_the_old_content(tmp_path, monkeypatch):
    path = tmp_path / "note.txt"
    write_atomically(path, "old")

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match=r"note.txt: cannot be written .the disk is full.") as caught:
        write_atomically(path, "new")
    assert "\n" not in str(caught.value)
    assert path.read_text() == "old"
    assert [found.name for found in tmp_path.iterdir()] == ["note.txt"]


def test_a_write_that_the_kernel_cuts_short_leaves_no_part(tmp_path):
    path = tmp_path / "note.txt"
    write_atomically(path, "old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(StoreError, match="the file size limit is reached"):
            write_atomically(path, "x" * 5000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_text() == "old"
    assert [found.name for found in tmp_path.iterdir()] == ["note.txt"]


def test_a_store_that_cannot_be_a_folder_is_refused_at_once(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="a part of the path is a file"):
        Store(tmp_path / "file" / "store").require_writable()


def test_a_writer_killed_at_any_moment_leaves_old_or_new(tmp_path):
    path = tmp_path / "note.txt"
    contents = {letter * 100_000 for letter in "ab"}
    write_atomically(path, "a" * 100_000)
    code = (
        "import sys, itertools; from pathlib import Path; from mloml.experiments.store import write_atomically\n"
        "for letter in itertools.cycle('ab'): write_atomically(Path(sys.argv[1]), letter * 100_000)"
    )
    for pause in (0.0, 0.005, 0.02, 0.05, 0.1):
        before = path.stat().st_mtime_ns
        writer = subprocess.Popen([sys.executable, "-c", code, str(path)])
        while path.stat().st_mtime_ns == before:
            assert path.read_text() in contents
        time.sleep(pause)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        assert path.read_text() in contents


def test_what_a_killed_writer_left_beside_a_cell_is_removed_with_its_claim(store):
    path = store.put(a_cell(), a_record(a_cell()))
    leftover = path.parent / f".{path.name}-0123abcd.tmp"
    leftover.write_text("half a ce")
    store.discard_debris(a_cell())
    assert not leftover.exists()
    assert path.exists()


def test_the_frame_has_a_row_for_every_cell_in_the_order_asked_for(store):
    cells = [a_cell(split) for split in (2, 0, 1)]
    store.put(cells[1], a_record(cells[1], error=0.5))
    frame = store.frame(cells)
    assert tuple(frame.columns) == COLUMNS
    assert list(frame["split"]) == [2, 0, 1]
    assert list(frame["status"]) == ["missing", "ok", "missing"]
    assert frame.loc[1, "error"] == 0.5
    assert frame.loc[1, "chosen"] == '{"gamma": 0.01}'
    assert frame["error"].isna().sum() == 2
