from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mloml
from mloml.errors import ConfigError
from mloml.experiments.code_graph import Code, normalised
from mloml.experiments.fingerprint import (
    code_modules,
    fingerprint,
    fingerprint_of,
    modules_behind,
)
from mloml.experiments.loaded_code import read_sources

PACKAGE = Path(mloml.__file__).parent


@pytest.fixture
def package(tmp_path):
    """A copy of the package's sources, to be changed at will."""
    copy = tmp_path / "mloml"
    shutil.copytree(
        PACKAGE, copy, ignore=lambda folder, names: [n for n in names if n in ("__pycache__", "files")]
    )
    return copy


def code_in(package):
    return Code({path: file.content for path, file in read_sources(package).items()})


def mark(package, learner="KISSME"):
    return fingerprint_of(learner, code_in(package))


@pytest.mark.parametrize(
    "module",
    [
        "evaluation/cell.py",
        "evaluation/selection.py",
        "evaluation/knn.py",
        "evaluation/splits.py",
        "evaluation/preprocessing.py",
        "learners/neighbours.py",
        "learners/base.py",
        "learners/kissme.py",
    ],
)
def test_a_change_in_code_that_computes_cells_changes_the_fingerprint(package, module):
    before = mark(package)
    with (package / module).open("a") as file:
        file.write("\nchanged = True\n")
    assert mark(package) != before


@pytest.mark.parametrize(
    "module",
    ["learners/euclidean.py", "learners/__init__.py", "cli.py", "config/compose.py", "datasets/catalogue.py"],
)
def test_a_change_elsewhere_does_not(package, module):
    before = mark(package)
    with (package / module).open("a") as file:
        file.write("\nchanged = True\n")
    assert mark(package) == before


def test_comments_docstrings_and_formatting_do_not_count(package):
    before = mark(package)
    path = package / "evaluation/knn.py"
    source = path.read_text().replace('"""The paper\'s classifier', '"""Our classifier')
    path.write_text("# a comment\n" + source.replace("(k: int)", "( k : int )"))
    assert mark(package) == before


def test_imports_inside_functions_relative_imports_and_names_of_packages_are_followed(package):
    (package / "datasets" / "extra.py").write_text("def bonus(): return 1\n")
    (package / "learners" / "special.py").write_text("class Special: pass\n")
    (package / "learners" / "toy.py").write_text(
        "from typing import TYPE_CHECKING\n"
        "from . import kissme\n"
        "if TYPE_CHECKING:\n    from mloml.learners.euclidean import Euclidean\n"
        "class Toy:\n"
        "    def fit(self):\n"
        "        from mloml.learners import Special\n"
        "        import mloml.datasets.extra\n"
    )
    modules = code_modules("Toy", code_in(package))
    expected = {
        "mloml.learners.toy",
        "mloml.learners.kissme",
        "mloml.learners.special",
        "mloml.datasets.extra",
    }
    assert expected <= set(modules)
    assert "mloml.learners.euclidean" not in modules


def test_the_fingerprint_is_that_of_the_installed_sources():
    assert fingerprint("KISSME") == mark(PACKAGE)
    assert fingerprint("KISSME") != fingerprint("Euclidean")


@pytest.mark.parametrize("learner", ["KISSME", "OPML"])
def test_every_module_of_the_package_that_is_loaded_is_covered(learner):
    script = (
        "import sys, mloml.experiments.cell as cell\n"
        f"cell.learner_class({learner!r})\n"
        "files = {n: m.__file__ or '' for n, m in sys.modules.items() if n.startswith('mloml.')}\n"
        "print(*(n for n, file in files.items() if not file.endswith('__init__.py')))\n"
    )
    loaded = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert set(loaded.stdout.split()) <= set(modules_behind(learner))


def test_an_unknown_learner_is_refused():
    with pytest.raises(ConfigError, match="'Euclid' is not defined"):
        fingerprint("Euclid")


def test_a_body_of_only_a_docstring_stays_valid_code():
    compile(normalised('class A:\n    "Doc."\n'), "toy", "exec")


SCRIPT = """
import sys, mloml
from pathlib import Path
from mloml.errors import CodeChangedError
package = Path(mloml.__file__).parent
assert str(package) == sys.argv[1], package
{edit}
from mloml.experiments.fingerprint import fingerprint, require_current_code
print(fingerprint("KISSME"))
try:
    require_current_code(["KISSME", "Euclidean"])
except CodeChangedError as error:
    print(error)
"""

EDITS = {
    "none": ("pass", ""),
    "touched": ("(package / 'evaluation' / 'preprocessing.py').touch()", ""),
    "comment": ("(package / 'evaluation' / 'preprocessing.py').open('a').write('# why not')", ""),
    "elsewhere": ("(package / 'cli.py').open('a').write('CHANGED = True')", ""),
    "another learner": ("(package / 'learners' / 'lmnn.py').open('a').write('CHANGED = True')", ""),
    "code": (
        "(package / 'evaluation' / 'preprocessing.py').open('a').write('CHANGED = True')",
        "mloml.experiments.preprocessing",
    ),
    "no code any more": (
        "(package / 'evaluation' / 'preprocessing.py').open('a').write('def (')",
        "mloml.experiments.preprocessing",
    ),
    "deleted": ("(package / 'evaluation' / 'splits.py').unlink()", "mloml.experiments.splits"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_a_process_knows_what_it_imported_and_refuses_when_the_disk_has_other_code(package, edit):
    action, named = EDITS[edit]
    before = mark(package)
    script = [sys.executable, "-c", SCRIPT.format(edit=action), str(package)]
    environment = os.environ | {"PYTHONPATH": str(package.parent)}
    done = subprocess.run(script, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    imported, *refusal = done.stdout.splitlines()
    assert imported == before  # that of the import, though asked for after the edit
    if named:
        assert refusal == [
            f"the code of {named} was changed after this process imported it: restart it "
            "(the program, the notebook's kernel, the dask workers), so that nothing is mixed"
        ]
    else:
        assert not refusal


def test_everything_behind_a_learner_is_imported_before_a_worker_computes(package):
    script = (
        "import sys; from mloml.experiments.fingerprint import import_all, modules_behind\n"
        "import_all('OPML')\n"
        "before = set(sys.modules); from mloml.experiments.lookup import learner_class\n"
        "learner_class('OPML')\n"
        "late = {n for n in set(sys.modules) - before if n.startswith('mloml.')}\n"
        "assert not late, late; assert set(modules_behind('OPML')) <= before\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
