"""Learning from comparisons: what labels teach, triplets, pairs and quadruplets teach as well."""

import pickle
from abc import ABCMeta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.base import clone

import mloml
from mloml import (
    LEGO,
    MLOML,
    MOML,
    OASIS,
    OPML,
    RDML,
    SLMOML,
    DiagonalMOML,
    ExplicitMLOML,
    LowRankMOML,
    PaperMLOML,
)  # fmt: skip
from mloml.learners.online import OnlineLearner
from mloml.learners.triplets import scan_triplets
from mloml.metrics import triplet_accuracy

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

LEARNERS = {
    "moml": MOML(gamma=0.05),
    "moml free": MOML(gamma=0.05, cone="free"),
    "opml": OPML(gamma=0.05),
    "lego": LEGO(gamma=0.05, targets=(1.0, 9.0)),
    "rdml": RDML(gamma=0.05),
    "slmoml": SLMOML(gamma=0.05),
    "oasis": OASIS(gamma=0.05),
    "diagonal": DiagonalMOML(gamma=0.5),
    "low rank": LowRankMOML(n_components=2, gamma=0.05, init="random", random_state=0),
    "mloml": MLOML(gamma=0.05, n_layers=2),
    "mloml relu": MLOML(gamma=0.05, n_layers=2, activation="relu"),
    "mloml sigmoid": MLOML(gamma=0.05, n_layers=2, activation="sigmoid"),
    "mloml fbp": MLOML(gamma=0.05, n_layers=2, propagation="fbp"),
    "explicit": ExplicitMLOML(n_layers=2, gamma=0.05),
    "paper": PaperMLOML(n_layers=2, gamma=0.05),
}
STARTED_BY_ROWS = {  # by all rows of the first call, whether they are compared or not
    "rdml adjacent": RDML(gamma=0.05, pairs="adjacent"),  # which asks for the order of arrival
    "low rank pca": LowRankMOML(n_components=2, gamma=0.05),
    "mloml narrow": MLOML(gamma=0.05, n_layers=2, n_components=3),
}
every = pytest.mark.parametrize("name", LEARNERS)


def data(seed=0, n=120, d=6):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, d)), rng.integers(3, size=n)
    X[:, 0] += y
    return X, y


def clicks(seed, t=600, d=6):
    """Triplets that say that only the first two features matter."""
    rng = np.random.default_rng(seed)
    T = rng.normal(size=(t, 3, d))
    gaps = ((T[:, :1, :2] - T[:, 1:, :2]) ** 2).sum(axis=2)
    turned = gaps[:, 0] > gaps[:, 1]
    T[turned, 1:] = T[turned, :0:-1]
    return T


def learned(learner):
    return np.concatenate([np.ravel(A) for A in learner._state.matrices()])


def known(learner):
    return (
        learned(learner),
        learner.n_triplets_,
        learner.scale_,
        learner.n_features_in_,
        learner.classes_.tolist(),
    )


def test_no_learner_is_forgotten():
    online = {name for name in mloml.__all__ if issubclass(type(getattr(mloml, name)), ABCMeta)}
    online = {name for name in online if issubclass(getattr(mloml, name), OnlineLearner)}
    assert {type(learner).__name__ for learner in LEARNERS.values()} == online


# triplets --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*LEARNERS, *STARTED_BY_ROWS])
@pytest.mark.parametrize("rule", ["released", "latest"])
def test_triplets_of_a_label_stream_teach_the_same_bit_by_bit(name, rule):
    X, y = data()
    learner = clone((LEARNERS | STARTED_BY_ROWS)[name]).set_params(scale=2.0, triplets=rule)
    labels, triplets = clone(learner).partial_fit(X, y), scan_triplets(y, rule=rule)
    compared = clone(learner).partial_fit_triplets(X, triplets)
    np.testing.assert_array_equal(learned(compared), learned(labels))
    assert compared.n_triplets_ == labels.n_triplets_ == len(triplets) > 100
    np.testing.assert_array_equal(compared.n_updates_, labels.n_updates_)
    if name in LEARNERS:
        stacked = clone(learner).partial_fit_triplets(X[triplets])
        np.testing.assert_array_equal(learned(stacked), learned(labels))


