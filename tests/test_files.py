"""Half-written files of killed processes go, those of living ones stay."""

import os
import signal
import subprocess
import sys

import pytest

from mloml.files import SURELY_WRITTEN, clear, create
from mloml.experiments.store import Store, write_atomically

WRITER = (
    "import sys, time; from pathlib import Path; from mloml.files import create\n"
    "file = create(Path(sys.argv[1])); file.write(b'half'); file.flush()\n"
    "print('writing', flush=True); time.sleep(3600)"
)


def start_writer(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"writing\n"
    os.utime(path, (0, 0))
    return process


def kill(process):
    process.send_signal(signal.SIGKILL)
    process.communicate()


@pytest.mark.parametrize("place", [".cell.tmp", "iris/moml/.0-abc.json-12.tmp", ".probe-1"])
def test_a_store_is_rid_of_what_a_killed_writer_left(tmp_path, place):
    writer = start_writer(tmp_path / place)
    Store(tmp_path).clear_leftovers()
    assert (tmp_path / place).exists(), "its writer lives"
    kill(writer)
    Store(tmp_path).clear_leftovers()
    assert not (tmp_path / place).exists()


def test_a_file_of_a_moment_ago_is_left_alone(tmp_path):
    path = tmp_path / ".new.tmp"
    path.write_text("half")
    assert clear(tmp_path, ".*.tmp") == []
    os.utime(path, (path.stat().st_mtime - 2 * SURELY_WRITTEN,) * 2)
    assert clear(tmp_path, ".*.tmp") == [path]


def test_links_and_whole_files_are_left_alone(tmp_path):
    write_atomically(tmp_path / "whole.json", "{}")
    (tmp_path / ".link.tmp").symlink_to(tmp_path / "whole.json")
    os.utime(tmp_path / "whole.json", (0, 0))
    assert clear(tmp_path, ".*.tmp") == []
    assert (tmp_path / "whole.json").read_text() == "{}"


def test_a_file_that_was_cleared_before_it_could_be_held_is_made_again(tmp_path, monkeypatch):
    import fcntl

    path, lock, seen = tmp_path / ".x.tmp", fcntl.flock, []

    def late(file, how):
        if not seen:
            path.unlink()
        seen.append(how)
        lock(file, how)

    monkeypatch.setattr("mloml.files.fcntl.flock", late)
    with create(path) as file:
        file.write(b"whole")
    assert path.read_bytes() == b"whole"
    assert len(seen) == 2
