"""MOML as a learner: its factors agree, and it is exactly a stack of one layer."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from mloml.evaluation.scoring import Rows
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
        ("frame", "split"),
        ("frame", "shrink"),
        ("frame", "skip"),
        ("cholesky", "split"),
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


@pytest.mark.parametrize(
    ("factor", "cone"),
    [
        ("frame", "clip"),
        ("cholesky", "clip"),
        ("symmetric", "split"),
        ("none", "split"),
        ("frame", "free"),
        ("cholesky", "free"),
        ("symmetric", "free"),
    ],
)
def test_a_policy_is_refused_for_factors_it_does_not_go_with(factor, cone):
    with pytest.raises(ValueError, match=rf"cone='{cone}' needs .* not '{factor}': ") as error:
        MOML(factor=factor, cone=cone).fit(IRIS, LABELS)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("factor", "cone"), [("frame", "split"), ("cholesky", "split"), ("symmetric", "clip"), ("none", "clip")]
)
def test_every_factor_has_a_default_policy(factor, cone):
    X = unit(IRIS - IRIS.mean(axis=0))
    ours, named = (MOML(0.5, factor=factor, cone=c, random_state=0).fit(X, LABELS) for c in (None, cone))
    np.testing.assert_array_equal(ours.components_, named.components_)
    assert ours.n_cone_failures_ == named.n_cone_failures_ > 0


def test_without_a_factor_named_free_keeps_none_and_all_others_the_frame():
    X = unit(IRIS - IRIS.mean(axis=0))
    for cone, factor in (("free", "none"), ("split", "frame"), ("shrink", "frame"), (None, "frame")):
        ours, named = (MOML(0.1, factor=f, cone=cone, random_state=0).fit(X, LABELS) for f in (None, factor))
        np.testing.assert_array_equal(ours.get_mahalanobis_matrix(), named.get_mahalanobis_matrix())


def test_split_goes_on_learning_on_standardised_rows_where_shrink_stops():
    X, y = load_digits(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    steps = {}
    for cone in ("shrink", "split"):
        learner = MOML(1e-2, cone=cone, scale=None, scans=5, random_state=0)
        steps[cone] = np.diff([seen.n_updates_ for seen in learner.iter_scans(X, y)])
    assert steps["shrink"][1:].tolist() == [0, 0, 0]
    assert steps["split"].min() > 100
    assert np.linalg.eigvalsh(learner.get_mahalanobis_matrix())[0] > 1e-5


@pytest.fixture
def indefinite():
    """A MOML that left the cone, and its rows."""
    X = unit(IRIS - IRIS.mean(axis=0))
    learner = MOML(0.5, cone="free", random_state=0).fit(X, LABELS)
    assert np.linalg.eigvalsh(learner.get_mahalanobis_matrix())[0] < -0.1
    return learner, X


def test_an_indefinite_metric_says_in_one_line_why_it_has_no_factor(indefinite):
    learner, X = indefinite
    pairs = X[:6].reshape(3, 2, -1)
    for call in (lambda: learner.transform(X), lambda: learner.pair_distance(pairs), learner.get_metric):
        with pytest.raises(ValueError, match=r"indefinite .* pair_score\(pairs\).*cone='split'") as error:
            call()
        assert "\n" not in str(error.value)
    with pytest.raises(AttributeError, match="no components_ here: its M is indefinite"):
        _ = learner.components_


def test_an_indefinite_metric_scores_pairs_by_the_signed_form(indefinite):
    learner, X = indefinite
    M = learner.get_mahalanobis_matrix()
    differences = X[:, np.newaxis] - X
    form = np.einsum("ijk,kl,ijl->ij", differences, M, differences)
    assert (form < 0).any() and (form > 0).any()
    np.testing.assert_allclose(learner.similarity(X, X), -form, atol=1e-12)
    pairs = np.stack([X[:-1], X[1:]], axis=1)
    expected = np.diagonal(form, 1)
    scores = learner.pair_score(pairs)
    np.testing.assert_allclose(scores, -np.sign(expected) * np.sqrt(np.abs(expected)), atol=1e-9)
    with pytest.raises(ValueError, match=r"expected \(n_pairs, 2, 4\)"):
        learner.pair_score(X)


def test_neighbours_of_an_indefinite_metric_are_those_of_least_signed_form(indefinite):
    learner, X = indefinite
    M = learner.get_mahalanobis_matrix()
    wrong = 0
    for i in range(0, len(X), 2):
        form = [(X[i] - x) @ M @ (X[i] - x) for x in X[1::2]]
        votes = np.bincount(LABELS[1::2][np.argsort(form, kind="stable")[:5]])
        wrong += votes.argmax() != LABELS[i]
    assert Rows(X[1::2], LABELS[1::2], X[::2], LABELS[::2], k=5).mistakes(learner) == wrong


def test_rows_that_are_equal_are_equally_similar(indefinite):
    learner, X = indefinite
    twice = np.vstack([X, X[::-1]])
    similarity = learner.similarity(X[:7], twice)
    np.testing.assert_array_equal(similarity[:, : len(X)], similarity[:, : len(X) - 1 : -1])


def test_free_steps_that_stay_in_the_cone_give_an_ordinary_metric():
    free = MOML(1e-2, cone="free", random_state=0).fit(IRIS, LABELS)
    clip = MOML(1e-2, factor="none", random_state=0).fit(IRIS, LABELS)
    assert clip.n_cone_failures_ == 0
    np.testing.assert_array_equal(free.components_, clip.components_)
    np.testing.assert_array_equal(free.transform(IRIS), clip.transform(IRIS))
    pairs = IRIS[:100].reshape(50, 2, -1)
    np.testing.assert_allclose(free.pair_score(pairs), -free.pair_distance(pairs), atol=1e-12)
    assert free.get_metric()(IRIS[0], IRIS[1]) == pytest.approx(free.pair_distance(pairs)[0])
    assert not hasattr(free, "similarity"), "neighbours are found by the ordinary road"
    assert not hasattr(MOML(), "similarity") and not hasattr(MOML(), "components_")


@pytest.mark.parametrize("cone", ["split", "shrink", "skip", "free"])
def test_row_by_row_equals_the_whole_under_every_policy(cone):
    X = unit(IRIS - IRIS.mean(axis=0))
    order = np.random.default_rng(2).permutation(len(X))
    settings = {"gamma": 0.3, "cone": cone, "scans": 1, "shuffle": False}
    whole = MOML(**settings).fit(X[order], LABELS[order])
    rows = MOML(**settings)
    for i in order:
        rows.partial_fit(X[i : i + 1], LABELS[i : i + 1])
    np.testing.assert_allclose(rows.get_mahalanobis_matrix(), whole.get_mahalanobis_matrix(), atol=1e-12)
    assert (rows.n_updates_, rows.n_cone_failures_) == (whole.n_updates_, whole.n_cone_failures_)


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
        learner = MOML(scale=None).fit(1e20 * IRIS, LABELS)
    assert learner.diverged_
    assert np.isfinite(learner.components_).all()


def test_rows_that_are_not_of_unit_norm_are_learned_from_within_the_cone():
    X, y = load_wine(return_X_y=True)
    learner = MOML(0.1, scale=None, random_state=0, scans=3).fit(X, y)
    assert learner.n_cone_failures_ > 0
    values = np.linalg.eigvalsh(learner.get_mahalanobis_matrix())
    assert np.isfinite(learner.components_).all() and values[-1] > 0


def test_a_learner_that_leaves_most_steps_out_says_so():
    X, y = load_wine(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="MOML hardly learns"):
        learner = MOML(0.1, cone="skip", scale=None, random_state=0).fit(X, y)
    assert learner.n_cone_failures_ > learner.n_updates_
