"""Figure 6: what each layer of a 3-layer MLOML-r makes of the test half of the first split."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from mloml.report.captions import caption
from mloml.report.document import Artefact, Figure, Table, number
from mloml.report.figures.space import feature_space_figure, plane
from mloml.report.labels import labels_of
from mloml.report.recipe import Recipe

if TYPE_CHECKING:
    from mloml.experiments.study import StudyResult

POINTS = ["dataset", "space", "x", "y", "code"]
SPACES = ["dataset", "space", "error", "share_x", "share_y", "gamma"]


class Projected(NamedTuple):
    """The points of each dataset in each space, and what is known of each space."""

    points: pd.DataFrame
    spaces: pd.DataFrame


def build(result: StudyResult, projected: Projected) -> Artefact:
    """Return the figure from the points of each dataset in each space."""
    points, spaces = projected
    labels = labels_of(result)
    order = [config.name for config in result.study.datasets]
    there = set(spaces["dataset"])
    datasets = labels.starred(name for name in order if name in there)
    classes = {config.name: list(config.class_counts) for config in result.study.datasets}
    notes = labels.footnotes(datasets) + labels.left_out(order, there)
    figure = Figure(
        "fig6",
        "Figure 6: feature space of each layer",
        caption("fig6", protocol=result.study.protocol.name) + notes,
        partial(feature_space_figure, points, spaces, datasets, classes),
        points.assign(x=points["x"].round(4), y=points["y"].round(4)),
        page=True,
        ready=bool(datasets),
    )
    about = Table("spaces", "Error, variance along the axes and step size of each space", spaces)
    return Artefact(_errors_sentence(spaces, datasets), tables=(about,), figures=(figure,))


def project(result: StudyResult) -> Projected:
    """Learn the chosen model of each dataset's first split again, and project its layers to the plane."""
    from mloml.experiments.refit import layer_outputs, refit

    parts = [pd.DataFrame(columns=POINTS)]
    spaces: list[tuple[Any, ...]] = []
    for record in result.records:
        if record["split"] != 0:
            continue
        model, before = refit(result.study, record), None
        for space, (rows, error) in layer_outputs(model).items():
            before, shares = plane(rows, before)
            known = {"dataset": record["dataset"], "space": space, "code": model.half.y_test}
            parts.append(pd.DataFrame(before, columns=["x", "y"]).assign(**known)[POINTS])
            spaces.append((record["dataset"], space, error, *shares, model.learner.gamma))
    points = pd.concat(parts[1:]) if len(parts) > 1 else parts[0]
    return Projected(points, pd.DataFrame(spaces, columns=SPACES))


def _errors_sentence(spaces: pd.DataFrame, titles: dict[str, str]) -> str:
    """Say what the projections cannot show: the 5-NN error from the input to the last layer."""
    ends = spaces.groupby("dataset", sort=False)["error"].agg(["first", "last"])
    if ends.empty:
        return "No dataset of this figure is here yet."
    changes = [f"{titles[str(name)]} {' → '.join(map(number, pair))}" for name, *pair in ends.itertuples()]
    return (
        f"5-NN error from the input to the last layer on the first split: {', '.join(changes)}. That is a "
        "single split; Table II has the means over all of them."
    )


RECIPE = Recipe("fig6", "Figure 6: feature space", "What each layer makes of the data.", build, after=project)
