"""Drift: what a learned metric gains over plain k-NN before and after an abrupt change, by window."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from mloml.datasets.drift import drift_points
from mloml.experiments.measures import BLOCKS, blocks
from mloml.report.artefacts.streams import PLAIN, finished
from mloml.report.document import Artefact, Figure, Table
from mloml.report.figures.streams import drift_gains
from mloml.report.labels import labels_of
from mloml.report.recipe import Recipe

if TYPE_CHECKING:
    from mloml.experiments.study import StudyResult

# Samples before a change, and at once after it, of which the table has the means.
NEAR = 500
COLUMNS = ["window", "stream", "dataset", "algorithm", "change", "since", "accuracy"]
AROUND = ["window", "algorithm", "stream", "before", "after", "later", "gain_before", "gain_after"]
AROUND += ["gain_later", "samples_to_recover"]


def build(*results: StudyResult) -> Artefact:
    """Return accuracies and gains around the changes, in a table and in a figure."""
    titles = labels_of(results[0]).algorithms
    along = pd.concat([around_changes(result) for result in results], ignore_index=True)
    curve = gain_frame(along)
    table = around_frame(along)
    draw = partial(drift_gains, curve, titles)
    ready = all(result.finished for result in results) and len(curve) > 0
    values = {"around": table, "streams": int(along["stream"].nunique()), "near": NEAR, "known": ready}
    values["windows"] = [result.study.protocol.window for result in results]
    figures = (Figure("drift", draw, "Gains around a change", curve, ready),) if ready else ()
    return Artefact(values, (Table("around", table, "Before and after a change"),), figures)


def around_changes(result: StudyResult) -> pd.DataFrame:
    """Return the accuracy of every block of every whole stream, by the change before and the one after it.

    ``since`` is the first sample of a block less the sample of the change; a block stands twice, after the last
    change and (``since`` negative) before the next one.
    """
    configs, rows = {config.name: config for config in result.study.datasets}, []
    for stream, record in finished(result):
        config = configs[record["dataset"]]
        if record["rows"] != config.rows:
            continue
        points = drift_points(config.generator, config.rows)
        starts = -(-np.arange(BLOCKS) * config.rows // BLOCKS)
        accuracy = np.array(record["hits"]) / np.bincount(blocks(config.rows), minlength=BLOCKS)
        names = result.study.protocol.window, stream, record["dataset"], record["algorithm"]
        for place, point in enumerate(points):
            ends = [*[0, *points][place : place + 1], *[*points, config.rows][place + 1 : place + 2]]
            near = (starts >= ends[0]) & (starts < ends[1])
            rows += [(*names, place, *pair) for pair in zip(starts[near] - point, accuracy[near], strict=True)]
    return pd.DataFrame(rows, columns=COLUMNS)


def gain_frame(along: pd.DataFrame) -> pd.DataFrame:
    """Return the mean gain over plain k-NN with the same window, over changes, draws and generators."""
    keys = [name for name in COLUMNS if name not in ("algorithm", "accuracy")]
    plain = along[along["algorithm"] == PLAIN].set_index(keys)["accuracy"]
    others = along[along["algorithm"] != PLAIN].join(plain.rename("plain"), on=keys)
    others = others.assign(gain=others["accuracy"] - others["plain"]).dropna(subset=["gain"])
    return others.groupby(["window", "algorithm", "since"])["gain"].mean().reset_index()


def around_frame(along: pd.DataFrame) -> pd.DataFrame:
    """Return accuracies and gains before, at once after and later after a change, and the time to recover.

    A method has recovered at the first block whose accuracy, averaged over changes and draws, is at least its
    mean of the last :data:`NEAR` samples before the next change.
    """
    means = along.groupby(["window", "algorithm", "stream", "since"])["accuracy"].mean()
    found: dict[tuple[object, ...], list[float]] = {}
    for key, part in means.groupby(level=[0, 1, 2]):
        curve = part.droplevel([0, 1, 2])
        after = curve[curve.index >= 0]
        late = after[after.index >= after.index.max() - NEAR]
        again = after[after >= late.mean()]
        parts = curve[(curve.index < 0) & (curve.index >= -NEAR)], after[after.index < NEAR], late
        found[key] = [*(float(some.mean()) for some in parts), float(again.index.min())]
    rows = []
    for (window, algorithm, stream), (*levels, recovered) in found.items():
        plain = found.get((window, PLAIN, stream), [np.nan] * 4)
        gains = [one - other for one, other in zip(levels, plain[:3], strict=True)]
        rows.append((window, algorithm, stream, *levels, *gains, recovered))
    return pd.DataFrame(rows, columns=AROUND)


RECIPE = Recipe(
    "drift",
    "Drift: before and after a change",
    "Four generated streams with abrupt changes, windows of 250, 1,000 and 4,000 samples.",
    build,
    variants={f"window_{size}": (f"protocol.window={size}",) for size in (250, 1000, 4000)},
    in_all=False,
)
