"""Imports: what they load and need, also where a system has no ``fcntl``, as Windows has none."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import mloml

# What ``docs/start.md`` says to install for the learners alone.
LEARNERS_NEED = ("numpy", "scipy", "scikit-learn", "numba")


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
from mloml.learners.compiled import folder, ready
mloml.KISSME().fit([[0.0, 1.0], [1.0, 0.0], [0.5, 1.0], [1.0, 0.5]], [0, 1, 0, 1])
ready("descent")
print(len([*folder().glob("*.ready")]))
modules = [module.name for module in walk_packages(mloml.__path__, "mloml.")]
for name in {*modules} - {"mloml.__main__"}:
    import_module(name)
print(len(modules))
"""
    # Without fcntl a lock is a file that exists: one that another process left behind would be waited for.
    compiled, modules = run(code, NUMBA_CACHE_DIR=str(tmp_path))
    assert int(compiled) == 1 and int(modules) > 80


@pytest.mark.slow
def test_learners_need_four_packages_and_what_these_need():
    code = f"""
import re, sys
from importlib.metadata import packages_distributions, requires

needed, waiting = set(), list({LEARNERS_NEED})
while waiting:
    needed.add(name := waiting.pop())
    rules = (rule for rule in requires(name) or [] if "extra ==" not in rule)
    waiting += {{re.match(r"[A-Za-z0-9._-]+", rule)[0] for rule in rules}} - needed
others = {{top for top, names in packages_distributions().items() if not needed & set(names)}} - {{"mloml"}}


class Blocked:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in others:
            raise ModuleNotFoundError(name)


sys.meta_path.insert(0, Blocked)
import mloml
from sklearn.datasets import load_iris

X, y = load_iris(return_X_y=True)
for name in set(mloml.__all__) - {{"stack"}}:
    getattr(mloml, name)().fit(X[::5], y[::5])
    print(name)
assert {{"pandas", "hydra", "omegaconf", "filelock", "rich", "matplotlib", "jinja2", "pooch"}} <= others
"""
    assert {"MOML", "MLOML", "LMNN"} <= set(run(code))


def test_learners_import_these_packages_only():
    allowed = {*sys.stdlib_module_names, "numpy", "scipy", "sklearn", "numba", "mloml"}
    allowed |= {"threadpoolctl"}  # scikit-learn's own
    for path in Path(mloml.__file__).parent.glob("learners/*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [name.name for name in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and not node.level else []
            found = {name.partition(".")[0] for name in names} - allowed
            assert found <= ({"filelock"} if path.name == "compiled.py" else set()), path.name  # optional
