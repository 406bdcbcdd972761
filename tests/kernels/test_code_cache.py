"""Kept code gives the numbers of code compiled at once, whatever happened to the files or to their makers."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import mloml
from mloml.kernels import code_cache
from mloml.kernels.compiled import compiled

CHILD = Path(__file__).with_name("cold_start.py")
ALL = ("map", "project")


def start(cache, *names, **variables):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)} | variables
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([sys.executable, str(CHILD), *names], env=environment, text=True, **pipes)


def finish(process):
    out, err = process.communicate(timeout=800)
    assert process.returncode == 0, err
    return out.splitlines(), err


def files_in(cache):
    return [path for path in cache.rglob("*") if path.is_file()]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """What an undisturbed cold start prints, and the cache that it leaves."""
    cache = tmp_path_factory.mktemp("undisturbed")
    lines, _ = finish(start(cache, *ALL))
    return lines, cache


@pytest.fixture
def cache(undisturbed, tmp_path):
    """A copy of the undisturbed cache."""
    return Path(shutil.copytree(undisturbed[1], tmp_path / "cache"))


LEARN = """
import hashlib, sys
import numpy as np
from sklearn.datasets import load_iris
import mloml
X, y = load_iris(return_X_y=True)
X = X / np.linalg.norm(X, axis=1, keepdims=True)
for name in sys.argv[1:]:
    learner = getattr(mloml, name)(0.1, scans=2, random_state=0).fit(X, y)
    print(name, hashlib.sha256(learner.components_.round(9).tobytes()).hexdigest(), learner.n_cone_failures_)
"""


def learn(cache, *names):
    """Fit learners in a process of their own, by public names only: the same lines run on any commit."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", LEARN, *names], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def of_the_old_maps(path):
    """Whether a file is of those that, kept alone, gave 612 cone failures when every kernel had files."""
    gone = tuple(f".{number}.nbc" for number in (3, 4, 5, 6))
    return path.name.startswith("sweeps._make_map") and not path.name.endswith(gone)


@pytest.mark.slow
def test_any_part_of_the_cache_may_be_missing(tmp_path):
    whole = tmp_path / "whole"
    expected = learn(whole, "MOML", "OPML")
    families = [path for path in files_in(whole) if path.suffix == ".kernels"]
    large = max(path.stat().st_size for path in files_in(whole))
    kinds = {
        "the old maps": of_the_old_maps,
        "the largest": lambda path: path.stat().st_size == large,
        "all but the largest": lambda path: path.stat().st_size < large,
    }
    for name, is_kept in kinds.items():
        cache = Path(shutil.copytree(whole, tmp_path / name))
        for path in [path for path in files_in(cache) if not is_kept(path)]:
            path.unlink()
        assert learn(cache, "MOML", "OPML") == expected, name
    assert len(families) > 3


@pytest.mark.slow
def test_what_is_kept_and_what_is_compiled_now_go_together(undisturbed, tmp_path):
    finish(start(tmp_path, "project"))
    assert sorted(finish(start(tmp_path, *ALL))[0]) == sorted(undisturbed[0])


@pytest.mark.slow
@pytest.mark.parametrize(("word", "moments"), [("SIGKILL", (3, 5, 4, 3)), ("SIGINT", (3, 5))])
def test_a_cold_start_that_ends_early_again_and_again_leaves_no_trace(undisturbed, tmp_path, word, moments):
    for moment in moments:
        process = start(tmp_path, "map", DIE_AT=str(moment), SIGNAL=word)
        process.communicate(timeout=800)
        assert process.returncode in (-getattr(signal, word), 1)
    assert finish(start(tmp_path, "map"))[0] == undisturbed[0][:1]


@pytest.mark.slow
def test_of_two_processes_at_once_one_compiles_and_the_other_waits(undisturbed, tmp_path):
    pair = [finish(process) for process in [start(tmp_path, "map"), start(tmp_path, "map")]]
    assert [lines for lines, _ in pair] == [undisturbed[0][:1]] * 2
    assert sum("compiling, once on this machine" in err for _, err in pair) == 1
    assert sum("waiting for another process" in err for _, err in pair) <= 1


@pytest.mark.slow
def test_a_changed_byte_anywhere_is_seen_before_anything_is_loaded(undisturbed, cache):
    (path,) = (path for path in files_in(cache) if path.suffix == ".kernels")
    whole = path.read_bytes()
    for place in [*range(100), *range(100, len(whole), 997), len(whole) - 1]:
        with pytest.raises(code_cache.Damaged):
            code_cache.unpack(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
    for cut in (0, 50, len(whole) - 1):
        with pytest.raises(code_cache.Damaged):
            code_cache.unpack(whole[:cut])

    path.write_bytes(whole[:-9] + bytes([whole[-9] ^ 128]) + whole[-8:])
    lines, err = finish(start(cache, "map"))
    assert "its checksum differs, so it is compiled anew" in err
    assert lines == undisturbed[0][:1]
    assert "compil" not in finish(start(cache, "map"))[1]


@pytest.mark.slow
def test_where_nothing_can_be_written_it_is_compiled_in_memory_and_said_once(undisturbed, tmp_path):
    package = shutil.copytree(
        Path(mloml.__file__).parent, tmp_path / "mloml", ignore=shutil.ignore_patterns("__pycache__")
    )
    (Path(package) / "kernels" / "__pycache__").touch()  # a file where a folder would be needed
    nowhere = {"HOME": os.devnull, "XDG_CACHE_HOME": os.devnull, "PYTHONPATH": str(tmp_path)}
    lines, err = finish(start("", "map", "project", PYTHONDONTWRITEBYTECODE="1", **nowhere))
    assert lines == undisturbed[0][:2]
    assert err.count("the compiled code is not kept") == 1


def test_a_file_of_other_source_or_another_processor_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setattr(code_cache, "places", lambda: [tmp_path])
    monkeypatch.setattr(code_cache, "writable_place", lambda: tmp_path)
    family = code_cache.Family(code_cache.PACKAGE / "kernels" / "opml.py")
    family.keep("f", b"code", ("here",))
    family.keep("g", b"more", ("here",))
    assert (family.find("f", ("here",)), family.find("g", ("here",))) == (b"code", b"more")
    assert family.find("f", ("elsewhere",)) is None
    family.stamp = "edited"
    assert family.find("f", ("here",)) is None
    family.keep("f", b"new", ("here",))
    assert family.find("f", ("here",)) == b"new"
    assert len(files_in(tmp_path)) == 1


def test_without_locks_nothing_is_kept(tmp_path, monkeypatch, capsys):
    def refuse(*_):
        raise OSError(code_cache.errno.ENOLCK, "no locks available")

    monkeypatch.setattr(code_cache, "writable_place", lambda: tmp_path)
    monkeypatch.setattr(code_cache.fcntl, "flock", refuse)
    family = code_cache.Family(code_cache.PACKAGE / "kernels" / "opml.py")
    with family.lock(("here",)) as may_keep:
        assert not may_keep
    assert "file system without locks" in capsys.readouterr().err


def test_two_kernels_of_one_name_are_refused():
    def make(number):
        def shifted(x):
            return x + number

        return compiled(shifted)

    assert make(1)(1.0) == 2.0
    with pytest.raises(ValueError, match=r"two kernels are called .*shifted: give each a __qualname__"):
        make(2)
