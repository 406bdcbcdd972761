"""Compiled code is kept on disk, and forgotten when anything it was made of changes."""

import subprocess
import sys

import numpy as np
import pytest

import mloml
import mloml.kernels.opml
from mloml.kernels import compiled

LEARNERS = ("LEGO", "OASIS", "OPML", "RDML", "SLMOML")
X = np.random.default_rng(0).normal(size=(12, 3))
Y = np.arange(12) % 2

COUNT_COMPILATIONS = f"""
from numba.core import event
import numpy as np
import mloml
compiled = []
class Listener(event.Listener):
    def on_start(self, e): compiled.append(e.data["dispatcher"])
    def on_end(self, e): pass
X = np.random.default_rng(0).normal(size=(12, 3))
with event.install_listener("numba:compile", Listener()):
    for name in {LEARNERS}:
        getattr(mloml, name)(scans=1).fit(X, np.arange(12) % 2)
print(len(compiled))
"""


@pytest.mark.slow
def test_a_second_process_compiles_nothing():
    for name in LEARNERS:  # now everything is on disk
        getattr(mloml, name)(scans=1).fit(X, Y)
    second = [sys.executable, "-c", COUNT_COMPILATIONS]
    assert int(subprocess.run(second, capture_output=True, text=True, check=True).stdout) == 0


def test_stamp_covers_the_files_that_a_kernel_imports(tmp_path, monkeypatch):
    monkeypatch.setattr(compiled, "__file__", str(tmp_path / "compiled.py"))
    helper = tmp_path / "helper.py"
    helper.write_text("a = 1")
    user = tmp_path / "user.py"
    user.write_text("from mloml.kernels.helper import a")
    before = compiled.source_stamp.__wrapped__(user)
    helper.write_text("a = 2")
    assert compiled.source_stamp.__wrapped__(user) != before


def test_numba_keeps_the_stamp_given_to_it():
    stamp = mloml.kernels.opml.opml_scan._cache._cache_file._source_stamp
    assert stamp == compiled.source_stamp(compiled.Path(mloml.kernels.opml.__file__))


def test_not_a_number_is_seen():
    @compiled.kernel
    def finite(x):
        return np.isfinite(x)

    assert not finite(np.nan)
    assert not finite(np.inf)
