"""Compiled code on disk: whatever happens to the files or to their makers, the numbers are the same."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import mloml

PACKAGE = Path(mloml.__file__).parent
LEARN = """
import hashlib, sys
import numpy as np
from sklearn.datasets import load_iris
import mloml
X, y = load_iris(return_X_y=True)
X = X / np.linalg.norm(X, axis=1, keepdims=True)
for name in sys.argv[1:]:
    learner = getattr(mloml, name)(0.1, scans=2, random_state=0).fit(X, y)
    print(name, hashlib.sha256(learner.components_.round(9).tobytes()).hexdigest(), learner.n_updates_)
"""
COMPILING = "compiling, once on this machine"


def start(cache, *names, **variables):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache), "PYTHONDONTWRITEBYTECODE": "1"} | variables
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-c", LEARN, *names], env=environment, text=True, **pipes)


def finish(process):
    out, err = process.communicate(timeout=800)
    assert process.returncode == 0, err
    return out, err


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """What an undisturbed cold start prints, the cache that it leaves, and how long it took."""
    cache, begun = tmp_path_factory.mktemp("undisturbed"), time.monotonic()
    out, err = finish(start(cache, "SLMOML"))
    assert err.count(COMPILING) == 1
    return out, cache, time.monotonic() - begun


def test_a_second_start_compiles_nothing(undisturbed):
    out, err = finish(start(undisturbed[1], "SLMOML"))
    assert out == undisturbed[0]
    assert COMPILING not in err


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["no data", "no index", "half an index", "half the data", "all but one"])
def test_files_that_are_missing_or_damaged_are_compiled_again(undisturbed, tmp_path, damage):
    cache = Path(shutil.copytree(undisturbed[1], tmp_path / "cache"))
    data, index = sorted(cache.rglob("*.nbc")), sorted(cache.rglob("*.nbi"))
    assert len(data) == len(index) >= 3
    if damage.startswith("half"):
        for path in index if "index" in damage else data:
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    else:
        gone = {"no data": data, "no index": index, "all but one": [*data, *index][1:]}[damage]
        for path in gone:
            path.unlink()
    assert finish(start(cache, "SLMOML"))[0] == undisturbed[0]
    assert finish(start(cache, "SLMOML"))[0] == undisturbed[0]


@pytest.mark.slow
def test_cold_starts_that_are_killed_leave_nothing_wrong(undisturbed, tmp_path):
    for share in (0.9, 0.6, 0.75, 0.5):
        process = start(tmp_path, "SLMOML")
        time.sleep(share * undisturbed[2])
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=100)
    assert finish(start(tmp_path, "SLMOML"))[0] == undisturbed[0]


@pytest.mark.slow
def test_of_four_processes_at_once_one_compiles_and_the_others_wait(undisturbed, tmp_path):
    ended = [finish(process) for process in [start(tmp_path, "SLMOML") for _ in range(4)]]
    assert {out for out, _ in ended} == {undisturbed[0]}
    assert sum(COMPILING in err for _, err in ended) == 1


@pytest.mark.slow
def test_where_nothing_can_be_written_it_is_said_once(undisturbed):
    out, err = finish(start("", "SLMOML", HOME=os.devnull, XDG_CACHE_HOME=os.devnull))
    assert out == undisturbed[0]
    assert err.count("cannot be written: every start compiles anew") == 1


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the package that may be edited."""
    place = tmp_path_factory.mktemp("copy")
    shutil.copytree(PACKAGE, place / "mloml", ignore=shutil.ignore_patterns("__pycache__"))
    return place


@pytest.mark.slow
def test_an_edit_in_another_file_is_noticed_and_found_wrong(undisturbed, copy, tmp_path):
    where = {"PYTHONPATH": str(copy)}
    assert finish(start(tmp_path, "SLMOML", **where))[0] == undisturbed[0]
    shared = copy / "mloml" / "learners" / "linalg.py"
    whole = shared.read_text()
    broken = whole.replace("r += A[i, j] * D[t, 0, j]", "r += A[j, i] * D[t, 0, j] + 1e-4", 1)
    assert broken != whole
    shared.write_text(broken)
    process = start(tmp_path, "SLMOML", **where)
    _, err = process.communicate(timeout=800)
    assert process.returncode != 0
    assert "the compiled code of slmoml computes something else than its formulas" in err
    shared.write_text(whole)
    assert finish(start(tmp_path, "SLMOML", **where))[0] == undisturbed[0]


BLOCKED = """
import sys
for name in ("fcntl", "filelock", "platformdirs"):
    sys.modules[name] = None
"""


@pytest.mark.slow
def test_learners_work_where_fcntl_and_filelock_are_missing(undisturbed, tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED + LEARN, "SLMOML"], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == undisturbed[0]


@pytest.mark.slow
def test_the_contract_holds_without_a_compiler():
    contract = "not scikit_learn and not loads_no_compiler"
    tests = [f"tests/learners/test_contract{name}.py" for name in ("", "_online", "_one_row")]
    options = ["-q", "-x", "-p", "no:xdist", "-p", "no:cacheprovider", "-k", contract]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *tests],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        cwd=PACKAGE.parents[1],
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 500


def test_only_public_names_of_numba_are_used():
    private = re.compile(r"numba\.(core|misc|np|cpython|typed)|llvmlite|from numba import .*\b_")
    used = [path.name for path in PACKAGE.rglob("*.py") if private.search(path.read_text())]
    assert used == []
