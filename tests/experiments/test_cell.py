from __future__ import annotations

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier
from threadpoolctl import threadpool_info

import mloml.experiments.cell as cell_module
from mloml.config.schema import Algorithm, PcaConfig, ProtocolConfig
from mloml.datasets.dataset import Dataset, checksum
from mloml.errors import ConfigError
from mloml.experiments.cell import Cell, make_learner, run_cell
from mloml.experiments.choices import choose_per_split
from mloml.experiments.preprocessing import unit_rows
from mloml.experiments.splits import split_indices
from mloml.learners.base import MetricLearner

PROTOCOL = ProtocolConfig(scans=3)
EUCLIDEAN = Algorithm("euclidean", "Euclidean", "Euclidean")
OPML = Algorithm("opml", "OPML", "OPML", params={"gamma": None}, grid={"gamma": [1e-1, 1e-3]})


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

    def __init__(self, scans=20, random_state=None, width=None, step=1.0):
        self.scans = scans
        self.random_state = random_state
        self.width = width
        self.step = step

    def fit(self, X, y):
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
    monkeypatch.setattr(cell_module, "learner_class", lambda name: Spy)
    monkeypatch.setattr(cell_module, "fingerprint", lambda name: "spy")
    monkeypatch.setattr(Spy, "seen", [])
    return Algorithm("spy", "Spy", "Spy")


def test_euclidean_error_is_that_of_five_neighbours_on_unit_rows(iris):
    for split in range(3):
        train, test = split_indices(iris.y, split, 0, "iris")
        rows = unit_rows(iris.X)
        model = KNeighborsClassifier(5, algorithm="brute").fit(rows[train], iris.y[train])
        error = run_cell(make_cell(iris, split=split), iris)["error"]
        assert error == pytest.approx(1 - model.score(rows[test], iris.y[test]))


def test_record_is_json_and_tells_all_that_later_steps_read(iris):
    cell = make_cell(iris, OPML)
    record = json.loads(json.dumps(run_cell(cell, iris), allow_nan=False))
    assert (record["dataset"], record["algorithm"], record["protocol"]) == ("iris", "opml", "paper")
    assert (record["split"], record["status"], record["key"]) == (0, "ok", cell.key)
    assert [entry["params"] for entry in record["grid"]] == [{"gamma": 1e-3}, {"gamma": 1e-1}]
    assert (record["chosen"], record["error"]) == choose_per_split([record])[0][1:]
    assert 3 * 65 < record["counters"]["n_triplets"] <= 3 * 72  # none for the first sample of a class
    assert record["preprocessing"] == {"pca": None, "pca_fitted_on": None, "rows": "unit", "features": 4}
    assert {"python", "numpy", "scipy", "scikit-learn", "numba", "mloml"} == record["versions"].keys()
    assert {"total", "select", "fit", "test"} == record["seconds"].keys()
    assert record["checksum"] == iris.checksum


def test_running_a_cell_twice_gives_the_same_but_for_the_time(iris):
    first, second = (run_cell(make_cell(iris, OPML), iris) for _ in range(2))
    assert {**first, "seconds": None} == {**second, "seconds": None}


def test_no_learner_ever_sees_a_test_row(iris, spy):
    distinct = dataset(np.arange(600.0).reshape(150, 4) ** 2 + 1, iris.y)
    tuned = replace(spy, grid={"step": [1.0, 2.0]})
    run_cell(make_cell(distinct, tuned), distinct)
    train, test = split_indices(distinct.y, 0, 0, "iris")
    rows = unit_rows(distinct.X)
    allowed, forbidden = set(map(tuple, rows[train])), set(map(tuple, rows[test]))
    assert len(Spy.seen) == 2 * (PROTOCOL.folds + 1)
    for fitted_on in Spy.seen:
        assert set(map(tuple, fitted_on)) <= allowed
        assert not set(map(tuple, fitted_on)) & forbidden
    assert {len(fitted_on) for fitted_on in Spy.seen} == {60, 75}


def test_all_algorithms_of_a_split_see_the_same_rows_and_seeds(iris, spy):
    seeds = [
        run_cell(make_cell(iris, algorithm), iris)["seeds"] for algorithm in (spy, replace(spy, name="b"))
    ]
    assert seeds[0] == seeds[1]
    np.testing.assert_array_equal(*Spy.seen)


def test_layers_and_scans_are_recorded_when_asked_for(iris, spy):
    record = run_cell(make_cell(iris, spy, record=("layers", "scans")), iris)
    untrained = 2 / 3  # all rows mapped to one point: the first five neighbours are of one class
    assert record["layer_errors"] == [pytest.approx(untrained), record["error"]]
    assert record["scan_errors"] == [record["error"], pytest.approx(untrained), record["error"]]
    assert record["counters"] == {"n_triplets": 3, "n_updates": [3, 6], "n_cone_failures": None}


def test_layers_and_scans_of_a_learner_without_them_are_null(iris):
    record = run_cell(make_cell(iris, record=("layers", "scans")), iris)
    assert record["layer_errors"] is None
    assert record["scan_errors"] is None


def test_last_of_the_scans_is_the_error_of_the_cell(iris):
    record = run_cell(make_cell(iris, OPML, record=("scans",)), iris)
    assert len(record["scan_errors"]) == 3
    assert record["scan_errors"][-1] == record["error"]


