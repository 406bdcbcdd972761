"""MetricKNN: at every moment the answers of an exhaustive search under the metric as it is then."""

import pickle
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.estimator_checks import check_estimator

import mloml.window
from mloml import (
    LEGO,
    LMNN,
    MLOML,
    MOML,
    OASIS,
    OPML,
    RDML,
    SLMOML,
    DiagonalMOML,
    ExplicitMLOML,
    LowRankMOML,
    MetricKNN,
)
from mloml.window import Window, low_rank_change

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(autouse=True, scope="module")
def small_windows_follow_as_large_ones_do():
    before, mloml.window.FEWEST = mloml.window.FEWEST, 0
    yield
    mloml.window.FEWEST = before


METRICS = {
    "none": None,
    "moml": MOML(gamma=0.05),
    "moml free": MOML(gamma=0.2, cone="free"),
    "opml": OPML(gamma=0.02),
    "lego": LEGO(gamma=0.05),
    "rdml": RDML(gamma=0.05),
    "slmoml": SLMOML(gamma=0.05),
    "oasis": OASIS(gamma=0.05),
    "diagonal": DiagonalMOML(gamma=0.5),
    "low rank": LowRankMOML(n_components=3, gamma=0.05, init="random", random_state=0),
    "relu": MLOML(gamma=0.02, activation="relu", n_layers=2),
    "sigmoid": MLOML(gamma=0.02, activation="sigmoid", n_layers=2),
    "tanh": MLOML(gamma=0.02, n_layers=2),
    "explicit": ExplicitMLOML(n_layers=1, gamma=0.01),
}
every = pytest.mark.parametrize("name", METRICS)
STREAMED = [
    MOML(), OPML(), DiagonalMOML(), LowRankMOML(n_components=4), OASIS(), MLOML(n_layers=2),
    MOML(gamma=0.05, scale=0.5), OPML(gamma=0.5, scale=0.5),
]  # fmt: skip


