"""Proposition 1: whether each layer's representation is at least as good as the one below it.

The paper gives no proof.  Errors of the layers are compared split by split, and the geometry of each
layer is measured on the test half: triplets whose margin is missed, and how far classes lie apart.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from mloml.paper.statistics import corrected_t, paired_t
from mloml.arrays import Array, Codes, Triplets


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
        rows += [
            {"dataset": dataset, **_compare(table[layer], table[layer + 1], layer)}
            for layer in range(1, int(part["layer"].max()))
        ]
    return pd.DataFrame(rows)


def _compare(below: pd.Series, above: pd.Series, layer: int) -> dict[str, float]:
    both = pd.concat([below, above], axis=1).dropna().to_numpy()
    change = both[:, 1] - both[:, 0]
    return {
        "layer": layer,
        "next_layer": layer + 1,
        "splits": len(both),
        "error": float(both[:, 0].mean()),
        "next_error": float(both[:, 1].mean()),
        "difference": float(change.mean()),
        "share_no_worse": float(np.mean(change <= 0)),
        "share_better": float(np.mean(change < 0)),
        "share_worse": float(np.mean(change > 0)),
        "p_paired": paired_t(both[:, 1], both[:, 0]).p_value,
        "p_corrected": corrected_t(both[:, 1], both[:, 0]).p_value,
    }


def layer_geometry(outputs: Sequence[Array], y: Codes, triplets: Triplets) -> pd.DataFrame:
    """Measure each layer's output on held-out rows.

    Returns
    -------
    DataFrame
        One row per layer: share of triplets whose hinge is positive, mean margin
        ``D(x, xq) - D(x, xp)``, and the mean squared distance within classes over that between classes.
    """
    rows = []
    for layer, Z in enumerate(outputs, start=1):
        t, p, q = triplets.T
        margin = np.sum((Z[t] - Z[q]) ** 2, axis=1) - np.sum((Z[t] - Z[p]) ** 2, axis=1)
        within, between = mean_distances(Z, y)
        rows.append(
            {
                "layer": layer,
                "hinge_violations": float(np.mean(margin < 1.0)),
                "wrong_order": float(np.mean(margin < 0.0)),
                "mean_margin": float(margin.mean()),
                "within": within,
                "between": between,
                "within_over_between": within / between if between > 0 else np.nan,
            }
        )
    return pd.DataFrame(rows)


def mean_distances(Z: Array, y: Codes) -> tuple[float, float]:
    """Return the mean squared distance of pairs within a class, and of pairs of different classes, in O(n d).

    >>> mean_distances(np.array([[0.0], [2.0], [5.0]]), np.array([0, 0, 1]))
    (4.0, 17.0)
    """

    def pair_sum(rows: Array) -> float:
        centred = rows - rows.mean(axis=0)
        return len(rows) * float(np.sum(centred**2))

    sizes = np.bincount(y)
    groups = [Z[y == code] for code in np.flatnonzero(sizes)]
    within = sum(pair_sum(group) for group in groups)
    pairs_within = sum(len(group) * (len(group) - 1) // 2 for group in groups)
    pairs = len(Z) * (len(Z) - 1) // 2
    between = pair_sum(Z) - within
    return within / max(pairs_within, 1), between / max(pairs - pairs_within, 1)