def test_a_similarity_is_judged_by_similarity(iris):
    oasis = Algorithm("oasis", "OASIS", "OASIS", params={"C": 0.1})
    # OASIS with the published C predicts one class for all of iris: the paper has .333 ± .000 there.
    record = run_cell(make_cell(iris, oasis, protocol=ProtocolConfig()), iris)
    assert record["error"] >= 0.3


def test_pca_of_all_rows_is_put_on_record():
    rng = np.random.default_rng(0)
    wide = dataset(rng.normal(size=(40, 210)), np.arange(40) % 2, name="wide")
    assert run_cell(make_cell(wide), wide)["preprocessing"] == {
        "pca": "uncentred",
        "pca_fitted_on": "all",
        "rows": "unit",
        "features": 40,
    }
    clean = replace(PROTOCOL, pca=PcaConfig(fit="train", centred=True))
    assert run_cell(make_cell(wide, protocol=clean), wide)["preprocessing"] == {
        "pca": "centred",
        "pca_fitted_on": "train",
        "rows": "unit",
        "features": 19,
    }


def test_numerical_libraries_use_one_thread_inside_a_cell(iris, monkeypatch):
    threads = []

    def noting(*arguments):
        threads.extend(library["num_threads"] for library in threadpool_info())
        return original(*arguments)

    original = cell_module.select
    monkeypatch.setattr(cell_module, "select", noting)
    run_cell(make_cell(iris), iris)
    assert threads
    assert set(threads) == {1}


def test_warnings_are_recorded_not_printed(iris, spy, monkeypatch, recwarn):
    def fit(self, X, y):
        import warnings

        warnings.warn("slow progress", stacklevel=1)
        for _ in self.iter_scans(X, y):
            pass
        return self

    monkeypatch.setattr(Spy, "fit", fit)
    assert run_cell(make_cell(iris, spy), iris)["warnings"] == ["slow progress"]
    assert not recwarn.list


def test_key_changes_with_everything_that_determines_the_result(iris):
    base = make_cell(iris, OPML)
    variants = [
        replace(base, dataset="other"),
        replace(base, checksum="other"),
        replace(base, split=1),
        replace(base, record=("scans",)),
        replace(base, algorithm=replace(OPML, params={"gamma": 0.5})),
        replace(base, algorithm=replace(OPML, grid={"gamma": [1e-1]})),
        replace(base, algorithm=replace(OPML, learner="Euclidean")),
        replace(base, protocol=replace(PROTOCOL, scans=4)),
        replace(base, protocol=replace(PROTOCOL, folds=3)),
        replace(base, protocol=replace(PROTOCOL, neighbours=3)),
        replace(base, protocol=replace(PROTOCOL, seed=1)),
        replace(base, protocol=replace(PROTOCOL, pca=PcaConfig(centred=True))),
    ]
    keys = {cell.key for cell in [base, *variants]}
    assert len(keys) == len(variants) + 1


def test_key_changes_with_the_code(iris, monkeypatch):
    before = make_cell(iris).key
    monkeypatch.setattr(cell_module, "fingerprint", lambda name: "other code")
    assert make_cell(iris).key != before


def test_key_does_not_change_with_labels_and_what_acts_elsewhere(iris):
    base = make_cell(iris, OPML)
    assert replace(base, algorithm=replace(OPML, title="x", note="y")).key == base.key
    assert (
        replace(base, protocol=replace(PROTOCOL, name="mine", splits=5, bp_rate=None, moml_cone="split")).key
        == base.key
    )
    assert pickle.loads(pickle.dumps(base)).key == base.key


def test_narrow_data_share_their_cells_between_pca_settings(iris):
    paper = make_cell(iris, features=4)
    clean = replace(paper, protocol=replace(PROTOCOL, pca=PcaConfig(fit="train", centred=True)))
    assert paper.key == clean.key
    assert replace(paper, features=300).key != replace(clean, features=300).key


def test_asking_for_what_a_learner_does_not_have_makes_no_new_cell(iris):
    plain = make_cell(iris).key
    assert make_cell(iris, record=("layers", "scans")).key == plain
    assert make_cell(iris, OPML, record=("layers",)).key == make_cell(iris, OPML).key
    assert make_cell(iris, OPML, record=("scans",)).key != make_cell(iris, OPML).key


def test_learner_takes_scans_and_seed_from_protocol_and_split(iris, spy):
    learner = make_learner(
        make_cell(iris, replace(spy, params={"width": None, "step": None}, grid={"step": [1]}))
    )
    assert learner.scans == 3
    assert learner.random_state == run_cell(make_cell(iris, spy), iris)["seeds"]["stream"]
    assert learner.width is None
    assert learner.step == 1.0


def test_only_learners_can_be_named(iris):
    with pytest.raises(ConfigError, match=r"learner 'os\.system' is not a class"):
        make_learner(make_cell(iris, Algorithm("a", "A", "os.system")))
    with pytest.raises(ConfigError, match="did you mean 'Euclidean'"):
        make_learner(make_cell(iris, Algorithm("a", "A", "Euclidan")))


def test_a_misspelt_parameter_suggests_the_right_one(iris):
    with pytest.raises(ConfigError, match="OPML has no parameter 'gama'; did you mean 'gamma'"):
        make_learner(make_cell(iris, replace(OPML, params={"gama": 1.0})))


def test_data_that_are_not_the_cells_are_refused(iris):
    with pytest.raises(ValueError, match="checksum"):
        run_cell(replace(make_cell(iris), checksum="0"), iris)
