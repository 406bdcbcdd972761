"""What every learner must do, whoever wrote it: all that ``mloml.learners`` exports are put through this."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator
from tests.learners.contract import EXPORTED, LEARNERS, STEP, X, Y, every, make, output

import mloml

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize("name", EXPORTED)
def test_learner_is_exported_by_its_name(name):
    assert getattr(mloml, name) is getattr(mloml.learners, name) is LEARNERS[name]
    assert name in dir(mloml) and name in mloml.__all__


def test_an_unknown_name_is_refused_as_python_does():
    with pytest.raises(AttributeError, match="has no attribute 'PML'"):
        _ = mloml.PML
    with pytest.raises(ImportError):
        from mloml import PML  # noqa: F401


# scikit-learn's checks and tools ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in LEARNERS if " by " not in name])
def test_scikit_learn_agrees(name):
    passed = check_estimator(make(name, targets="percentiles"), on_skip=None)
    assert len([check for check in passed if check["status"] == "passed"]) > 20


@every
def test_works_in_a_pipeline_and_a_grid_search(name):
    if name == "OASIS":
        pytest.skip("no transformer")
    step = f"{LEARNERS[name].__name__.lower()}__{STEP.get(name)}"
    grid = {step: [1e-3, 1e-2]} if name in STEP else {"kneighborsclassifier__n_neighbors": [3, 5]}
    search = GridSearchCV(make_pipeline(make(name), KNeighborsClassifier()), grid, cv=3).fit(X, Y)
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
def test_rows_that_are_not_finite_and_labels_of_a_regression_are_refused(name):
    for bad in (np.nan, np.inf):
        spoilt = X.copy()
        spoilt[3, 1] = bad
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            make(name).fit(spoilt, Y)
    if name != "Euclidean":  # which does not look at labels
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
    "a class of one row": (X[:9], [0, 1, 0, 1, 0, 1, 0, 1, 2]),
    "labels that are words": (X, np.array(["a", "b", "c"])[Y]),
}


@every
@pytest.mark.parametrize("case", CASES)
def test_odd_data_give_finite_output(name, case):
    rows, labels = CASES[case]
    if case == "d = 1" and ("of rank" in name or name == "LowRankMOML"):
        pytest.skip("more components than features are refused: see its own tests")
    learner = make(name).fit(rows, labels)
    assert np.isfinite(output(learner, rows)).all()
