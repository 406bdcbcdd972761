"""Files are whole or absent; half-written ones of killed processes go."""

import errno
import os
import resource
import signal
import stat
import subprocess
import sys
import time

import pytest

from mloml.errors import StoreError
from mloml.files import SURELY_LEFT, clear, write_atomically


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


def test_a_writer_killed_at_any_moment_leaves_old_or_new(tmp_path):
    path = tmp_path / "note.txt"
    contents = {letter * 100_000 for letter in "ab"}
    write_atomically(path, "a" * 100_000)
    code = (
        "import sys, itertools; from pathlib import Path; from mloml.files import write_atomically\n"
        "for letter in itertools.cycle('ab'): write_atomically(Path(sys.argv[1]), letter * 100_000)"
    )
    for pause in (0.0, 0.005, 0.02, 0.05):
        before = path.stat().st_mtime_ns
        writer = subprocess.Popen([sys.executable, "-c", code, str(path)])
        while path.stat().st_mtime_ns == before:
            assert path.read_text() in contents
        time.sleep(pause)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        assert path.read_text() in contents


def test_a_file_and_the_rename_of_it_survive_a_power_cut(tmp_path, monkeypatch):
    kinds, fsync = [], os.fsync
    monkeypatch.setattr(os, "fsync", lambda d: (kinds.append(stat.S_ISDIR(os.fstat(d).st_mode)), fsync(d)))
    write_atomically(tmp_path / "note.txt", "whole")
    assert kinds == [False, True]


def test_text_that_is_not_unicode_can_be_written_all_the_same(tmp_path):
    write_atomically(tmp_path / "note.txt", "a\udc80")
    assert (tmp_path / "note.txt").read_text() == "a\\udc80"


def test_only_old_half_written_files_are_cleared(tmp_path):
    old, young, link, whole = (
        tmp_path / name for name in (".old.tmp", ".new.tmp", ".link.tmp", "whole.json")
    )
    write_atomically(whole, "{}")
    link.symlink_to(whole)
    for path, age in ((old, 2.0), (young, 0.5), (whole, 2.0)):
        path.touch()
        os.utime(path, (time.time() - age * SURELY_LEFT,) * 2)
    clear(tmp_path, ".*.tmp")
    assert set(tmp_path.iterdir()) == {young, link, whole}
