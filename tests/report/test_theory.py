"""The theory's tables and pictures, from small made-up evidence and counts made by hand."""

import pandas as pd
import pytest

from mloml.report.artefacts import theory

RUN = ["dataset", "activation", "local_loss", "rate", "scan", "layer", "weight"]


@pytest.fixture
def evidence():
    """Steps that break the condition at γ = 0.1, regrets of √T, weights that reach 0 in the second scan."""
    theorem1 = pd.DataFrame(
        [(name, layer, gamma, 100, 50, 0.1 / layer, 2.0, 0.5 * (gamma > 0.01), 0.2 * (gamma > 0.01), 0,
          3.0 * layer, -1e-9)
         for name in ("iris", "wine") for gamma in (0.01, 0.1) for layer in (1, 2, 3)],
        columns=["dataset", "layer", "gamma", "steps", "steps_looked_at", "smallest_eigenvalue",
                 "largest_eigenvalue", "share_condition_broken", "share_leaving_cone",
                 "left_although_condition_held", "largest_squared_distance", "sandwich_excess"],
    )  # fmt: skip
    theorem2 = pd.DataFrame(
        [(name, T, 1.0, comparator, -1.0 if comparator == "I" else T**0.5, 20.0, 9 * T**0.5)
         for name in ("iris", "wine") for T in (100, 1000, 10000) for comparator in ("I", "0", "best")],
        columns=["dataset", "T", "phi", "comparator", "regret", "claimed_bound", "corrected_bound"],
    )  # fmt: skip
    geometry = pd.DataFrame(
        [("iris", layer, split, 1 / layer) for layer in (1, 2) for split in range(4)],
        columns=["dataset", "layer", "split", "within_over_between"],
    )
    weights = [
        ("iris", "relu", "hinge", 0.01, s, i, max(0.0, 1 - 0.5 * s)) for s in (1, 2, 3) for i in (1, 2)
    ]
    frames = {"theorem1": theorem1, "theorem2": theorem2, "geometry": geometry}
    return frames | {"weights": pd.DataFrame(weights, columns=RUN)}


@pytest.fixture
def result(make_result):
    """Four splits of iris and wine whose second layer is always better on iris and mostly worse on wine."""
    found = make_result(datasets=("iris", "wine"), algorithms=("mloml_r",), splits=4)
    changes = {"iris": [-0.05, -0.06, -0.05, -0.04], "wine": [0.01, -0.01, 0.02, 0.0]}
    for record in found.records:
        record["layer_errors"] = [0.2, 0.2 + changes[record["dataset"]][record["split"]]]
    return found


def test_values_follow_the_numbers(evidence, result):
    values = theory.build(result, evidence).values
    assert values["sampled"] == ["iris", "wine"]
    assert (values["ratios"], values["ratio_falls"]) == (1, 1)
    assert values["slopes"].tolist() == pytest.approx([0.5, 0.5])
    assert values["changed"]["dataset"].tolist() == ["iris"]
    assert (values["weights"], values["weights_rose"]) == (6, 0)
    rising = evidence["weights"].assign(weight=evidence["weights"]["scan"] / 3)
    assert theory.build(result, evidence | {"weights": rising}).values["weights_rose"] == 4


def test_bounds_that_are_exceeded_are_counted_by_comparator(evidence):
    regrets = evidence["theorem2"]
    line = regrets[regrets["comparator"] == "best"].drop(columns="comparator")
    found = theory.bounds_by_comparator(regrets, line).set_index("comparator")
    assert found["cases"].tolist() == [6, 6, 6, 6]
    assert found.loc["I", ["positive", "above_claimed"]].tolist() == [0, 0]
    assert found.loc["best", ["positive", "above_claimed", "above_corrected"]].tolist() == [6, 4, 0]
    assert found.loc["best", "largest_over_claimed"] == 5
    tight = theory.bounds_by_comparator(regrets, line.assign(corrected_bound=line["regret"] * (1 - 1e-12)))
    assert tight["above_corrected"].sum() == 0  # equal up to rounding is not above


def test_steps_to_the_next_layer_are_counted_by_both_tests(result, evidence):
    layers = theory.build(result, evidence).figures[2].numbers
    (row,) = theory.layers_by_step(layers).to_dict("records")
    assert (row["layer"], row["next_layer"], row["data_sets"], row["splits"], row["worse"]) == (1, 2, 2, 8, 2)
    assert [row[f"{w}_{t}"] for t in ("corrected", "paired") for w in ("lower", "higher")] == [1, 0, 1, 0]
