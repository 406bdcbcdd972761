"""The paper's theory put to the test: Theorem 1, Theorem 2, Proposition 1, and the loss weights under FBP."""

from functools import partial

import pandas as pd

from mloml.errors import MlomlError
from mloml.experiments.study import StudyResult
from mloml.paper.proposition1 import compare_layers
from mloml.paper.theorem2 import counterexample_regrets, slopes
from mloml.report.claims import theorem1
from mloml.report.curves import LEVEL, points_table
from mloml.report.document import Artefact, Figure, Table
from mloml.report.figures.curves import curve_frame
from mloml.report.figures.theory import definiteness_figure, layers_figure, regret_figure, weights_figure
from mloml.report.labels import labels_of
from mloml.report.recipe import Recipe

RUN = ["dataset", "activation", "local_loss", "rate"]
# A regret exceeds a bound if it is larger than this many times the bound.
ROUNDING = 1 + 1e-9


def gather(result: StudyResult) -> dict[str, pd.DataFrame]:
    """Follow the streams of the first splits, and measure the layers of every chosen model."""
    from mloml.paper.theory import gather_evidence

    if not result.records:
        raise MlomlError("no cell was computed, so there is nothing to check the theory on")
    return gather_evidence(result.study, result.records, result.study.execution.n_jobs)


def build(result: StudyResult, gathered: dict[str, pd.DataFrame]) -> Artefact:
    """Return a figure per claim and the numbers behind it."""
    steps, regrets, weights = (gathered[name] for name in ("theorem1", "theorem2", "weights"))
    geometry = gathered["geometry"].drop(columns="split").groupby(["dataset", "layer"], sort=False).mean()
    geometry = geometry.reset_index()
    line, growth = counterexample_regrets(), slopes(regrets)
    errors = curve_frame(result.records, "layer_errors", "layer")
    layers = compare_layers(errors)

    titles = labels_of(result).starred(config.name for config in result.study.datasets)
    named_steps, named_regrets, named_layers, named_geometry = (
        frame.assign(dataset=frame["dataset"].map(titles)) for frame in (steps, regrets, layers, geometry)
    )
    last = weights[weights["scan"] == weights.groupby(RUN)["scan"].transform("max")]
    figures = (
        Figure("theorem1", partial(definiteness_figure, named_steps), "Positive definiteness", steps),
        Figure("theorem2", partial(regret_figure, named_regrets, line), "Regret and its bounds", regrets),
        Figure("proposition1", partial(layers_figure, named_layers, named_geometry), "Layers", layers),
        Figure("weights", partial(weights_figure, weights), "Weights of the local losses", by_layer(last)),
    )
    tables = (
        Table("counterexample", line, "Theorem 2: the counterexample"),
        Table("theorem2_slopes", growth, "Theorem 2: growth of the regret"),
        Table("proposition1_geometry", geometry, "Proposition 1: distances and margins of each layer"),
        points_table(errors, "layer"),
        Table("weights_by_scan", by_layer(weights), "Weights of the local losses after every scan"),
    )
    ratio = geometry.pivot_table(index="dataset", columns="layer", values="within_over_between")
    shares = ["splits", "share_no_worse", "share_better", "share_worse"]
    values = {
        "steps": steps_by_layer(steps),
        "first": theorem1(steps[steps["layer"] == 1])[1],
        "sampled": list(named_steps.loc[steps["steps_looked_at"] < steps["steps"], "dataset"].unique()),
        "bounds": bounds_by_comparator(regrets, line),
        "counterexample": line,
        "slopes": growth.loc[growth["comparator"] == "best", "slope"],
        "layers": layers_by_step(layers),
        "changed": named_layers[layers["p_paired"] < LEVEL].drop(columns=shares),
        "ratios": len(ratio),
        "ratio_falls": int((ratio.iloc[:, -1] < ratio.iloc[:, 0]).sum()),
        "weights_end": ends_of_weights(last),
        "weights": len(weights),
        "weights_rose": int((weights.groupby([*RUN, "layer"])["weight"].diff() > 1e-12).sum()),
    }
    return Artefact(values, tables, figures)


def by_layer(weights: pd.DataFrame) -> pd.DataFrame:
    """Return weights with layers as columns."""
    table = weights.pivot(index=[*RUN, "scan"], columns="layer", values="weight")  # noqa: PD010
    return table.rename(columns=lambda layer: f"w_{layer}").reset_index()


def steps_by_layer(steps: pd.DataFrame) -> pd.DataFrame:
    """Return, by layer and step size, how often the condition breaks and a step would leave the cone."""
    how = dict.fromkeys(["steps", "steps_looked_at", "left_although_condition_held"], "sum")
    how |= dict.fromkeys(["share_condition_broken", "share_leaving_cone"], "mean")
    how |= {"smallest_eigenvalue": "min", "largest_squared_distance": "max", "sandwich_excess": "max"}
    return steps.groupby(["layer", "gamma"], as_index=False).agg(how)


def bounds_by_comparator(regrets: pd.DataFrame, line: pd.DataFrame) -> pd.DataFrame:
    """Return, by comparator, how often the regret is positive and exceeds each bound."""
    cases = pd.concat([regrets, line.assign(comparator="counterexample")])
    regret, claimed = cases["regret"], cases["claimed_bound"]
    cases["positive"] = regret > 0
    cases["above_claimed"] = regret > claimed * ROUNDING
    cases["above_corrected"] = regret > cases["corrected_bound"] * ROUNDING
    cases["times_claimed"] = regret / claimed
    counts = dict.fromkeys(["positive", "above_claimed", "above_corrected"], "sum")
    found = cases.groupby("comparator", sort=False).agg({"regret": "size", **counts, "times_claimed": "max"})
    return found.reset_index().rename(columns={"regret": "cases", "times_claimed": "largest_over_claimed"})


def layers_by_step(layers: pd.DataFrame) -> pd.DataFrame:
    """Return, by step to the next layer, in how many splits and on how many data sets it helps and harms."""
    counted = layers[["layer", "next_layer", "splits"]].assign(data_sets=1)
    for way in ("better", "worse"):
        counted[way] = (layers[f"share_{way}"] * layers["splits"]).round().astype(int)
    for test in ("corrected", "paired"):
        found = layers[f"p_{test}"] < LEVEL
        counted[f"lower_{test}"] = found & (layers["difference"] < 0)
        counted[f"higher_{test}"] = found & (layers["difference"] > 0)
    return counted.groupby(["layer", "next_layer"], as_index=False).sum()


def ends_of_weights(last: pd.DataFrame) -> pd.DataFrame:
    """Return, by local loss and rate, the range of the last weights and the share of those at zero."""
    ends = last.assign(zero=last["weight"] <= 0).groupby(["local_loss", "rate"], as_index=False)
    return ends.agg(smallest=("weight", "min"), largest=("weight", "max"), at_zero=("zero", "mean"))


RECIPE = Recipe("theory", "Theory", "Theorems 1 and 2, Proposition 1, loss weights.", build, after=gather)
