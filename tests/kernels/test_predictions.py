"""Speed may not change what is computed: compiled and plain learners predict the same classes."""

import importlib

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

import mloml
from mloml.checks import plain_online as reference
from mloml.evaluation import knn
from mloml.evaluation.splits import split_indices
from mloml.learners.metric_state import MetricState
from mloml.learners.stack_state import StackState

DATASETS = {"iris": load_iris, "wine": load_wine, "breast": load_breast_cancer}
SINGLE = {"OPML": "gamma", "LEGO": "eta", "RDML": "lam", "OASIS": "C", "SLMOML": "C"}
STACKS = [
    *({"factor": factor, "n_layers": 1} for factor in ("frame", "cholesky", "symmetric")),
    *({"activation": activation} for activation in ("relu", "sigmoid", "tanh")),
    {"propagation": "bp", "rate": 1e-3},
    {"propagation": "fbp", "rate": 1e-4},
]


def predictions(learner, dataset):
    X, y = DATASETS[dataset](return_X_y=True)
    every = len(y) // 140  # plain NumPy takes its time
    X, y = normalize(X)[::every], y[::every]
    train, test = split_indices(y, 0, seed=0, dataset_name=dataset)
    with threadpool_limits(1):
        learner.set_params(scans=3, random_state=0).fit(X[train], y[train])
    if hasattr(learner, "similarity"):
        return knn.predict_by_similarity(learner.similarity(X[test], X[train]), y[train], 5)
    return knn.predict(learner.transform(X[train]), y[train], learner.transform(X[test]), 5)


@pytest.mark.parametrize("dataset", DATASETS)
@pytest.mark.parametrize("step", [1e-4, 1e-3, 1e-2])
@pytest.mark.parametrize("name", SINGLE)
def test_single_metrics_predict_as_the_plain_ones(monkeypatch, name, step, dataset):
    make = getattr(mloml, name)
    ours = predictions(make(**{SINGLE[name]: step}), dataset)
    scan = f"{name.lower()}_scan"
    plain = getattr(reference, scan)
    monkeypatch.setattr(importlib.import_module(f"mloml.kernels.{name.lower()}"), scan, plain)
    np.testing.assert_array_equal(ours, predictions(make(**{SINGLE[name]: step}), dataset))


@pytest.mark.parametrize("dataset", DATASETS)
@pytest.mark.parametrize("step", [1e-4, 1e-3, 1e-2])
@pytest.mark.parametrize("settings", STACKS, ids=lambda settings: "-".join(map(str, settings.values())))
def test_stacks_predict_as_the_plain_ones(monkeypatch, plainly, settings, step, dataset):
    ours = predictions(mloml.MLOML(gamma=step, **settings), dataset)

    def learn(state, rows, triplets, how):
        plainly(state, rows, triplets, how)
        return True

    monkeypatch.setattr(StackState, "learn", learn)
    np.testing.assert_array_equal(ours, predictions(mloml.MLOML(gamma=step, **settings), dataset))


@pytest.mark.parametrize("dataset", DATASETS)
@pytest.mark.parametrize("step", [1e-4, 1e-3, 1e-2])
def test_a_metric_without_a_factor_predicts_as_the_formula(monkeypatch, step, dataset):
    ours = predictions(mloml.MOML(gamma=step, factor="none"), dataset)

    def learn(state, rows, triplets, how):
        rows = rows[:, : state.n_features]
        for t, p, q in triplets:
            near, far = rows[t] - rows[p], rows[t] - rows[q]
            if 1 + near @ state.M @ near - far @ state.M @ far > 0:
                state.M -= step * (np.outer(near, near) - np.outer(far, far))
                assert np.linalg.eigvalsh(state.M)[0] > 0  # so the cone's rule has no say
        return True

    monkeypatch.setattr(MetricState, "learn", learn)
    monkeypatch.setattr(MetricState, "__init__", _plain_state)
    np.testing.assert_array_equal(ours, predictions(mloml.MOML(gamma=step, factor="none"), dataset))


def _plain_state(state, n_features, gamma, cone, variant):
    state.n_features, state.M, state.cone = n_features, np.eye(n_features), cone
    state.counts = np.zeros((1, 16), dtype=np.int64)
