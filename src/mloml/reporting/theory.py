"""The files on the theory: a CSV and a figure per claim, and the findings in words."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from mloml.reporting.artefact import write_figure
from mloml.reporting.figures_theory import definiteness_figure, layers_figure, regret_figure, weights_figure
from mloml.reporting.files import write_csv, write_text
from mloml.reporting.findings import write_findings
from mloml.reporting.style import paper_style
from mloml.theory.bounds import counterexample_regrets, slopes
from mloml.theory.findings import findings
from mloml.theory.proposition import compare_layers
from mloml.theory.verdicts import verdicts

CAPTIONS = {
    "theorem1": (
        "Theorem 1: positive definiteness",
        "Share of the active steps of a 3-layer MLOML-r that break the sufficient condition γ ≤ λ_min/4 "
        "(dotted) and that would really leave the cone of positive definite matrices (solid), against the "
        "step size. First split, all scans.",
    ),
    "theorem2": (
        "Theorem 2: regret and its bounds",
        "Regret of MOML's recursion, losses taken before each step, γ = 1/√T (Φ = 1), against U = −1/4 on "
        "the line and against the best fixed positive semi-definite matrix on data. The bound as claimed "
        "changes with T only where the best matrix does, the corrected one grows like √T besides. Both axes "
        "are logarithmic; negative regrets are not drawn.",
    ),
    "proposition1": (
        "Proposition 1: is the next layer no worse?",
        "Left: share of splits in which the next layer of a 5-layer MLOML-r has a lower, equal or higher "
        "test error, mean over datasets. Right: mean squared distance within classes over that between "
        "classes on the test half, relative to layer 1, mean over splits.",
    ),
    "weights": (
        "Weights of the local losses under FBP",
        "Weight w_i of each layer's local loss after each scan of a 3-layer FBP model, γ = 0.01: median over "
        "datasets and activations, bands from smallest to largest. Weights start at 1 and are stopped at 0.",
    ),
}


def write_theory(
    evidence: dict[str, pd.DataFrame], layer_errors: pd.DataFrame, folder: Path, command: str
) -> str:
    """Write everything; return the findings."""
    line = counterexample_regrets()
    growth = slopes(pd.concat([evidence["theorem2"], line.assign(dataset="line", comparator="-1/4")]))
    layers = compare_layers(layer_errors)
    geometry = evidence["geometry"]
    averaged = geometry.drop(columns="split").groupby(["dataset", "layer"], sort=False).mean().reset_index()
    tables = {"counterexample": line, "theorem2_slopes": growth, "proposition1_geometry": averaged}
    for name, frame in tables.items():
        write_csv(folder / f"{name}.csv", frame)
    with paper_style():
        figures = {
            "theorem1": (definiteness_figure(evidence["theorem1"]), evidence["theorem1"]),
            "theorem2": (regret_figure(evidence["theorem2"], line), evidence["theorem2"]),
            "proposition1": (layers_figure(layers, averaged), layers),
            "weights": (weights_figure(evidence["weights"]), last_weights(evidence["weights"])),
        }
        for name, (figure, numbers) in figures.items():
            title, caption = CAPTIONS[name]
            write_figure(figure, numbers, folder, name, title=title, caption=caption, command=command)
    text = findings(
        evidence["theorem1"], evidence["theorem2"], growth, line, layers, averaged, evidence["weights"]
    )
    write_findings(folder, command, *verdicts(evidence["theorem1"], evidence["theorem2"], line, layers))
    write_text(folder / "theory.md", text + f"\nMade by `{command}`.\n")
    return text


def last_weights(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the weights after the last scan, layers as columns."""
    run = ["dataset", "activation", "local_loss", "rate"]
    last = frame[frame["scan"] == frame.groupby(run)["scan"].transform("max")]
    wide = last.pivot(index=[*run, "scan"], columns="layer", values="weight")  # noqa: PD010
    return wide.rename(columns=lambda layer: f"w_{layer}").reset_index()
