"""What every online learner must do besides: streams, scales, rows of any size."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from tests.learners.contract import (
    LEARNERS,
    RAW,
    RAW_Y,
    STEP,
    TARGETS,
    X,
    Y,
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
    if "MLOML" in name or "LowRank" in name:
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
def test_a_stream_that_begins_with_zeros_takes_its_scale_from_what_comes_after(name):
    settings = TARGETS.get(name, {})
    quiet = np.zeros((9, 4)), [0, 1, 0, 1, 2, 2, 0, 1, 0]  # triplets to the last row, of nothing
    rows, labels = np.concatenate([quiet[0], RAW]), np.concatenate([quiet[1], RAW_Y])
    whole = make(name, **settings).partial_fit(rows, labels)
    assert whole.scale_ == pytest.approx(rms(RAW[:1]), rel=1e-14)  # of a class met before: a triplet at once
    assert not whole.diverged_
    for pieces in ([9, 10, 30], range(1, len(rows))):
        learner = make(name, **settings)
        for piece in np.split(np.arange(len(rows)), pieces):
            learner.partial_fit(rows[piece], labels[piece])
        assert learner.scale_ == whole.scale_
        np.testing.assert_allclose(output(learner), output(whole), rtol=1e-9, atol=1e-12)
    one = make(name, **settings)
    for row, label in zip(*quiet, strict=True):
        one.learn_one(row, label)
    assert one.scale_ == 1.0 and one.n_triplets_ == 6
    assert one.learn_one(RAW[0], RAW_Y[0]).scale_ == whole.scale_


@online
def test_rows_of_zeros_have_scale_one(name):
    learner = make(name).fit(np.zeros((6, 3)), [0, 1, 0, 1, 0, 1])
    assert learner.scale_ == 1.0
    assert np.isfinite(output(learner, np.zeros((6, 3)))).all()


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
