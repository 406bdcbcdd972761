"""The paper's theory put to the test: Theorem 1, Theorem 2, Proposition 1, and the loss weights under FBP."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from mloml.analysis.theory.bounds import counterexample_regrets, slopes
from mloml.analysis.theory.findings import Evidence, sections, verdicts
from mloml.analysis.theory.proposition import compare_layers
from mloml.errors import MlomlError
from mloml.reporting.captions import caption
from mloml.reporting.document import Artefact, Figure, Table, Text
from mloml.reporting.figures.curves import curve_frame
from mloml.reporting.figures.theory import definiteness_figure, layers_figure, regret_figure, weights_figure
from mloml.reporting.recipe import Recipe

if TYPE_CHECKING:
    from mloml.execution.study import StudyResult


def build(result: StudyResult, gathered: Evidence) -> Artefact:
    """Return a figure per claim, the numbers behind it, and the findings in words."""
    line = counterexample_regrets()
    geometry = gathered["geometry"].drop(columns="split").groupby(["dataset", "layer"], sort=False).mean()
    evidence = gathered | {
        "line": line,
        "slopes": slopes(pd.concat([gathered["theorem2"], line.assign(dataset="line", comparator="-1/4")])),
        "layers": compare_layers(curve_frame(result.records, "layer_errors", "layer")),
        "geometry": geometry.reset_index(),
    }
    headline, sentences = verdicts(evidence)
    tables = (
        Table("counterexample", "Theorem 2: the counterexample on the line", line),
        Table("theorem2_slopes", "Theorem 2: growth of the regret", evidence["slopes"]),
        Table(
            "proposition1_geometry",
            "Proposition 1: distances and margins of each layer",
            evidence["geometry"],
        ),
    )
    notes = tuple(Text((text,), heading=heading) for heading, text in sections(evidence).items())
    return Artefact(headline, sentences, tables, _figures(evidence), notes)


def _figures(evidence: Evidence) -> tuple[Figure, ...]:
    definiteness, regret, layers, weights = (
        evidence[claim] for claim in ("theorem1", "theorem2", "layers", "weights")
    )
    shown = {
        "theorem1": ("Theorem 1: positive definiteness", definiteness),
        "theorem2": ("Theorem 2: regret and its bounds", regret),
        "proposition1": ("Proposition 1: is the next layer no worse?", layers),
        "weights": ("Weights of the local losses under FBP", last_weights(weights)),
    }
    draw = {
        "theorem1": partial(definiteness_figure, definiteness),
        "theorem2": partial(regret_figure, regret, evidence["line"]),
        "proposition1": partial(layers_figure, layers, evidence["geometry"]),
        "weights": partial(weights_figure, weights),
    }
    return tuple(
        Figure(name, title, caption(name), draw[name], numbers, page=True)
        for name, (title, numbers) in shown.items()
    )


def last_weights(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the weights after the last scan, layers as columns."""
    run = ["dataset", "activation", "local_loss", "rate"]
    last = frame[frame["scan"] == frame.groupby(run)["scan"].transform("max")]
    wide = last.pivot(index=[*run, "scan"], columns="layer", values="weight")  # noqa: PD010
    return wide.rename(columns=lambda layer: f"w_{layer}").reset_index()


def gather(result: StudyResult) -> Evidence:
    """Follow the streams of the first splits, and measure the layers of every chosen model."""
    from mloml.analysis.theory.evidence import gather_evidence

    if not result.records:
        raise MlomlError("no cell was computed, so there is nothing to check the theory on")
    return gather_evidence(result.study, result.records, result.study.execution.n_jobs)


RECIPE = Recipe("theory", "Theory", "Theorems 1 and 2, Proposition 1, loss weights.", build, after=gather)
