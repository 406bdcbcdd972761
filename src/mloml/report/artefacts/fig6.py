"""Figure 6: what each layer of a 3-layer MLOML-r makes of the test half of the first split."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from sklearn.decomposition import PCA
from sklearn.preprocessing import normalize

from mloml.arrays import Array
from mloml.experiments.study import StudyResult
from mloml.report.document import Artefact, Figure, Table, number
from mloml.report.figures.style import PAGE_WIDTH, PALETTE
from mloml.report.labels import labels_of
from mloml.report.recipe import Recipe

POINTS = ["dataset", "space", "x", "y", "code"]
SPACES = ["dataset", "space", "error", "share_x", "share_y", "gamma"]
# From this many points on they are drawn small, and as pixels in the PDF.
MANY = 1000
MARKERS = "o^sDvP"


def project(result: StudyResult) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Learn each first split's chosen model again; return the points of its layers and their spaces."""
    from mloml.experiments.refit import layer_outputs, refit

    parts, spaces = [], []
    for record in result.records:
        if record["split"] != 0:
            continue
        model, before = refit(result.study, record), None
        for space, (rows, error) in layer_outputs(model).items():
            before, shares = plane(rows, before)
            known = {"dataset": record["dataset"], "space": space, "code": model.half.y_test}
            parts.append(pd.DataFrame(before, columns=["x", "y"]).assign(**known)[POINTS])
            spaces.append((record["dataset"], space, error, *shares, model.learner.gamma))
    points = pd.concat(parts) if parts else pd.DataFrame(columns=POINTS)
    return points, pd.DataFrame(spaces, columns=SPACES)


def plane(features: Array, before: Array | None = None) -> tuple[Array, tuple[float, float]]:
    """Divide samples by their norm and project them onto their first two principal axes.

    The sign of an axis is free. It is chosen such that the points correlate with those of the plane
    ``before`` (of the same samples, in another space); without one, such that the largest loading is
    positive. So a picture flips neither between machines nor between layers.

    Returns
    -------
    points : array of shape (n, 2)
    shares : share of the variance along each axis

    Examples
    --------
    >>> rows = np.array([[3.0, 1.0], [0.0, 2.0], [1.0, 0.0]])
    >>> points, shares = plane(rows)
    >>> points[:, 0].round(2).tolist(), shares
    ([0.3, -0.86, 0.55], (0.9822, 0.0178))
    >>> plane(rows, before=-points)[0][:, 0].round(2).tolist()
    [-0.3, 0.86, -0.55]
    """
    rows = normalize(features)
    pca = PCA(n_components=min(2, *rows.shape), svd_solver="full")
    with np.errstate(invalid="ignore"):  # equal samples have no variance to share
        points = pca.fit_transform(rows)
    shares = np.append(np.nan_to_num(pca.explained_variance_ratio_), 0.0)
    if points.shape[1] == 1:
        points = np.column_stack([points, np.zeros(len(points))])
    if before is not None:
        points = points * np.where(np.sum(points * before, axis=0) < 0, -1.0, 1.0)
    return points, (round(float(shares[0]), 6), round(float(shares[1]), 6))


def build(result: StudyResult, projected: tuple[pd.DataFrame, pd.DataFrame]) -> Artefact:
    """Return the figure from the points of each data set in each space."""
    points, spaces = projected
    configs = [config for config in result.study.datasets if config.name in set(spaces["dataset"])]
    titles = labels_of(result).starred(config.name for config in configs)
    classes = {config.name: list(config.class_counts) for config in configs}
    figure = Figure(
        "fig6",
        partial(feature_space_figure, points, spaces, titles, classes),
        "Feature space of each layer",
        points.assign(x=points["x"].round(4), y=points["y"].round(4)),
        ready=bool(titles),
    )
    change = spaces.groupby("dataset")["error"].agg(lambda error: error.iloc[-1] - error.iloc[0])
    values = {"sets": len(titles), "falls": int((change < 0).sum()), "rises": int((change > 0).sum())}
    about = Table("spaces", spaces, "Error, variance along the axes and step size of each space")
    return Artefact(values, (about,), (figure,))


def feature_space_figure(
    points: pd.DataFrame,
    spaces: pd.DataFrame,
    datasets: Mapping[str, str],
    labels: Mapping[str, Sequence[str]],
) -> Drawing:
    """Draw one row per data set and one column per space (the input, then each layer).

    ``points`` and ``spaces`` have the columns :data:`POINTS` and :data:`SPACES`; ``labels`` names each data
    set's classes.
    """
    columns = list(dict.fromkeys(spaces["space"]))
    figure = Drawing(figsize=(PAGE_WIDTH, 1.95 * len(datasets) + 0.2), layout="constrained")
    grid = figure.subplots(len(datasets), len(columns), squeeze=False)
    about = spaces.set_index(["dataset", "space"])
    for row, (name, title) in zip(grid, datasets.items(), strict=True):
        for axes, space in zip(row, columns, strict=True):
            part = points[(points["dataset"] == name) & (points["space"] == space)]
            known = about.loc[(name, space)]
            size = 5.0 if len(part) < MANY else 1.5
            _scatter(axes, part, labels[name], size)
            axes.set_title(f"{space} ({number(known['error'])})")
            axes.set_xlabel(f"{100 * known['share_x']:.0f} % + {100 * known['share_y']:.0f} %", fontsize=6)
        row[0].set_ylabel(f"{title}\nγ = {known['gamma']:g}", fontsize=8)
        legend: dict[str, Any] = {"handletextpad": 0.1, "borderpad": 0.3, "labelspacing": 0.2, "fontsize": 6}
        row[0].legend(loc="best", frameon=True, markerscale=(11.0 / size) ** 0.5, **legend)
    figure.supxlabel("first principal axis (below each panel: variance along both axes)", fontsize=7.5)
    figure.supylabel("second principal axis", fontsize=7.5)
    return figure


def _scatter(axes: Axes, part: pd.DataFrame, labels: Sequence[str], size: float) -> None:
    style: dict[str, Any] = {"linewidths": 0, "alpha": 0.7, "rasterized": len(part) >= MANY}
    for code, label in enumerate(labels):
        inside = part[part["code"] == code]
        colour, marker = PALETTE[code % len(PALETTE)], MARKERS[code % len(MARKERS)]
        axes.scatter(inside["x"], inside["y"], s=size, c=colour, marker=marker, label=label, **style)
    axes.set(xticks=[], yticks=[])
    axes.grid(False)
    for spine in axes.spines.values():
        spine.set_visible(True)


RECIPE = Recipe("fig6", "Figure 6: feature space", "What each layer makes of the data.", build, after=project)
