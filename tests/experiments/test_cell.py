import json
import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier
from threadpoolctl import threadpool_info

import mloml.experiments.cell as cell_module
import mloml.experiments.key as key_module
from mloml import OPML
from mloml.config.schema import Algorithm, PcaConfig, ProtocolConfig
from mloml.datasets.dataset import Dataset, checksum
from mloml.experiments.cell import Cell, make_learner, run_cell
from mloml.experiments.preprocessing import unit_rows
from mloml.experiments.selection import choose_per_split
from mloml.experiments.splits import derive_seed, fold_indices, split_indices
from mloml.learners.base import MetricLearner

PROTOCOL = ProtocolConfig(scans=3)
EUCLIDEAN = Algorithm("euclidean", "Euclidean", "Euclidean")
TUNED_OPML = Algorithm("opml", "OPML", "OPML", params={"gamma": None}, grid={"gamma": [3.0, 1e-3, 1e2, 1e-1]})


def dataset(X, y, name="iris"):
    X, y = np.ascontiguousarray(X, dtype=float), y.astype(np.int64)
    return Dataset(name, X, y, [str(label) for label in np.unique(y)], checksum(X, y), "local")


@pytest.fixture(scope="module")
def iris():
    return dataset(*load_iris(return_X_y=True))


def make_cell(data, algorithm=EUCLIDEAN, split=0, **options):
    options.setdefault("protocol", PROTOCOL)
    return Cell(data.name, data.checksum, algorithm, split=split, **options)


class Spy(MetricLearner):
    """Keeps the identity, notes the rows it was fitted on, and has two layers and scans."""

    seen: list[np.ndarray] = []

    def __init__(self, scans=20, random_state=None, width=7, step=1.0):
        self.scans = scans
        self.random_state = random_state
        self.width = width
        self.step = step

    def fit(self, X, y):
        warnings.warn("slow progress", stacklevel=1)
        for _ in self.iter_scans(X, y):
            pass
        return self

    def iter_scans(self, X, y):
        self.seen.append(X)
        for scan in range(1, self.scans + 1):
            self.components_ = np.eye(X.shape[1]) * (scan % 2)
            self.layers_ = [np.zeros((X.shape[1], X.shape[1])), self.components_]
            self.n_triplets_, self.n_updates_ = scan, np.array([scan, 2 * scan])
            yield self

    def transform(self, X, layer=None):
        return X @ (self.components_ if layer is None else self.layers_[layer - 1]).T


@pytest.fixture
def spy(monkeypatch):
    """Let cells use the spy as their learner."""
    for module in (cell_module, key_module):
        monkeypatch.setattr(module, "learner_class", lambda name: Spy)
    monkeypatch.setattr(key_module, "code_hash", lambda name, root: "spy")
    monkeypatch.setattr(Spy, "seen", [])
    return Algorithm("spy", "Spy", "Spy")


def five_neighbours_error(learner, X, y, X_score, y_score):
    """The share of mistakes of scikit-learn's own classifier on what a fitted learner makes of the rows."""
    model = KNeighborsClassifier(5, algorithm="brute").fit(learner.transform(X), y)
    return 1 - model.score(learner.transform(X_score), y_score)


@pytest.mark.parametrize(("split", "k"), [(0, 5), (1, 5), (2, 40)])
def test_euclidean_error_is_that_of_the_nearest_neighbours_on_unit_rows(iris, split, k):
    train, test = split_indices(iris.y, split, 0, "iris")
    rows = unit_rows(iris.X)
    model = KNeighborsClassifier(k, algorithm="brute").fit(rows[train], iris.y[train])
    cell = make_cell(iris, split=split, protocol=replace(PROTOCOL, neighbours=k))
    assert run_cell(cell, iris)["error"] == pytest.approx(1 - model.score(rows[test], iris.y[test]))


@pytest.mark.parametrize("split", [1, 2, 3])
def test_the_step_size_is_that_of_a_cross_validation_done_by_hand(iris, split):
    train, test = split_indices(iris.y, split, 0, "iris")
    X, y = unit_rows(iris.X)[train], iris.y[train]
    values = [1e-3, 1e-1, 3.0, 1e2]
    errors = np.zeros(len(values))
    for number, (fit, validate) in enumerate(fold_indices(y, split, 0, "iris", 5)):
        seed = derive_seed(0, "iris", split, "stream", number)
        for index, gamma in enumerate(values):
            learner = OPML(gamma=gamma, scans=3, random_state=seed).fit(X[fit], y[fit])
            wrong = five_neighbours_error(learner, X[fit], y[fit], X[validate], y[validate]) * len(validate)
            errors[index] += wrong / len(y)
    record = run_cell(make_cell(iris, TUNED_OPML, split), iris)
    assert [entry["cv_error"] for entry in record["grid"]] == pytest.approx(errors)
    best = values[int(np.argmin(np.round(errors, 12)))]
    assert best not in (values[0], values[-1])  # a choice of the first or last value would be found out
    assert record["chosen"] == {"gamma": best}
    final = OPML(gamma=best, scans=3, random_state=derive_seed(0, "iris", split, "stream")).fit(X, y)
    rows = unit_rows(iris.X)[test]
    assert record["error"] == pytest.approx(five_neighbours_error(final, X, y, rows, iris.y[test]))


