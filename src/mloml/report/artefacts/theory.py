"""The paper's theory put to the test: Theorem 1, Theorem 2, Proposition 1, and the loss weights under FBP."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from mloml.paper.theory.bounds import counterexample_regrets, slopes
from mloml.paper.theory.findings import Evidence, sections, verdicts
from mloml.paper.theory.proposition import compare_layers
from mloml.errors import MlomlError
from mloml.report.captions import caption
from mloml.report.document import Artefact, Figure, Table, Text
from mloml.report.figures.curves import curve_frame
from mloml.report.figures.theory import definiteness_figure, layers_figure, regret_figure, weights_figure
from mloml.report.labels import labels_of
from mloml.report.parts.curves import points_table
from mloml.report.recipe import Recipe

if TYPE_CHECKING:
    from mloml.experiments.study import StudyResult


def build(result: StudyResult, gathered: Evidence) -> Artefact:
    """Return a figure per claim, the numbers behind it, and the findings in words."""
    line = counterexample_regrets()
    geometry = gathered["geometry"].drop(columns="split").groupby(["dataset", "layer"], sort=False).mean()
    errors = curve_frame(result.records, "layer_errors", "layer")
    evidence = gathered | {
        "line": line,
        "slopes": slopes(pd.concat([gathered["theorem2"], line.assign(dataset="line", comparator="-1/4")])),
        "layers": compare_layers(errors),
        "geometry": geometry.reset_index(),
    }
    labels = labels_of(result)
    order = [config.name for config in result.study.datasets]
    there = set(errors["dataset"])
    titles = labels.starred(name for name in order if name in there)
    named = {claim: _named(frame, titles) for claim, frame in evidence.items()}
    headline, sentences = verdicts(named)
    tables = (
        Table("counterexample", "Theorem 2: the counterexample on the line", line),
        Table("theorem2_slopes", "Theorem 2: growth of the regret", evidence["slopes"]),
        Table(
            "proposition1_geometry",
            "Proposition 1: distances and margins of each layer",
            evidence["geometry"],
        ),
        points_table(errors, "layer"),
        Table(
            "weights_by_scan", "Weights of the local losses after every scan", by_layer(evidence["weights"])
        ),
    )
    notes = tuple(Text((text,), heading=heading) for heading, text in sections(named).items())
    asterisks = labels.footnotes(titles) + labels.left_out(order, there)
    return Artefact(headline, sentences, tables, _figures(evidence, named, asterisks), notes)


def _named(frame: pd.DataFrame, titles: Mapping[str, str]) -> pd.DataFrame:
    """Return a frame with the printed names of its datasets."""
    if "dataset" not in frame:
        return frame
    return frame.assign(dataset=[titles.get(name, name) for name in frame["dataset"]])


def _figures(evidence: Evidence, named: Evidence, asterisks: str) -> tuple[Figure, ...]:
    """Return the pictures, which print the datasets' names; the numbers beside them keep those of configs."""
    shown = {
        "theorem1": ("Theorem 1: positive definiteness", evidence["theorem1"]),
        "theorem2": ("Theorem 2: regret and its bounds", evidence["theorem2"]),
        "proposition1": ("Proposition 1: is the next layer no worse?", evidence["layers"]),
        "weights": ("Weights of the local losses under FBP", last_weights(evidence["weights"])),
    }
    draw = {
        "theorem1": partial(definiteness_figure, named["theorem1"]),
        "theorem2": partial(regret_figure, named["theorem2"], evidence["line"]),
        "proposition1": partial(layers_figure, named["layers"], named["geometry"]),
        "weights": partial(weights_figure, evidence["weights"]),
    }
    captions = {name: caption(name) + ("" if name == "weights" else asterisks) for name in shown}
    return tuple(
        Figure(name, title, captions[name], draw[name], numbers, page=True)
        for name, (title, numbers) in shown.items()
    )


def last_weights(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the weights after the last scan, layers as columns."""
    run = ["dataset", "activation", "local_loss", "rate"]
    return by_layer(frame[frame["scan"] == frame.groupby(run)["scan"].transform("max")])


def by_layer(frame: pd.DataFrame) -> pd.DataFrame:
    """Return weights with layers as columns."""
    run = ["dataset", "activation", "local_loss", "rate", "scan"]
    wide = frame.pivot(index=run, columns="layer", values="weight")  # noqa: PD010
    return wide.rename(columns=lambda layer: f"w_{layer}").reset_index()


def gather(result: StudyResult) -> Evidence:
    """Follow the streams of the first splits, and measure the layers of every chosen model."""
    from mloml.paper.theory.evidence import gather_evidence

    if not result.records:
        raise MlomlError("no cell was computed, so there is nothing to check the theory on")
    return gather_evidence(result.study, result.records, result.study.execution.n_jobs)


RECIPE = Recipe("theory", "Theory", "Theorems 1 and 2, Proposition 1, loss weights.", build, after=gather)
