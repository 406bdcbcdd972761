"""What a learner makes of a change between two calls: other features, other parameters, a refusal, Ctrl-C."""

from __future__ import annotations

import joblib
import numpy as np
import pytest
from pandas import DataFrame
from scipy.sparse import csr_array, issparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from mloml import LEGO, MLOML, MOML, OASIS, OPML, RDML, SLMOML, DiagonalMOML, LowRankMOML

ONLINE = [
    MOML(),
    MOML(cone="free"),
    DiagonalMOML(),
    MLOML(),
    MLOML(layer="opml"),
    OPML(),
    LEGO(targets=(0.1, 2.0)),
    RDML(),
    OASIS(),
    SLMOML(),
]
NAMES = [repr(learner) for learner in ONLINE]
every_learner = pytest.mark.parametrize("learner", ONLINE, ids=NAMES)


def data(d, rows=60, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, d)), np.arange(rows) % 3


def learned(learner):
    """Return all that was learned, as one array."""
    if isinstance(learner, MLOML):
        return np.concatenate([np.ravel(layer) for layer in learner.layers_])
    if isinstance(learner, OASIS):
        return learner.get_bilinear_matrix()
    M = learner.get_mahalanobis_matrix()
    return M.toarray() if issparse(M) else M


def fresh(learner, **params):
    return clone(learner).set_params(**params)


@every_learner
@pytest.mark.parametrize(("before", "after"), [(3, 40), (40, 3)])
def test_single_rows_after_a_fit_to_other_features_are_learned_as_ever(learner, before, after):
    one, all_at_once = fresh(learner, random_state=0), fresh(learner, random_state=0)
    for x, y in zip(*data(before, 9), strict=True):
        one.learn_one(x, y)
    X, y = data(after)
    one.fit(X, y)
    all_at_once.fit(X, y)
    more, labels = data(after, 30, seed=1)
    for x, label in zip(more, labels, strict=True):
        one.learn_one(x, label)
    all_at_once.partial_fit(more, labels)
    np.testing.assert_allclose(learned(one), learned(all_at_once), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("kind", "values"), [(LowRankMOML, [1, 2, 3]), (MLOML, [None, 2, 3])])
def test_a_grid_over_the_rank_equals_separate_fits(kind, values):
    X, y = data(5)
    learners = kind(gamma=0.1, random_state=0).fit_grid(X, y, "n_components", values)
    for together, value in zip(learners, values, strict=True):
        alone = kind(gamma=0.1, random_state=0, n_components=value).fit(X, y)
        np.testing.assert_array_equal(together.transform(X), alone.transform(X))


@pytest.mark.parametrize(
    ("learner", "change"),
    [
        (LowRankMOML(), {"n_components": 3}),
        (MOML(), {"cone": "free"}),
        (MLOML(layer=["rdml", "lego", "moml"]), {"propagation": "fbp"}),
        (MLOML(), {"activation": "relu"}),
        (OPML(), {"scale": None}),
        (RDML(), {"init": "identity"}),
    ],
    ids=lambda value: str(value),
)
def test_a_stream_refuses_parameters_that_its_state_is_not_made_for(learner, change):
    X, y = data(5)
    learner = fresh(learner).fit(X, y)
    learner.learn_one(X[0], y[0])
    before = fresh(learner).get_params()
    name = next(iter(change))
    learner.set_params(**change)
    message = rf"^{name} was .* when {type(learner).__name__} began to learn and is .* now: "
    for go_on in (lambda: learner.partial_fit(X, y), lambda: learner.learn_one(X[0], y[0])):
        with pytest.raises(ValueError, match=message):
            go_on()
    learner.set_params(**{name: before[name]}).partial_fit(X, y)  # set back, it goes on
    learner.set_params(**change)
    if change != {"propagation": "fbp"}:  # which fit itself refuses for these layers
        learner.fit(X, y)


@every_learner
def test_a_step_size_that_is_set_to_zero_stops_a_stream(learner):
    X, y = data(5)
    learner = fresh(learner).fit(X, y)
    learner.set_params(**{learner.step_parameter: 0.0})
    before = np.copy(learned(learner))
    learner.partial_fit(X, y)
    for x, label in zip(X, y, strict=True):
        learner.learn_one(x, label)
    np.testing.assert_array_equal(learned(learner), before)
    learner.set_params(**{learner.step_parameter: 0.01}).partial_fit(X, y)
    assert not np.array_equal(learned(learner), before)


