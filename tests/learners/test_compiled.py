"""Compiled code on disk: whatever happens to the files or to their makers, the numbers are the same."""

import io
import multiprocessing
import os
import re
import shutil
import sys
import time
from contextlib import redirect_stderr
from importlib.util import find_spec
from pathlib import Path

import numba
import numpy as np
import pytest

# Nothing of mloml is imported here: processes that learn are forked from one that has imported the rest.
PACKAGE = Path(find_spec("mloml").origin).parent
COMPILING = "compiling, once on this machine"
processes = multiprocessing.get_context("forkserver" if sys.platform != "win32" else "spawn")
processes.set_forkserver_preload(["numba", "pandas", "sklearn.datasets", "sklearn.neighbors", "scipy.sparse"])


def compute(pipe, cache, algorithm="neighbours", path=None, variables=(), blocked=()):
    """In a process of its own: send the numbers of an algorithm's problem, or why not, and what was said."""
    os.environ.update({"XDG_CACHE_HOME": str(cache), **dict(variables)})
    os.environ.pop("NUMBA_CACHE_DIR", None)
    numba.config.CACHE_DIR = ""
    sys.modules.update(dict.fromkeys(blocked))
    sys.path[:0] = [path] if path else []
    with redirect_stderr(io.StringIO()) as said:
        from mloml.errors import KernelError
        from mloml.learners import check, compiled

        try:
            compiled.ready(algorithm)
            found = check.solve(algorithm)
        except KernelError as error:
            found = str(error)
    pipe.send((found, said.getvalue()))


def learn_everything(pipe=None):
    """Return what all learners learn; in a process of its own without a compiler, and the known answers."""
    numba.config.DISABLE_JIT = pipe is not None
    from tests.learners.contract import LEARNERS, STEP, X, Y, learned, make

    from mloml.learners.check import known, solve

    answers = {name: solve(name) if pipe else entry["answers"] for name, entry in known().items()}
    found = {f"answers of {name}": np.array(found) for name, found in answers.items()}
    for name in LEARNERS:
        learner = make(name).fit(X, Y)
        if name in STEP:
            learner.partial_fit(X, Y).learn_one(X[0], Y[0])
        found[name] = learned(learner)
    if pipe:
        pipe.send((found, ""))
    return found


def start(target, *arguments, **options):
    here, there = processes.Pipe(duplex=False)
    process = processes.Process(target=target, args=(there, *arguments), kwargs=options)
    process.start()
    there.close()
    return process, here


def finish(process, pipe):
    assert pipe.poll(600)
    found = pipe.recv()
    process.join()
    return found


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """What an undisturbed cold start learns, the cache that it leaves, and how long it took."""
    cache, begun = tmp_path_factory.mktemp("undisturbed"), time.monotonic()
    found, said = finish(*start(compute, cache))
    assert said.count(COMPILING) == 1
    return found, cache, time.monotonic() - begun


def test_a_second_start_compiles_nothing(undisturbed):
    assert finish(*start(compute, undisturbed[1])) == (undisturbed[0], "")


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["missing", "half an index", "half the data"])
def test_files_that_are_missing_or_damaged_are_compiled_again(undisturbed, tmp_path, damage):
    cache = Path(shutil.copytree(undisturbed[1], tmp_path / "cache"))
    data, index = sorted(cache.rglob("*.nbc")), sorted(cache.rglob("*.nbi"))
    assert len(data) == len(index) >= 3
    if damage == "missing":
        data[0].unlink()
        index[1].unlink()
    else:
        for path in index if "index" in damage else data:
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    for _ in range(2):
        assert finish(*start(compute, cache))[0] == undisturbed[0]


@pytest.mark.slow
def test_cold_starts_that_are_killed_leave_nothing_wrong(undisturbed, tmp_path):
    for share in (0.9, 0.6):
        process, _ = start(compute, tmp_path)
        time.sleep(share * undisturbed[2])
        process.kill()
        process.join()
    assert finish(*start(compute, tmp_path))[0] == undisturbed[0]


@pytest.mark.slow
def test_of_four_processes_at_once_one_compiles_and_the_others_wait(undisturbed, tmp_path):
    ended = [finish(*started) for started in [start(compute, tmp_path) for _ in range(4)]]
    assert [found for found, _ in ended] == 4 * [undisturbed[0]]
    assert sum(COMPILING in said for _, said in ended) == 1
    made, usual = ({path.name for path in cache.rglob("*.nb?")} for cache in (tmp_path, undisturbed[1]))
    assert made == usual


@pytest.mark.slow
def test_where_nothing_can_be_written_or_locked_they_work_too(undisturbed, tmp_path):
    nowhere = dict.fromkeys(("HOME", "USERPROFILE", "XDG_CACHE_HOME"), os.devnull)
    found, said = finish(
        *start(compute, "", variables=nowhere, blocked=("fcntl", "filelock", "platformdirs"))
    )
    assert found == undisturbed[0]
    assert said.count("cannot be written: every start compiles anew") == 1


@pytest.mark.slow
def test_an_edit_in_another_file_is_noticed_and_found_wrong(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "mloml", ignore=shutil.ignore_patterns("__pycache__"))
    shared, where = (
        tmp_path / "mloml" / "learners" / "linalg.py",
        (tmp_path / "cache", "slmoml", str(tmp_path)),
    )
    usual, _ = finish(*start(compute, *where))
    whole = shared.read_text()
    shared.write_text(whole.replace("r += A[i, j] * D[t, 0, j]", "r += A[j, i] * D[t, 0, j] + 1e-4", 1))
    assert shared.read_text() != whole
    found, _ = finish(*start(compute, *where))
    assert "computes something else than its formulas" in found
    shared.write_text(whole)
    assert finish(*start(compute, *where)) == (usual, "")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_without_a_compiler_every_learner_learns_the_same_and_the_answers_are_those_known():
    plain, _ = finish(*start(learn_everything))
    for name, matrix in learn_everything().items():
        np.testing.assert_allclose(plain[name], matrix, rtol=1e-6, atol=1e-8, err_msg=name)


def test_only_public_names_of_numba_are_used():
    private = re.compile(r"numba\.(core|misc|np|cpython|typed)|llvmlite|from numba import .*\b_")
    used = [path.name for path in PACKAGE.rglob("*.py") if private.search(path.read_text())]
    assert used == []
