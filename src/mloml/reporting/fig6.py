"""The files of Figure 6: each split's chosen model is learned again and its layers are drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from mloml.commands import this_command
from mloml.reporting.artefact import write_figure
from mloml.reporting.context import labels_of, starred
from mloml.reporting.figure_files import footnotes
from mloml.reporting.figures_space import feature_space_figure, plane
from mloml.reporting.findings import write_findings
from mloml.reporting.model import number
from mloml.reporting.style import paper_style

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mloml.study import StudyResult

    Outputs = dict[str, tuple[NDArray[np.float64], float]]


def write_fig6(result: StudyResult, outputs: dict[str, Outputs], codes: dict[str, list[int]]) -> None:
    """Draw the spaces of each dataset.

    Parameters
    ----------
    result : the study whose cells chose the step sizes
    outputs : for each dataset, for each space ("input", "layer 1", ...), the rows and the 5-NN error there
    codes : for each dataset, the class of each row
    """
    labels = labels_of(result)
    order = [config.name for config in result.study.datasets]
    datasets = starred(labels, {name: labels.datasets[name] for name in order})
    missing = {name: labels.missing.get(name, "no finished cell") for name in order if name not in outputs}
    classes = {config.name: list(config.class_counts) for config in result.study.datasets}
    spaces = list(dict.fromkeys(space for each in outputs.values() for space in each))
    points = [
        pd.DataFrame(plane(rows), columns=["x", "y"]).assign(
            dataset=name, space=space, code=codes[name], error=error
        )
        for name, each in outputs.items()
        for space, (rows, error) in each.items()
    ]
    columns = ["dataset", "space", "x", "y", "code", "error"]
    frame = pd.concat(points)[columns] if points else pd.DataFrame(columns=columns)
    write_findings(result.folder, this_command(), _errors_sentence(outputs, datasets))
    with paper_style():
        write_figure(
            feature_space_figure(frame, datasets, spaces, classes, missing),
            frame.assign(x=frame["x"].round(4), y=frame["y"].round(4)),
            result.folder,
            "fig6",
            title="Figure 6: feature space of each layer",
            caption=(
                "Test half of the first split in the input space and at the output of each metric layer of "
                "a 3-layer MLOML-r: rows divided by their norm and projected onto their first two principal "
                "axes, which show only part of what 5-NN sees; in brackets the 5-NN test error in the full "
                "space. "
                f"Protocol: {result.study.protocol.name}.{footnotes(labels, datasets)}"
            ),
            command=this_command(),
        )


def _errors_sentence(outputs: dict[str, Outputs], titles: dict[str, str]) -> str:
    """Say what the projections cannot show: the 5-NN error from the input to the last layer."""
    changes = []
    for name, spaces in outputs.items():
        errors = [number(error) for _, error in spaces.values()]
        changes.append(f"{titles[name]} {errors[0]} → {errors[-1]}")
    if not changes:
        return "No dataset of this figure is here yet."
    return f"5-NN error from the input to the last layer on the first split: {', '.join(changes)}."
