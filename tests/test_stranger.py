"""A stranger follows docs/architecture.md: learners of three kinds, a dataset, an artefact."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import mloml
from mloml.config.paths import conf_dir

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

    _parameter_constraints = {
        **OnlineLearner._parameter_constraints,
        "gamma": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self, gamma=1e-2, *, scale="auto", scans=20, shuffle=True, random_state=None, triplets="released"
    ):
        self.gamma = gamma
        self.scale = scale
        self.scans = scans
        self.shuffle = shuffle
        self.random_state = random_state
        self.triplets = triplets

    def _new_state(self, n_features, X):
        return PullLayer(n_features, float(self.gamma))
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
    numbers = means.unstack().reset_index()
    return Artefact("All of them were computed.", tables=(Table("shown", "Shown", numbers, (numbers,)),))


RECIPE = Recipe("shown", "Shown", "What a stranger added.", build)
'''

FILES = {
    "src/mloml/learners/pull.py": ONLINE,
    "src/mloml/learners/spread.py": BATCH,
    "conf/algorithm/pull.yaml": (
        "name: pull\ntitle: Pull\nlearner: Pull\ngrid: {gamma: [0.01, 0.1]}\n"
        "gamma: null\nscale: null\nshuffle: true\ntriplets: released\n"
    ),
    "conf/algorithm/spread.yaml": "name: spread\ntitle: Spread\nlearner: Spread\ngrid: {}\n",
    "my_powers.py": FOREIGN,
    "my_shown.py": ARTEFACT,
    "my/algorithm/powers.yaml": (
        "name: powers\ntitle: Powers\nlearner: my_powers.Powers\ngrid: {power: [1, 3]}\npower: null\n"
    ),
    "my/dataset/points.yaml": "name: points\npath: points.csv\nlabel: kind\n",
    "my/experiment/shown.yaml": (
        "# @package _global_\n"
        "defaults: [/protocol: lite, /execution: local, /data: default, _self_]\n"
        "name: shown\ndatasets: [points, iris]\nalgorithms: [euclidean, pull, spread, powers]\nrecord: []\n"
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
    done = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=root,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    return done.stdout


@pytest.mark.slow
def test_what_a_stranger_adds_appears_in_a_table(checkout):
    run(
        checkout,
        *("mloml", "reproduce", "my_shown", "--config-dir", "my"),
        *("protocol.splits=2", "protocol.scans=1", "protocol.folds=2", "execution.n_jobs=1"),
        "data.offline=true",
    )
    cells = pd.read_csv(checkout / "results/shown/cells.csv")
    assert (cells["status"] == "ok").all() and len(cells) == 16
    text = (checkout / "results/shown/shown.md").read_text()
    for word in ("points", "iris", "euclidean", "pull", "spread", "powers"):
        assert word in text
    page = run(checkout, "mloml", "report")
    assert "index.html" in page
    assert "All of them were computed." in (checkout / "results/report/index.html").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("learner", ["Pull", "Spread"])
def test_the_contract_tests_know_and_pass_a_new_learner(checkout, learner):
    contract = checkout / "tests" / "learners"
    contract.mkdir(parents=True, exist_ok=True)
    for path in (HERE / "learners").glob("*contract*.py"):
        shutil.copy(path, contract)
    output = run(
        checkout,
        *("pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, "--import-mode=importlib"),
        *("--rootdir", ".", "-k", learner, contract),
    )
    assert " passed" in output and int(output.split(" passed")[0].split()[-1]) > 15