def test_a_layers_own_step_is_kept_when_the_stacks_step_changes():
    X, y = data(4)
    learner = MLOML(gamma=0.01, n_layers=2, layer_params=[{}, {"gamma": 0.05}]).partial_fit(X, y)
    learner.set_params(gamma=0.0).partial_fit(X, y)
    assert [layer.step for layer in learner._state.layers] == [0.0, 0.05]


@every_learner
def test_a_fit_that_is_refused_leaves_no_stream_to_mix_with(learner):
    X, y = data(5)
    learner = fresh(learner).fit(X, y)
    learner._new_state = lambda *arguments: (_ for _ in ()).throw(ValueError("refused"))
    with pytest.raises(ValueError, match="refused"):
        learner.fit(*data(9))
    del learner._new_state
    learner.partial_fit(*data(7))  # begins anew
    assert learner.n_features_in_ == 7
    np.testing.assert_array_equal(learned(learner), learned(fresh(learner).partial_fit(*data(7))))


@every_learner
def test_what_was_learned_before_a_fit_is_interrupted_can_be_used(learner, monkeypatch):
    X, y = data(5)
    learner, learn, calls = fresh(learner), type(learner)._learn, []

    def interrupted(self, D, triplets):
        calls.append(len(triplets))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return learn(self, D, triplets)

    monkeypatch.setattr(type(learner), "_learn", interrupted)
    with pytest.raises(KeyboardInterrupt):
        learner.fit(X, y)
    assert np.all(np.asarray(learner.n_updates_) >= 0)
    assert np.isfinite(learned(learner)).all()


@every_learner
def test_a_learner_from_a_read_only_file_goes_on(learner, tmp_path):
    X, y = data(5)
    learner = fresh(learner).partial_fit(X, y)
    joblib.dump(learner, tmp_path / "learner")
    mapped = joblib.load(tmp_path / "learner", mmap_mode="r")
    np.testing.assert_array_equal(
        learned(mapped.partial_fit(X, y).learn_one(X[0], y[0])),
        learned(learner.partial_fit(X, y).learn_one(X[0], y[0])),
    )


@pytest.mark.parametrize("learner", [DiagonalMOML(), OPML(), OASIS()], ids=repr)
def test_features_may_be_added_after_sparse_rows(learner):
    X, y = data(4)
    sparse, dense = fresh(learner), fresh(learner)
    sparse.partial_fit(csr_array(X), y).add_features(2)
    dense.partial_fit(X, y).add_features(2)
    X, y = data(6, seed=2)
    np.testing.assert_allclose(
        learned(sparse.partial_fit(csr_array(X), y)), learned(dense.partial_fit(X, y)), rtol=1e-9
    )
    assert sparse.n_features_in_ == 6


@pytest.mark.parametrize(
    "given", [{"percentiles": 5}, {"percentiles": (5, 200)}, {"targets": (1, 2, 3)}, {"targets": (1, np.inf)}]
)
def test_targets_of_a_lego_layer_are_named_in_errors(given):
    with pytest.raises(ValueError, match=rf"^{next(iter(given))} is .*, expected two numbers"):
        MLOML(layer="lego", n_layers=1, layer_params=given).fit(*data(3))


@every_learner
def test_a_class_whose_first_rows_were_interrupted_is_learned_one_by_one(learner, monkeypatch):
    X, y = data(4)
    y = y + 10 * (np.arange(60) > 50)  # three new classes among the last rows
    one, heavy = (fresh(learner, scale=None).partial_fit(X[:40], y[:40]) for _ in range(2))
    for part in (one, heavy):
        part.learn_one(X[40], y[40])  # makes room for single rows
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(type(one), "_take", lambda *rows: (_ for _ in ()).throw(KeyboardInterrupt))
        one.partial_fit(X[41:], y[41:])
    for x, label in zip(X[41:], y[41:], strict=True):
        one.learn_one(x, label)
        heavy.partial_fit(x[np.newaxis], [label])
    assert one.n_triplets_ == heavy.n_triplets_
    np.testing.assert_array_equal(learned(one), learned(heavy))


