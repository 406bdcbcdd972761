"""Streams: one row at a time, features that arrive on the way, and changes, refusals or Ctrl-C in between."""

import pickle

import joblib
import numpy as np
import pytest
from pandas import DataFrame
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from tests.learners.contract import (  # isort: skip
    LEARNERS, RAW, RAW_Y, SPARSE, STEP, TARGETS, X, Y, assert_close, assert_same, dense, learned, make,
    online, output,
)  # fmt: skip

from mloml import LEGO, MLOML, MOML, OPML, RDML, SLMOML, ExplicitMLOML, LowRankMOML

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def data(d, rows=60, seed=0):
    return np.random.default_rng(seed).normal(size=(rows, d)), np.arange(rows) % 3


def one_by_one(learner, rows, labels):
    for row, label in zip(rows, labels, strict=True):
        learner.learn_one(row, label)
    return learner


def heavily(learner, rows, labels):
    for row, label in zip(rows, labels, strict=True):
        learner.partial_fit(row[np.newaxis], [label])
    return learner


def interrupt(*arguments):
    raise KeyboardInterrupt


# single rows -----------------------------------------------------------------------------------------------


@online
@pytest.mark.parametrize("triplets", ["released", "latest"])
def test_learning_one_row_is_exactly_a_partial_fit_of_one_row(name, triplets):
    light, heavy = (make(name, triplets=triplets, **TARGETS.get(name, {})) for _ in range(2))
    assert_same(one_by_one(light, RAW, RAW_Y), heavily(heavy, RAW, RAW_Y))
    assert light.scale_ == heavy.scale_ and light.n_triplets_ > 0
    assert light.classes_.tolist() == heavy.classes_.tolist()


@online
def test_learning_one_row_goes_with_everything_else(name):
    light, heavy = (make(name).fit(X[:15], Y[:15]) for _ in range(2))
    one_by_one(light, X[15:20].tolist(), Y[15:20])
    heavily(heavy, X[15:20], Y[15:20])
    light = pickle.loads(pickle.dumps(light)).partial_fit(X[20:30], Y[20:30])
    heavy.partial_fit(X[20:30], Y[20:30])
    assert_same(one_by_one(light, np.asfortranarray(X)[30:], Y[30:]), heavily(heavy, X[30:], Y[30:]))


@online
def test_any_hashable_label_will_do(name):
    labels = [("a", 1), "b", frozenset("bc")]
    light = one_by_one(make(name), X, [labels[y] for y in Y])
    assert_same(light, one_by_one(make(name), X, Y.tolist()))
    assert set(light.classes_.tolist()) == set(labels)


@online
def test_bad_rows_are_refused_and_leave_the_learner_as_it_was(name):
    learner = one_by_one(make(name), X[:20], Y[:20])
    before = learned(learner).copy()
    calls = [learner.learn_one, lambda x, _: learner.transform_one(x)]
    for call in calls[: 1 if name == "OASIS" else 2]:
        with pytest.raises(ValueError, match=f"x has 3 features, but {LEARNERS[name].__name__} expects 4"):
            call(X[0, :3], 0)
        with pytest.raises(ValueError, match="NaN or infinity"):
            call([0.0, np.inf, 0.0, 0.0], 0)
        with pytest.raises(ValueError, match=r"x has shape \(1, 4\)"):
            call(X[:1], 0)
    with pytest.raises(ValueError, match="Unknown label"):
        learner.learn_one(X[0], 0.5)
    with pytest.raises(ValueError, match="NaN or infinity"):
        learner.learn_one(np.full(4, np.nan), "new")
    assert learner.classes_.tolist() == sorted(set(Y[:20].tolist()))
    np.testing.assert_array_equal(learned(learner), before)


@online
def test_one_row_is_mapped_exactly_as_by_transform(name):
    learner = make(name).fit(RAW, RAW_Y)
    if name == "OASIS":
        with pytest.raises(AttributeError, match="OASIS has no transform_one"):
            _ = learner.transform_one
        return
    for row in RAW[:5]:
        np.testing.assert_array_equal(learner.transform_one(row), learner.transform(row[None])[0])
    with pytest.raises(NotFittedError):
        make(name).transform_one(RAW[0])


