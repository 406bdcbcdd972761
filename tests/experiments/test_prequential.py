"""Streams as cells: the same numbers as river's own evaluation, and what the record holds."""

import json
from dataclasses import replace

import numpy as np
import pytest
from river import evaluate, metrics, neighbors, preprocessing, tree

from mloml.config.compose import compose_study
from mloml.config.schema import Algorithm, ProtocolConfig
from mloml.datasets.dataset import Dataset, checksum
from mloml.errors import ConfigError
from mloml.experiments.cell import Cell, run_cell
from mloml.experiments.job import record_of
from mloml.experiments.measures import BLOCKS
from mloml.experiments.prequential import Refitted, run_stream, standardised_so_far
from mloml.learners import KISSME

PROTOCOL = ProtocolConfig(splits=1, window=60, rows="standardised", scale="auto", refit=50)
PLAIN = Algorithm("euclidean", "k-NN", "Euclidean")


def stream(n: int = 400, d: int = 4, classes: int = 3) -> Dataset:
    """Continuous rows, so that no two distances are equal; the last feature is constant."""
    rng = np.random.default_rng(5)
    y = rng.integers(classes, size=n)
    X = rng.normal(size=(n, d)) * [1, 10, 0.1, 0][:d]
    X[:, 0] += y
    return Dataset("toy", X, y, [str(c) for c in range(classes)], checksum(X, y), "local")


DATA = stream()


def cell(algorithm: Algorithm, **changes: object) -> Cell:
    return Cell("toy", DATA.checksum, algorithm, replace(PROTOCOL, **changes), 0)


def test_rows_are_standardised_as_by_rivers_scaler():
    scaler, rows = preprocessing.StandardScaler(), standardised_so_far(DATA.X)
    for x, mine in zip(DATA.X, rows, strict=True):
        scaler.learn_one(dict(enumerate(x)))
        assert mine == pytest.approx(np.array([*scaler.transform_one(dict(enumerate(x))).values()]), abs=1e-9)
    assert not rows[:, -1].any() and not rows[0].any()


def test_plain_knn_has_rivers_hits():
    theirs = neighbors.KNNClassifier(5, neighbors.LazySearch(PROTOCOL.window), weighted=False)
    record = run_stream(cell(replace(PLAIN)), DATA)
    # Ties between classes go to the first class here, to the class met first there: rename by first meeting.
    order = list(dict.fromkeys(DATA.y.tolist()))
    renamed = np.array([order.index(label) for label in DATA.y])
    again = replace(DATA, y=renamed, checksum=checksum(DATA.X, renamed))
    ours = run_stream(replace(cell(PLAIN), checksum=again.checksum), again)
    hits = 0
    for i, (x, y) in enumerate(zip(standardised_so_far(DATA.X), renamed.tolist(), strict=True)):
        row = dict(enumerate(x.tolist()))
        if i:
            votes = theirs.predict_proba_one(row)
            hits += min(votes, key=lambda label: (-votes[label], label)) == y
        theirs.learn_one(row, y)
    assert sum(ours["hits"]) == hits
    assert abs(sum(record["hits"]) - hits) < 20  # another order of the classes breaks ties otherwise


def test_a_learner_of_rivers_has_the_accuracy_of_rivers_evaluation():
    algorithm = Algorithm("tree", "tree", "river.tree.HoeffdingTreeClassifier", {"grace_period": 30})
    record = run_stream(cell(algorithm), DATA)
    rows = standardised_so_far(DATA.X)
    pairs = [(dict(enumerate(x.tolist())), y) for x, y in zip(rows, DATA.y.tolist(), strict=True)]
    model = tree.HoeffdingTreeClassifier(grace_period=30)
    theirs = evaluate.progressive_val_score(pairs, model, metrics.Accuracy())
    assert 1 - record["error"] == pytest.approx(theirs.get())


def test_a_record_is_json_and_its_parts_agree():
    record = json.loads(json.dumps(record_of(cell(Algorithm("moml", "MOML", "MOML")), DATA), allow_nan=False))
    confusion, tested = np.array(record["confusion"]), record["rows"] - 1
    assert confusion.sum() == tested == len(DATA.y) - 1 and len(record["hits"]) == BLOCKS
    assert np.trace(confusion) == sum(record["hits"]) == round((1 - record["error"]) * tested)
    assert confusion.sum(axis=1).tolist() == np.bincount(DATA.y[1:]).tolist()
    assert record["memory"] > 8 * PROTOCOL.window * DATA.X.shape[1] and record["seconds"]["row"] > 0
    assert record["counters"]["n_triplets"] > 0
    assert record_of(cell(Algorithm("moml", "MOML", "MOML")), DATA)["hits"] == record["hits"]


def test_a_shorter_stream_is_the_beginning_of_the_longer():
    whole, part = (run_stream(cell(PLAIN, length=length), DATA) for length in (None, 100))
    assert part["rows"] == 100
    ends = np.cumsum(whole["hits"])[24]  # the first quarter of the blocks is the first hundred samples
    assert sum(part["hits"]) == ends


def test_a_batch_metric_is_fitted_to_the_window_when_it_is_time():
    model = Refitted(KISSME(), 50, {"n_neighbors": 5, "window": 60})
    rows = standardised_so_far(DATA.X)[:, :3]
    for i, (row, label) in enumerate(zip(rows[:149], DATA.y.tolist(), strict=False), start=1):
        model.learn_one(row, label)
        assert (model.metric_ is None) == (i < 50)
    expected = KISSME().fit(rows[40:100], DATA.y[40:100]).transform(rows[:149])
    assert model.metric_.transform(rows[:149]) == pytest.approx(expected)
    query, last = expected[0] + 0.1, slice(89, 149)
    near = np.argsort(np.linalg.norm(expected[last] - query, axis=1))[:5]
    counts = np.bincount(DATA.y[last][near])
    mapped = model.knn.predict_one(query)
    assert counts[mapped] == counts.max()


def test_parameters_may_be_objects_and_seeds_are_the_cells_unless_given():
    study = compose_study("streams", ["datasets=[iris]", "protocol.window=40"])
    known = {algorithm.name: algorithm for algorithm in study.algorithms}
    for name in ("river_knn", "restarted_knn", "sgd", "arf"):
        assert 0 < run_stream(cell(known[name], length=80), DATA)["error"] < 0.9
    arfs = [known["arf"].params["seed"], *(known[f"arf_{seed}"].params["seed"] for seed in (2, 3))]
    assert arfs == [1, 2, 3]


def test_a_classifier_without_a_window_is_one_line():
    with pytest.raises(ConfigError, match=r"protocol\.window"):
        run_cell(cell(Algorithm("sgd", "SGD", "sklearn.linear_model.SGDClassifier"), window=None), DATA)


@pytest.mark.parametrize(("key", "value"), [("window", 4), ("length", 1), ("refit", 0)])
def test_settings_of_streams_have_ranges(key, value):
    with pytest.raises(ConfigError, match=rf"protocol\.{key}={value}"):
        replace(PROTOCOL, **{key: value})
