"""Features that arrive on the way: a grown metric is one that had them, with zeros, from the start."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from mloml import LEGO, MLOML, MOML, OASIS, OPML, RDML, SLMOML, ExplicitMLOML

LEARNERS = [
    MOML(gamma=0.05),
    ExplicitMLOML(2, gamma=0.5),
    MOML(gamma=0.5, cone="free"),
    MOML(gamma=0.05, scale=None),
    MLOML(gamma=0.05, activation="relu"),
    MLOML(gamma=0.05, activation="sigmoid"),
    MLOML(layer=["opml", "moml"], n_layers=2, gamma=0.05, activation="tanh"),
    MLOML(layer="rdml", n_layers=2, gamma=0.05),
    MLOML(propagation="fbp", activation="relu", rate=1e-3),
    MLOML(propagation="bp", activation="tanh", rate=1e-2),
    OPML(gamma=0.05),
    LEGO(targets=(0.1, 2.0)),
    RDML(),
    RDML(init="zero"),
    SLMOML(),
    OASIS(),
]


def stream(d, rows=60, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=rows)
    return rng.normal(size=(rows, d)) + y[:, np.newaxis] * 0.5, y


def learned_matrix(learner):
    if hasattr(learner, "get_bilinear_matrix"):
        return learner.get_bilinear_matrix()
    return learner.layers_ if hasattr(learner, "layers_") else learner.get_mahalanobis_matrix()


@pytest.mark.parametrize("template", LEARNERS, ids=str)
@pytest.mark.parametrize(("early", "late"), [(3, 4), (4, 9)])
def test_a_grown_metric_is_one_that_had_the_feature_as_zeros_from_the_start(template, early, late):
    X, y = stream(late)
    X[:30, early:] = 0.0
    grown, always = (pickle.loads(pickle.dumps(template)) for _ in range(2))
    grown.partial_fit(X[:30, :early], y[:30]).add_features(late - early).partial_fit(X[30:], y[30:])
    always.partial_fit(X[:30], y[:30]).partial_fit(X[30:], y[30:])
    assert grown.n_features_in_ == late and grown.n_triplets_ == always.n_triplets_
    np.testing.assert_array_equal(grown.n_updates_, always.n_updates_)
    np.testing.assert_allclose(learned_matrix(grown), learned_matrix(always), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("rows_before", [1, 2, 40])
def test_one_row_at_a_time_grows_like_pieces_do(rows_before):
    X, y = stream(5)
    pieces, single = MOML(gamma=0.05), MOML(gamma=0.05)
    pieces.partial_fit(X[:rows_before, :3], y[:rows_before]).add_features(2)
    pieces.partial_fit(X[rows_before:], y[rows_before:])
    for i, (row, label) in enumerate(zip(X, y, strict=True)):
        if i == rows_before:
            single.add_features(2)
        single.learn_one(row if i >= rows_before else row[:3], label)
    np.testing.assert_array_equal(single.components_, pieces.components_)


def test_a_grown_learner_survives_pickling_and_forgets_feature_names():
    import pandas as pd

    X, y = stream(3)
    learner = MLOML(gamma=0.05).partial_fit(pd.DataFrame(X, columns=["a", "b", "c"]), y).add_features(1)
    wide, labels = stream(4, seed=1)
    twin = pickle.loads(pickle.dumps(learner))
    np.testing.assert_array_equal(
        learner.partial_fit(wide, labels).transform(wide), twin.partial_fit(wide, labels).transform(wide)
    )
    assert not hasattr(learner, "feature_names_in_")


def test_growing_by_nothing_changes_nothing_and_wrong_counts_are_told():
    X, y = stream(3)
    learner = OPML().partial_fit(X, y)
    before = learner.components_.copy()
    np.testing.assert_array_equal(learner.add_features(0).components_, before)
    for wrong in (-1, 1.5, True):
        with pytest.raises(ValueError, match=r"^count is .*, expected an integer >= 0$"):
            learner.add_features(wrong)
    with pytest.raises(NotFittedError):
        OPML().add_features(1)
