"""Figure 6: the feature space of each metric layer, projected to the plane."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mloml.arrays import Array
from mloml.reporting.figures.panels import empty_panel
from mloml.reporting.figures.style import BLUE, GREEN, ORANGE, PAGE_WIDTH, PURPLE, SKY, VERMILION

MANY = 1000
"""From so many points on they are drawn small, and as pixels in the PDF."""
LEGEND_SIZE = 11.0

CLASS_STYLES = [(BLUE, "o"), (VERMILION, "^"), (GREEN, "s"), (PURPLE, "D"), (ORANGE, "v"), (SKY, "P")]


def plane(features: Array) -> Array:
    """Divide rows by their norm and project them onto their first two principal axes.

    The sign of each axis is fixed (its largest loading, the first of equal ones, is positive), so a
    picture does not flip between machines.

    >>> plane(np.array([[3.0, 0.0], [0.0, 2.0], [1.0, 0.0]]))[:, 0].round(2).tolist()
    [0.47, -0.94, 0.47]
    """
    norms = np.linalg.norm(features, axis=1, keepdims=True)
    rows = features / np.maximum(norms, np.finfo(float).tiny)
    centred = rows - rows.mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2][:2]
    sizes = np.abs(axes)
    largest = (sizes > sizes.max(axis=1, keepdims=True) - 1e-9).argmax(axis=1)
    signs = np.sign(axes[np.arange(len(axes)), largest])
    points = centred @ (axes * signs[:, None]).T
    return points if points.shape[1] == 2 else np.column_stack([points, np.zeros(len(points))])


def feature_space_figure(
    points: pd.DataFrame,
    datasets: Mapping[str, str],
    columns: Sequence[str],
    labels: Mapping[str, Sequence[str]],
    missing: Mapping[str, str],
) -> Figure:
    """Draw one row per dataset and one column per space (the input, then each layer).

    ``points`` has the columns dataset, space, x, y, code, error; ``labels`` names each dataset's classes.
    """
    figure = Figure(figsize=(PAGE_WIDTH, 1.75 * len(datasets) + 0.2), layout="constrained")
    grid = figure.subplots(len(datasets), len(columns), squeeze=False)
    for row, (name, title) in zip(grid, datasets.items(), strict=True):
        row[0].set_ylabel(title, fontsize=8)
        if name in missing:
            empty_panel(row[0], missing[name])
            for axes in row[1:]:
                axes.set_axis_off()
            continue
        for axes, space in zip(row, columns, strict=True):
            part = points[(points["dataset"] == name) & (points["space"] == space)]
            _scatter(axes, part, labels[name])
            axes.set_title(f"{space} (error {part['error'].iloc[0]:.3f})")
        row[0].legend(
            loc="best",
            handletextpad=0.1,
            borderpad=0.3,
            labelspacing=0.2,
            fontsize=6,
            frameon=True,
            markerscale=(LEGEND_SIZE / _size(part)) ** 0.5,
        )
    figure.supxlabel("first principal axis", fontsize=7.5)
    figure.supylabel("second principal axis", fontsize=7.5)
    return figure


def _size(part: pd.DataFrame) -> float:
    """Return the area of a point: many points are small ones."""
    return 5.0 if len(part) < MANY else 1.5


def _scatter(axes: Axes, part: pd.DataFrame, labels: Sequence[str]) -> None:
    for code, label in enumerate(labels):
        inside = part[part["code"] == code]
        colour, marker = CLASS_STYLES[code % len(CLASS_STYLES)]
        axes.scatter(
            inside["x"], inside["y"], s=_size(part), c=colour, marker=marker, label=label,
            linewidths=0, alpha=0.7, rasterized=len(part) >= MANY,
        )  # fmt: skip
    axes.set_xticks([])
    axes.set_yticks([])
    axes.grid(False)
    for spine in axes.spines.values():
        spine.set_visible(True)
