"""What every online learner must do besides: streams, scales, single rows, rows of any size."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from tests.learners.contract import (
    LEARNERS,
    RAW,
    RAW_Y,
    STEP,
    TARGETS,
    X,
    Y,
    dense,
    learned_matrices,
    make,
    online,
    output,
    rms,
)

from mloml.learners.online import OnlineLearner

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


# online learners -------------------------------------------------------------------------------------------


@online
def test_one_class_only_leaves_the_start_and_says_so(name):
    with pytest.warns(ConvergenceWarning, match="formed no triplet"):
        learner = make(name).fit(X, np.zeros(40))
    assert learner.n_triplets_ == 0 and np.all(learner.n_updates_ == 0)
    assert np.isfinite(output(learner)).all()


@online
@pytest.mark.parametrize("scale", [None, 0.7])
def test_one_unshuffled_scan_equals_a_stream_in_any_pieces(name, scale):
    whole = make(name, scans=1, shuffle=False, scale=scale).fit(X, Y)
    at_once = make(name, scale=scale).partial_fit(X, Y)
    np.testing.assert_array_equal(output(at_once), output(whole))
    by_row = make(name, scale=scale)
    for row, label in zip(X, Y, strict=True):
        by_row.partial_fit(row[None], [label])
    np.testing.assert_allclose(output(by_row), output(whole), rtol=1e-9, atol=1e-12)
    assert by_row.n_triplets_ == at_once.n_triplets_ == whole.n_triplets_
    np.testing.assert_array_equal(by_row.n_updates_, whole.n_updates_)


@online
def test_a_restored_model_goes_on_exactly_where_it_stopped(name):
    learner = make(name).partial_fit(X[:17], Y[:17])
    restored = pickle.loads(pickle.dumps(learner))
    for part in (learner, restored):
        part.partial_fit(X[17:], Y[17:])
    np.testing.assert_array_equal(output(restored), output(learner))


@online
def test_fit_can_be_followed_by_a_stream(name):
    settings = {"scans": 1, "shuffle": False, "scale": None}
    whole = make(name, **settings).fit(X, Y)
    continued = make(name, **settings).fit(X[:25], Y[:25]).partial_fit(X[25:], Y[25:])
    np.testing.assert_allclose(output(continued), output(whole), rtol=1e-9, atol=1e-12)


@online
def test_classes_may_appear_late(name):
    order = np.argsort(Y, kind="stable")
    learner = make(name, scale=None)
    for start in range(0, 40, 8):
        part = order[start : start + 8]
        learner.partial_fit(X[part], Y[part])
    assert learner.classes_.tolist() == [0, 1, 2]
    expected = make(name, scans=1, shuffle=False, scale=None).fit(X[order], Y[order])
    np.testing.assert_allclose(output(learner), output(expected), rtol=1e-9, atol=1e-12)


@online
def test_announced_classes_are_kept_to(name):
    learner = make(name).partial_fit(X[:8], np.zeros(8, int), classes=[0, 1, 2])
    assert learner.classes_.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match=r"labels \[7\]"):
        learner.partial_fit(X[:1], [7])
    with pytest.raises(ValueError, match="not the same"):
        learner.partial_fit(X[:1], [0], classes=[0, 1])


@online
def test_scans_handed_out_one_by_one_equal_fits_of_as_many(name):
    for scans, learner in enumerate(make(name, scans=3).iter_scans(X, Y), start=1):
        np.testing.assert_array_equal(output(learner), output(make(name, scans=scans).fit(X, Y)))


@online
def test_a_grid_equals_separate_fits(name):
    values = [1e-3, 1e-2, 1e-1]
    together = make(name).fit_grid(X, Y, STEP[name], values)
    for learner, value in zip(together, values, strict=True):
        alone = make(name, **{STEP[name]: value}).fit(X, Y)
        assert learner.get_params() == alone.get_params()
        np.testing.assert_array_equal(output(learner), output(alone))
        rest = (X[:9], Y[:9])
        np.testing.assert_array_equal(output(learner.partial_fit(*rest)), output(alone.partial_fit(*rest)))


@online
def test_a_grid_of_scans_is_a_list_of_fits(name):
    one, three = make(name).fit_grid(X, Y, "scans", [1, 3])
    assert (one.scans, three.scans) == (1, 3)
    assert 3 * one.n_triplets_ > three.n_triplets_ > one.n_triplets_


@online
def test_step_size_zero_leaves_the_start(name):
    if name == "MLOML" or "of rank" in name:
        pytest.skip("does not start at the identity: see its own tests")
    start = {"init": "identity"} if name == "RDML" else {}
    learner = make(name, **{STEP[name]: 0.0}, scale=None, **start).fit(X, Y)
    np.testing.assert_allclose(output(learner), X @ X.T if name == "OASIS" else X, atol=1e-15)


@online
def test_the_seed_decides_the_order_of_rows(name):
    first, same, other = (make(name, random_state=seed).fit(X, Y) for seed in (1, 1, 2))
    np.testing.assert_array_equal(output(first), output(same))
    assert not np.array_equal(output(first), output(other))


@online
def test_bad_parameters_are_named(name):
    kind = LEARNERS[name].__name__
    for bad in (
        {"scale": 0.0},
        {"scale": np.inf},
        {"scale": "rows"},
        {"scans": 0},
        {"triplets": "newest"},
        {STEP[name]: -1.0},
        {"shuffle": "yes"},
    ):
        with pytest.raises(ValueError, match=f"The '{next(iter(bad))}' parameter of {kind} must be"):
            make(name, **bad).fit(X, Y)
        with pytest.raises(ValueError, match=f"The '{next(iter(bad))}' parameter of {kind} must be"):
            make(name, **bad).partial_fit(X, Y)


@online
def test_constraints_cover_every_parameter(name):
    assert set(LEARNERS[name]._parameter_constraints) == set(make(name).get_params())
    assert issubclass(LEARNERS[name], OnlineLearner)


# scale -----------------------------------------------------------------------------------------------------


@online
def test_scale_auto_is_the_root_mean_square_of_the_rows_norms(name):
    learner = make(name, **TARGETS.get(name, {})).fit(RAW, RAW_Y)
    assert learner.scale_ == pytest.approx(rms(RAW), rel=1e-14)
    same = make(name, scale=learner.scale_, **TARGETS.get(name, {})).fit(RAW, RAW_Y)
    np.testing.assert_array_equal(learned_matrices(same), learned_matrices(learner))


@online
@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_with_scale_auto_the_unit_of_the_rows_does_not_matter(name, unit):
    settings = {"targets": "percentiles"} if name == "LEGO" else {}
    one = make(name, **settings).fit(RAW, RAW_Y)
    other = make(name, **settings).fit(unit * RAW, RAW_Y)
    np.testing.assert_allclose(output(other, unit * RAW), output(one, RAW), rtol=1e-6, atol=1e-9)


@online
def test_a_scale_is_the_same_as_rows_divided_by_the_user(name):
    targets = TARGETS.get(name, {})
    ours = make(name, scale=5.0, **targets).fit(RAW, RAW_Y)
    smaller = {"targets": (40.0 / 25, 400.0 / 25)} if targets else {}
    theirs = make(name, scale=None, **smaller).fit(RAW / 5.0, RAW_Y)
    np.testing.assert_allclose(output(ours, RAW), output(theirs, RAW / 5.0), rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(ours.n_updates_, theirs.n_updates_)


@online
def test_a_stream_takes_its_scale_from_the_rows_up_to_the_first_triplet(name):
    order = np.argsort(RAW_Y, kind="stable")
    order = np.concatenate([order[:7], order[25:26], order[7:25], order[26:]])
    rows, labels = RAW[order], RAW_Y[order]
    whole = make(name, **TARGETS.get(name, {})).partial_fit(rows, labels)
    assert whole.scale_ == pytest.approx(rms(rows[:9]), rel=1e-14)  # 7 of class 0, one of 1, class 0 again
    early = make(name, **TARGETS.get(name, {})).partial_fit(rows[:8], labels[:8])
    assert early.scale_ == 1.0 and early.n_triplets_ == 0
    by_row = make(name, **TARGETS.get(name, {}))
    for row, label in zip(rows, labels, strict=True):
        by_row.partial_fit(row[None], [label])
    assert by_row.scale_ == whole.scale_
    np.testing.assert_allclose(output(by_row), output(whole), rtol=1e-9, atol=1e-12)


@online
def test_rows_of_zeros_have_scale_one(name):
    learner = make(name).fit(np.zeros((6, 3)), [0, 1, 0, 1, 0, 1])
    assert learner.scale_ == 1.0
    assert np.isfinite(output(learner, np.zeros((6, 3)))).all()


# one row at a time -----------------------------------------------------------------------------------------


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
    with pytest.raises(ValueError, match="no label"):
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
    settings = {"factor": "none"} if name == "MOML" else {}
    learner = make(name, **settings, **TARGETS.get(name, {})).partial_fit(RAW[:30], RAW_Y[:30])
    calls = []
    for routine in ("eigh", "eigvalsh", "svd", "cholesky", "inv", "qr", "solve"):
        monkeypatch.setattr(np.linalg, routine, counted(getattr(np.linalg, routine), calls))
    for row, label in zip(RAW[30:40], RAW_Y[30:40], strict=True):
        learner.learn_one(row, label)
        learner.partial_fit(row[None], [label])
    assert calls == []
    for _ in range(2):
        output(learner, RAW)
    assert len(calls) == (name in ("RDML", "SLMOML", "MOML"))  # those keep M itself


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
    attribute = "layers_" if LEARNERS[name].__name__ == "MLOML" else "components_"
    assert not hasattr(make(name), attribute)
    held = getattr(learner, attribute)
    assert getattr(learner, attribute) is held
    before = dense(held).copy()
    learner.partial_fit(RAW, RAW_Y)
    np.testing.assert_array_equal(dense(held), before)  # what was handed out stays as it was
    assert not np.array_equal(dense(getattr(learner, attribute)), before)


# sizes of rows ---------------------------------------------------------------------------------------------

SIZES = {"huge": 1e150, "tiny": 1e-150, "zero": 0.0}


@online
@pytest.mark.parametrize("scale", ["auto", None])
@pytest.mark.parametrize("size", SIZES)
def test_rows_of_any_size_leave_finite_numbers(name, size, scale):
    learner = make(name, scale=scale, targets="percentiles").fit(SIZES[size] * X, Y)
    assert np.isfinite(learned_matrices(learner)).all()
    if scale == "auto":
        assert not learner.diverged_


@online
def test_rows_beyond_all_bounds_warn_and_keep_what_was_learned(name):
    learner = make(name, scale=None).fit(X, Y)
    before = learned_matrices(learner)
    with pytest.warns(ConvergenceWarning, match=f"{LEARNERS[name].__name__} diverged"):
        learner.partial_fit(1e150 * X, Y)
    assert learner.diverged_
    now = learned_matrices(learner)
    assert np.isfinite(now).all()
    assert abs(now).max() < 1e3 * abs(before).max()
    learner.partial_fit(X, Y)  # it has stopped
    np.testing.assert_array_equal(learned_matrices(learner), now)


@online
def test_a_constant_column_is_no_trouble(name):
    learner = make(name).fit(np.hstack([RAW, np.full((60, 1), 1e3)]), RAW_Y)
    assert np.isfinite(learned_matrices(learner)).all() and not learner.diverged_


# learners that stop learning -------------------------------------------------------------------------------


@online
def test_a_learner_whose_steps_come_to_nothing_says_so_once(name, monkeypatch):
    learner = make(name, scans=2)
    counts = lambda self: (np.array(50 * self.n_triplets_), np.array(30 * self.n_triplets_))  # noqa: E731
    monkeypatch.setattr(type(learner), "_step_counts", counts)
    with pytest.warns(
        ConvergenceWarning, match=f"{LEARNERS[name].__name__} hardly learns.*less than 1%.*try"
    ):
        learner.fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        for _ in range(20):
            learner.partial_fit(X, Y)


@online
def test_a_learner_that_learns_does_not_complain(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        make(name, scans=30).fit(X, Y)
