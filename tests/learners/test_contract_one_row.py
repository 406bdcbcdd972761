"""What every online learner must do with one row at a time: learn it, map it, and at what cost."""

import pickle

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from tests.learners.contract import (
    LEARNERS,
    RAW,
    RAW_Y,
    TARGETS,
    X,
    Y,
    dense,
    learned_matrices,
    make,
    online,
    output,
)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@online
@pytest.mark.parametrize("triplets", ["released", "latest"])
def test_learning_one_row_is_exactly_a_partial_fit_of_one_row(name, triplets):
    settings = {"triplets": triplets, **TARGETS.get(name, {})}
    light, heavy = make(name, **settings), make(name, **settings)
    for row, label in zip(RAW, RAW_Y, strict=True):
        assert light.learn_one(row, label) is light
        heavy.partial_fit(row[None], [label])
    np.testing.assert_array_equal(learned_matrices(light), learned_matrices(heavy))
    assert light.scale_ == heavy.scale_
    assert light.n_triplets_ == heavy.n_triplets_ > 0
    np.testing.assert_array_equal(light.n_updates_, heavy.n_updates_)
    assert light.classes_.tolist() == heavy.classes_.tolist()


@online
def test_learning_one_row_goes_with_everything_else(name):
    light, heavy = (make(name).fit(X[:15], Y[:15]) for _ in range(2))
    for i in range(15, 20):
        light.learn_one(X[i].tolist(), Y[i])
        heavy.partial_fit(X[i : i + 1], Y[i : i + 1])
    light = pickle.loads(pickle.dumps(light)).partial_fit(X[20:30], Y[20:30])
    heavy.partial_fit(X[20:30], Y[20:30])
    for i in range(30, 40):
        light.learn_one(np.asfortranarray(X)[i], Y[i])
        heavy.partial_fit(X[i : i + 1], Y[i : i + 1])
    np.testing.assert_array_equal(learned_matrices(light), learned_matrices(heavy))


@online
def test_any_hashable_label_will_do(name):
    labels = [("a", 1), None, frozenset("bc")]
    light, plain = make(name), make(name)
    for row, y in zip(X, Y, strict=True):
        light.learn_one(row, labels[y])
        plain.learn_one(row, int(y))
    np.testing.assert_array_equal(learned_matrices(light), learned_matrices(plain))
    assert set(light.classes_.tolist()) == set(labels)


@online
def test_bad_rows_are_refused_and_leave_the_learner_as_it_was(name):
    learner = make(name)
    for row, y in zip(X[:20], Y[:20], strict=True):
        learner.learn_one(row, y)
    before = learned_matrices(learner).copy()
    calls = (
        [learner.learn_one] if name == "OASIS" else [learner.learn_one, lambda x, _: learner.transform_one(x)]
    )
    for call in calls:
        with pytest.raises(ValueError, match=f"x has 3 features, but {LEARNERS[name].__name__} expects 4"):
            call(X[0, :3], 0)
        with pytest.raises(ValueError, match="NaN or infinity"):
            call([0.0, np.inf, 0.0, 0.0], 0)
        with pytest.raises(ValueError, match=r"x has shape \(1, 4\)"):
            call(X[:1], 0)
    with pytest.raises(ValueError, match="not a label"):
        learner.learn_one(X[0], np.nan)
    with pytest.raises(ValueError, match="NaN or infinity"):
        learner.learn_one(np.full(4, np.nan), "new")
    assert learner.classes_.tolist() == sorted(set(Y[:20].tolist()))
    np.testing.assert_array_equal(learned_matrices(learner), before)


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
    learner = make(name, **TARGETS.get(name, {})).partial_fit(RAW[:30], RAW_Y[:30])
    calls = []
    for routine in ("eigh", "eigvalsh", "svd", "cholesky", "inv", "qr", "solve"):
        monkeypatch.setattr(np.linalg, routine, counted(getattr(np.linalg, routine), calls))
    for row, label in zip(RAW[30:40], RAW_Y[30:40], strict=True):
        learner.learn_one(row, label)
        learner.partial_fit(row[None], [label])
    assert calls == []
    for _ in range(2):
        output(learner, RAW)
    # Those that keep M itself; one that may be indefinite looks for that, too.
    assert len(calls) == {"RDML": 1, "SLMOML": 1, "MOML free": 2}.get(name, 0)


def counted(routine, calls):
    def count(*args, **options):
        calls.append(routine.__name__)
        return routine(*args, **options)

    return count


@online
def test_learned_attributes_are_kept_until_the_next_step(name):
    if name == "OASIS":
        pytest.skip("hands out copies")
    learner = make(name).fit(RAW, RAW_Y)
    attribute = "layers_" if "MLOML" in name else "components_"
    assert not hasattr(make(name), attribute)
    held = getattr(learner, attribute)
    assert getattr(learner, attribute) is held
    before = dense(held).copy()
    learner.partial_fit(RAW, RAW_Y)
    np.testing.assert_array_equal(dense(held), before)  # what was handed out stays as it was
    assert not np.array_equal(dense(getattr(learner, attribute)), before)