@online
def test_no_single_row_takes_a_root_and_what_was_learned_is_computed_once(name, monkeypatch):
    if name == "ExplicitMLOML":
        pytest.skip("is explicit")
    learner, calls = make(name, **TARGETS.get(name, {})).partial_fit(RAW[:30], RAW_Y[:30]), []
    for routine in ("eigh", "eigvalsh", "svd", "cholesky", "inv", "qr", "solve"):
        usual = getattr(np.linalg, routine)
        monkeypatch.setattr(np.linalg, routine, lambda *a, f=usual, **o: calls.append(f) or f(*a, **o))
    one_by_one(learner, RAW[30:40], RAW_Y[30:40])
    heavily(learner, RAW[30:40], RAW_Y[30:40])
    assert calls == []
    for _ in range(2):
        output(learner, RAW)
    # Those that keep M itself; one that may be indefinite looks for that, too.
    assert len(calls) == {"RDML": 1, "SLMOML": 1, "MOML free": 2}.get(name, 0)


@online
def test_single_rows_of_known_classes_take_the_short_way(name, monkeypatch):
    learner = one_by_one(make(name), X[:20], Y[:20])
    monkeypatch.setattr(learner, "_learn_one_carefully", interrupt)
    one_by_one(learner, X[20:], Y[20:])


@online
def test_learned_attributes_are_kept_until_the_next_step(name):
    if name == "OASIS":
        pytest.skip("hands out copies")
    learner, attribute = make(name).fit(RAW, RAW_Y), "layers_" if "MLOML" in name else "components_"
    assert not hasattr(make(name), attribute)
    held = getattr(learner, attribute)
    assert getattr(learner, attribute) is held
    before = [np.copy(dense(L)) for L in held]
    learner.partial_fit(RAW, RAW_Y)
    for L, old, new in zip(held, before, getattr(learner, attribute), strict=True):
        np.testing.assert_array_equal(dense(L), old)  # what was handed out stays as it was
        assert not np.array_equal(dense(new), old)


# features that arrive on the way ---------------------------------------------------------------------------

GROWING = [
    MOML(gamma=0.05),
    ExplicitMLOML(n_layers=2, gamma=0.5),
    MOML(gamma=0.5, cone="free"),
    MOML(gamma=0.05, scale=None),
    MLOML(gamma=0.05, activation="relu"),
    MLOML(gamma=0.05, activation="sigmoid"),
    MLOML(layer=["opml", "moml"], n_layers=2, gamma=0.05, activation="tanh"),
    MLOML(layer="rdml", n_layers=2, gamma=0.05),
    MLOML(propagation="fbp", activation="relu", gamma=1e-3, layer_params={"rate": 1e-3}),
    MLOML(propagation="bp", activation="tanh", layer_params={"rate": 1e-2}),
    OPML(gamma=0.05),
    OPML(),
    LEGO(gamma=1e-3, targets=(0.1, 2.0)),
    RDML(gamma=1e-3),
    RDML(gamma=1e-3, init="zero"),
    SLMOML(gamma=1e-3),
    LEARNERS["OASIS"](gamma=1e-3),
    LEARNERS["DiagonalMOML"](gamma=0.1),
]


@pytest.mark.parametrize("template", GROWING, ids=str)
@pytest.mark.parametrize(("early", "late"), [(3, 4), (4, 9)])
def test_a_grown_metric_is_one_that_had_the_feature_as_zeros_from_the_start(template, early, late):
    rows, y = data(late)
    rows += 0.5 * y[:, np.newaxis]
    rows[:30, early:] = 0.0
    grown, always = clone(template), clone(template)
    grown.partial_fit(rows[:30, :early], y[:30]).add_features(late - early).partial_fit(rows[30:], y[30:])
    always.partial_fit(rows[:30], y[:30]).partial_fit(rows[30:], y[30:])
    assert grown.n_features_in_ == late
    assert_close(grown, always)


@pytest.mark.parametrize("before", [1, 2, 40])
def test_one_row_at_a_time_grows_like_pieces_do(before):
    (rows, y), pieces, single = data(5), MOML(gamma=0.05), MOML(gamma=0.05)
    pieces.partial_fit(rows[:before, :3], y[:before]).add_features(2).partial_fit(rows[before:], y[before:])
    one_by_one(single, rows[:before, :3], y[:before]).add_features(2)
    assert_same(one_by_one(single, rows[before:], y[before:]), pieces)


