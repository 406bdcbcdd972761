"""What the contract's tests share: every learner in small settings, rows for them, and what they give."""

import numpy as np
import pytest
from scipy.sparse import issparse
from sklearn.datasets import make_blobs

from mloml.learners import find_learners
from mloml.learners.online import OnlineLearner

X, Y = make_blobs(40, 4, centers=3, random_state=0)
X = X / np.linalg.norm(X, axis=1, keepdims=True)

# Small settings for the sake of time; everything else is as a user would get it.
SETTINGS = {
    "LEGO": {"targets": (0.1, 1.5)},  # equality with a stream holds for explicit targets
    "LowRankMOML": {"init": "random"},  # a start that does not depend on the first rows
    "MLOML of rank 2": {"n_components": 2, "init": "random"},
    "MLOML by fbp": {"propagation": "fbp"},
    "MOML free": {"cone": "free"},
}
EXPORTED = find_learners()
LEARNERS = {**EXPORTED, **{name: EXPORTED[name.split()[0]] for name in SETTINGS}}


def make(name, **changes):
    learner = LEARNERS[name]
    known = learner().get_params()
    settings = {"scans": 2, "random_state": 0, "max_iter": 5, **SETTINGS.get(name, {}), **changes}
    return learner(**{key: value for key, value in settings.items() if key in known})


STEP = {name: kind.step_parameter for name, kind in LEARNERS.items() if issubclass(kind, OnlineLearner)}

every = pytest.mark.parametrize("name", LEARNERS)
online = pytest.mark.parametrize("name", STEP)


def output(learner, rows=X):
    """What neighbours are found by."""
    return learner.transform(rows) if hasattr(learner, "transform") else learner.similarity(rows, rows)


def learned_matrices(learner):
    """All that was learned, bit by bit."""
    if hasattr(learner, "layers_"):
        return np.concatenate([L.ravel() for L in learner.layers_])
    return learner.get_bilinear_matrix() if hasattr(learner, "similarity") else dense(learner.components_)


def dense(matrix):
    """A diagonal metric hands out sparse matrices."""
    if isinstance(matrix, list):
        return np.concatenate([L.ravel() for L in matrix])
    return matrix.toarray() if issparse(matrix) else matrix


def rms(rows):
    return np.sqrt(np.mean(np.sum(rows**2, axis=1)))


RAW, RAW_Y = make_blobs(60, 4, centers=3, cluster_std=3.0, random_state=1)
TARGETS = {"LEGO": {"targets": (40.0, 400.0)}}  # between rows as they are