@every
def test_one_triplet_at_a_time_pickled_on_the_way_teaches_the_same(name):
    T = clicks(0, 60)
    learner = clone(LEARNERS[name]).set_params(scale=2.0)
    together, alone = clone(learner).partial_fit_triplets(T), clone(learner)
    for i, triplet in enumerate(T):
        alone.learn_triplet(*triplet)
        if i == 30:
            alone = pickle.loads(pickle.dumps(alone))
    np.testing.assert_allclose(learned(alone), learned(together), rtol=1e-9, atol=1e-12)


@every
def test_a_scan_in_order_is_one_pass_and_scans_go_on(name):
    T = clicks(1, 80)
    learner = clone(LEARNERS[name]).set_params(scale=2.0, scans=1, shuffle=False)
    once = clone(learner).fit_triplets(T)
    passed = clone(learner).partial_fit_triplets(T)
    np.testing.assert_array_equal(learned(once), learned(passed))
    twice = clone(learner).set_params(scans=2).fit_triplets(T)
    np.testing.assert_array_equal(learned(twice), learned(passed.partial_fit_triplets(T)))
    shuffled = clone(learner).set_params(scans=2, shuffle=True, random_state=0)
    np.testing.assert_array_equal(learned(shuffled.fit_triplets(T)), learned(clone(shuffled).fit_triplets(T)))


@pytest.mark.parametrize("name", ["opml", "oasis", "diagonal", "low rank"])
def test_sparse_rows_teach_what_dense_ones_do(name):
    X, y = data()
    X[np.abs(X) < 0.5] = 0.0
    triplets, rows = scan_triplets(y), csr_array(X)
    for options in ({"scale": 2.0}, {}):
        few, many = (clone(LEARNERS[name]).set_params(**options) for _ in range(2))
        few.partial_fit_triplets(rows, triplets).learn_triplet(rows[:1], rows[1:2], rows[2:3])
        many.partial_fit_triplets(X, triplets).learn_triplet(*X[:3])
        np.testing.assert_allclose(learned(few), learned(many), rtol=1e-9)
        assert few.scale_ == many.scale_


@every
def test_a_number_for_gamma_lets_labels_and_comparisons_go_together(name):
    X, y = data()
    learner = clone(LEARNERS[name]).partial_fit(X, y).partial_fit_triplets(clicks(0, 50)).partial_fit(X, y)
    assert learner.n_triplets_ > 250 and learner.classes_.tolist() == [0, 1, 2]
    learner.learn_one(X[0], 1).learn_triplet(*X[:3]).learn_one(X[1], 2)
    assert np.isfinite(learned(learner)).all()


# step size and scale ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind", [MOML, OPML, RDML, SLMOML, DiagonalMOML, MLOML], ids=lambda kind: kind.__name__
)
def test_a_step_size_is_chosen_that_brings_new_triplets_into_order(kind):
    train, test = clicks(0, 1500), clicks(1)
    still = triplet_accuracy(kind(gamma=0.0).partial_fit_triplets(train), test)
    fitted = kind(random_state=0, scans=3).fit_triplets(train)
    streamed = kind().partial_fit_triplets(train)
    for learner in (fitted, streamed):
        assert learner.gamma_ > 0 and triplet_accuracy(learner, test) > still + 0.03


def test_comparisons_at_random_choose_to_learn_nothing():
    T = np.random.default_rng(0).normal(size=(1500, 3, 6))
    assert MOML(random_state=0, scans=3).fit_triplets(T).gamma_ == 0.0
    assert MOML().partial_fit_triplets(T).gamma_ == 0.0


