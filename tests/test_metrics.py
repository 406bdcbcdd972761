"""Scores of rankings and comparisons, against loops that follow their definitions."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

import mloml.metrics
from mloml import MLOML, MOML, OASIS, OPML, DiagonalMOML, Euclidean
from mloml.metrics import mean_reciprocal_rank, precision_at_k, recall_at_k, triplet_accuracy

LEARNERS = [
    Euclidean(),
    OPML(gamma=0.01, random_state=0, scans=1),
    DiagonalMOML(gamma=0.1, random_state=0, scans=1),
    MLOML(gamma=0.01, random_state=0, scans=1),
    OASIS(gamma=0.01, random_state=0, scans=1),
    MOML(gamma=0.5, cone="free", random_state=0, scans=1),
]


def data(seed, n=30):
    """Rows on a grid, full of ties; the last is alone in its class."""
    rng = np.random.default_rng(seed)
    X, y = rng.integers(4, size=(n, 3)).astype(float), rng.integers(3, size=n)
    y[-1] = 9
    return X, y


def closeness(learner, a, b):
    """How near two rows are, the larger the nearer."""
    return learner.pair_score([[a, b]])[0]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.integers(1, 8))
def test_rankings_are_scored_as_defined(learner, seed, k):
    X, y = data(seed)
    X += 1e-3 * np.random.default_rng(seed).normal(size=X.shape)  # rounding does not decide
    learner.fit(X, y)
    recall, precision, reciprocal = [], [], []
    for i in range(len(X)):
        others = [j for j in range(len(X)) if j != i]
        order = sorted(others, key=lambda j, i=i: -closeness(learner, X[i], X[j]))
        right = [y[j] == y[i] for j in order]
        if any(right):
            recall.append(any(right[:k]))
            precision.append(sum(right[:k]) / k)
            reciprocal.append(1 / (right.index(True) + 1))
    assert len(recall) < len(X)
    assert recall_at_k(learner, X, y, k=k) == pytest.approx(np.mean(recall))
    assert precision_at_k(learner, X, y, k=k) == pytest.approx(np.mean(precision))
    assert mean_reciprocal_rank(learner, X, y) == pytest.approx(np.mean(reciprocal))
    triplets = np.random.default_rng(seed).integers(30, size=(700, 3))
    ordered = [closeness(learner, X[a], X[b]) > closeness(learner, X[a], X[c]) for a, b, c in triplets]
    assert triplet_accuracy(learner, X, triplets) == pytest.approx(np.mean(ordered))
    assert triplet_accuracy(learner, X[triplets]) == pytest.approx(np.mean(ordered))


def test_equally_near_rows_come_in_their_order(monkeypatch):
    X, y = np.zeros((5, 2)), np.array([0, 1, 1, 0, 1])
    learner = Euclidean().fit(X, y)
    for at_once in (1, 2**20):
        monkeypatch.setattr(mloml.metrics, "AT_ONCE", at_once)
        assert recall_at_k(learner, X, y, k=1) == 1 / 5  # all but row 3 find one of the other class first
        assert mean_reciprocal_rank(learner, X, y) == pytest.approx((1 / 3 + 1 / 2 + 1 / 2 + 1 + 1 / 2) / 5)


def test_they_score_in_cross_validation_alone_and_in_pipelines():
    X, y = data(0, 60)
    y[-1] = 0
    for model in (MOML(gamma=0.01, scans=1), OASIS(gamma=0.01, scans=1)):
        for estimator in (model, make_pipeline(StandardScaler(), Normalizer(), model), make_pipeline(model)):
            for scorer in (partial(recall_at_k, k=3), partial(precision_at_k, k=3), mean_reciprocal_rank):
                scores = cross_val_score(estimator, X, y, scoring=scorer, cv=3, error_score="raise")
                assert ((scores > 0) & (scores <= 1)).all()
    pipe = make_pipeline(Normalizer(), OASIS(gamma=0.01, scans=1)).fit(X + 1, y)
    assert recall_at_k(pipe, X + 1, y) == recall_at_k(pipe[-1], Normalizer().transform(X + 1), y)


def test_sparse_rows_score_as_dense_ones_do():
    X, y = data(0)
    triplets = np.random.default_rng(0).integers(30, size=(50, 3))
    for learner in (OASIS(gamma=0.01, random_state=0), DiagonalMOML(gamma=0.1, random_state=0)):
        learner.fit(X, y)
        assert recall_at_k(learner, csr_array(X), y, k=3) == recall_at_k(learner, X, y, k=3)
        assert triplet_accuracy(learner, csr_array(X), triplets) == triplet_accuracy(learner, X, triplets)


def test_what_cannot_be_scored_is_refused():
    X, y = data(0)
    learner = Euclidean().fit(X, y)
    for k in (0, 30):
        with pytest.raises(ValueError, match=f"k is {k}, expected an integer from 1 to 29"):
            recall_at_k(learner, X, y, k=k)
    with pytest.raises(ValueError, match="no class of two rows"):
        precision_at_k(learner, X, np.arange(30))
    for wrong in ([[0, 1]], np.empty((0, 3), int)):
        with pytest.raises(ValueError, match="triplets has shape"):
            triplet_accuracy(learner, X, wrong)
    with pytest.raises(ValueError, match="X has shape"):
        triplet_accuracy(learner, X)
    for wrong in (30, -1):
        with pytest.raises(ValueError, match=f"triplets has {wrong}, expected numbers of the 30 rows"):
            triplet_accuracy(learner, X, [[0, 1, wrong]])
