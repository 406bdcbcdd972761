"""Proposition 1: whether each layer's representation is at least as good as the one before it.

The paper says that it is in most cases, and argues by Theorem 2. We compare the errors of the layers split by
split, and measure the geometry of each layer on the test half: triplets whose margin is missed, and how far
classes lie apart.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from mloml.arrays import Array, Codes, Triplets
from mloml.paper.statistics import corrected_t, paired_t

COLUMNS = [
    "dataset", "layer", "next_layer", "splits", "error", "next_error", "difference", "share_no_worse",
    "share_better", "share_worse", "p_paired", "p_corrected",
]  # fmt: skip


def compare_layers(errors: pd.DataFrame) -> pd.DataFrame:
    """Compare each layer with the next, over the splits.

    Parameters
    ----------
    errors : DataFrame
        dataset, split, layer (from 1), error.

    Returns
    -------
    DataFrame
        One row per dataset and step from ``layer`` to ``layer + 1``: mean errors, their difference, the
        share of splits in which the next layer is no worse, strictly better and worse, and two t-tests
        of the difference: the plain paired one and the one corrected for overlapping halves.

    Examples
    --------
    >>> errors = pd.DataFrame({"dataset": "iris", "split": [0, 1, 0, 1], "layer": [1, 1, 2, 2],
    ...                        "error": [0.2, 0.3, 0.1, 0.4]})
    >>> compare_layers(errors)[["share_no_worse", "share_worse"]].values.tolist()
    [[0.5, 0.5]]
    """
    rows = []
    for dataset, part in errors.groupby("dataset", sort=False):
        table = part.pivot(index="split", columns="layer", values="error")  # noqa: PD010
        for layer in range(1, int(part["layer"].max())):
            before, after = table[[layer, layer + 1]].dropna().to_numpy().T
            change = after - before
            place = dataset, layer, layer + 1, len(change)
            means = before.mean(), after.mean(), change.mean()
            shares = np.mean(change <= 0), np.mean(change < 0), np.mean(change > 0)
            tests = paired_t(after, before).p_value, corrected_t(after, before).p_value
            rows.append((*place, *means, *shares, *tests))
    return pd.DataFrame(rows, columns=COLUMNS)


def layer_geometry(outputs: Sequence[Array], y: Codes, triplets: Triplets) -> pd.DataFrame:
    """Measure each layer's output on held-out samples.

    Returns
    -------
    DataFrame
        One row per layer: share of triplets whose hinge is positive, mean margin
        ``D(x, xq) - D(x, xp)``, and the mean squared distance within classes over that between classes.
    """
    t, p, q = triplets.T
    rows = []
    for layer, Z in enumerate(outputs, start=1):
        margin = np.sum((Z[t] - Z[q]) ** 2, axis=1) - np.sum((Z[t] - Z[p]) ** 2, axis=1)
        within, between = mean_distances(Z, y)
        ratio = within / between if between > 0 else np.nan
        margins = np.mean(margin < 1.0), np.mean(margin < 0.0), margin.mean()
        rows.append((layer, *margins, within, between, ratio))
    columns = ["layer", "hinge_violations", "wrong_order", "mean_margin", "within", "between"]
    return pd.DataFrame(rows, columns=[*columns, "within_over_between"])


def mean_distances(Z: Array, y: Codes) -> tuple[float, float]:
    """Return the mean squared distance of pairs within a class, and of pairs of different classes, in O(n d).

    >>> mean_distances(np.array([[0.0], [2.0], [5.0]]), np.array([0, 0, 1]))
    (4.0, 17.0)
    """

    def pair_sum(rows: Array) -> float:
        return len(rows) * float(np.sum((rows - rows.mean(axis=0)) ** 2))

    groups = [Z[y == code] for code in np.unique(y)]
    within = sum(pair_sum(group) for group in groups)
    pairs_within = sum(len(group) * (len(group) - 1) // 2 for group in groups)
    pairs = len(Z) * (len(Z) - 1) // 2
    between = pair_sum(Z) - within
    return within / max(pairs_within, 1), between / max(pairs - pairs_within, 1)