@pytest.mark.parametrize("name", ["moml", "lego", "oasis", "low rank"])
def test_the_length_of_rows_does_not_matter_with_an_automatic_scale(name):
    T = clicks(0, 300)
    learner = clone(LEARNERS[name])
    if name == "lego":
        learner.set_params(targets="percentiles")
    one, other = clone(learner).partial_fit_triplets(T), clone(learner).partial_fit_triplets(2.0**10 * T)
    np.testing.assert_allclose(learned(one), learned(other), rtol=1e-9)
    assert other.scale_ == 2.0**10 * one.scale_
    went_on = one.partial_fit_triplets(2.0**10 * T)
    assert went_on.scale_ == pytest.approx(other.scale_, rel=0.5), "it is revised in a stream"


def test_a_step_size_is_judged_by_labels_or_by_comparisons():
    X, y = data()
    learner = MOML().partial_fit_triplets(clicks(0))
    before = known(learner)
    for teach in (lambda: learner.partial_fit(X, y), lambda: learner.learn_one(X[0], 0)):
        with pytest.raises(ValueError, match="gamma is 'auto'"):
            teach()
    np.testing.assert_array_equal(known(learner)[0], before[0])
    learner.set_params(gamma=0.01).partial_fit(X, y).partial_fit_triplets(clicks(1))
    assert MOML(scans=1).fit(X, y).partial_fit_triplets(clicks(1)).gamma_ >= 0


# pairs and quadruplets -------------------------------------------------------------------------------------


def lego_pair(M, z, y, eta):
    """One pair of LEGO as its docstring has it."""
    old = z @ M @ z
    new = max(np.roots([eta * old, 1 - eta * y * old, -old]).real)
    c = eta * (new - y)
    return M - c * np.outer(M @ z, M @ z) / (1 + c * old)


