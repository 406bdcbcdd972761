"""Compiled code is kept on disk, and forgotten when anything it was made of changes."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mloml
from mloml.kernels import code_cache, compiled

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


NAME_COMPILATIONS = """
from numba.core import event
import numpy as np
from mloml import MOML
class Listener(event.Listener):
    def on_start(self, e): print(e.data["dispatcher"].py_func.__name__)
    def on_end(self, e): pass
with event.install_listener("numba:compile", Listener()):
    MOML(scans=1).fit(np.random.default_rng(0).normal(size=(12, 3)), np.arange(12) % 2)
"""


@pytest.mark.slow
def test_the_first_fit_of_moml_compiles_no_other_algorithm(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    cold = [sys.executable, "-c", NAME_COMPILATIONS]
    done = subprocess.run(cold, env=environment, capture_output=True, text=True, check=True)
    names = set(done.stdout.split())
    assert {"fp_scan", "frame_step", "_map_2_3"} <= names
    assert not names & {"opml_layer", "learn_at_once", "_map_3_3", "_map_3_2", "_project_3", "backward"}


def test_stamp_covers_the_files_that_a_kernel_imports(tmp_path, monkeypatch):
    monkeypatch.setattr(code_cache, "PACKAGE", tmp_path)
    monkeypatch.setattr(code_cache, "_content", Path.read_bytes)
    monkeypatch.setattr(code_cache, "_imported_kernels", code_cache._imported_kernels.__wrapped__)
    (tmp_path / "kernels").mkdir()
    helper = tmp_path / "kernels" / "helper.py"
    helper.write_text("a = 1")
    user = tmp_path / "user.py"
    for line in ("from mloml.kernels.helper import a", "from mloml.kernels import (\n    helper,\n)"):
        user.write_text(line)
        before = code_cache.source_stamp.__wrapped__(user)
        helper.write_text(helper.read_text() + "0")
        assert code_cache.source_stamp.__wrapped__(user) != before


def test_the_stamp_is_of_the_source_that_was_imported(tmp_path):
    source = tmp_path / "user.py"
    source.write_text("a = 1")
    before = code_cache.source_stamp(source)
    source.write_text("a = 2")
    assert code_cache.source_stamp(source) == before


def test_not_a_number_is_seen():
    @compiled.kernel
    def finite(x):
        return np.isfinite(x)

    assert not finite(np.nan)
    assert not finite(np.inf)


DIGESTS = """
import hashlib, sys
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import normalize, scale
import mloml
X, y = load_wine(return_X_y=True)
X, y = normalize(scale(np.repeat(X, 3, axis=0))), np.repeat(y, 3)
X += np.random.default_rng(0).normal(size=X.shape) * 0.05
binary = normalize(X > 0.2)  # as in spect: the objective of ML-CC has a kink wherever two distances are equal
for name in sys.argv[1:]:
    model = getattr(mloml, name)()
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    model.fit(binary if name == "MLCC" else X, y > 1 if name == "MLCC" else y)
    print(name, hashlib.sha256(np.ascontiguousarray(model.components_).tobytes()).hexdigest())
"""


@pytest.mark.slow
def test_code_compiled_now_and_code_kept_give_the_same_numbers_in_any_order(tmp_path, monkeypatch):
    names = ("LEGO", "OPML", "SLMOML", "LMNN", "LMDML", "MLCC")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "all"))

    def digests(*order):
        command = [sys.executable, "-c", DIGESTS, *order]
        return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines())

    compiled_now = digests(*names)
    assert len(compiled_now) == len(names)
    assert digests(*names) == compiled_now
    assert digests(*reversed(names)) == compiled_now
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "alone"))
    assert digests("MLCC") <= compiled_now  # numba had nothing that was compiled for the others
