"""Figure 6: the feature space of each metric layer, projected to the plane."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mloml.arrays import Array
from mloml.report.document import number
from mloml.report.figures.style import BLUE, GREEN, ORANGE, PAGE_WIDTH, PURPLE, SKY, VERMILION

MANY = 1000
"""From so many points on they are drawn small, and as pixels in the PDF."""
LEGEND_SIZE = 11.0

CLASS_STYLES = [(BLUE, "o"), (VERMILION, "^"), (GREEN, "s"), (PURPLE, "D"), (ORANGE, "v"), (SKY, "P")]


class Plane(NamedTuple):
    """Rows on their first two principal axes, and the share of the variance along each."""

    points: Array
    shares: tuple[float, float]


def plane(features: Array, before: Array | None = None) -> Plane:
    """Divide rows by their norm and project them onto their first two principal axes.

    The sign of an axis is free. It is chosen such that the points correlate with those of the plane
    ``before`` (of the same rows, in another space); without one, such that the largest loading, the first
    of equal ones, is positive. So a picture flips neither between machines nor between layers.

    >>> rows = np.array([[3.0, 0.0], [0.0, 2.0], [1.0, 0.0]])
    >>> plane(rows).points[:, 0].round(2).tolist(), plane(rows).shares
    ([0.47, -0.94, 0.47], (1.0, 0.0))
    >>> plane(rows, before=-plane(rows).points).points[:, 0].round(2).tolist()
    [-0.47, 0.94, -0.47]
    """
    norms = np.linalg.norm(features, axis=1, keepdims=True)
    rows = features / np.maximum(norms, np.finfo(float).tiny)
    centred = rows - rows.mean(axis=0)
    values, axes = np.linalg.svd(centred, full_matrices=False)[1:]
    shares = values**2 / max(float(np.sum(values**2)), np.finfo(float).tiny)
    points = centred @ (axes[:2] * _largest_loading(axes[:2])[:, None]).T
    points, shares = _two_columns(points), np.append(shares, 0.0)
    if before is not None:
        agreement = np.sum(points * before, axis=0)
        points = points * np.where(agreement < 0, -1.0, 1.0)
    return Plane(points, (round(float(shares[0]), 6), round(float(shares[1]), 6)))


def _largest_loading(axes: Array) -> Array:
    """Return the sign of each axis's largest loading."""
    sizes = np.abs(axes)
    largest = (sizes > sizes.max(axis=1, keepdims=True) - 1e-9).argmax(axis=1)
    signs: Array = np.sign(axes[np.arange(len(axes)), largest])
    return signs


def _two_columns(points: Array) -> Array:
    return points if points.shape[1] == 2 else np.column_stack([points, np.zeros(len(points))])


def feature_space_figure(
    points: pd.DataFrame,
    spaces: pd.DataFrame,
    datasets: Mapping[str, str],
    labels: Mapping[str, Sequence[str]],
) -> Figure:
    """Draw one row per dataset and one column per space (the input, then each layer).

    ``points`` has the columns dataset, space, x, y, code; ``spaces`` dataset, space, error, share_x,
    share_y, gamma; ``labels`` names each dataset's classes.
    """
    columns = list(dict.fromkeys(spaces["space"]))
    figure = Figure(figsize=(PAGE_WIDTH, 1.95 * len(datasets) + 0.2), layout="constrained")
    grid = figure.subplots(len(datasets), len(columns), squeeze=False)
    about = spaces.set_index(["dataset", "space"])
    for row, (name, title) in zip(grid, datasets.items(), strict=True):
        for axes, space in zip(row, columns, strict=True):
            part = points[(points["dataset"] == name) & (points["space"] == space)]
            known = about.loc[(name, space)]
            _scatter(axes, part, labels[name])
            axes.set_title(f"{space} ({number(known['error'])})")
            axes.set_xlabel(f"{100 * known['share_x']:.0f} % + {100 * known['share_y']:.0f} %", fontsize=6)
        row[0].set_ylabel(f"{title}\nγ = {known['gamma']:g}", fontsize=8)
        row[0].legend(
            loc="best",
            handletextpad=0.1,
            borderpad=0.3,
            labelspacing=0.2,
            fontsize=6,
            frameon=True,
            markerscale=(LEGEND_SIZE / _size(part)) ** 0.5,
        )
    figure.supxlabel("first principal axis (below each panel: variance along both axes)", fontsize=7.5)
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
