"""What counts of the code behind a learner's cells, and that a process whose code was edited refuses."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mloml
from mloml.config import conf_dir
from mloml.config.lookup import learner_class
from mloml.errors import CodeChangedError, ConfigError
from mloml.experiments import code as code_module
from mloml.experiments.code import code_behind, code_hash, require_current_code
from mloml.learners import find_learners

NCA = "sklearn.neighbors.NeighborhoodComponentsAnalysis"
EVALUATION = ("cell", "neighbours", "preprocessing", "selection", "splits")
ELSEWHERE = ["cli.py", "report/tables.py", "config/schema.py", "datasets/__init__.py", "learners/__init__.py"]


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A copy of the package's sources; who changes it changes it back."""
    copy = tmp_path_factory.mktemp("src") / "mloml"
    shutil.copytree(Path(mloml.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


@pytest.fixture(scope="module")
def stale_after(package):
    """Returns the learners whose cells are stale when something is written at the end of a file."""
    before = {name: code_behind(name, package).hash() for name in find_learners()}

    def stale(file, text="\nchanged = True\n"):
        original = (package / file).read_text()
        (package / file).write_text(original + text)
        try:
            return {name for name, known in before.items() if code_behind(name, package).hash() != known}
        finally:
            (package / file).write_text(original)

    return stale


def in_another_process(script, *words, path=()):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([*path, os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-c", script, *words]
    return subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout


REACHED = """
import json, sys
from importlib import import_module
found = {}
for name in sys.argv[1:]:
    for known in [known for known in sys.modules if known.startswith("mloml.")]:
        del sys.modules[known]
    import_module(name)
    parts = [known.split(".") for known in sys.modules if known.startswith("mloml.learners.")]
    found[name] = [part[2] + ".py" for part in parts]
print(json.dumps(found))
"""


def test_a_cell_is_stale_exactly_when_a_file_changed_that_its_learner_imports(package, stale_after):
    kinds = find_learners()
    files = json.loads(in_another_process(REACHED, *{kind.__module__ for kind in kinds.values()}))
    reached = {name: set(files[kind.__module__]) for name, kind in kinds.items()}
    assert {"opml.py", "moml.py", "lego.py", "rdml.py", "low_rank_moml.py"} <= reached["MLOML"]  # its layers
    always = {"neighbours.py", "compiled.py"}  # used by the evaluation itself
    for path in {*(package / "learners").glob("*.py")} - {package / "learners" / "__init__.py"}:
        expected = {name for name, files in reached.items() if path.name in files | always}
        assert stale_after(f"learners/{path.name}") == expected, path.name


def test_all_cells_are_stale_after_a_change_of_what_evaluates_them_and_none_after_others(stale_after):
    for file in (f"experiments/{module}.py" for module in EVALUATION):
        assert stale_after(file) == find_learners().keys(), file
        assert not stale_after(file, '\n# a comment\n\n"""A text."""\n'), file
    for file in ELSEWHERE:
        assert not stale_after(file), file


def test_docstrings_and_formatting_do_not_count_but_numbers_do(package):
    path = package / "experiments" / "neighbours.py"
    original, before = path.read_text(), code_behind("KISSME", package).hash()
    others = {'"""Classify': '"""Sort', "if k < 1 or n < 1:": "if (k<1) or (n<1):", "if k < 1": "if k < 2"}
    hashes = []
    for old, new in others.items():
        assert old in original
        path.write_text(original.replace(old, new))
        hashes.append(code_behind("KISSME", package).hash())
    path.write_text(original)
    assert [known == before for known in hashes] == [True, True, False]


def test_imports_inside_functions_relative_imports_and_names_of_packages_are_followed(package, monkeypatch):
    toy = type("Toy", (), {"__module__": "mloml.learners.toy"})
    monkeypatch.setattr(code_module, "learner_class", lambda name: toy)

    def modules_behind(text):
        path = package / "learners" / "toy.py"
        path.write_text(text)
        try:
            return code_behind("Toy", package).modules.keys()
        finally:
            path.unlink()

    found = modules_behind(
        "from . import kissme\n"
        "if TYPE_CHECKING:\n    from mloml.learners.lmnn import LMNN\n"
        "def fit():\n    import mloml.datasets.generated\n"
    )
    assert {"mloml.learners.toy", "mloml.learners.kissme", "mloml.datasets.generated"} <= found
    assert "mloml.learners.lmnn" not in found
    found = modules_behind("def fit():\n    from mloml.learners import LMNN\n")
    assert {"mloml.learners.lmnn", "mloml.learners.opml"} <= found


def test_the_hash_is_that_of_the_sources_on_the_disk_wherever_they_are(package):
    assert code_hash("KISSME") == code_behind("KISSME").hash() == code_behind("KISSME", package).hash()
    assert code_hash("KISSME") != code_hash("Euclidean")
    with pytest.raises(ConfigError, match="'Euclid'"):
        code_hash("Euclid")


def test_importing_the_package_imports_and_reads_next_to_nothing():
    script = "import sys, mloml; print(*sorted(name for name in sys.modules if name.startswith('mloml')))"
    assert in_another_process(script).split() == ["mloml", "mloml.learners"]


STEPS = """
import sys, time, mloml
from pathlib import Path
import mloml.experiments.cell
from mloml.errors import CodeChangedError
from mloml.experiments.code import code_hash, require_current_code
package = Path(mloml.__file__).parent
assert str(package) == sys.argv[1], package

def refusal():
    try:
        require_current_code(["KISSME", "Euclidean"])
    except CodeChangedError as error:
        return str(error)

def write(file, text):
    path = package / file
    path.write_text(path.read_text() + text)
"""

EDITED_LATER = """
from mloml.config.schema import Algorithm, DataSettings, ProtocolConfig
from mloml.datasets import catalogue, load
from mloml.experiments import job
job.end_with_parent = lambda: None
iris, settings = catalogue()["iris"], DataSettings(source="bundled")
parts = load(iris, settings).checksum, Algorithm("a", "A", "Euclidean"), ProtocolConfig()
cells = [mloml.experiments.cell.Cell("iris", *parts, split) for split in range(2)]
keys, before = [cell.key for cell in cells], code_hash("KISSME")
jobs = [job.Job(cell, iris, settings, sys.argv[2], "run") for cell in cells]
assert job.compute(jobs[0]).state == "ok"
(package / "experiments/preprocessing.py").touch()
write("experiments/preprocessing.py", "# why not\\n")
write("learners/lmnn.py", "CHANGED = True\\n")
assert refusal() is None
write("experiments/preprocessing.py", "CHANGED = True\\n")
assert "mloml.experiments.preprocessing was changed" in refusal() and "restart" in refusal()
outcome = job.compute(jobs[1])
assert outcome.state == "halt" and "restart" in outcome.message
write("experiments/preprocessing.py", "def (\\n")
(package / "experiments/splits.py").unlink()
assert "preprocessing, mloml.experiments.splits was changed" in refusal()
assert code_hash("KISSME") == before  # that of what was imported
"""

EDITED_BEFORE_IT_WAS_READ = """
time.sleep(0.02)
write("experiments/preprocessing.py", "CHANGED = True\\n")
code_hash("KISSME")
assert "the code of mloml.experiments.preprocessing was changed" in refusal()
"""


@pytest.mark.parametrize("steps", [EDITED_LATER, EDITED_BEFORE_IT_WAS_READ], ids=["later", "before"])
def test_a_worker_refuses_when_the_disk_has_other_code_than_it_imported(package, tmp_path, steps):
    shutil.copytree(package, tmp_path / "src" / "mloml")
    (tmp_path / "conf").symlink_to(conf_dir())
    words = str(tmp_path / "src" / "mloml"), str(tmp_path / "store")
    in_another_process(STEPS + steps, *words, path=[str(tmp_path / "src")])


SHRINK = """
from sklearn.base import BaseEstimator, TransformerMixin
from {helper} import half

class Shrink(TransformerMixin, BaseEstimator):
    "Halve every feature."
    def fit(self, X, y=None):
        return self
    def transform(self, X):
        return half(X)
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A module of the user's own with a helper beside it, under names that nothing else has imported."""
    name = f"mine_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(SHRINK.format(helper=f"{name}_helper"))
    (tmp_path / f"{name}_helper.py").write_text("def half(X):\n    return X / 2\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path, name


def test_an_installed_class_counts_by_the_version_of_its_distribution(monkeypatch):
    import sklearn

    code = code_behind(NCA)
    assert code.versions == {f"scikit-learn {sklearn.__version__}"}
    assert {name.split(".")[0] for name in code.modules} == {"mloml"}
    assert "mloml.learners.opml" not in code.modules
    monkeypatch.setattr(code_module, "version", lambda name: "99.0")
    assert code_behind(NCA).hash() != code.hash()


def test_a_file_of_ones_own_counts_with_all_of_it_that_runs_and_the_modules_beside_it(mine):
    folder, name = mine
    file, helper, seen = folder / f"{name}.py", folder / f"{name}_helper.py", []

    def hash_with(path, text):
        path.write_text(text)
        return code_behind(f"{name}.Shrink").hash()

    original = file.read_text()
    before = code_behind(f"{name}.Shrink").hash()
    assert hash_with(file, "# why\n" + original.replace("Halve every", "Halves each")) == before
    assert hash_with(folder / "unrelated.py", "x = 1\n") == before
    seen.append(hash_with(helper, "def half(X):\n    return X * 0.5\n"))
    texts = ["if not TYPE_CHECKING:\n    x = 1\n", "if TYPE_CHECKING:\n    import os\nelse:\n    x = 1\n"]
    texts += ["def (", "from ... import nowhere\n"]
    seen += [hash_with(file, original + text) for text in texts]
    assert len({before, *seen}) == 6


def test_a_package_of_ones_own_counts_with_all_its_files_wherever_it_is(tmp_path, monkeypatch):
    found = []
    for place in ("here", "there"):
        package = tmp_path / place / "my_package"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("")
        (package / "shrink.py").write_text(SHRINK.format(helper="my_package.halving"))
        (package / "halving.py").write_text("def half(X):\n    return X / 2\n")
        monkeypatch.syspath_prepend(str(package.parent))
        found.append(code_behind("my_package.shrink.Shrink").hash())
        for module in [name for name in sys.modules if name.startswith("my_package")]:
            monkeypatch.delitem(sys.modules, module)
    assert found[0] == found[1]
    (package / "plugin.py").write_text("x = 1\n")
    assert code_behind("my_package.shrink.Shrink").hash() != found[0]


def test_a_class_that_derives_from_ours_or_uses_ours_counts_with_our_code(mine):
    folder, name = mine
    (folder / f"{name}_a.py").write_text("from mloml import OPML\nclass Shrink(OPML):\n    pass\n")
    uses = SHRINK.format(helper=f"{name}_helper") + "\nfrom mloml import MOML\n"
    (folder / f"{name}_b.py").write_text(uses)
    found = [code_behind(f"{one}.Shrink").modules.keys() for one in (name, f"{name}_a", f"{name}_b")]
    assert ["mloml.learners.moml" in modules for modules in found] == [False, True, True]
    assert all("mloml.experiments.neighbours" in modules for modules in found)


def test_a_process_refuses_when_a_class_of_ones_own_was_edited_after_its_import(mine):
    folder, name = mine
    learner, helper = f"{name}.Shrink", folder / f"{name}_helper.py"
    learner_class(learner)
    require_current_code([learner])
    helper.write_text("def half(X):  # why\n    return X / 2\n")
    require_current_code([learner])
    helper.write_text("def half(X):\n    return X / 3\n")
    with pytest.raises(CodeChangedError, match=f"{name}_helper was changed.*restart"):
        require_current_code([learner])


def test_one_that_was_imported_and_edited_before_its_source_was_read_is_refused(mine):
    folder, name = mine
    __import__(name)
    (folder / f"{name}.py").write_text(SHRINK.format(helper=f"{name}_helper") + "\nCHANGED = True\n")
    with pytest.raises(CodeChangedError, match=f"{name}.* was changed.*restart"):
        require_current_code([f"{name}.Shrink"])
