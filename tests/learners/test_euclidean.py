import numpy as np
import pytest

from mloml.learners.euclidean import Euclidean


def test_distances_are_euclidean() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 3)), np.arange(12) % 2
    model = Euclidean().fit(X, y)
    np.testing.assert_array_equal(model.transform(X), X)
    np.testing.assert_array_equal(model.get_mahalanobis_matrix(), np.eye(3))
    assert model.pair_distance(X[None, :2])[0] == pytest.approx(np.linalg.norm(X[0] - X[1]))


def test_a_single_class_is_fine_because_nothing_is_learned() -> None:
    np.testing.assert_array_equal(Euclidean().fit([[1.0, 2.0], [3.0, 4.0]], [0, 0]).components_, np.eye(2))
