"""What every learner must do, whoever wrote it: all that ``mloml.learners`` exports are put through this."""

import pickle
import subprocess
import sys
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

import mloml
from mloml.learners import LEARNERS
from mloml.learners.online import OnlineLearner

X, Y = make_blobs(40, 4, centers=3, random_state=0)
X = X / np.linalg.norm(X, axis=1, keepdims=True)

# Small settings for the sake of time; everything else is as a user would get it.
SETTINGS = {
    "LEGO": {"targets": (0.1, 1.5)},  # equality with a stream holds for explicit targets
}
STEP = {"OPML": "gamma", "LEGO": "eta", "RDML": "lam", "OASIS": "C", "SLMOML": "C"}
STEP |= {"MOML": "gamma", "MLOML": "gamma"}
EXPECTED_FAILURES: dict[str, dict[str, str]] = {}  # learner -> check -> reason

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@cache
def load(name):
    return getattr(import_module(LEARNERS[name]), name)


def make(name, **changes):
    learner = load(name)
    known = learner().get_params()
    settings = {"scans": 2, "random_state": 0, "max_iter": 5, **SETTINGS.get(name, {}), **changes}
    return learner(**{key: value for key, value in settings.items() if key in known})


def online_names():
    """The online learners by what their files say, so that a broken file fails its own tests only."""
    return [name for name, module in LEARNERS.items() if "OnlineLearner" in source(module)]


def source(module):
    return (Path(mloml.__file__).parent / "learners" / f"{module.rsplit('.')[-1]}.py").read_text()


every = pytest.mark.parametrize("name", LEARNERS)
online = pytest.mark.parametrize("name", online_names())


def output(learner, rows=X):
    """What neighbours are found by."""
    return learner.transform(rows) if hasattr(learner, "transform") else learner.similarity(rows, rows)


def checkable():
    """Estimators for scikit-learn's checks; one that is not fit for them fails by its name, below."""
    for name in LEARNERS:
        with suppress(Exception):
            list(estimator_checks_generator(make(name)))
            yield make(name, targets="percentiles")


# exports ---------------------------------------------------------------------------------------------------


def test_importing_the_package_loads_no_compiler():
    code = "import sys, mloml, mloml.learners; print('numba' in sys.modules, 'sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


@every
def test_learner_is_exported_by_its_name(name):
    assert getattr(mloml, name) is getattr(mloml.learners, name) is load(name)
    assert name in dir(mloml) and name in mloml.__all__


def test_an_unknown_name_is_refused_as_python_does():
    with pytest.raises(AttributeError, match="has no attribute 'PML'"):
        _ = mloml.PML
    with pytest.raises(ImportError):
        from mloml import PML  # noqa: F401


# scikit-learn's own checks ---------------------------------------------------------------------------------


@every
def test_scikit_learn_can_check_it(name):
    assert len(list(estimator_checks_generator(make(name)))) > 20


def expected_failures(estimator):
    return EXPECTED_FAILURES.get(type(estimator).__name__, {})


@parametrize_with_checks(list(checkable()), expected_failed_checks=expected_failures)
def test_scikit_learn_agrees(estimator, check):
    check(estimator)


# scikit-learn's tools --------------------------------------------------------------------------------------


@every
def test_works_in_a_pipeline_and_a_grid_search(name):
    if not hasattr(load(name), "transform") or name == "OASIS":
        pytest.skip("no transformer")
    model = make_pipeline(make(name), KNeighborsClassifier())
    grid = {"kneighborsclassifier__n_neighbors": [3, 5]}
    if name in STEP:
        grid = {f"{name.lower()}__{STEP[name]}": [1e-3, 1e-2]}
    search = GridSearchCV(model, grid, cv=3).fit(X, Y)
    assert search.best_score_ > 0.8
    assert search.predict(X).shape == Y.shape


@every
def test_feature_names_of_pandas_are_kept(name):
    frame = pd.DataFrame(X, columns=list("abcd"))
    learner = make(name).fit(frame, Y)
    assert learner.feature_names_in_.tolist() == list("abcd")
    if hasattr(learner, "get_feature_names_out"):
        assert len(learner.get_feature_names_out()) == output(learner, frame).shape[1]
        named = learner.set_output(transform="pandas").transform(frame)
        assert named.columns.tolist() == learner.get_feature_names_out().tolist()
    with pytest.raises(ValueError, match="feature names"):
        output(learner, frame[list("bacd")])


@every
def test_survives_pickle_and_clone(name):
    learner = make(name).fit(X, Y)
    restored = pickle.loads(pickle.dumps(learner))
    np.testing.assert_array_equal(output(restored), output(learner))
    again = clone(learner)
    assert not hasattr(again, "n_features_in_")
    np.testing.assert_array_equal(output(again.fit(X, Y)), output(learner))


@every
def test_an_unfitted_learner_says_so(name):
    with pytest.raises(NotFittedError):
        output(make(name))


# robustness ------------------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_rows_that_are_not_finite_are_refused(name, bad):
    spoilt = X.copy()
    spoilt[3, 1] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        make(name).fit(spoilt, Y)


@every
def test_labels_of_a_regression_are_refused(name):
    if name == "Euclidean":
        pytest.skip("does not look at labels")
    with pytest.raises(ValueError, match="Unknown label type"):
        make(name).fit(X, X[:, 0])


CASES = {
    "d = 1": (X[:, :1], Y),
    "d > n": (np.random.default_rng(0).normal(size=(9, 30)), Y[:9]),
    "constant features": (np.hstack([X, np.ones((40, 1)), np.zeros((40, 1))]), Y),
    "duplicated rows": (np.repeat(X[:10], 4, axis=0), np.repeat(Y[:10], 4)),
    "rows not of unit norm": (100 * X, Y),
    "tiny rows": (1e-8 * X, Y),
    "fewer than five rows": (X[:4], [0, 1, 0, 1]),
    "labels that are words": (X, np.array(["a", "b", "c"])[Y]),
}


@every
@pytest.mark.parametrize("case", CASES)
def test_odd_data_give_finite_output(name, case):
    rows, labels = CASES[case]
    learner = make(name).fit(rows, labels)
    assert np.isfinite(output(learner, rows)).all()


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
    if name == "MLOML":
        pytest.skip("a stack starts as its activations: see its own tests")
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
    for bad in (
        {"scale": 0.0},
        {"scale": np.inf},
        {"scale": "rows"},
        {"scans": 0},
        {"triplets": "newest"},
        {STEP[name]: -1.0},
        {"shuffle": "yes"},
    ):
        with pytest.raises(ValueError, match=f"The '{next(iter(bad))}' parameter of {name} must be"):
            make(name, **bad).fit(X, Y)
        with pytest.raises(ValueError, match=f"The '{next(iter(bad))}' parameter of {name} must be"):
            make(name, **bad).partial_fit(X, Y)


@online
def test_constraints_cover_every_parameter(name):
    assert set(load(name)._parameter_constraints) == set(make(name).get_params())
    assert issubclass(load(name), OnlineLearner)
