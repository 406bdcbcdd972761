"""What the contract's tests share: every learner in small settings, rows for them, and what they give."""

import numpy as np
import pytest
from scipy.sparse import issparse
from sklearn.datasets import make_blobs

from mloml.learners import find_learners
from mloml.learners.online import OnlineLearner

X, Y = make_blobs(40, 4, centers=3, random_state=0)
X = X / np.linalg.norm(X, axis=1, keepdims=True)
RAW, RAW_Y = make_blobs(60, 4, centers=3, cluster_std=3.0, random_state=1)

# Small settings for the sake of time; everything else is as a user would get it.
SETTINGS = {
    "LEGO": {"targets": (0.1, 1.5)},  # equality with a stream holds for explicit targets
    "LowRankMOML": {"init": "random"},  # a start that does not depend on the first rows
    "MLOML of rank 2": {"n_components": 2, "init": "random"},
    "PaperMLOML by bp": {"propagation": "bp", "rate": 1e-2},
    "PaperMLOML by fbp": {"propagation": "fbp"},
    "MOML free": {"cone": "free"},
    "MOML auto": {"gamma": "auto"},
    "MLOML auto": {"gamma": "auto"},
    "MLOML of open depth": {"n_layers": "auto", "max_layers": 2},
    "KISSME of rank 2": {"n_components": 2},
    "LMNN of rank 2": {"n_components": 2},
}
EXPORTED = find_learners()
LEARNERS = {**EXPORTED, **{name: EXPORTED[name.split()[0]] for name in SETTINGS}}
TARGETS = {"LEGO": {"targets": (40.0, 400.0)}}  # between rows as they are in RAW


def make(name, **changes):
    learner = LEARNERS[name]
    known = learner().get_params()
    settings = {"gamma": 1e-3, "scans": 2, "random_state": 0, "max_iter": 5}
    settings |= {**SETTINGS.get(name, {}), **changes}
    return learner(**{key: value for key, value in settings.items() if key in known})


STEP = {name: "gamma" for name, kind in LEARNERS.items() if issubclass(kind, OnlineLearner)}
STEP["PaperMLOML by bp"] = "rate"
SPARSE = [name for name in LEARNERS if make(name).__sklearn_tags__().input_tags.sparse]

every = pytest.mark.parametrize("name", LEARNERS)
online = pytest.mark.parametrize("name", STEP)
sparse = pytest.mark.parametrize("name", SPARSE)


def output(learner, rows=X):
    """What neighbours are found by."""
    return learner.transform(rows) if hasattr(learner, "transform") else learner.similarity(rows, rows)


def learned(learner):
    """All that was learned, bit by bit."""
    if hasattr(type(learner), "layers_"):
        return np.concatenate([np.ravel(L) for L in learner.layers_])
    if hasattr(learner, "get_bilinear_matrix"):
        return learner.get_bilinear_matrix()
    return dense(learner.get_mahalanobis_matrix())


def dense(matrix):
    """A diagonal metric hands out sparse matrices."""
    return matrix.toarray() if issparse(matrix) else matrix


def assert_close(one, other):
    """Two learners learned the same but for rounding errors."""
    np.testing.assert_allclose(learned(one), learned(other), rtol=1e-9, atol=1e-12)
    assert one.n_triplets_ == other.n_triplets_
    np.testing.assert_array_equal(one.n_updates_, other.n_updates_)


def assert_same(one, other):
    """Two learners learned the same, bit by bit."""
    np.testing.assert_array_equal(learned(one), learned(other))
    assert_close(one, other)


def rms(rows):
    return np.sqrt(np.mean(np.sum(rows**2, axis=1)))
