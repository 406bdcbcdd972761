"""Figure 4: running time of the update loops of OPML and MOML."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from mloml.report.captions import caption
from mloml.report.document import Artefact, Figure, Table
from mloml.report.figures.time import running_time_figure, time_numbers
from mloml.report.labels import labels_of
from mloml.report.recipe import Measured, Recipe

if TYPE_CHECKING:
    from mloml.config.schema import Study
    from mloml.experiments.study import StudyResult


def build(result: StudyResult, runs: pd.DataFrame) -> Artefact:
    """Return the figure, its numbers and every run, with a caption that answers the claim."""
    there = set(runs["dataset"])
    order = [config.name for config in result.study.datasets]
    labels = labels_of(result)
    titles = labels.starred(name for name in order if name in there)
    numbers = time_numbers(runs)
    headline = " ".join(sentences(numbers, titles))
    notes = labels.footnotes(titles) + labels.left_out(order, there)
    figure = Figure(
        "fig4",
        "Figure 4: running time of OPML and MOML",
        f"{caption('fig4')} {headline}{notes}",
        partial(running_time_figure, numbers, titles),
        numbers,
        page=True,
    )
    return Artefact(headline, tables=(Table("runs", "Every run", runs),), figures=(figure,))


def sentences(numbers: pd.DataFrame, titles: Mapping[str, str]) -> list[str]:
    """Say for each dataset how MOML's time compares with OPML's.

    >>> numbers = pd.DataFrame({"dataset": "iris", "method": ["opml", "moml", "moml_frame"],
    ...                         "median": [2.0, 1.0, 3.0], "runs": 9})
    >>> sentences(numbers, {"iris": "iris"})
    ["On iris MOML takes 0.50 times OPML's time without a factor and 1.50 times with one (9 runs)."]
    """
    lines = []
    for name, title in titles.items():
        part = numbers[numbers["dataset"] == name].set_index("method")
        if {"opml", "moml", "moml_frame"} <= set(part.index):
            plain, factor = (part["median"][m] / part["median"]["opml"] for m in ("moml", "moml_frame"))
            lines.append(
                f"On {title} MOML takes {plain:.2f} times OPML's time without a factor and {factor:.2f} "
                f"times with one ({part['runs'].iloc[0]} runs)."
            )
    return lines


def measure(study: Study) -> Measured:
    """Time the update loops on the first split of each dataset."""
    from mloml.paper.timing.updates import time_updates
    from mloml.datasets import load
    from mloml.errors import DatasetUnavailableError
    from mloml.experiments.refit import halves

    runs, data, missing = [], {}, {}
    for config in study.datasets:
        try:
            data[config.name] = load(config, study.data)
        except DatasetUnavailableError as error:
            missing[config.name] = str(error)
            continue
        times = time_updates(halves(data[config.name], study.protocol, 0), study.protocol.scans)
        runs.append(times.assign(dataset=config.name))
    if not runs:
        raise DatasetUnavailableError(f"none of the datasets is available: {'; '.join(missing.values())}")
    return Measured(pd.concat(runs, ignore_index=True), data, missing)


RECIPE = Recipe(
    "fig4", "Figure 4: running time", "Update loops of OPML and MOML.", build, before=measure, work="timing"
)
