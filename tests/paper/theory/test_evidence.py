"""Evidence from real data: the watched stack is the learner's stack, and each claim gets its rows."""

from itertools import islice

import numpy as np
import pytest

from mloml.paper.theory.definiteness import follow
from mloml.paper.theory.evidence import gather_evidence
from mloml.paper.theory.streams import scans
from mloml.paper.theory.weights import follow_weights
from mloml.config.schema import Algorithm, ProtocolConfig, Study
from mloml.datasets import catalogue, load
from mloml.experiments.cell import Cell, run_cell
from mloml.experiments.refit import halves
from mloml.learners import MLOML

PROTOCOL = ProtocolConfig(splits=1, scans=2, folds=2)


@pytest.fixture(scope="module")
def iris():
    study = Study("theory", [catalogue()["iris"]], [], PROTOCOL)
    return load(study.datasets[0], study.data)


@pytest.mark.parametrize("gamma", [1e-3, 1e-2])
def test_the_watched_stack_is_the_stack_of_the_learner(iris, gamma):
    half = halves(iris, PROTOCOL, 0)
    track = follow(half.X, islice(scans(half.y, half.seed), 2), gamma, n_layers=3)
    model = MLOML(activation="relu", gamma=gamma, scans=2, random_state=half.seed).fit(half.X, half.y)
    np.testing.assert_allclose(track.layers, model.layers_, atol=1e-9)
    np.testing.assert_array_equal(track.frame()["steps"], model.n_updates_)
    np.testing.assert_array_equal(track.counts[:, 3], model.n_cone_failures_)


def test_loss_weights_never_rise_and_stop_at_zero(iris):
    frame = follow_weights(halves(iris, PROTOCOL, 0), 1e-2, 3, ["relu"], [1e-3, 0.1], ["hinge"])
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
