"""gamma="auto": judged on rows not learned from; it helps where something is to be learned and only there."""

import threading
from itertools import product

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from mloml import LEGO, MLOML, MOML, OASIS, OPML, RDML, SLMOML, DiagonalMOML, LowRankMOML
from mloml.learners.choosing import GAMMAS, HISTORY, SPAN, Judge, chosen

LEARNERS = [MOML(), OPML(), MLOML(), LEGO(), RDML(), SLMOML(), OASIS(), DiagonalMOML()]
every = pytest.mark.parametrize("learner", LEARNERS, ids=str)


def loud_noise(n, seed=0, informative=3, d=16):
    """Return rows of three classes, whose first features tell them apart and whose others are louder."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    X = rng.normal(size=(n, d)) + 2.0 * np.eye(3, d)[y]
    X[:, informative:] *= 2.0
    return X, y


def plain(X, y):
    return cross_val_score(KNeighborsClassifier(5), X, y).mean()


# fit -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", [MOML(), OPML(), MLOML(), DiagonalMOML()], ids=str)
def test_fit_chooses_a_step_that_helps_and_learns_with_it_on_all_rows(learner):
    X, y = loud_noise(400)
    model = make_pipeline(clone(learner).set_params(random_state=0), KNeighborsClassifier(5))
    assert cross_val_score(model, X, y).mean() > plain(X, y) + 0.03
    fitted = clone(learner).set_params(random_state=0).fit(X, y)
    assert fitted.gamma_ in fitted._gammas[1:]
    number = clone(fitted).set_params(gamma=fitted.gamma_).fit(X, y)
    np.testing.assert_array_equal(fitted.transform(X), number.transform(X))


@every
def test_nothing_is_learned_from_labels_that_mean_nothing(learner):
    X, y = np.random.default_rng(1).normal(size=(300, 5)), np.arange(300) % 3
    fitted = clone(learner).set_params(random_state=0).fit(X, y)
    assert fitted.gamma_ == 0.0 and np.all(fitted.n_updates_ == 0)


def test_the_choice_is_that_of_cross_validation_written_out():
    X, y = loud_noise(200, d=8)
    learner = MOML(random_state=0)
    order = np.random.RandomState(0).permutation(200)
    fold = np.empty(200, dtype=int)
    fold[order[np.argsort(y[order], kind="stable")]] = np.arange(200) % 5
    right = np.zeros((len(GAMMAS), 200))
    for k, (i, gamma) in product(range(5), enumerate(GAMMAS)):
        fit, held = fold != k, fold == k
        metric = MOML(gamma=gamma, random_state=0).fit(X[fit], y[fit])
        knn = KNeighborsClassifier(5).fit(metric.transform(X[fit]), y[fit])
        right[i, held] = knn.predict(metric.transform(X[held])) == y[held]
    best = right.mean(axis=1).argmax()
    gain = right[best] - right[0]
    assert gain.mean() > gain.std() / np.sqrt(200)
    assert chosen(learner, X, y) == (GAMMAS[best], 0) and learner.fit(X, y).gamma_ == GAMMAS[best]


# streams ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pieces", [1, 7, 300])
def test_a_stream_follows_the_best_of_its_steps_and_each_is_as_if_it_were_alone(pieces):
    X, y = loud_noise(4096)
    auto = MOML(scale=5.0)
    for part in range(0, len(X), pieces):
        if pieces == 1:
            auto.learn_one(X[part], y[part])
        else:
            auto.partial_fit(X[part : part + pieces], y[part : part + pieces])
    assert auto.gamma_ > 0
    alone = MOML(gamma=auto.gamma_, scale=5.0).partial_fit(X, y)
    np.testing.assert_array_equal(auto.components_, alone.components_)
    fresh, labels = loud_noise(1500, seed=1)
    assert plain(auto.transform(fresh), labels) > plain(fresh, labels) + 0.03


def test_a_span_is_judged_by_the_metric_before_it_and_a_row_is_not_its_own_neighbour():
    X, y = loud_noise(3 * SPAN)
    learner = MOML(scale=5.0)
    for span in range(3):
        rows, labels = X[span * SPAN : (span + 1) * SPAN], y[span * SPAN : (span + 1) * SPAN]
        before = [rival.factor().copy() for rival in learner._rivals] if span else [np.eye(16)] * len(GAMMAS)
        learner.partial_fit(rows, labels)
        for factor, hits in zip(before, learner._judge.hits[-1], strict=True):
            mapped = rows / 5.0 @ factor.T
            found = KNeighborsClassifier(1).fit(mapped, labels).kneighbors(return_distance=False)[:, 0]
            assert hits == (labels[found] == labels).mean()


def test_old_spans_count_less_and_the_lead_is_kept_unless_another_is_surely_better():
    judge = Judge([])
    for _ in range(HISTORY):
        judge.hits.append(np.array([0.5, 0.7, 0.6]))
    assert judge.best(0) == 1
    judge.hits[-1] = np.array([0.5, 0.69, 0.7])
    assert judge.best(1) == 1
    for _ in range(HISTORY // 2):
        judge.hits.append(np.array([0.5, 0.4, 0.6]))
    assert judge.best(1) == 2
    for _ in range(HISTORY // 2):
        judge.hits.append(np.array([0.5, 0.5, 0.5]))
    for _ in range(HISTORY):
        judge.hits.append(np.array([0.5, 0.4, 0.49]))
    assert judge.best(2) == 0


def test_a_number_may_become_auto_on_the_way_and_auto_a_number():
    X, y = loud_noise(2048)
    learner = MOML(gamma=0.01).partial_fit(X[:500], y[:500])
    learned = learner.components_
    learner.set_params(gamma="auto").partial_fit(X[500:501], y[500:501])
    assert learner.gamma_ == 0.01 and np.abs(learner.components_ - learned).max() < 0.1
    learner.partial_fit(X[501:], y[501:]).set_params(gamma=0.02).partial_fit(X[:9], y[:9])
    assert learner.gamma_ == 0.02 and len(learner._rivals) == 1


# threads ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "learner",
    [MOML(), MOML(gamma=0.05), MLOML(gamma=0.05), OASIS(gamma=0.05), LowRankMOML(n_components=3, gamma=0.05)],
    ids=str,
)
def test_readers_see_the_metric_before_or_after_what_another_thread_learns(learner):
    rounds, X, y = 1000, *loud_noise(4000, d=8)
    model = clone(learner).set_params(scale=4.0)
    alone = clone(model)

    def look(some):
        return some.similarity(X[:2], X[:2]) if isinstance(some, OASIS) else some.transform(X[:2])

    pieces = [(X[4 * i : 4 * i + 4], y[4 * i : 4 * i + 4]) for i in range(rounds)]
    states = [look(alone.partial_fit(*piece)) for piece in pieces]  # what there is to be seen
    model.partial_fit(*pieces[0])
    done, wrong, seen, stop = 0, [], set(), threading.Event()

    def read():
        while not stop.is_set():
            before = done
            answer = look(model)
            after = done
            near = [i for i in range(before, min(after + 2, rounds)) if np.array_equal(answer, states[i])]
            if not near:
                wrong.append((before, after))
            seen.update(near)

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for i, piece in enumerate(pieces[1:], start=1):
        model.partial_fit(*piece)
        done = i
    stop.set()
    for reader in readers:
        reader.join()
    assert wrong == [] and len(seen) > 5
    np.testing.assert_array_equal(look(model), states[-1])