def stream(seed, n=120, d=24, longer=1.0):
    """Rows of three classes, whose length changes half-way; some come twice, with different labels."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, d)), rng.integers(3, size=n)
    X[np.arange(n), y] += 2.0
    X[n // 2 :] *= longer
    X[10::7] = X[9:-1:7]
    return X, y


def brute_force(model, rows, labels, x, k=5):
    """Votes by class, distances of the neighbours, and how far the next row is behind the last of them."""
    metric = model.metric_
    if hasattr(metric, "similarity"):
        distances = -metric.similarity(x[np.newaxis], rows)[0]
    else:
        mapped, z = (A if metric is None else metric.transform(A) for A in (rows, x[np.newaxis]))
        distances = cdist(z, mapped)[0]
    order = np.argsort(distances, kind="stable")
    votes = np.array([(labels[order[:k]] == label).sum() for label in model.classes_])
    gap = distances[order[k]] - distances[order[k - 1]] if len(order) > k else np.inf
    return votes, distances[order[:k]], gap


def check_answer(model, rows, labels, x):
    votes, distances, gap = brute_force(model, rows, labels, x, model.n_neighbors)
    found = model.kneighbors(x[np.newaxis])[0][0]
    np.testing.assert_allclose(found, distances, rtol=1e-9, atol=1e-9 * np.abs(distances).max())
    if gap > 1e-9 * np.abs(distances).max():
        shares = dict(zip(model.classes_.tolist(), votes / votes.sum(), strict=True))
        assert model.predict_proba_one(x) == pytest.approx(shares, abs=1e-15)
        assert model.predict(x[np.newaxis])[0] == model.classes_[votes.argmax()]
    return gap


# the answer is that of brute force -------------------------------------------------------------------------


@every
@settings(max_examples=4, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    longer=st.sampled_from([1.0, 50.0]),
    gamma=st.sampled_from(["as it is", "auto"]),
    scale=st.sampled_from(["auto", 3.0]),
)
def test_every_answer_is_that_of_brute_force_under_the_metric_as_it_is_now(name, seed, longer, gamma, scale):
    X, y = stream(seed, n=90, longer=longer)
    metric, told = METRICS[name] and clone(METRICS[name]).set_params(scale=scale), 0
    if gamma == "auto" and metric is not None:
        metric.set_params(gamma="auto")
    model = MetricKNN(metric, window=40)
    for i, (row, label) in enumerate(zip(X, y.tolist(), strict=True)):
        if i > 3:
            told += check_answer(model, X[max(0, i - 40) : i], y[max(0, i - 40) : i], row) > 0
        model.learn_one(row, label)
    assert told > 50


@pytest.mark.parametrize("metric", STREAMED, ids=lambda metric: type(metric).__name__)
def test_another_step_another_scale_and_a_recovery_on_the_way_keep_to_brute_force(metric):
    X, y = stream(0, n=900, d=16)
    X[:, 3:] *= 3.0  # there is something to learn
    X[600:] *= 20.0
    X[700] = 1e100  # diverges, or is shortened
    model, states = MetricKNN(clone(metric), window=150), set()
    for i in range(len(X)):
        model.learn_one(X[i], y[i])
        if i > 10 and (i % 16 == 0 or 695 < i < 705 or 255 < i < 260):
            check_answer(model, X[max(0, i - 149) : i + 1], y[max(0, i - 149) : i + 1], X[i - 1] / 2)
        states.add((model.metric_.gamma_, model.metric_.scale_, model.metric_.n_restarts_))
    changed = {len(set(values)) > 1 for values in zip(*states, strict=True)}
    assert True in changed


def test_a_triplet_changes_the_factor_by_rank_two_and_the_window_follows_without_being_mapped(monkeypatch):
    X, y = stream(1, n=700, d=32)
    measured = []
    usual = mloml.window.lengths_squared

    def noted(rows):
        measured.append(rows.shape[0])
        return usual(rows)

    monkeypatch.setattr(mloml.window, "lengths_squared", noted)
    for metric in (MOML(gamma=0.02), OPML(gamma=0.02), LEGO(gamma=0.02, targets=(10.0, 90.0))):
        model = MetricKNN(metric.set_params(scale=5.0), window=300).partial_fit(X[:300], y[:300])
        model.predict_one(X[0])
        measured.clear()
        for i in range(300, 700):
            model.learn_one(X[i], y[i])
            model.predict_one(X[i])
        assert sum(n > 100 for n in measured) == 1, "every 256 steps it is mapped anew"


def test_changes_too_small_to_follow_do_not_add_up(monkeypatch):
    monkeypatch.setattr(mloml.window, "RENEW_EVERY", 10)
    X, y = stream(0, n=50, d=16)
    window, L = Window(None, 16), np.eye(16)
    window.add(X, y)
    for _ in range(400):
        L = L + 5e-15 * np.ones((16, 1)) @ np.eye(1, 16)
        window.follow(SimpleNamespace(components_=L))
    np.testing.assert_allclose(window.squares[:50], ((X @ L.T) ** 2).sum(axis=1), rtol=1e-12)


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6), rank=st.integers(0, 6), size=st.floats(-12, 3))
def test_a_change_of_low_rank_is_found_and_one_of_full_rank_is_not_taken_for_one(seed, rank, size):
    rng = np.random.default_rng(seed)
    before = rng.normal(size=(30, 48))
    change = 10.0**size * rng.normal(size=(30, rank)) @ rng.normal(size=(rank, 48))
    U, P = low_rank_change(before, before + change)
    assert U.shape[1] <= rank
    product = U @ P.T if U.size else np.zeros((30, 48))
    np.testing.assert_allclose(product, change, atol=1e-12 * np.abs(before + change).max())
    assert low_rank_change(before, before + 0.1 * rng.normal(size=before.shape)) is None


# ties, votes, labels ---------------------------------------------------------------------------------------


def test_without_a_metric_it_is_scikit_learns_k_nn_with_its_ties():
    rng = np.random.default_rng(0)
    X, y = rng.integers(3, size=(200, 3)).astype(float), rng.choice(["b", "a", "c"], size=200)
    for weights in ("uniform", "distance"):
        ours = MetricKNN(None, window=None, n_neighbors=4, weights=weights).fit(X, y)
        distances = cdist(X, X)
        order = np.argsort(distances, axis=1, kind="stable")[:, :4]  # of equally distant rows the earlier
        theirs = KNeighborsClassifier(4, weights=weights, metric="precomputed").fit(distances, y)
        theirs.kneighbors = lambda X, order=order, distances=distances, **_: (
            np.take_along_axis(distances, order, 1), order,
        )  # fmt: skip
        if weights == "distance":
            np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(distances), atol=1e-12)
        votes = np.array([[(y[row] == label).sum() for label in "abc"] for row in order])
        if weights == "uniform":
            assert ours.predict(X).tolist() == [["a", "b", "c"][i] for i in votes.argmax(axis=1)]
            np.testing.assert_array_equal(ours.kneighbors(X)[1], order)


def test_equal_rows_are_exact_ties_however_long_the_metric_has_moved():
    X, y = stream(3, n=400, d=24)
    X[:200:2] = X[0]
    y[:200:2] = np.arange(100) % 3
    model = MetricKNN(MOML(gamma=0.05), window=None, n_neighbors=7)
    for row, label in zip(X, y, strict=True):
        model.learn_one(row, label)
        model.predict_one(row)
    assert model.kneighbors(X[:1])[1][0].tolist() == [0, 2, 4, 6, 8, 10, 12]


def test_any_label_will_do_and_new_classes_may_come_at_any_time():
    X, _ = stream(0, n=30)
    labels = [("a", 1), "b", 3, frozenset("c")]
    model = MetricKNN(MOML(gamma=0.1), n_neighbors=1)
    assert model.predict_one(X[0]) is None and model.predict_proba_one(X[0]) == {}
    for i, row in enumerate(X):
        model.learn_one(row, labels[i * 4 // 30])
        assert model.predict_one(row) == model.predict([row])[0] == labels[i * 4 // 30]
    assert set(model.classes_) == set(labels)


def test_rows_without_a_label_teach_nothing_and_do_not_vote():
    X, y = stream(0, n=60)
    some = [label if i % 3 else None for i, label in enumerate(y.tolist())]
    with_gaps = MetricKNN(MOML(gamma=0.1), window=20).partial_fit(X, some)
    there = [i for i in range(60) if i % 3]
    without = MetricKNN(MOML(gamma=0.1), window=20).partial_fit(X[there], y[there])
    with_gaps.learn_one(X[0], float("nan"))
    np.testing.assert_array_equal(with_gaps.predict_proba(X), without.predict_proba(X))
    with pytest.raises(ValueError, match="no labels"):
        MetricKNN().fit(X, [None] * 60)


def test_classes_may_be_announced():
    X, y = stream(0, n=30)
    model = MetricKNN(MOML(gamma=0.1)).partial_fit(X, y, classes=[0, 1, 2, 7])
    assert model.classes_.tolist() == [0, 1, 2, 7] and model.predict_proba(X).shape == (30, 4)
    with pytest.raises(ValueError, match="not in classes"):
        model.learn_one(X[0], 8)
    assert model.classes_.tolist() == [0, 1, 2, 7]


# one way or another ----------------------------------------------------------------------------------------


@every
def test_rows_one_by_one_in_pieces_pickled_or_after_fit_give_the_same(name):
    X, y = stream(5, n=90)
    light, heavy = (MetricKNN(METRICS[name], window=30) for _ in range(2))
    for i, (row, label) in enumerate(zip(X, y, strict=True)):
        light.learn_one(row, label)
        light.predict_one(row)
        heavy.partial_fit(row[np.newaxis], [label])
        if i == 50:
            light = pickle.loads(pickle.dumps(light))
    np.testing.assert_allclose(light.predict_proba(X), heavy.predict_proba(X))
    fitted = MetricKNN(METRICS[name], window=30).fit(X, y)
    assert fitted.kneighbors(X[-30:])[1][0][0] == 0 or hasattr(fitted.metric_, "similarity")
    assert not hasattr(clone(fitted), "metric_")


@pytest.mark.parametrize("name", ["none", "moml", "opml", "diagonal", "tanh", "oasis"])
def test_features_may_come_on_the_way(name):
    X, y = stream(6, n=80, d=16)
    X[:40, 10:] = 0.0
    grown, whole = MetricKNN(METRICS[name], window=50), MetricKNN(METRICS[name], window=50)
    grown.partial_fit(X[:40, :10], y[:40]).add_features(6)
    whole.partial_fit(X[:40], y[:40])
    for model in (grown, whole):
        for row, label in zip(X[40:], y[40:], strict=True):
            model.learn_one(row, label)
    np.testing.assert_allclose(grown.predict_proba(X), whole.predict_proba(X))


@pytest.mark.parametrize("name", ["none", "opml", "diagonal", "low rank", "oasis"])
def test_sparse_rows_answer_as_dense_ones_do(name):
    X, y = stream(7, n=80)
    X[np.abs(X) < 0.8] = 0.0
    metric = METRICS[name] and clone(METRICS[name]).set_params(scale=4.0)
    few, many = (MetricKNN(metric, window=50) for _ in range(2))
    for i in range(80):
        few.learn_one(csr_array(X[i : i + 1]), y[i])
        many.learn_one(X[i], y[i])
        if i > 3:
            assert few.predict_one(csr_array(X[i : i + 1])) == many.predict_one(X[i])
    np.testing.assert_allclose(few.predict_proba(csr_array(X)), many.predict_proba(X))
    mixed = MetricKNN(metric, window=50).partial_fit(X[:60], y[:60]).partial_fit(csr_array(X[60:]), y[60:])
    np.testing.assert_allclose(mixed.predict_proba(X), many.predict_proba(X))


def test_one_thread_may_learn_new_classes_while_others_predict():
    X, _ = stream(8, n=300)
    X, labels = np.unique(X, axis=0), [*range(1000, 700, -1)]  # a new class comes before the others
    model = MetricKNN(MOML(gamma=0.05), window=None, n_neighbors=1).partial_fit(X[:50], labels[:50])
    errors, stop = [], threading.Event()

    def read():
        while not stop.is_set():
            try:
                assert model.predict(X[:3]).tolist() == labels[:3]
            except BaseException as error:
                errors.append(error)
                return

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for row, label in zip(X[50:], labels[50:], strict=False):
        model.learn_one(row, label)
    stop.set()
    for reader in readers:
        reader.join()
    assert errors == []


def test_the_metric_may_be_taught_by_comparisons_in_between():
    X, y = stream(9, n=60)
    model = MetricKNN(MOML(gamma=0.1), window=None).partial_fit(X, y)
    before = model.kneighbors(X[:1])[0][0]
    model.metric_.learn_triplet(X[0], X[1], X[2])
    assert not np.array_equal(model.kneighbors(X[:1])[0][0], before)
    check_answer(model, X, y, X[0])


# scikit-learn, refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", [None, "auto", OASIS(gamma=0.01, random_state=0)], ids=str)
def test_scikit_learn_agrees(metric):
    passed = check_estimator(MetricKNN(metric), on_skip=None)
    assert len([check for check in passed if check["status"] == "passed"]) > 40


def test_the_step_size_of_the_metric_can_be_searched():
    X, y = stream(0, n=90)
    search = GridSearchCV(MetricKNN(MOML(random_state=0)), {"metric__gamma": [0.0, 0.01]}, cv=3).fit(X, y)
    assert set(search.best_params_) == {"metric__gamma"} and search.best_score_ > 0.5


def test_bad_input_is_refused_in_one_line_and_changes_nothing():
    X, y = stream(0, n=40)
    model = MetricKNN(MOML(gamma=0.1)).partial_fit(X, y)
    before = model.predict_proba(X)
    for row, label, error in [
        (X[0, :5], 0, "x has 5 features, but MetricKNN expects 24"),
        (X[:2], 0, r"x has shape \(2, 24\)"),
        (np.full(24, np.nan), 0, "NaN or infinity"),
        (X[0], 0.5, "Unknown label type"),
    ]:
        with pytest.raises(ValueError, match=error):
            model.learn_one(row, label)
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :3], y)
    with pytest.raises(ValueError, match="count is -1"):
        model.add_features(-1)
    with pytest.raises(ValueError, match="NaN or infinity"):
        model.predict_one(np.full(24, np.inf))
    with pytest.raises(ValueError, match="'gamma' parameter of MOML"):
        model.set_params(metric__gamma=-1.0).fit(X[:, :3], y)
    np.testing.assert_array_equal(model.predict_proba(X), before)
    assert model.n_features_in_ == 24
    for wrong in (
        {"metric": LMNN()},
        {"metric": MOML},
        {"window": 0},
        {"n_neighbors": 0},
        {"weights": "far"},
    ):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            MetricKNN(**wrong).fit(X, y)
    for metric in (OASIS(), MOML(cone="free")):
        with pytest.raises(ValueError, match="weights is 'distance'"):
            MetricKNN(metric, weights="distance").fit(X, y)
    with pytest.raises(NotFittedError):
        MetricKNN().predict(X)
