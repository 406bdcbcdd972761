"""The explicit stack: its policies at the border of the cone, its factors, and that it agrees with MLOML."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning

from mloml.learners.explicit import ExplicitMLOML
from mloml.learners.mloml import MLOML
from mloml.learners.triplets import scan_triplets

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(120, 4)), RNG.integers(0, 3, 120)  # labels at random: many steps leave the cone
X /= np.linalg.norm(X, axis=1, keepdims=True)


def by_hand(rows, gamma, cone):
    """One scan in order on the metric, with eigenvalues at every step."""
    M, updates, failures = np.eye(rows.shape[1]), 0, 0
    for t, i, j in scan_triplets(Y):
        p, q = rows[t] - rows[i], rows[t] - rows[j]
        hinge, A = 1 + p @ M @ p - q @ M @ q, np.outer(p, p) - np.outer(q, q)
        if hinge <= 0:
            continue
        values, vectors = np.linalg.eigh(M - gamma * A)
        if values[0] > 0:
            M = M - gamma * A
        else:
            failures += 1
            if cone == "skip":
                continue
            if cone == "clip":
                M = (vectors * np.maximum(values, 1e-8)) @ vectors.T
            else:
                border = 1 / np.linalg.eigvals(np.linalg.solve(M, A)).real.max()
                M = M - 0.9 * border * A
        updates += 1
    return M, updates, failures


@pytest.mark.parametrize("cone", ["clip", "shrink", "skip"])
def test_every_policy_does_what_eigenvalues_say(cone):
    learner = ExplicitMLOML(n_layers=1, gamma=0.4, cone=cone, scale=None, scans=1, shuffle=False)
    learner.fit(X, Y)
    M, updates, failures = by_hand(X, 0.4, cone)
    assert (learner.n_updates_[0], learner.n_cone_failures_[0]) == (updates, failures)
    assert failures > 0
    np.testing.assert_allclose(learner.get_mahalanobis_matrix(1), M, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("factor", ["symmetric", "cholesky", "eigen"])
def test_factors_are_rotations_of_each_other_in_the_first_layer(factor):
    settings = {"gamma": 0.3, "scans": 1, "random_state": 0}
    ours = ExplicitMLOML(n_layers=2, factor=factor, cone="split", **settings).fit(X, Y)
    theirs = MLOML(n_layers=2, **settings).fit(X, Y)
    np.testing.assert_allclose(ours.get_mahalanobis_matrix(1), theirs.get_mahalanobis_matrix(1), atol=1e-8)
    assert ours.n_cone_failures_[0] == theirs.n_cone_failures_[0] > 0
    L = ours.layers_[0]
    if factor == "eigen":  # rows along eigenvectors, ascending
        squares = np.sort(np.linalg.eigvals(ours.get_mahalanobis_matrix(1)).real)
        np.testing.assert_allclose(L @ L.T * ours.scale_**2, np.diag(squares) * ours.scale_**2, atol=1e-8)
    else:
        np.testing.assert_allclose(L, L.T if factor == "symmetric" else np.triu(L), atol=1e-12)


def test_the_frame_preserving_root_stays_near_the_symmetric_one_and_far_from_the_others():
    """With the small steps of a usual run: the distance of the layers' inputs, after a ReLU."""
    settings = {"n_layers": 3, "activation": "relu", "gamma": 1e-3, "scans": 2, "random_state": 0}
    ours = MLOML(**settings).fit(X, Y).transform(X)
    far = {
        factor: np.abs(
            ExplicitMLOML(factor=factor, cone="split", **settings).fit_transform(X, Y) - ours
        ).max()
        for factor in ("symmetric", "cholesky", "eigen")
    }
    assert far["symmetric"] < 0.1 * min(far["cholesky"], far["eigen"])


def test_a_learner_that_leaves_most_steps_out_says_so():
    rows, labels = load_wine(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="ExplicitMLOML hardly learns"):
        learner = ExplicitMLOML(n_layers=1, gamma=0.1, cone="skip", scale=None, random_state=0, scans=8).fit(
            rows, labels
        )
    assert learner.n_cone_failures_[0] > learner.n_updates_[0]