@pytest.mark.parametrize("name", [name for name in SPARSE if "rank" not in name.lower()])
def test_features_may_be_added_after_sparse_rows(name):
    sparse, full = make(name), make(name)
    for d, seed in ((4, 0), (6, 2)):
        rows, y = data(d, seed=seed)
        sparse.partial_fit(csr_array(rows), y)
        assert_close(sparse, full.partial_fit(rows, y))
        sparse.add_features(2)
        full.add_features(2)
    assert sparse.n_features_in_ == 8


def test_a_grown_learner_survives_pickling_and_forgets_feature_names():
    rows, y = data(3)
    learner = MLOML(gamma=0.05).partial_fit(DataFrame(rows, columns=["a", "b", "c"]), y).add_features(1)
    twin, more = pickle.loads(pickle.dumps(learner)), data(4, seed=1)
    assert_same(learner.partial_fit(*more), twin.partial_fit(*more))
    assert not hasattr(learner, "feature_names_in_")


def test_growing_by_nothing_changes_nothing_and_wrong_counts_are_told():
    learner = OPML().partial_fit(*data(3))
    before = learner.components_.copy()
    np.testing.assert_array_equal(learner.add_features(0).components_, before)
    for wrong in (-1, 1.5, True):
        with pytest.raises(ValueError, match=r"^count is .*, expected an integer >= 0$"):
            learner.add_features(wrong)
    with pytest.raises(NotFittedError):
        OPML().add_features(1)
    with pytest.raises(NotImplementedError, match="LowRankMOML cannot take new features"):
        LowRankMOML(n_components=2).partial_fit(*data(3)).add_features(1)


# changes between two calls ---------------------------------------------------------------------------------


@online
@pytest.mark.parametrize(("before", "after"), [(3, 40), (40, 3)])
def test_single_rows_after_a_fit_to_other_features_are_learned_as_ever(name, before, after):
    light, at_once = one_by_one(make(name), *data(before, 9)), make(name)
    more = data(after, 30, seed=1)
    light.fit(*data(after))
    assert_close(one_by_one(light, *more), at_once.fit(*data(after)).partial_fit(*more))


@pytest.mark.parametrize(
    ("learner", "change"),
    [
        (LowRankMOML(), {"n_components": 3}),
        (MOML(), {"cone": "free"}),
        (MLOML(layer=["rdml", "lego", "moml"]), {"propagation": "fbp"}),
        (MLOML(), {"activation": "relu"}),
        (OPML(), {"scale": None}),
        (RDML(), {"init": "zero"}),
        (LEGO(targets=np.array([0.1, 2.0])), {"targets": np.array([0.1, 3.0])}),
    ],
    ids=str,
)
def test_a_stream_refuses_parameters_that_its_state_is_not_made_for(learner, change):
    rows, y = data(5)
    learner.fit(rows, y).learn_one(rows[0], y[0])
    (name,) = change
    before = getattr(learner, name)
    learner.set_params(**change)
    message = rf"^{name} was .* when {type(learner).__name__} began to learn and is .* now: "
    for go_on in (lambda: learner.partial_fit(rows, y), lambda: learner.learn_one(rows[0], y[0])):
        with pytest.raises(ValueError, match=message):
            go_on()
    learner.set_params(**{name: np.array(before) if name == "targets" else before}).partial_fit(
        rows, y
    )  # it goes on
    if change != {"propagation": "fbp"}:  # which fit itself refuses for these layers
        learner.set_params(**change).fit(rows, y)


@online
def test_a_step_size_that_is_set_to_zero_stops_a_stream(name):
    rows, y = data(5)
    fixed = {"rate": 0.0, "decay": 0.0} if "by" in name else {}
    learner = make(name).fit(rows, y).set_params(**fixed | {STEP[name]: 0.0})
    before = np.copy(learned(learner))
    one_by_one(learner.partial_fit(rows, y), rows, y)
    np.testing.assert_array_equal(learned(learner), before)
    learner.set_params(**{STEP[name]: 0.01}).partial_fit(rows, y)
    assert not np.array_equal(learned(learner), before)


