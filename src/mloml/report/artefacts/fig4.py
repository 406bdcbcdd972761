"""Figure 4: running time of the update loops of OPML and MOML."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Drawing

from mloml.config.schema import Study
from mloml.errors import DatasetUnavailableError
from mloml.experiments.study import StudyResult
from mloml.learners.moml import RENEW_EVERY
from mloml.report.document import Artefact, Figure, Table
from mloml.report.figures.style import COLUMN_WIDTH, style_of
from mloml.report.labels import labels_of
from mloml.report.recipe import Measured, Recipe

METHODS = {"opml": "OPML", "moml": "MOML\n(M only)", "moml_frame": "MOML\n(M = L'L)"}
WIDTHS = (
    100,
    200,
    300,
    400,
)  # numbers of features, at equal distances, for which multiplications are counted


def measure(study: Study) -> Measured:
    """Time the update loops on the first split of each data set."""
    from mloml.datasets import load
    from mloml.experiments.refit import halves
    from mloml.paper.timing import time_updates

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


def build(result: StudyResult, runs: pd.DataFrame) -> Artefact:
    """Return the figure, its numbers and every run; the template gets MOML's time in units of OPML's."""
    there = set(runs["dataset"])
    titles = labels_of(result).starred(c.name for c in result.study.datasets if c.name in there)
    numbers = time_numbers(runs)
    medians = numbers.pivot(index="dataset", columns="method", values="median")  # noqa: PD010
    ratios = medians.reindex(index=list(titles), columns=list(METHODS)).dropna()
    ratios = ratios[["moml", "moml_frame"]].div(ratios["opml"], axis=0).rename(titles).reset_index()
    figure = Figure("fig4", partial(running_time_figure, numbers, titles), RECIPE.title, numbers)
    values = {"ratios": ratios, "runs": int(numbers["runs"].max()) if len(numbers) else 0}
    counted = Table("operations", operations_frame(), "Multiplications of a step")
    return Artefact(values, (Table("runs", runs, "Every run"), counted), (figure,))


def multiplications(method: str, d: int) -> int:
    """Return how many products an active step on d features takes, counted in the compiled loops.

    A step maps p and q by one matrix or more (2 d² each), takes inner products, and adds a matrix of rank 2
    (2 d² and what makes its vectors). "renewal" computes M and its inverse anew.
    """
    return {
        "opml": 4 * d * d + 17 * d + 12,
        "moml": 4 * d * d + 6 * d,
        "moml_frame": 10 * d * d + 28 * d + 21,
        "renewal": 2 * d**3,
    }[method]


def operations_frame() -> pd.DataFrame:
    """Return the multiplications of every kind of step, and after how many steps it is due."""
    every = dict.fromkeys(METHODS, 1) | {"renewal": RENEW_EVERY}
    rows = [(name, d, multiplications(name, d), often) for d in WIDTHS for name, often in every.items()]
    return pd.DataFrame(rows, columns=["method", "features", "multiplications", "every"])


def time_numbers(runs: pd.DataFrame) -> pd.DataFrame:
    """Return median and quartiles of the time per triplet (microseconds) from one row per run.

    >>> runs = pd.DataFrame({"dataset": "iris", "method": "opml", "run": [0, 1, 2], "features": 4,
    ...                      "triplets": 10, "seconds": [1e-5, 2e-5, 4e-5]})
    >>> time_numbers(runs)[["dataset", "method", "median", "runs"]]
      dataset method  median  runs
    0    iris   opml     2.0     3
    """
    per_triplet = 1e6 * runs["seconds"] / runs["triplets"]
    grouped = runs.assign(microseconds=per_triplet).groupby(["dataset", "method"], sort=False)
    numbers = grouped["microseconds"].agg(
        median="median", lower=lambda v: v.quantile(0.25), upper=lambda v: v.quantile(0.75), runs="count"
    )
    return numbers.join(grouped[["features", "triplets"]].first()).reset_index()


def running_time_figure(numbers: pd.DataFrame, datasets: Mapping[str, str]) -> Drawing:
    """Draw the median time per triplet with its quartiles, one panel per data set, all on one scale."""
    figure = Drawing(figsize=(COLUMN_WIDTH, 1.9), layout="constrained")
    panels = figure.subplots(1, len(datasets), squeeze=False, sharey=True)[0]
    for axes, (name, title) in zip(panels, datasets.items(), strict=True):
        part = numbers[numbers["dataset"] == name].set_index("method")
        part = part.loc[[method for method in METHODS if method in part.index]]
        whiskers = np.abs([part["median"] - part["lower"], part["upper"] - part["median"]])
        style: dict[str, Any] = {"edgecolor": "white", "error_kw": {"elinewidth": 0.8, "capsize": 2.5}}
        style["color"] = [style_of(method).colour for method in part.index]
        style["hatch"] = ["////" if method == "moml_frame" else "" for method in part.index]
        bars = axes.bar(range(len(part)), part["median"], yerr=whiskers, **style)
        axes.bar_label(bars, [f"{value:.2f}" for value in part["median"]], padding=2, fontsize=6.5)
        axes.set_title(f"{title}, d = {part['features'].iloc[0]}")
        axes.margins(y=0.15)
        axes.set_xticks(range(len(part)), [METHODS[method] for method in part.index])
        axes.grid(False, axis="x")
    panels[0].set_ylabel("time per triplet (µs)")
    return figure


RECIPE = Recipe(
    "fig4", "Figure 4: running time", "Update loops of OPML and MOML.", build, before=measure, work="timing"
)
