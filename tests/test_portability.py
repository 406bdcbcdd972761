"""Imports: what they load, and that they work where a system has no ``fcntl``, as Windows has none."""

import os
import subprocess
import sys

import pytest


def run(code, **variables):
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | variables, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_importing_the_package_loads_no_compiler():
    code = "import sys, mloml, mloml.learners; print('numba' in sys.modules, 'sklearn' in sys.modules)"
    assert run(code) == ["False", "False"]


@pytest.mark.slow
def test_everything_is_imported_and_fitted_without_fcntl(tmp_path):
    code = """
import sys
sys.modules["fcntl"] = None
from importlib import import_module
from pkgutil import walk_packages
import mloml
learner = mloml.LMDML(random_state=0).fit([[0.0, 1.0], [1.0, 0.0], [0.5, 1.0], [1.0, 0.5]], [0, 1, 0, 1])
print(learner.n_steps_)
modules = [module.name for module in walk_packages(mloml.__path__, "mloml.")]
for name in {*modules} - {"mloml.__main__"}:
    import_module(name)
print(len(modules))
"""
    # Without fcntl a lock is a file that exists: one that another process left behind would be waited for.
    steps, modules = run(code, NUMBA_CACHE_DIR=str(tmp_path))
    assert int(steps) > 0 and int(modules) > 80
