"""Claims: one holder at a time, and a memory for deaths."""

import os
import subprocess
import sys

import pytest

from mloml.errors import StoreError
from mloml.experiments.claims import STARTED, TIMEOUT, claim, is_held, verdict

HOLDER = (
    "import sys, time; from pathlib import Path; from mloml.experiments.claims import STARTED, claim\n"
    "with claim(Path(sys.argv[1]), sys.argv[2]) as held:\n"
    "    held.note(STARTED); print('held', flush=True); time.sleep(3600)"
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "claims" / "cell"


def die_holding(path, run):
    """Let another process claim a cell and be killed with it; return what was seen meanwhile."""
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(path), run], stdout=subprocess.PIPE)
    assert holder.stdout.readline() == b"held\n"
    with claim(path, "another run") as held:
        refused = held is None
    seen = refused, is_held(path)
    holder.kill()
    holder.communicate()
    return seen


def test_nobody_else_gets_a_claim_until_its_holder_dies(path):
    assert die_holding(path, "run") == (True, True)
    assert not is_held(path)
    with claim(path, "run") as held:
        assert held is not None


def test_two_deaths_are_enough(path):
    die_holding(path, "run")
    assert verdict(path, "run") is None
    die_holding(path, "run")
    assert verdict(path, "run") == "killed"


def test_deaths_in_another_run_do_not_count(path):
    die_holding(path, "yesterday")
    die_holding(path, "yesterday")
    assert verdict(path, "today") is None
    with claim(path, "today") as held:
        held.note(STARTED)
    assert verdict(path, "today") is None


def test_a_time_limit_is_final(path):
    with claim(path, "run") as held:
        held.note(STARTED)
        held.note(TIMEOUT)
    assert verdict(path, "run") == "timeout"


def test_a_removed_claim_leaves_no_trace(path):
    with claim(path, "run") as held:
        held.note(STARTED)
        held.remove()
    assert not path.exists()
    assert verdict(path, "run") is None
    assert not is_held(path)


def test_a_claim_cannot_be_had_twice_in_one_process_either(path):
    with claim(path, "run") as first, claim(path, "run") as second:
        assert first is not None
        assert second is None


def test_a_folder_that_cannot_be_written_is_an_error_of_the_store(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be written"), claim(tmp_path / "file" / "cell", "run"):
        pass


@pytest.mark.parametrize("kind", ["symbolic", "hard"])
def test_a_claim_does_not_follow_links(tmp_path, kind):
    mine = tmp_path / "mine.txt"
    mine.write_text("mine")
    path = tmp_path / "cell"
    path.symlink_to(mine) if kind == "symbolic" else path.hardlink_to(mine)
    for look in (lambda: claim(path, "run").__enter__(), lambda: is_held(path), lambda: verdict(path, "run")):
        with pytest.raises(StoreError, match=r"cell: is a link .* where a claim should be; remove it"):
            look()
    assert mine.read_text() == "mine"


def test_a_pipe_in_the_place_of_a_claim_is_no_claim(tmp_path):
    os.mkfifo(tmp_path / "cell")
    with pytest.raises(StoreError, match="no plain file"), claim(tmp_path / "cell", "run"):
        pass
