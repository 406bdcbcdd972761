"""Classes from elsewhere: what a cell's key holds of them, and that only their user makes us import them."""

import json
import os
import subprocess
import sys

import pytest

from mloml.config.schema import Algorithm, ProtocolConfig
from mloml.errors import CodeChangedError, ConfigError
from mloml.experiments import foreign_code
from mloml.experiments.cell import Cell
from mloml.experiments.fingerprint import fingerprint, modules_behind, require_current_code
from mloml.experiments.lookup import learner_class

NCA = "sklearn.neighbors.NeighborhoodComponentsAnalysis"

SHRINK = """
from sklearn.base import BaseEstimator, TransformerMixin
from {helper} import half

class Shrink(TransformerMixin, BaseEstimator):
    "Halve every feature."
    def __init__(self, power=1.0):
        self.power = power
    def fit(self, X, y=None):
        return self
    def transform(self, X):
        return half(X) ** self.power
"""

ASK = "import sys; from mloml.experiments.fingerprint import fingerprint; print(fingerprint(sys.argv[1]))"


def fingerprint_elsewhere(learner, folder):
    environment = os.environ | {"PYTHONPATH": f"{folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    done = subprocess.run(
        [sys.executable, "-c", ASK, learner], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


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

    code = foreign_code.read_before_import("sklearn")
    assert code.version == f"scikit-learn {sklearn.__version__}"
    assert not code.sources
    before = fingerprint(NCA)
    monkeypatch.setattr(foreign_code, "version", lambda name: "99.0")
    monkeypatch.setattr(foreign_code, "_known", {})
    fingerprint.cache_clear()
    assert fingerprint(NCA) != before
    fingerprint.cache_clear()


def test_a_file_of_ones_own_counts_by_its_source_and_the_modules_beside_it(mine):
    folder, name = mine
    learner = f"{name}.Shrink"
    before = fingerprint_elsewhere(learner, folder)
    assert fingerprint(learner) == before

    file, helper = folder / f"{name}.py", folder / f"{name}_helper.py"
    file.write_text("# why\n" + file.read_text().replace("Halve every", "Halves each"))
    assert fingerprint_elsewhere(learner, folder) == before  # comments and docstrings do not count
    (folder / "unrelated.py").write_text("x = 1\n")
    assert fingerprint_elsewhere(learner, folder) == before
    helper.write_text("def half(X):\n    return X * 0.5\n")
    assert fingerprint_elsewhere(learner, folder) != before


def test_a_package_of_ones_own_counts_with_all_its_files_wherever_it_is(tmp_path):
    found = []
    for place in ("here", "there"):
        package = tmp_path / place / "my_package"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("")
        (package / "shrink.py").write_text(SHRINK.format(helper="my_package.halving"))
        (package / "halving.py").write_text("def half(X):\n    return X / 2\n")
        found.append(fingerprint_elsewhere("my_package.shrink.Shrink", package.parent))
    assert found[0] == found[1]
    (tmp_path / "there" / "my_package" / "halving.py").write_text("def half(X):\n    return X / 3\n")
    assert fingerprint_elsewhere("my_package.shrink.Shrink", tmp_path / "there") != found[0]


def test_a_class_that_derives_from_ours_or_uses_ours_counts_with_our_code(mine):
    folder, name = mine
    (folder / f"{name}_a.py").write_text("from mloml import OPML\nclass Mine(OPML):\n    pass\n")
    (folder / f"{name}_b.py").write_text(
        SHRINK.format(helper=f"{name}_helper") + "\nfrom mloml import MOML\n"
    )
    assert "mloml.learners.opml" in modules_behind(f"{name}_a.Mine")
    assert "mloml.learners.moml" in modules_behind(f"{name}_b.Shrink")
    assert "mloml.learners.moml" not in modules_behind(f"{name}.Shrink")
    assert "mloml.experiments.knn" in modules_behind(f"{name}.Shrink")


def test_the_key_of_a_cell_holds_it(mine):
    _, name = mine
    cell = Cell("iris", "0" * 64, Algorithm("s", "S", f"{name}.Shrink"), ProtocolConfig(), 0)
    assert cell.code == fingerprint(f"{name}.Shrink")


def test_a_process_refuses_when_the_class_was_edited_after_its_import(mine):
    folder, name = mine
    learner = f"{name}.Shrink"
    learner_class(learner)
    require_current_code([learner])
    helper = folder / f"{name}_helper.py"
    helper.write_text("def half(X):  # why\n    return X / 2\n")
    require_current_code([learner])
    helper.write_text("def half(X):\n    return X / 3\n")
    with pytest.raises(CodeChangedError, match=f"{name}_helper.py was changed.*restart"):
        require_current_code([learner])


def test_one_that_was_imported_and_edited_before_its_source_was_read_is_refused(mine):
    folder, name = mine
    __import__(name)
    (folder / f"{name}.py").write_text(SHRINK.format(helper=f"{name}_helper") + "\nCHANGED = True\n")
    with pytest.raises(CodeChangedError, match=f"{name}.py.* was changed.*restart"):
        require_current_code([f"{name}.Shrink"])


@pytest.mark.parametrize("name", ["no_such_module.Class", ".Class", "__main__.Class", "os.path"])
def test_what_cannot_be_found_is_one_line(name):
    with pytest.raises(ConfigError, match=f"learner '{name}'"):
        learner_class(name)


MARKED = "from pathlib import Path\nPath(__file__).with_name('imported').touch()\n"


@pytest.fixture
def shrink(tmp_path):
    """A folder with a class of one's own and its config; calls ``mloml`` there."""
    (tmp_path / "my_helper.py").write_text("def half(X):\n    return X / 2\n")
    (tmp_path / "my_learner.py").write_text(MARKED + SHRINK.format(helper="my_helper"))
    (tmp_path / "conf" / "algorithm").mkdir(parents=True)
    (tmp_path / "conf" / "algorithm" / "shrink.yaml").write_text(
        "name: shrink\ntitle: Shrink\nlearner: my_learner.Shrink\ngrid: {power: [1.0, 3.0]}\npower: null\n"
    )
    environment = os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}

    def mloml(*words):
        command = [sys.executable, "-m", "mloml", *words]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return mloml


def reproduce(mloml, folder, backend):
    mloml(
        *("reproduce", "table2", "--config-dir", "conf", "protocol=lite", "protocol.splits=2"),
        *("datasets=[iris]", "algorithms=[euclidean,shrink,nca]", f"execution={backend}"),
        *("execution.n_jobs=2", "data.offline=true"),
    )
    assert "Shrink" in (folder / "results" / "table2" / "table2.md").read_text()
    manifest = json.loads((folder / "results" / "table2" / "manifest.json").read_text())
    assert manifest["code"]["my_learner.Shrink"] == fingerprint_elsewhere("my_learner.Shrink", folder)


@pytest.mark.slow
def test_a_class_of_ones_own_beside_ours_runs_on_dask(tmp_path, shrink):
    reproduce(shrink, tmp_path, "dask")


@pytest.mark.slow
def test_a_class_of_ones_own_beside_ours_is_imported_by_its_user_alone(tmp_path, shrink):
    reproduce(shrink, tmp_path, "local")
    marker = tmp_path / "imported"
    marker.unlink()
    assert f"no class from elsewhere: my_learner.Shrink, {NCA}" in shrink("status")
    assert "skipped 2: my_learner.Shrink is not a class of this package" in shrink(
        "status", "--recompute", "6"
    )
    shrink("report")
    assert not marker.exists()
