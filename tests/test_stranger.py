"""A stranger follows docs/architecture.md: learners of three kinds, a dataset, an artefact."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import mloml
from mloml.config import conf_dir

HERE = Path(__file__).parent

ONLINE = '''
from numbers import Real

import numpy as np
from sklearn.utils._param_validation import Interval

from .base import MetricLearner
from .layers import Layer
from .linalg import UPDATES
from .online import OnlineLearner


class PullLayer(Layer):
    """A factor L that shrinks along p where the hinge is active."""

    def learn(self, D, outputs):
        for t, (p, q, h) in enumerate(D):
            with np.errstate(all="ignore"):
                u, v = self.L @ p, self.L @ q
                hinge = 1 + u @ u - v @ v
                step = np.outer(u, p) * (self.step / (1 + self.step * (p @ p)))
            if not (abs(hinge) < 1e200 and np.isfinite(step).all()):
                return t
            if hinge > 0:
                self.L = self.L - step
                self.counts[UPDATES] += 1
        return len(D)


class Pull(OnlineLearner, MetricLearner):
    """Shrink the metric along what separates rows of one class: L (I + gamma p p')^-1."""

    def __init__(
        self, *, gamma=1e-2, scale="auto", scans=20, shuffle=True, random_state=None, triplets="released"
    ):
        super().__init__(gamma, scale, scans, shuffle, random_state, triplets)

    def _new_state(self, n_features, X, step):
        return PullLayer(n_features, step)
'''

BATCH = '''
import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from .base import MetricLearner


class Spread(MetricLearner):
    """Divide every feature by its mean absolute deviation."""

    _parameter_constraints = {}

    def fit(self, X, y):
        """Measure the deviations."""
        self._validate_params()
        rows, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        spread = np.abs(rows - rows.mean(axis=0)).mean(axis=0)
        self.components_ = np.diag(1 / np.where(spread > 0, spread, 1))
        return self
'''

FOREIGN = """
from sklearn.base import BaseEstimator, TransformerMixin


class Powers(TransformerMixin, BaseEstimator):
    def __init__(self, power=1):
        self.power = power

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X**self.power
"""

ARTEFACT = '''
"""Mean errors, as a stranger wants them."""
from mloml.report.document import Artefact, Table
from mloml.report.recipe import Recipe


def build(result):
    means = result.frame.groupby(["dataset", "algorithm"], sort=False)["error"].mean()
    return Artefact({"count": len(means)}, (Table("shown", means.unstack().reset_index(), "Shown"),))


RECIPE = Recipe("shown", "Shown", "What a stranger added.", build)
'''

TEMPLATE = """{% extends "artefact.md" %}
{% block headline %}{{ count }} means were computed.{% endblock %}
{% block page %}
{% call table("shown") %}A stranger's caption.{% endcall %}
{% endblock %}
"""

FILES = {
    "src/mloml/learners/pull.py": ONLINE,
    "src/mloml/learners/spread.py": BATCH,
    "conf/algorithm/pull.yaml": (
        "defaults: [_online, _self_]\nname: pull\ntitle: Pull\nlearner: Pull\n"
        "grid: {gamma: [0.01, 0.1]}\ngamma: null\nscale: null\n"
    ),
    "conf/algorithm/spread.yaml": "name: spread\ntitle: Spread\nlearner: Spread\ngrid: {}\n",
    "my_powers.py": FOREIGN,
    "my_shown.py": ARTEFACT,
    "my_shown.md": TEMPLATE,
    "my/algorithm/powers.yaml": (
        "name: powers\ntitle: Powers\nlearner: my_powers.Powers\ngrid: {power: [1, 3]}\npower: null\n"
    ),
    "my/dataset/points.yaml": "name: points\npath: ../../points.csv\nlabel: kind\n",
    "my/experiment/shown.yaml": (
        "# @package _global_\nname: shown\ndatasets: [points, iris]\n"
        "algorithms: [euclidean, pull, spread, powers]\n"
    ),
}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy of the package and its configs, with what a stranger adds by the documented steps."""
    root = tmp_path_factory.mktemp("stranger")
    package = Path(mloml.__file__).parent
    shutil.copytree(package, root / "src" / "mloml")
    shutil.copytree(conf_dir(), root / "conf")
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    rows = [f"{i % 7},{i % 5},{'a' if i % 2 else 'b'}" for i in range(40)]
    (root / "points.csv").write_text("\n".join(["width,height,kind", *rows, ""]))
    return root


def run(root, *words):
    path = os.pathsep.join([str(root / "src"), str(root), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": path}
    command = [sys.executable, "-m", *words]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    return done.stdout


@pytest.mark.slow
def test_what_a_stranger_adds_appears_in_a_table(checkout):
    small = (
        "protocol.splits=2",
        "protocol.full=2",
        "protocol.scans=1",
        "protocol.folds=2",
        "execution.n_jobs=1",
    )
    words = ("--config-dir", "my", "name=shown", *small, "data.offline=true")
    run(checkout, "mloml", "reproduce", "my_shown", *words)
    cells = pd.read_csv(checkout / "results/shown/cells.csv")
    assert (cells["status"] == "ok").all() and len(cells) == 16
    table = pd.read_csv(checkout / "results/shown/shown.csv", index_col="dataset")
    assert {*table} == {"euclidean", "pull", "spread", "powers"} and {*table.index} == {"points", "iris"}
    means = cells.groupby(["dataset", "algorithm"])["error"].mean()
    for (dataset, algorithm), mean in means.items():
        assert table.loc[dataset, algorithm] == pytest.approx(mean, abs=1e-3)
    assert "A stranger's caption." in (checkout / "results/shown/shown.md").read_text()
    run(checkout, "mloml", "report")
    assert "8 means were computed." in (checkout / "results/report/index.html").read_text()


@pytest.mark.slow
def test_the_contract_tests_know_and_pass_new_learners(checkout):
    contract = checkout / "tests" / "learners"
    contract.mkdir(parents=True)
    for name in ("contract", "test_contract", "test_online", "test_stream", "test_rows"):
        shutil.copy(HERE / "learners" / f"{name}.py", contract)
    options = ("-v", "-p", "no:cacheprovider", "-c", os.devnull, "--import-mode=importlib", "--rootdir", ".")
    output = run(checkout, "pytest", *options, "-k", "Pull or Spread", str(contract))
    for learner, least in (("Pull", 60), ("Spread", 15)):
        assert len(re.findall(rf"{learner}\S* PASSED", output)) > least
