"""What every linear metric offers, in metric-learn's vocabulary."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from mloml import KISSME, MOML

X = np.random.default_rng(0).normal(size=(40, 3))
Y = np.arange(40) % 2
LEARNERS = [MOML(random_state=0, scans=1), KISSME()]
every = pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)


@every
def test_scores_of_pairs_are_minus_their_distances(learner):
    pairs = np.stack([X[:9], X[9:18]], axis=1)
    distances = learner.fit(X, Y).pair_distance(pairs)
    Z = learner.transform(X)
    np.testing.assert_allclose(distances, np.linalg.norm(Z[:9] - Z[9:18], axis=1), rtol=1e-10)
    np.testing.assert_array_equal(learner.pair_score(pairs), -distances)


@every
def test_the_metric_takes_what_metric_learns_does(learner):
    metric = learner.fit(X, Y).get_metric()
    M, z = learner.get_mahalanobis_matrix(), X[0] - X[1]
    assert metric(X[0], X[1]) == pytest.approx(np.sqrt(z @ M @ z))
    assert metric(X[0].tolist(), tuple(X[1]), squared=True) == pytest.approx(z @ M @ z)
    assert metric(X[:1], X[1:2].T) == metric(X[0], X[1])  # one row, one column
    assert isinstance(metric(X[0], X[1]), float)
    KNeighborsClassifier(metric=metric).fit(X, Y).predict(X[:3])
    with pytest.raises(ValueError, match=r"u has shape \(2, 3\), expected a vector of 3 numbers"):
        metric(X[:2], X[0])
