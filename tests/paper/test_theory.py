"""Evidence from real data: the watched stack is the learner's stack, and each claim gets its rows."""

from itertools import islice

import numpy as np
import pytest

from mloml.config.schema import Algorithm, ProtocolConfig, Study
from mloml.datasets import catalogue, load
from mloml.experiments.cell import Cell, run_cell
from mloml.experiments.refit import halves
from mloml.learners import MLOML
from mloml.learners.triplets import scan_triplets
from mloml.paper.theorem1 import follow, layers_frame
from mloml.paper.theory import follow_weights, gather_evidence, stream_differences, triplet_scans

PROTOCOL = ProtocolConfig(splits=1, scans=2, folds=2)


@pytest.fixture(scope="module")
def iris():
    study = Study("theory", [catalogue()["iris"]], [], PROTOCOL)
    return load(study.datasets[0], study.data)


@pytest.mark.parametrize("gamma", [1e-3, 1e-2])
def test_the_watched_stack_is_the_stack_of_the_learner(iris, gamma):
    half = halves(iris, PROTOCOL, 0)
    watched = follow(half.X, islice(triplet_scans(half.y, half.seed), 2), gamma, n_layers=3)
    model = MLOML(activation="relu", gamma=gamma, scans=2, random_state=half.seed).fit(half.X, half.y)
    np.testing.assert_allclose([each.layer.L for each in watched], model.layers_, atol=1e-9)
    np.testing.assert_array_equal(layers_frame(watched)["steps"], model.n_updates_)
    np.testing.assert_array_equal([layer.leaving_cone for layer in watched], model.n_cone_failures_)


def test_loss_weights_never_rise_and_stop_at_zero(iris):
    frame = follow_weights(halves(iris, PROTOCOL, 0), 3, ["relu"], [1e-3, 0.1], ["hinge"])
    assert len(frame) == 2 * 3 * 3
    for _, run in frame.groupby(["rate", "layer"]):
        assert (np.diff(run.sort_values("scan")["weight"]) <= 0).all()
        assert (run["weight"] >= 0).all() and (run["weight"] < 1).all()


@pytest.mark.slow
def test_every_claim_gets_rows_for_every_dataset(iris):
    stack = Algorithm("mloml_r_5", "MLOML-r (5)", "MLOML", {"gamma": 1e-2, "n_layers": 5})
    study = Study(
        "theory", [catalogue()["iris"]], [stack], ProtocolConfig(splits=1, scans=1), record=("layers",)
    )
    record = run_cell(Cell("iris", iris.checksum, stack, study.protocol, 0, ("layers",)), iris)
    evidence = gather_evidence(study, [record], n_jobs=1)
    assert set(evidence) == {"theorem1", "theorem2", "weights", "geometry"}
    assert all((frame["dataset"] == "iris").all() for frame in evidence.values())
    assert len(evidence["theorem1"]) == 4 * 3
    regret = evidence["theorem2"]
    assert set(regret["T"]) == {100, 300, 1000, 3000}
    assert (regret["regret"] <= regret["corrected_bound"]).all()
    assert (regret["corrected_bound"] <= regret["worst_case_bound"] + 1e-9).all()
    assert evidence["geometry"]["layer"].tolist() == [1, 2, 3, 4, 5]


def test_the_stream_is_that_of_reshuffled_scans():
    X, y = np.random.default_rng(0).normal(size=(12, 2)), np.arange(12) % 3
    stream = triplet_scans(y, seed=5)
    first, second = next(stream), next(stream)
    random = np.random.RandomState(5)
    np.testing.assert_array_equal(first, scan_triplets(y, random.permutation(12)))
    np.testing.assert_array_equal(second, scan_triplets(y, random.permutation(12)))
    P, Q = stream_differences(X, y, len(first) + 1, seed=5)
    assert len(P) == len(first) + 1
    np.testing.assert_array_equal(P[-1], X[second[0, 0]] - X[second[0, 1]])
    np.testing.assert_array_equal(Q[0], X[first[0, 0]] - X[first[0, 2]])


def test_one_class_gives_no_stream():
    with pytest.raises(ValueError, match="no triplet"):
        stream_differences(np.eye(3), np.zeros(3, int), 5, seed=0)
