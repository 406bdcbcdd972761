"""Locks: one holder at a time, freed by the system when it dies."""

import errno
import subprocess
import sys

import pytest

from mloml.errors import StoreError
from mloml.files import hold, is_abandoned, is_held, running

HOLDER = (
    "import sys, time; from pathlib import Path; from mloml.files import hold, running\n"
    "with {}(Path(sys.argv[1])) as ours: print(ours, flush=True); time.sleep(3600)"
)


def start_holder(function, path):
    command = [sys.executable, "-c", HOLDER.format(function), str(path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    return process, process.stdout.readline().strip()


def kill(process):
    process.kill()
    process.communicate()


def test_a_lock_has_one_holder_until_it_is_let_go_or_its_holder_dies(tmp_path):
    path = tmp_path / "deep" / "cell.lock"
    assert not is_held(path)
    with hold(path) as ours, hold(path) as again:
        assert (ours, again) == (True, False), "not twice in one process either"
        assert is_held(path)
    assert not path.exists(), "nothing is left of it"
    process, ours = start_holder("hold", path)
    assert ours == "True" and is_held(path)
    with hold(path) as mine:
        assert not mine
    kill(process)
    assert not is_held(path)
    with hold(path) as mine:
        assert mine


def test_a_folder_is_abandoned_when_all_that_worked_on_it_are_gone(tmp_path):
    assert is_abandoned(tmp_path)
    with running(tmp_path):
        process, _ = start_holder("running", tmp_path)
        assert not is_abandoned(tmp_path)
    assert not is_abandoned(tmp_path), "the other one goes on"
    kill(process)
    assert is_abandoned(tmp_path)
    assert not list(tmp_path.iterdir()), "nothing is left of them"


def test_without_support_for_locks_everybody_gets_them(tmp_path, monkeypatch):
    def no_locks(*_, **__):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("filelock.FileLock.acquire", no_locks)
    with hold(tmp_path / "cell.lock") as ours:
        assert ours


def test_a_lock_that_cannot_be_written_is_an_error_of_the_store(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="a part of the path is a file"), hold(tmp_path / "file" / "lock"):
        pass
    (tmp_path / "cell.lock").mkdir()
    with pytest.raises(StoreError, match=r"cell.lock: cannot be written"), hold(tmp_path / "cell.lock"):
        pass