def test_record_is_json_and_tells_all_that_later_steps_read(iris):
    cell = make_cell(iris, TUNED_OPML, record=("scans",))
    record = json.loads(json.dumps(run_cell(cell, iris), allow_nan=False))
    assert (record["dataset"], record["algorithm"], record["protocol"]) == ("iris", "opml", "paper")
    assert (record["split"], record["status"], record["key"]) == (0, "ok", cell.key)
    assert [entry["params"]["gamma"] for entry in record["grid"]] == [1e-3, 1e-1, 3.0, 1e2]
    assert (record["chosen"], record["error"]) == choose_per_split([record])[0][1:]
    assert 3 * 65 < record["counters"]["n_triplets"] <= 3 * 72  # none for the first sample of a class
    assert record["preprocessing"] == {"pca": None, "pca_fitted_on": None, "rows": "unit", "features": 4}
    assert record["seeds"] == {use: derive_seed(0, "iris", 0, use) for use in ("split", "folds", "stream")}
    assert {"python", "numpy", "scipy", "scikit-learn", "numba", "mloml"} == record["versions"].keys()
    assert {"total", "select", "fit", "test"} == record["seconds"].keys()
    assert record["seconds"]["total"] >= sum(record["seconds"][part] for part in ("select", "fit", "test"))
    assert record["checksum"] == iris.checksum
    assert len(record["scan_errors"]) == 3
    assert record["scan_errors"][-1] == record["error"]
    again = run_cell(cell, iris)
    assert {**record, "seconds": None} == {**again, "seconds": None}


def test_no_learner_ever_sees_a_test_row_and_all_see_the_same(iris, spy):
    distinct = dataset(np.arange(600.0).reshape(150, 4) ** 2 + 1, iris.y)
    tuned = replace(spy, grid={"step": [1.0, 2.0]})
    run_cell(make_cell(distinct, tuned), distinct)
    train, _ = split_indices(distinct.y, 0, 0, "iris")
    allowed = set(map(tuple, unit_rows(distinct.X)[train]))
    assert len(Spy.seen) == 2 * (PROTOCOL.folds + 1)
    for fitted_on in Spy.seen:
        assert set(map(tuple, fitted_on)) <= allowed
    assert {len(fitted_on) for fitted_on in Spy.seen} == {60, 75}
    Spy.seen.clear()
    for algorithm in (spy, replace(spy, name="b")):
        run_cell(make_cell(iris, algorithm), iris)
    np.testing.assert_array_equal(*Spy.seen)


def test_layers_scans_counts_and_warnings_are_recorded(iris, spy, recwarn):
    record = run_cell(make_cell(iris, spy, record=("layers", "scans")), iris)
    untrained = 2 / 3  # all rows mapped to one point: the first five neighbours are of one class
    assert record["layer_errors"] == [pytest.approx(untrained), record["error"]]
    assert record["scan_errors"] == [record["error"], pytest.approx(untrained), record["error"]]
    assert record["counters"] == {"n_triplets": 3, "n_updates": [3, 6], "n_cone_failures": None}
    assert record["warnings"] == ["slow progress"]
    assert not recwarn.list
    assert run_cell(make_cell(iris, spy), iris)["layer_errors"] is None  # not asked for


def test_layers_and_scans_of_a_learner_without_them_are_null(iris):
    record = run_cell(make_cell(iris, record=("layers", "scans")), iris)
    assert record["layer_errors"] is record["scan_errors"] is None


@pytest.mark.parametrize(
    ("pca", "expected"),
    [
        (PcaConfig(), {"pca": "uncentred", "pca_fitted_on": "all", "features": 40}),
        (PcaConfig(fit="train", centred=True), {"pca": "centred", "pca_fitted_on": "train", "features": 19}),
    ],
)
def test_what_was_done_to_the_rows_is_put_on_record(pca, expected):
    rng = np.random.default_rng(0)
    wide = dataset(rng.normal(size=(40, 210)), np.arange(40) % 2, name="wide")
    record = run_cell(make_cell(wide, protocol=replace(PROTOCOL, pca=pca)), wide)
    assert record["preprocessing"] == expected | {"rows": "unit"}


def test_numerical_libraries_use_one_thread_inside_a_cell(iris, monkeypatch):
    threads = []

    def noting(*arguments):
        threads.extend(library["num_threads"] for library in threadpool_info())
        return original(*arguments)

    original = cell_module.select
    monkeypatch.setattr(cell_module, "select", noting)
    run_cell(make_cell(iris), iris)
    assert set(threads) == {1}


def test_learner_takes_scans_and_seed_from_protocol_and_split_and_keeps_its_own(iris, spy):
    nulls = {"width": None, "step": None}
    learner = make_learner(make_cell(iris, replace(spy, params=nulls, grid={"step": [1]})))
    assert (learner.scans, learner.width, learner.step) == (3, None, 1.0)
    assert learner.random_state == derive_seed(0, "iris", 0, "stream")
    own = make_learner(make_cell(iris, replace(spy, params={"scans": 2, "random_state": 5})))
    assert (own.scans, own.random_state, own.width) == (2, 5, 7)


def test_null_of_a_parameter_that_is_not_used_keeps_the_default(iris, spy, monkeypatch):
    monkeypatch.setattr(Spy, "unused_parameters", lambda self: {"width"}, raising=False)
    assert make_learner(make_cell(iris, replace(spy, params={"width": None}))).width == 7


def test_data_that_are_not_the_cells_are_refused(iris):
    with pytest.raises(ValueError, match="checksum"):
        run_cell(replace(make_cell(iris), checksum="0"), iris)
