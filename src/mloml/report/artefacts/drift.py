"""Drift: what a learned metric gains over plain k-NN before and after an abrupt change, by window."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from mloml.datasets.drift import drift_points
from mloml.experiments.measures import BLOCKS, blocks
from mloml.report.artefacts.streams import PLAIN, counts_table, finished
from mloml.report.document import Artefact, Figure, Table
from mloml.report.figures.streams import drift_gains
from mloml.report.labels import labels_of
from mloml.report.recipe import Recipe

if TYPE_CHECKING:
    from mloml.experiments.study import StudyResult

# Samples before a change, and at once after it, of which the table has the means; the figure shows twice as
# many before it.
NEAR = 480
KEYS = ["window", "algorithm", "stream"]
LEVELS = ["before", "after", "later"]


def build(*results: StudyResult) -> Artefact:
    """Return accuracies and gains around the changes, in a table and in a figure."""
    along = pd.concat([around_changes(result) for result in results], ignore_index=True)
    curve, table = gain_frame(along), around_frame(along)
    known = len(curve) > 0 and all(result.finished for result in results)
    draw = partial(drift_gains, curve, labels_of(results[0]).algorithms)
    figure = Figure("drift", draw, "Gains around a change", curve)
    windows = [result.study.protocol.window for result in results]
    values = {"streams": along["stream"].nunique(), "near": NEAR, "known": known, "windows": windows}
    values["gains"] = gains_found(table) if known else {}
    tables = Table("around", table, "Around a change"), counts_table(*results)
    return Artefact(values, tables, (figure,) if known else ())


def around_changes(result: StudyResult) -> pd.DataFrame:
    """Return the accuracy of every block of every whole stream, by the sample of a change before or after it.

    ``since`` is the first sample of the block less that of the change, negative before it. A block between
    two changes stands twice.
    """
    rows = []
    for config, name, record in finished(result):
        length = record["rows"]
        points = [0, *drift_points(config.generator, length), length] if length == config.rows else []
        tested = np.bincount(blocks(length), minlength=BLOCKS)
        starts, accuracy = -(-np.arange(BLOCKS) * length // BLOCKS), record["hits"] / np.maximum(tested, 1)
        names = result.study.protocol.window, name, config.generator
        for before, change, after in zip(points, points[1:-1], points[2:], strict=False):
            near = (starts >= before) & (starts < after)
            rows += [(*names, *pair) for pair in zip(starts[near] - change, accuracy[near], strict=True)]
    frame = pd.DataFrame(rows, columns=[*KEYS, "since", "accuracy"])
    return frame.groupby([*KEYS, "since"], sort=False)["accuracy"].mean().reset_index()


def gain_frame(along: pd.DataFrame) -> pd.DataFrame:
    """Return the gain over plain k-NN with the same window, averaged over streams."""
    keys = ["window", "stream", "since"]
    plain = along[along["algorithm"] == PLAIN].set_index(keys)["accuracy"].rename("plain")
    shown = along["since"] >= -2 * NEAR
    others = along[shown & (along["algorithm"] != PLAIN)].join(plain, on=keys)
    others["gain"] = others["accuracy"] - others["plain"]
    return others.groupby(["window", "algorithm", "since"], sort=False)["gain"].mean().reset_index()


def around_frame(along: pd.DataFrame) -> pd.DataFrame:
    """Return accuracies and gains before, at once after and later after a change, and the time to recover.

    A method has recovered at the first block whose accuracy, averaged over changes and draws, is at least its
    mean over the last samples before the next change.
    """
    rows = []
    for key, part in along.groupby(KEYS, sort=False):
        curve = part.set_index("since")["accuracy"]
        after = curve[curve.index >= 0]
        late = after[after.index > after.index.max() - NEAR].mean()
        before, soon = curve[(curve.index < 0) & (curve.index >= -NEAR)], after[after.index < NEAR]
        rows.append((*key, before.mean(), soon.mean(), late, after[after >= late].index.min()))
    table = pd.DataFrame(rows, columns=[*KEYS, *LEVELS, "samples_to_recover"])
    plain = table[table["algorithm"] == PLAIN].set_index(["window", "stream"])[LEVELS].add_prefix("plain_")
    both = table.join(plain, on=["window", "stream"])
    gains = {f"gain_{name}": (both[name] - both[f"plain_{name}"]).round(12) for name in LEVELS}
    return table.assign(**gains)


def gains_found(table: pd.DataFrame) -> dict[str, object]:
    """Return the range of mean gains over streams, before and after a change, and without the best stream."""
    others = table[table["algorithm"] != PLAIN]
    by_stream = others.groupby("stream")["gain_before"].mean()
    most, found = by_stream.idxmax(), dict[str, object]()
    for among, part in (("", others), ("rest_", others[others["stream"] != most])):
        means = part.groupby(["window", "algorithm"])[["gain_before", "gain_after"]].mean()
        found |= {
            f"{among}{name}": (means[f"gain_{name}"].min(), means[f"gain_{name}"].max())
            for name in LEVELS[:2]
        }
    return {**found, "most": most, "there": by_stream.max()}


RECIPE = Recipe(
    "drift",
    "Drift: before and after a change",
    "Four generated streams with abrupt changes, windows of 250, 1,000 and 4,000 samples.",
    build,
    variants={f"window_{size}": (f"protocol.window={size}",) for size in (250, 1000, 4000)},
    in_all=False,
)
