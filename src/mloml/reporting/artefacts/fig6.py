"""Figure 6: what each layer of a 3-layer MLOML-r makes of the test half of the first split."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from mloml.reporting.captions import caption
from mloml.reporting.document import Artefact, Figure, number
from mloml.reporting.figures.space import feature_space_figure, plane
from mloml.reporting.labels import labels_of
from mloml.reporting.recipe import Recipe

if TYPE_CHECKING:
    from mloml.execution.study import StudyResult

COLUMNS = ["dataset", "space", "x", "y", "code", "error"]


def build(result: StudyResult, points: pd.DataFrame) -> Artefact:
    """Return the figure from the points of each dataset in each space, columns :data:`COLUMNS`."""
    labels = labels_of(result)
    order = [config.name for config in result.study.datasets]
    datasets = labels.starred(order)
    there = set(points["dataset"])
    missing = {name: labels.missing.get(name, "no finished cell") for name in order if name not in there}
    classes = {config.name: list(config.class_counts) for config in result.study.datasets}
    spaces = list(dict.fromkeys(points["space"]))
    figure = Figure(
        "fig6",
        "Figure 6: feature space of each layer",
        caption("fig6", protocol=result.study.protocol.name) + labels.footnotes(datasets),
        partial(feature_space_figure, points, datasets, spaces, classes, missing),
        points.assign(x=points["x"].round(4), y=points["y"].round(4)),
        page=True,
    )
    return Artefact(_errors_sentence(points, datasets), figures=(figure,))


def project(result: StudyResult) -> pd.DataFrame:
    """Learn the chosen model of each dataset's first split again, and project its layers to the plane."""
    from mloml.evaluation.refit import layer_outputs, refit

    parts = [pd.DataFrame(columns=COLUMNS)]
    for record in result.records:
        if record["split"] == 0:
            model = refit(result.study, record)
            known = {"dataset": record["dataset"], "code": model.half.y_test}
            for space, (rows, error) in layer_outputs(model).items():
                points = pd.DataFrame(plane(rows), columns=["x", "y"])
                parts.append(points.assign(space=space, error=error, **known)[COLUMNS])
    return pd.concat(parts[1:]) if len(parts) > 1 else parts[0]


def _errors_sentence(points: pd.DataFrame, titles: dict[str, str]) -> str:
    """Say what the projections cannot show: the 5-NN error from the input to the last layer."""
    ends = points.groupby("dataset", sort=False)["error"].agg(["first", "last"])
    if ends.empty:
        return "No dataset of this figure is here yet."
    changes = [f"{titles[str(name)]} {' → '.join(map(number, pair))}" for name, *pair in ends.itertuples()]
    return f"5-NN error from the input to the last layer on the first split: {', '.join(changes)}."


RECIPE = Recipe("fig6", "Figure 6: feature space", "What each layer makes of the data.", build, after=project)
