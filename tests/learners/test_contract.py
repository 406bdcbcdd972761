"""What every learner must do, whoever wrote it: all that ``mloml.learners`` exports are put through this."""

import pickle
import subprocess
import sys
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks
from tests.learners.contract import (
    EXPORTED,
    LEARNERS,
    RAW,
    RAW_Y,
    STEP,
    X,
    Y,
    dense,
    every,
    learned_matrices,
    make,
    output,
)

import mloml

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def checkable():
    """Estimators for scikit-learn's checks; one that is not fit for them fails by its name, below."""
    for name in LEARNERS:
        if name == "MLOML by fbp":  # scikit-learn sets n_components=1, which goes with fp only
            continue
        with suppress(Exception):
            list(estimator_checks_generator(make(name)))
            yield make(name, targets="percentiles")


# exports ---------------------------------------------------------------------------------------------------


def test_importing_the_package_loads_no_compiler():
    code = "import sys, mloml, mloml.learners; print('numba' in sys.modules, 'sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


@pytest.mark.parametrize("name", EXPORTED)
def test_learner_is_exported_by_its_name(name):
    assert getattr(mloml, name) is getattr(mloml.learners, name) is LEARNERS[name]
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


@parametrize_with_checks(list(checkable()))
def test_scikit_learn_agrees(estimator, check):
    check(estimator)


# scikit-learn's tools --------------------------------------------------------------------------------------


@every
def test_works_in_a_pipeline_and_a_grid_search(name):
    if not hasattr(LEARNERS[name], "transform") or name == "OASIS":
        pytest.skip("no transformer")
    model = make_pipeline(make(name), KNeighborsClassifier())
    grid = {"kneighborsclassifier__n_neighbors": [3, 5]}
    if name in STEP:
        grid = {f"{LEARNERS[name].__name__.lower()}__{STEP[name]}": [1e-3, 1e-2]}
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
    if case == "d = 1" and ("of rank" in name or name == "LowRankMOML"):
        pytest.skip("more components than features are refused: see its own tests")
    learner = make(name).fit(rows, labels)
    assert np.isfinite(output(learner, rows)).all()


# sparse rows -----------------------------------------------------------------------------------------------

SPARSE = [name for name in LEARNERS if make(name).__sklearn_tags__().input_tags.sparse]
HOLES = np.where(np.random.default_rng(0).random(RAW.shape) < 0.5, 0.0, RAW)


class NeverDense(csr_array):
    """Sparse rows that nobody may make dense."""

    def toarray(self, *args, **options):
        raise AssertionError("made dense")

    todense = toarray


@every
def test_sparse_rows_are_taken_or_refused_in_one_line(name):
    if name in SPARSE:
        make(name).fit(csr_array(HOLES), RAW_Y)
        return
    refusal = r"takes no sparse rows; DiagonalMOML, .* do$|dense data is required"
    with pytest.raises(TypeError, match=refusal):
        make(name).fit(csr_array(HOLES), RAW_Y)
    with pytest.raises(TypeError, match=refusal):
        output(make(name).fit(HOLES, RAW_Y), csr_array(HOLES))
    if name in STEP:
        with pytest.raises(TypeError, match=refusal):
            make(name).learn_one(csr_array(HOLES[:1]), 0)


@pytest.mark.parametrize("name", SPARSE)
def test_sparse_rows_teach_what_dense_rows_teach_and_are_never_made_dense(name):
    thin = make(name).fit(NeverDense(HOLES), RAW_Y)
    full = make(name).fit(HOLES, RAW_Y)
    assert thin.scale_ == full.scale_ and np.all(thin.n_updates_ > 0)
    np.testing.assert_array_equal(thin.n_updates_, full.n_updates_)
    np.testing.assert_array_equal(thin.n_cone_failures_, full.n_cone_failures_)
    np.testing.assert_allclose(learned_matrices(thin), learned_matrices(full), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(dense(output(thin, csr_array(HOLES))), output(thin, HOLES), rtol=1e-9)


@pytest.mark.parametrize("name", SPARSE)
def test_a_stream_may_be_sparse_dense_or_both(name):
    streams = [make(name) for _ in range(4)]
    kinds = (csr_array, np.asarray)
    streams[0].partial_fit(csr_array(HOLES[:20]), RAW_Y[:20])
    streams[1].partial_fit(HOLES[:20], RAW_Y[:20])
    streams[2].partial_fit(csr_array(HOLES[:20]), RAW_Y[:20])
    streams[3].partial_fit(HOLES[:20], RAW_Y[:20])
    for i in range(20, 60):
        row, label = HOLES[i : i + 1], RAW_Y[i]
        streams[0].learn_one(csr_array(row), label)
        streams[1].learn_one(row[0], label)
        streams[2].partial_fit(kinds[i % 2](row), [label])
        streams[3].learn_one(csr_array(row) if i % 3 else row[0], label)
    streams = [pickle.loads(pickle.dumps(stream)) for stream in streams]
    expected = make(name).partial_fit(HOLES, RAW_Y)
    if "init" not in expected.get_params():
        streams.append(expected)
    for stream in streams[1:]:
        np.testing.assert_allclose(
            learned_matrices(stream), learned_matrices(streams[0]), rtol=1e-9, atol=1e-12
        )


@pytest.mark.parametrize("name", SPARSE)
def test_sparse_rows_in_any_order_with_repetitions_are_read_right_and_left_alone(name):
    entries, columns = np.array([1.0, 2.0, 0.5, 3.0, -1.0, 0.0, 4.0, 1.0]), [3, 0, 3, 2, 1, 0, 1, 2]
    rows = csr_array((entries, columns, [0, 3, 3, 5, 8]), shape=(4, 4))
    before = [part.copy() for part in (rows.data, rows.indices, rows.indptr)]
    learner = make(name, scale=None).partial_fit(rows, [0, 1, 0, 1])
    for part, old in zip((rows.data, rows.indices, rows.indptr), before, strict=True):
        np.testing.assert_array_equal(part, old)
    expected = make(name, scale=None).partial_fit(rows.toarray(), [0, 1, 0, 1])
    np.testing.assert_allclose(learned_matrices(learner), learned_matrices(expected), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", SPARSE)
def test_bad_sparse_rows_are_named(name):
    learner = make(name).partial_fit(csr_array(HOLES), RAW_Y)
    with pytest.raises(ValueError, match=r"x has shape \(2, 4\), expected one sparse row"):
        learner.learn_one(csr_array(HOLES[:2]), 0)
    outside = csr_array((np.ones(2), [0, 9], [0, 2]), shape=(1, 4))  # SciPy does not look
    for bad in (lambda: learner.partial_fit(outside, [0]), lambda: learner.learn_one(outside, 0)):
        with pytest.raises(ValueError, match="column indices outside of 0 to 3"):
            bad()
    with pytest.raises(ValueError, match="x has 3 features"):
        learner.learn_one(csr_array(HOLES[:1, :3]), 0)
    with pytest.raises(ValueError, match="NaN or infinity"):
        learner.learn_one(csr_array([[0.0, np.nan, 0.0, 0.0]]), 0)