def rdml_pair(M, z, s, gamma):
    """One pair of RDML as its docstring has it."""
    if s * (1 - z @ M @ z) > 0:
        return M
    values, vectors = np.linalg.eigh(M - gamma * s * np.outer(z, z))
    return (vectors * np.maximum(values, 0)) @ vectors.T


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_pairs_are_learned_by_the_formulas(seed):
    rng = np.random.default_rng(seed)
    pairs, y = rng.normal(size=(40, 2, 4)), rng.choice([-1, 1], size=40)
    lego = LEGO(gamma=0.1, targets=(0.5, 6.0), scale=None).partial_fit_pairs(pairs, y=y)
    rdml = RDML(gamma=0.1, scale=None).partial_fit_pairs(pairs, y=y)
    M, N = np.eye(4), np.eye(4)
    updates = 0
    for (a, b), sign in zip(pairs, y, strict=True):
        M = lego_pair(M, a - b, 0.5 if sign > 0 else 6.0, 0.1)
        updates += sign * (1 - (a - b) @ N @ (a - b)) <= 0
        N = rdml_pair(N, a - b, sign, 0.1)
    np.testing.assert_allclose(lego.get_mahalanobis_matrix(), M, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(rdml.get_mahalanobis_matrix(), N, rtol=1e-7, atol=1e-9)
    assert rdml.n_updates_ == updates and lego.n_updates_ == lego.n_triplets_ == 40
    alone = RDML(gamma=0.1, scale=None)
    for (a, b), sign in zip(pairs, y, strict=True):
        alone.learn_pair(a, b, sign)
    np.testing.assert_allclose(alone.get_mahalanobis_matrix(), N, rtol=1e-7, atol=1e-9)
    rows, index = pairs.reshape(-1, 4), np.arange(80).reshape(-1, 2)
    named = RDML(gamma=0.1, scale=None).partial_fit_pairs(rows, index, y)
    np.testing.assert_array_equal(learned(named), learned(rdml))


@every
def test_quadruplets_with_one_sample_twice_are_triplets(name):
    T = clicks(0, 60)
    learner = clone(LEARNERS[name]).set_params(scale=2.0)
    quadruplets = T[:, [0, 1, 0, 2]]
    if not learner._from_quadruplets:
        with pytest.raises(ValueError, match="does not learn from quadruplets; MOML, OPML"):
            learner.partial_fit_quadruplets(quadruplets)
        return
    four, three = clone(learner).partial_fit_quadruplets(quadruplets), learner.partial_fit_triplets(T)
    np.testing.assert_allclose(learned(four), learned(three), rtol=1e-9, atol=1e-12)


def test_quadruplets_push_and_pull_their_own_differences():
    a, b, c, d = np.random.default_rng(0).normal(size=(4, 5))
    learner = MOML(gamma=0.01, cone="free", scale=None).partial_fit_quadruplets([[a, b, c, d]])
    p, q = a - b, c - d
    hinge = 1 + p @ p - q @ q
    expected = np.eye(5) - (0.01 if hinge > 0 else 0.0) * (np.outer(p, p) - np.outer(q, q))
    np.testing.assert_allclose(learner.get_mahalanobis_matrix(), expected)
    rows = csr_array(np.stack([a, b, c, d]))
    few = OPML(gamma=0.01, scale=None).partial_fit_quadruplets(rows, [[0, 1, 2, 3]])
    many = OPML(gamma=0.01, scale=None).partial_fit_quadruplets([[a, b, c, d]])
    np.testing.assert_allclose(learned(few), learned(many))


# refusals --------------------------------------------------------------------------------------------------

X, Y = data()
BAD = {
    "shape of X": ("triplets", (X[:9],), r"X has shape \(9, 6\), expected \(n_triplets, 3, n_features\)"),
    "pairs for triplets": ("triplets", (X[:8].reshape(4, 2, 6),), "X has shape"),
    "no triplet": ("triplets", (np.empty((0, 3, 6)),), "X has shape"),
    "no index": ("triplets", (X, np.empty((0, 3), int)), r"triplets has shape \(0, 3\)"),
    "shape of index": ("triplets", (X, [[0, 1]]), r"triplets has shape \(1, 2\), expected \(n_triplets, 3\)"),
    "out of range": ("triplets", (X, [[0, 1, 120]]), "triplets has 120, expected numbers of the 120 rows"),
    "negative": ("triplets", (X, [[0, 1, -1]]), "triplets has -1"),
    "fractions": ("triplets", (X, [[0.0, 1.0, 2.0]]), "triplets has type float64"),
    "features": ("triplets", (X[:9].reshape(-1, 3, 6)[:, :, :4],), "features"),
    "NaN": ("triplets", (np.full((1, 3, 6), np.nan),), "NaN"),
    "y": ("pairs", (X, [[0, 1]], [0]), "y has 0, expected 1 and -1"),
    "y missing": ("pairs", (X, [[0, 1]]), "y has None, expected 1 and -1"),
    "length of y": ("pairs", (X, [[0, 1]], [1, 1]), "y has 2 entries for 1 pairs"),
    "quadruplets": ("quadruplets", (X, [[0, 1, 2]]), r"quadruplets has shape \(1, 3\)"),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("fresh", [True, False])
def test_bad_comparisons_are_refused_and_leave_the_learner_as_it_was(case, fresh):
    method, arguments, error = BAD[case]
    learner = RDML(gamma=0.1)
    if not fresh:
        learner.partial_fit(X, Y)
        before = known(learner)
    elif case == "features":
        return
    with pytest.raises(ValueError, match=error):
        getattr(learner, f"partial_fit_{method}")(*arguments)
    if fresh:
        assert not hasattr(learner, "n_features_in_") and not hasattr(learner, "scale_")
    else:
        np.testing.assert_array_equal(learned(learner), before[0])
        assert known(learner)[1:] == before[1:]


def test_single_comparisons_of_the_wrong_shape_and_learners_that_cannot_are_named():
    with pytest.raises(ValueError, match=r"x has shape \(6,\), xp has shape \(5,\)"):
        MOML(gamma=0.1).learn_triplet(X[0], X[1, :5], X[2])
    for learner in (MOML(gamma=0.1), OASIS(gamma=0.1), MLOML(gamma=0.1)):
        with pytest.raises(ValueError, match="learns from triplets, not from pairs; LEGO and RDML do"):
            learner.learn_pair(X[0], X[1], 1)
    with pytest.raises(ValueError, match="gamma is 'auto', but pairs need a number"):
        LEGO().learn_pair(X[0], X[1], 1)
