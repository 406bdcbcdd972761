"""MOML as a learner: its factors agree, and it is exactly a stack of one layer."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning

from mloml.learners.moml import MOML
from mloml.learners.multilayer import MLOML


def unit(X):
    return X / np.linalg.norm(X, axis=1, keepdims=True)


IRIS, LABELS = load_iris(return_X_y=True)
IRIS = unit(IRIS)


@pytest.mark.parametrize("factor", ["cholesky", "symmetric", "none"])
@pytest.mark.parametrize("gamma", [1e-3, 1e-2])
def test_every_factor_learns_the_same_metric_while_no_step_fails(factor, gamma):
    ours = MOML(gamma, random_state=0).fit(IRIS, LABELS)
    other = MOML(gamma, factor=factor, random_state=0).fit(IRIS, LABELS)
    assert ours.n_cone_failures_ == other.n_cone_failures_ == 0
    assert ours.n_updates_ == other.n_updates_
    np.testing.assert_allclose(ours.get_mahalanobis_matrix(), other.get_mahalanobis_matrix(), atol=1e-10)


@pytest.mark.parametrize(
    ("factor", "cone"),
    [
        ("frame", "shrink"),
        ("frame", "skip"),
        ("cholesky", "shrink"),
        ("cholesky", "skip"),
        ("symmetric", "clip"),
        ("symmetric", "shrink"),
        ("symmetric", "skip"),
    ],
)
def test_moml_is_the_first_layer_of_a_stack_exactly_under_every_policy(factor, cone):
    X = unit(IRIS - IRIS.mean(axis=0))  # directions all around: steps of 1/2 often leave the cone
    settings = {"gamma": 0.5, "factor": factor, "cone": cone, "scans": 3, "random_state": 0}
    single = MOML(**settings).fit(X, LABELS)
    stack = MLOML(n_layers=3, **settings).fit(X, LABELS)
    assert single.n_cone_failures_ > 0
    np.testing.assert_array_equal(single.components_, stack.layers_[0])
    np.testing.assert_array_equal(single.transform(X), stack.transform(X, layer=1))
    assert single.n_cone_failures_ == stack.n_cone_failures_[0]


def test_the_passive_variant_never_overshoots_the_margin():
    x = np.array([[1.0, 0.0], [0.0, 1.0], [-0.3, -0.1]])
    learner = MOML(10.0, variant="pa", factor="none", scans=1, shuffle=False)
    learner.partial_fit(x, [0, 1, 0])
    p, q = x[2] - x[0], x[2] - x[1]
    M = learner.get_mahalanobis_matrix()
    assert 1 + p @ M @ p - q @ M @ q == pytest.approx(0, abs=1e-12)


def test_clipping_is_refused_for_factors_that_must_stay_invertible():
    for factor in ("frame", "cholesky"):
        with pytest.raises(ValueError, match=rf"cone='clip' needs .* not '{factor}'"):
            MOML(factor=factor, cone="clip").fit(IRIS, LABELS)


def test_a_restored_learner_goes_on_exactly_where_it_stopped():
    X, y = load_wine(return_X_y=True)
    X = unit(X)
    order = np.random.default_rng(0).permutation(len(X))
    for factor in ("frame", "none"):
        learner = MOML(0.05, factor=factor).partial_fit(X[order[:90]], y[order[:90]])
        copy = pickle.loads(pickle.dumps(learner))
        for part in (learner, copy):
            part.partial_fit(X[order[90:]], y[order[90:]])
        np.testing.assert_array_equal(learner.components_, copy.components_)


def test_rows_beyond_all_bounds_end_in_a_warning_and_finite_output():
    with pytest.warns(ConvergenceWarning, match="diverged"):
        learner = MOML().fit(1e20 * IRIS, LABELS)
    assert learner.diverged_
    assert np.isfinite(learner.components_).all()


def test_rows_that_are_not_of_unit_norm_are_learned_from_within_the_cone():
    X, y = load_wine(return_X_y=True)
    learner = MOML(0.1, random_state=0, scans=3).fit(X, y)
    assert learner.n_cone_failures_ > 0
    values = np.linalg.eigvalsh(learner.get_mahalanobis_matrix())
    assert np.isfinite(learner.components_).all() and values[-1] > 0
