"""What every online learner must do besides: scans and grids, parameters, scales, rows of any size."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils import shuffle

from tests.learners.contract import (  # isort: skip
    LEARNERS, RAW, RAW_Y, STEP, TARGETS, X, Y, assert_close, assert_same, learned, make, online, output,
    rms,
)  # fmt: skip

from mloml import MLOML, MOML, OPML, Euclidean, LowRankMOML

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def in_pieces(learner, rows, labels, cuts):
    for piece in np.split(np.arange(len(rows)), cuts):
        learner.partial_fit(rows[piece], labels[piece])
    return learner


# fits and streams ------------------------------------------------------------------------------------------


@online
@pytest.mark.parametrize("scale", [None, 0.7])
def test_one_unshuffled_scan_equals_a_stream_in_any_pieces(name, scale):
    whole = make(name, scans=1, shuffle=False, scale=scale).fit(X, Y)
    assert_same(make(name, scale=scale).partial_fit(X, Y), whole)
    assert_close(in_pieces(make(name, scale=scale), X, Y, range(1, 40)), whole)
    continued = make(name, scans=1, shuffle=False, scale=scale).fit(X[:25], Y[:25])
    assert_close(continued.partial_fit(X[25:], Y[25:]), whole)


@online
def test_one_order_for_all_scans_is_that_of_rows_shuffled_beforehand(name):
    order = np.random.RandomState(3).permutation(len(X))
    settings = {"scans": 3, "random_state": 3, "scale": 0.7}
    once = make(name, shuffle="once", **settings).fit(X, Y)
    assert_close(once, make(name, shuffle=False, **settings).fit(X[order], Y[order]))


@online
def test_a_restored_model_goes_on_exactly_where_it_stopped(name):
    learner = make(name).partial_fit(X[:17], Y[:17])
    restored = pickle.loads(pickle.dumps(learner))
    assert_same(restored.partial_fit(X[17:], Y[17:]), learner.partial_fit(X[17:], Y[17:]))


@online
def test_classes_may_appear_late_or_be_announced_and_are_then_kept_to(name):
    order = np.argsort(Y, kind="stable")
    learner = in_pieces(make(name, scale=None), X[order], Y[order], range(8, 40, 8))
    assert learner.classes_.tolist() == [0, 1, 2]
    assert_close(learner, make(name, scans=1, shuffle=False, scale=None).fit(X[order], Y[order]))
    learner = make(name).partial_fit(X[:8], np.zeros(8, int), classes=[0, 1, 2])
    assert learner.classes_.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match=r"labels \[7\]"):
        learner.partial_fit(X[:1], [7])
    with pytest.raises(ValueError, match="not the same"):
        learner.partial_fit(X[:1], [0], classes=[0, 1])


@online
def test_scans_handed_out_one_by_one_equal_fits_of_as_many(name):
    for scans, learner in enumerate(make(name, scans=3).iter_scans(X, Y), start=1):
        assert_same(learner, make(name, scans=scans).fit(X, Y))
    one, three = make(name).fit_grid(X, Y, "scans", [1, 3])
    assert (one.scans, three.scans) == (1, 3)
    assert_same(three, learner)


@online
def test_a_grid_equals_separate_fits(name):
    values = [1e-3, 1e-2, 1e-1]
    for learner, value in zip(make(name).fit_grid(X, Y, STEP[name], values), values, strict=True):
        alone = make(name, **{STEP[name]: value}).fit(X, Y)
        assert learner.get_params() == alone.get_params()
        assert_same(learner, alone)
        assert_same(learner.partial_fit(X[:9], Y[:9]), alone.partial_fit(X[:9], Y[:9]))


@pytest.mark.parametrize(("kind", "values"), [(LowRankMOML, [1, 2, 3]), (MLOML, [None, 2, 3])])
def test_a_grid_over_the_rank_equals_separate_fits(kind, values):
    learners = kind(gamma=0.1, random_state=0).fit_grid(RAW, RAW_Y, "n_components", values)
    for together, value in zip(learners, values, strict=True):
        assert_same(together, kind(gamma=0.1, random_state=0, n_components=value).fit(RAW, RAW_Y))


@online
def test_the_seed_decides_the_order_of_rows(name):
    if "auto" in name or "open" in name:
        pytest.skip("may choose to learn nothing")
    first, same, other = (make(name, random_state=seed).fit(X, Y) for seed in (1, 1, 2))
    assert_same(first, same)
    assert not np.array_equal(output(first), output(other))


@pytest.mark.parametrize("learner", [MOML(), MLOML(), OPML()], ids=str)
def test_blocks_of_a_dask_array_teach_what_partial_fit_does(learner):
    wrappers, da = pytest.importorskip("dask_ml.wrappers"), pytest.importorskip("dask.array")
    rows, labels = shuffle(*load_iris(return_X_y=True), random_state=0)
    blocks = da.from_array(rows, chunks=(50, 4)), da.from_array(labels, chunks=50)

    def score(metric, rows, labels):
        return (
            KNeighborsClassifier(5).fit(metric.transform(rows), labels).score(metric.transform(rows), labels)
        )

    model = wrappers.Incremental(learner, scoring=score, shuffle_blocks=False).fit(*blocks)
    by_hand = in_pieces(type(learner)(), rows, labels, [50, 100])
    assert_same(model.estimator_, by_hand)
    assert model.score(rows, labels) == score(by_hand, rows, labels) > 0.9
    with pytest.raises(TypeError, match="no scoring is specified"):
        wrappers.Incremental(learner).fit(*blocks)


# parameters ------------------------------------------------------------------------------------------------


@online
def test_step_size_zero_leaves_the_start(name):
    if "MLOML" in name or "LowRank" in name:
        pytest.skip("does not start at the identity: see its own tests")
    learner = make(name, **{STEP[name]: 0.0}, scale=None).fit(X, Y)
    np.testing.assert_allclose(output(learner), X @ X.T if name == "OASIS" else X, atol=1e-15)


@online
def test_bad_parameters_are_named(name):
    assert set(LEARNERS[name]._parameter_constraints) == set(make(name).get_params())
    bad = {"scale": [0.0, np.inf, "rows"], "scans": [0], "triplets": ["newest"], "shuffle": ["yes"]}
    for parameter, values in {**bad, STEP[name]: [-1.0]}.items():
        for value in values:
            for fit in (make(name, **{parameter: value}).fit, make(name, **{parameter: value}).partial_fit):
                with pytest.raises(ValueError, match=f"'{parameter}' parameter of {LEARNERS[name].__name__}"):
                    fit(X, Y)


# scale -----------------------------------------------------------------------------------------------------


@online
def test_scale_auto_is_the_root_mean_square_of_the_rows_norms(name):
    learner = make(name, **TARGETS.get(name, {})).fit(RAW, RAW_Y)
    assert learner.scale_ == pytest.approx(rms(RAW), rel=1e-14)
    assert_same(make(name, scale=learner.scale_, **TARGETS.get(name, {})).fit(RAW, RAW_Y), learner)
    zeros = np.zeros((6, 3))
    learner = make(name).fit(zeros, [0, 1, 0, 1, 0, 1])
    assert learner.scale_ == 1.0
    assert np.isfinite(output(learner, zeros)).all()


@online
@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_with_scale_auto_the_unit_of_the_rows_does_not_matter(name, unit):
    one, other = (make(name, targets="percentiles").fit(size * RAW, RAW_Y) for size in (1, unit))
    np.testing.assert_allclose(output(other, unit * RAW), output(one, RAW), rtol=1e-6, atol=1e-9)


@online
def test_a_scale_is_the_same_as_rows_divided_by_the_user(name):
    ours = make(name, scale=5.0, **TARGETS.get(name, {})).fit(RAW, RAW_Y)
    theirs = make(name, scale=None, targets=(40.0 / 25, 400.0 / 25)).fit(RAW / 5.0, RAW_Y)
    np.testing.assert_allclose(output(ours, RAW), output(theirs, RAW / 5.0), rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(ours.n_updates_, theirs.n_updates_)


def norms(rows):
    return np.linalg.norm(rows, axis=1)


@online
def test_a_stream_takes_its_scale_from_the_median_length_of_its_first_rows(name):
    whole, by_row = (make(name, **TARGETS.get(name, {})) for _ in range(2))
    whole.partial_fit(RAW, RAW_Y)
    assert whole.scale_ == pytest.approx(np.median(norms(RAW[:32])), rel=1e-14)  # looked at after 32 rows
    in_pieces(by_row, RAW, RAW_Y, range(1, 60))
    assert by_row.scale_ == whole.scale_
    assert_close(by_row, whole)


@online
def test_a_stream_that_begins_with_zeros_takes_its_scale_from_what_comes_after(name):
    quiet = np.zeros((9, 4)), [0, 1, 0, 1, 2, 2, 0, 1, 0]  # triplets to the last row, of nothing
    rows, labels = np.concatenate([quiet[0], RAW]), np.concatenate([quiet[1], RAW_Y])
    whole, pieces, by_row, one = (make(name, **TARGETS.get(name, {})) for _ in range(4))
    whole.partial_fit(rows, labels)
    assert whole.scale_ == pytest.approx(np.median(norms(RAW[:55])), rel=1e-14)  # the first 64 less the zeros
    assert not whole.diverged_
    for learner, cuts in ((pieces, [9, 10, 30]), (by_row, range(1, len(rows)))):
        in_pieces(learner, rows, labels, cuts)
        assert learner.scale_ == whole.scale_
        assert_close(learner, whole)
    for row, label in zip(*quiet, strict=True):
        one.learn_one(row, label)
    assert one.scale_ == 1.0 and one.n_triplets_ == 6
    assert one.learn_one(RAW[0], RAW_Y[0]).scale_ == pytest.approx(norms(RAW)[0], rel=1e-14)


@online
@pytest.mark.parametrize("size", [100.0, 0.01])
def test_a_scale_that_has_become_wrong_is_revised_and_what_was_learned_is_carried_over(name, size):
    rows, labels = np.tile(RAW, (6, 1)), np.tile(RAW_Y, 6)  # looked at after 64, 128, 192 ... rows
    learner = make(name, targets="percentiles").partial_fit(rows[:192], labels[:192])
    scale, before = learner.scale_, output(learner, RAW)
    learner.set_params(**{STEP[name]: 0.0}).partial_fit(rows[192:255] * size, labels[192:255])
    assert learner.scale_ == scale  # one row too few
    still = make(name, targets="percentiles").partial_fit(rows[:192], labels[:192])
    still.set_params(**{STEP[name]: 0.0}).partial_fit(rows[192:256] * size, labels[192:256])
    assert still.scale_ == pytest.approx(size * np.median(norms(rows[192:256])), rel=1e-12)
    ratio = size * scale / still.scale_  # rows of the new size are where those of the old size were
    if "auto" not in name and "MLOML" not in name:
        power = 2 if name in ("OASIS", "MOML free") and not hasattr(still, "transform") else 1
        np.testing.assert_allclose(output(still, size * RAW), before * ratio**power, rtol=1e-9, atol=1e-12)


@online
def test_rows_far_too_long_are_shortened_and_counted_and_said_once(name):
    rows = np.tile(RAW, (2, 1))
    rows[[70, 90]] *= 1e6
    whole, by_row = (make(name, **TARGETS.get(name, {})) for _ in range(2))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        whole.partial_fit(rows, np.tile(RAW_Y, 2))
    assert sum("shortens" in str(warning.message) for warning in said) == 1
    in_pieces(by_row, rows, np.tile(RAW_Y, 2), range(1, 120))
    assert whole.n_shortened_ == by_row.n_shortened_ >= 2
    assert_close(by_row, whole)
    usual = rows.copy()
    usual[[70, 90]] /= norms(rows)[[70, 90], None] / (4.0 * whole.scale_)  # to four times the scale
    assert_close(make(name, **TARGETS.get(name, {})).partial_fit(usual, np.tile(RAW_Y, 2)), whole)


# sizes of rows ---------------------------------------------------------------------------------------------


@online
@pytest.mark.parametrize("size", [1e150, 1e-150, 0.0])
def test_rows_of_any_size_leave_finite_numbers(name, size):
    for scale in ("auto", None):
        learner = make(name, scale=scale, targets="percentiles").fit(size * X, Y)
        assert np.isfinite(learned(learner)).all()
        assert scale is None or not learner.diverged_


@online
def test_rows_beyond_all_bounds_warn_once_and_learning_goes_on(name):
    if "auto" in name:
        pytest.skip("a step that diverges is one that is not chosen")
    learner = make(name, scale=None).fit(X, Y)
    before = learned(learner)
    with pytest.warns(ConvergenceWarning, match=f"{LEARNERS[name].__name__} diverged"):
        learner.partial_fit(1e150 * X, Y)
    assert learner.diverged_ and learner.n_restarts_ > 0
    now = learned(learner)
    assert np.isfinite(now).all()
    assert abs(now).max() < 1e3 * abs(before).max()
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        learner.partial_fit(X, Y).partial_fit(1e150 * X, Y).partial_fit(X, Y)
    assert not np.array_equal(learned(learner), now)


def test_a_metric_that_grows_out_of_bounds_goes_back_and_takes_smaller_steps():
    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(3000, 3)), rng.integers(0, 2, 3000)  # nothing to learn: pushes win
    learner = OPML(gamma=5.0, scale=None)
    for part in np.split(np.arange(3000), 30):
        learner.partial_fit(rows[part], y[part])
        assert np.abs(learner.components_).max() < 1e17
    assert 0 < learner.n_restarts_ < 60
    steps = learner.n_updates_
    assert learner.partial_fit(rows, y).n_updates_ > steps


@online
def test_a_constant_column_is_no_trouble(name):
    learner = make(name).fit(np.hstack([RAW, np.full((60, 1), 1e3)]), RAW_Y)
    assert np.isfinite(learned(learner)).all() and not learner.diverged_


# learners that stop learning, and those that never do ------------------------------------------------------


@online
def test_one_class_only_leaves_the_start_and_says_so(name):
    with pytest.warns(ConvergenceWarning, match="formed no triplet"):
        learner = make(name).fit(X, np.zeros(40))
    assert learner.n_triplets_ == 0 and np.all(learner.n_updates_ == 0)
    assert np.isfinite(output(learner)).all()


@online
def test_a_learner_whose_steps_come_to_nothing_says_so_once(name, monkeypatch):
    learner, kind = make(name, scans=2), LEARNERS[name]
    counts = lambda self: (np.array(50 * self.n_triplets_), np.array(30 * self.n_triplets_))  # noqa: E731
    monkeypatch.setattr(kind, "_step_counts", counts)
    with pytest.warns(ConvergenceWarning, match=f"{kind.__name__} hardly learns.*less than 1%.*try"):
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


FEATURES, CALL = 20, 5_000


def changing(rng, count, first):
    """Three classes; the features from ``first`` on tell them apart."""
    y = rng.integers(0, 3, count)
    rows = rng.normal(size=(count, FEATURES))
    rows[np.arange(count), first + y] += 2.0
    return rows / np.sqrt(FEATURES + 4.0), y  # of norm 1 in the mean of squares


def accuracy(learner, first):
    rng = np.random.default_rng(1)
    (rows, y), (others, expected) = changing(rng, 1_000, first), changing(rng, 1_000, first)
    return KNeighborsClassifier(5).fit(learner.transform(rows), y).score(learner.transform(others), expected)


LONG = [
    MOML(gamma=1e-2),
    MLOML(activation="relu", gamma=1e-2),
    MLOML(activation="sigmoid", gamma=1e-2),
    MLOML(activation="tanh", gamma=1e-2, propagation="fbp"),
    MOML(),
]


@pytest.mark.parametrize("learner", LONG, ids=str)
def test_every_layer_goes_on_learning_when_the_world_changes_and_stays_invertible(learner):
    rng, before = np.random.default_rng(0), 0
    for first in (0, 0, 0, 0, 10, 10, 10, 10):
        learner.partial_fit(*changing(rng, CALL, first))
        layers = getattr(learner, "layers_", None)
        for L in [learner.components_] if layers is None else layers:
            assert np.linalg.svd(L, compute_uv=False)[-1] ** 2 > 1e-5
        steps, before = learner.n_updates_ - before, learner.n_updates_
        assert np.min(steps) > 0.05 * CALL


@pytest.mark.parametrize("length", [0.05, 5.0, 100.0])
def test_rows_of_any_length_are_learned_from_without_an_end(length):
    learner, rng, steps = MOML(gamma=0.1), np.random.default_rng(0), []
    for _ in range(6):
        rows, y = changing(rng, CALL, 0)
        steps.append(learner.partial_fit(length * rows, y).n_updates_)
    assert np.diff(steps).min() > 0.1 * CALL
    assert np.isfinite(learner.components_).all()


def test_what_was_learned_follows_the_change():
    learner, rng = MOML(gamma=3e-3), np.random.default_rng(0)
    plain = Euclidean().fit(*changing(rng, 9, 0))
    learner.partial_fit(*changing(rng, 4 * CALL, 0))
    assert accuracy(learner, 0) > accuracy(plain, 0) + 0.02
    assert accuracy(learner, 10) < accuracy(learner, 0) - 0.02
    learner.partial_fit(*changing(rng, 4 * CALL, 10))
    assert accuracy(learner, 10) > accuracy(plain, 10) + 0.02
