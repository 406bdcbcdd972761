"""Files on the theory from small made-up evidence: every claim gets a CSV, a figure and a sentence."""

from dataclasses import replace
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import pytest

from mloml.paper.theory import findings
from mloml.config.schema import Algorithm, ProtocolConfig, Study
from mloml.datasets import catalogue
from mloml.experiments.study import StudyResult
from mloml.report.artefacts import theory
from mloml.report.publish import publish

matplotlib.use("Agg")


@pytest.fixture
def evidence():
    rng = np.random.default_rng(0)
    theorem1 = pd.DataFrame(
        [
            {"dataset": name, "layer": layer, "gamma": gamma, "steps": 100, "steps_looked_at": 100,
             "smallest_eigenvalue": 0.1, "largest_eigenvalue": 2.0,
             "share_condition_broken": 0.5 * (gamma > 0.01),
             "share_leaving_cone": 0.2 * (gamma > 0.01), "left_although_condition_held": 0,
             "largest_squared_distance": 3.0 * layer, "sandwich_excess": -1e-9}
            for name in ("iris", "wine") for gamma in (0.01, 0.1) for layer in (1, 2, 3)
        ]
    )  # fmt: skip
    theorem2 = pd.DataFrame(
        [
            {"dataset": name, "T": T, "phi": 1.0, "gamma": T**-0.5, "loss": 1.0 * T, "comparator": comparator,
             "regret": -1.0 if comparator == "I" else T**0.5, "claimed_bound": 20.0,
             "corrected_bound": 9 * T**0.5, "worst_case_bound": 10 * T**0.5, "hindsight_gap": 0.0}
            for name in ("iris", "wine") for T in (100, 1000, 10000) for comparator in ("I", "0", "best")
        ]
    )  # fmt: skip
    geometry = pd.DataFrame(
        [("iris", layer, split, 0.5, 0.1, 1.0, 1.0, 2.0, 1 / layer)
         for layer in (1, 2) for split in range(4)],
        columns=["dataset", "layer", "split", "hinge_violations", "wrong_order", "mean_margin", "within",
                 "between", "within_over_between"],
    )  # fmt: skip
    weights = pd.DataFrame(
        [
            ("iris", "relu", "hinge", 0.01, scan, layer, max(0.0, 1 - 0.5 * scan))
            for scan in (1, 2, 3)
            for layer in (1, 2)
        ],
        columns=["dataset", "activation", "local_loss", "rate", "scan", "layer", "weight"],
    )
    layer_errors = pd.DataFrame(
        [("iris", split, layer, rng.uniform(0.1, 0.2)) for split in range(4) for layer in (1, 2)],
        columns=["dataset", "split", "layer", "error"],
    )
    return {
        "theorem1": theorem1,
        "theorem2": theorem2,
        "geometry": geometry,
        "weights": weights,
    }, layer_errors


def result_of(records):
    sets = [catalogue()[name] for name in ("iris", "pems")]
    study = Study("theory", sets, [Algorithm("mloml_r_5", "MLOML-r", "MLOML")], ProtocolConfig(splits=4))
    frame = pd.DataFrame({"status": ["ok"] * len(records)})
    return StudyResult(study, Path(), frame, records, pd.DataFrame(), {"pems": "no"})


@pytest.mark.slow
def test_every_claim_gets_its_numbers_its_picture_and_its_words(evidence, tmp_path):
    frames, layer_errors = evidence
    curves = layer_errors.groupby(["dataset", "split"])["error"].agg(list)
    records = [
        {"dataset": dataset, "algorithm": "mloml_r_5", "split": split, "error": errors[-1],
         "layer_errors": errors}
        for (dataset, split), errors in curves.items()
    ]  # fmt: skip
    artefact = theory.build(result_of(records), frames)
    publish(replace(artefact, name="theory", title="Theory"), tmp_path)
    text = (tmp_path / "theory.md").read_text()
    written = {path.name for path in tmp_path.iterdir()}
    for name in ("theorem1", "theorem2", "proposition1", "weights"):
        assert {f"{name}.csv", f"{name}.pdf", f"{name}.png", f"{name}.md"} <= written
    assert {
        "counterexample.csv",
        "theorem2_slopes.csv",
        "proposition1_geometry.csv",
        "layer_errors.csv",
        "weights_by_scan.csv",
        "findings.md",
        "theory.md",
    } <= written
    assert "Not shown: pems" in (tmp_path / "proposition1.md").read_text()
    assert "On the line the regret reaches 249.6 at T = 100000" in text
    assert "Theorem 2's constant bound does not hold" in (tmp_path / "findings.md").read_text()


def test_findings_follow_the_numbers(evidence):
    frames, _ = evidence
    definiteness = frames["theorem1"]
    text = findings.theorem1(definiteness)
    assert "the one-step statement holds" in text
    assert "With γ = 0.01 it was never broken" in text
    assert "With γ = 0.1 it broke in 50 % of the steps" in text
    assert "up to 9, beyond the theorem's constant 4" in text
    surprising = definiteness.assign(left_although_condition_held=1)
    assert "the one-step statement does not hold" in findings.theorem1(surprising)


def test_a_bound_that_holds_is_said_to_hold(evidence):
    frames, _ = evidence
    regret = frames["theorem2"]
    growth = pd.DataFrame({"comparator": ["best"], "slope": [0.5]})
    line = regret[regret["comparator"] == "best"]
    broken = findings.theorem2(regret, growth, line)
    assert "the claimed bound does not hold there" in broken
    assert "exceeded in 8 of 18" in broken and "by a factor of up to 5" in broken
    fine = findings.theorem2(regret.assign(claimed_bound=1e9), growth, line.assign(claimed_bound=1e9))
    assert "the claimed bound holds there" in fine and "exceeded in 0 of 18" in fine


def test_weights_that_rise_would_be_counted(evidence):
    frames, _ = evidence
    weights = frames["weights"]
    assert "it rose 0 times" in findings.loss_weights(weights)
    assert "100 % of them at 0" in findings.loss_weights(weights)
    assert "it rose 4 times" in findings.loss_weights(weights.assign(weight=weights["scan"] / 3))
    assert theory.last_weights(weights)[["w_1", "w_2"]].values.tolist() == [[0.0, 0.0]]