@online
@pytest.mark.parametrize("step", [-1.0, np.nan, "large"])
def test_single_rows_are_refused_while_the_step_is_no_step(name, step):
    rows, y = data(4)
    learner = make(name).fit(rows, y).learn_one(rows[0], y[0])
    before = learned(learner).copy()
    learner.set_params(**{STEP[name]: step})
    with pytest.raises(ValueError, match=f"'{STEP[name]}' parameter of .* Got"):
        learner.learn_one(rows[1], y[1])
    np.testing.assert_array_equal(learned(learner), before)
    learner.set_params(**{STEP[name]: 0.01}).learn_one(rows[1], y[1])


@online
def test_labels_that_are_refused_leave_the_features_as_they_were(name):
    rows, y = data(4)
    learner = make(name).fit(DataFrame(rows, columns=list("abcd")), y)
    learner.learn_one(rows[0], y[0])  # makes room for single rows of 4 features
    before = learned(learner).copy()
    for wide, labels in ((data(9)[0], np.linspace(0, 1, 60)), (np.full((60, 9), np.nan), y)):
        with pytest.raises(ValueError):
            learner.fit(DataFrame(wide, columns=list("abcdefghi")), labels)
        assert learner.feature_names_in_.tolist() == list("abcd")
        with pytest.raises(ValueError, match="x has 9 features"):
            learner.learn_one(np.ones(9), 0)
    np.testing.assert_array_equal(learned(learner), before)


@online
def test_a_learner_from_a_read_only_file_goes_on(name, tmp_path):
    rows, y = data(5)
    learner = make(name).partial_fit(rows, y)
    joblib.dump(learner, tmp_path / "learner")
    mapped = joblib.load(tmp_path / "learner", mmap_mode="r")
    for part in (learner, mapped):
        part.partial_fit(rows, y).learn_one(rows[0], y[0])
    assert_same(mapped, learner)


# interruptions ---------------------------------------------------------------------------------------------


@online
def test_a_fit_that_is_refused_leaves_no_stream_to_mix_with(name, monkeypatch):
    learner = make(name).fit(*data(5))
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(learner, "_new_state", interrupt)
        learner.fit(*data(9))
    learner.partial_fit(*data(7))  # begins anew
    assert learner.n_features_in_ == 7
    assert_same(learner, make(name).partial_fit(*data(7)))


@online
def test_what_was_learned_before_a_fit_is_interrupted_can_be_used(name, monkeypatch):
    if "auto" in name or "open" in name:
        pytest.skip("its step size, or its depth, is not yet chosen")
    learner, learn, calls = make(name), LEARNERS[name]._learn, []

    def interrupted(self, state, D, triplets):
        calls.append(len(triplets))
        return interrupt() if len(calls) == 2 else learn(self, state, D, triplets)

    monkeypatch.setattr(LEARNERS[name], "_learn", interrupted)
    with pytest.raises(KeyboardInterrupt):
        learner.fit(*data(5))
    assert np.all(np.asarray(learner.n_updates_) >= 0)
    assert np.isfinite(learned(learner)).all()


@online
def test_a_class_whose_first_rows_were_interrupted_is_learned_one_by_one(name, monkeypatch):
    rows, y = data(4)
    y = y + 10 * (np.arange(60) > 50)  # three new classes among the last rows
    light, heavy = (make(name, scale=None).partial_fit(rows[:40], y[:40]) for _ in range(2))
    for part in (light, heavy):
        part.learn_one(rows[40], y[40])  # makes room for single rows
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(LEARNERS[name], "_take", interrupt)
        light.partial_fit(rows[41:], y[41:])
    assert_same(one_by_one(light, rows[41:], y[41:]), heavily(heavy, rows[41:], y[41:]))


@online
def test_features_that_were_added_only_in_part_are_not_learned_on(name, monkeypatch):
    if name in ("LowRankMOML", "MLOML of rank 2"):
        pytest.skip("takes no new features")
    rows, y = data(4)
    learner = make(name).fit(rows, y).learn_one(rows[0], y[0])
    monkeypatch.setattr(learner._stream, "widen", interrupt)
    with pytest.raises(KeyboardInterrupt):
        learner.add_features(40)
    with pytest.raises(NotFittedError):
        learned(learner)
    anew, usual = learner.learn_one(rows[0], y[0]), make(name).learn_one(rows[0], y[0])
    assert_same(anew.partial_fit(rows[1:], y[1:]), usual.partial_fit(rows[1:], y[1:]))