@every_learner
def test_labels_that_are_refused_leave_the_features_as_they_were(learner):
    X, y = data(4)
    learner = fresh(learner, random_state=0).fit(DataFrame(X, columns=list("abcd")), y)
    learner.learn_one(X[0], y[0])  # makes room for single rows of 4 features
    before = learned(learner).copy()
    for rows, labels in ((data(9)[0], np.linspace(0, 1, 60)), (np.full((60, 9), np.nan), y)):
        with pytest.raises(ValueError):
            learner.fit(DataFrame(rows, columns=list("abcdefghi")), labels)
        assert learner.feature_names_in_.tolist() == list("abcd")
        with pytest.raises(ValueError, match="x has 9 features"):
            learner.learn_one(np.ones(9), 0)
    np.testing.assert_array_equal(learned(learner), before)


@every_learner
@pytest.mark.parametrize("step", [-1.0, np.nan, "large"])
def test_single_rows_are_refused_while_the_step_is_no_step(learner, step):
    X, y = data(4)
    learner = fresh(learner, random_state=0).fit(X, y).learn_one(X[0], y[0])
    before = learned(learner).copy()
    name = learner.step_parameter
    learner.set_params(**{name: step})
    with pytest.raises(ValueError, match=f"'{name}' parameter of .* Got"):
        learner.learn_one(X[1], y[1])
    np.testing.assert_array_equal(learned(learner), before)
    learner.set_params(**{name: 0.01}).learn_one(X[1], y[1])


def test_classes_that_are_refused_are_not_remembered():
    X, y = data(4)
    learner = OPML(gamma=0.1).partial_fit(X, y)
    for few in ([0, 1], [0]):
        with pytest.raises(ValueError, match=r"\[.*2\].* not in classes"):
            learner.partial_fit(X, y, classes=few)
    learner.partial_fit(X, y)  # nothing was announced
    with pytest.raises(ValueError, match=r"labels \[2\] that are not in classes=\[0, 1\]"):
        learner.partial_fit(X[:2], y[:2], classes=[0, 1])  # 2 was seen before
    assert learner.partial_fit(X, y, classes=[2, 0, 1, 3]).classes_.tolist() == [0, 1, 2, 3]


def test_classes_may_be_announced_of_any_kind():
    X, _ = data(2)
    learner = OPML().partial_fit(X[:2], ["a", "b"], classes=["a", "b", 1, (0, 1), ((0, 1), 2)])
    learner.learn_one(X[2], 1).learn_one(X[3], (0, 1)).learn_one(X[4], ((0, 1), 2))
    for unknown in ("1", (1, 0)):
        with pytest.raises(ValueError, match="not in classes"):
            learner.learn_one(X[5], unknown)
    assert len(learner.classes_) == 5
    with pytest.raises(ValueError, match="classes is 3, expected a sequence of labels"):
        OPML().partial_fit(X[:2], ["a", "b"], classes=3)


def test_a_parameter_set_to_an_equal_array_is_no_change():
    X, y = data(4)
    learner = LEGO(targets=np.array([0.1, 2.0])).partial_fit(X, y)
    learner.set_params(targets=np.array([0.1, 2.0])).partial_fit(X, y)
    with pytest.raises(ValueError, match="targets was"):
        learner.set_params(targets=np.array([0.1, 3.0])).partial_fit(X, y)


@every_learner
def test_features_that_were_added_only_in_part_are_not_learned_on(learner, monkeypatch):
    X, y = data(4)
    learner = fresh(learner).fit(X, y).learn_one(X[0], y[0])
    monkeypatch.setattr(learner._stream, "widen", lambda n: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        learner.add_features(40)
    with pytest.raises(NotFittedError):
        learned(learner)
    anew, usual = learner.learn_one(X[0], y[0]), fresh(learner).learn_one(X[0], y[0])
    for part in (anew, usual):
        part.partial_fit(X[1:], y[1:])
    np.testing.assert_array_equal(learned(anew), learned(usual))
