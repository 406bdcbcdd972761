"""Two methods over many data sets: wins, ties and losses set by set, and Wilcoxon's test over the sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from mloml.paper.statistics.paired import corrected_t, holm, wilcoxon
from mloml.paper.statistics.ranks import DIGITS

Halves = Mapping[str, Sequence[float]]
"""The errors of a method's splits, by dataset; only datasets on which every split has one."""

ON_A_SET = ("dataset", "splits", "mean", "reference_mean", "difference", "p_corrected", "outcome")
OVER_SETS = ("sets", "median_difference", "wins", "ties", "losses", "p_wilcoxon", "p_holm", "verdict")
OUTCOMES = {"win": "wins", "tie": "ties", "loss": "losses"}
LEVEL = 0.05


class Pair(NamedTuple):
    """A method and what it is compared with."""

    algorithm: str
    reference: str


def complete_errors(frame: pd.DataFrame, splits: int) -> dict[str, dict[str, tuple[float, ...]]]:
    """Return the errors by algorithm and dataset, in the order of the splits; gaps are left out.

    >>> frame = pd.DataFrame({"dataset": "iris", "algorithm": ["a", "a", "b"], "split": [1, 0, 0],
    ...                       "error": [0.2, 0.1, 0.3], "status": "ok"})
    >>> complete_errors(frame, 2)
    {'a': {'iris': (0.1, 0.2)}}
    """
    done = frame[(frame["status"] == "ok") & (frame["split"] < splits) & np.isfinite(frame["error"])]
    found: dict[str, dict[str, tuple[float, ...]]] = {}
    groups: Any = done.sort_values("split").groupby(["algorithm", "dataset"], sort=False)
    for (algorithm, dataset), cells in groups:
        if cells["split"].tolist() == list(range(splits)):
            found.setdefault(algorithm, {})[dataset] = tuple(cells["error"])
    return found


def on_each_set(errors: Halves, reference: Halves, alpha: float = LEVEL) -> pd.DataFrame:
    """Test a method against another on each set that both have, by the corrected resampled t-test.

    ``outcome`` speaks of the method: ``win`` is a significantly smaller error than the reference's.

    >>> table = on_each_set({"iris": (0.1, 0.11, 0.1)}, {"iris": (0.3, 0.32, 0.31), "wine": (0.2, 0.2, 0.2)})
    >>> table[["dataset", "outcome"]].values.tolist()
    [['iris', 'win']]
    """
    rows = []
    for dataset in errors:
        if dataset not in reference:
            continue
        ours, theirs = (np.asarray(side[dataset], dtype=float) for side in (errors, reference))
        test = corrected_t(ours, theirs)
        significant = test.p_value < alpha and test.difference != 0
        outcome = ("win" if test.difference < 0 else "loss") if significant else "tie"
        means = float(ours.mean()), float(theirs.mean())
        rows.append((dataset, len(ours), *means, means[0] - means[1], test.p_value, outcome))
    return pd.DataFrame(rows, columns=list(ON_A_SET))


def compare_family(
    sides: Mapping[Pair, tuple[Halves, Halves]], alpha: float = LEVEL
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Compare all pairs of one family, with Holm's correction of Wilcoxon's test over all of them.

    Parameters
    ----------
    sides : mapping
        The errors of both sides of each pair. A pair without a common set stays in the family, with p = 1.
    alpha : float

    Returns
    -------
    over_sets : DataFrame
        A row per pair: ``algorithm``, ``reference`` and :data:`OVER_SETS`. ``verdict`` is ``smaller`` or
        ``larger`` if the algorithm's errors are, significantly; otherwise it is empty.
    on_sets : DataFrame
        A row per pair and set: ``algorithm``, ``reference`` and :data:`ON_A_SET`.
    """
    rows: list[dict[str, Any]] = []
    parts = []
    for pair, (errors, reference) in sides.items():
        sets = on_each_set(errors, reference, alpha)
        rows.append({**pair._asdict(), **_summary(sets)})
        parts.append(sets.assign(**pair._asdict())[[*Pair._fields, *ON_A_SET]])
    table = pd.DataFrame(rows, columns=[*Pair._fields, *OVER_SETS, "direction"])
    table["p_holm"] = holm(table["p_wilcoxon"].to_numpy(dtype=float))
    words = {-1: "smaller", 0: "", 1: "larger"}
    table["verdict"] = [
        words[int(direction)] if p < alpha else ""
        for direction, p in zip(table["direction"], table["p_holm"], strict=True)
    ]
    filled = [part for part in parts if len(part)]
    on_sets = (
        pd.concat(filled, ignore_index=True) if filled else pd.DataFrame(columns=[*Pair._fields, *ON_A_SET])
    )
    return table.drop(columns="direction"), on_sets


def _summary(sets: pd.DataFrame) -> dict[str, Any]:
    counts = {word: int((sets["outcome"] == one).sum()) for one, word in OUTCOMES.items()}
    if sets.empty:
        return {"sets": 0, "median_difference": np.nan, **counts, "p_wilcoxon": 1.0, "direction": 0}
    differences = sets["difference"].to_numpy(dtype=float)
    return {
        "sets": len(sets),
        "median_difference": float(np.median(differences)),
        **counts,
        "p_wilcoxon": wilcoxon(sets["mean"], sets["reference_mean"]).p_value,
        "direction": signed_rank_direction(differences),
    }


def signed_rank_direction(differences: NDArray[np.float64]) -> int:
    """Return the sign of what Wilcoxon's test tests: the positive ranks' sum less the negative ranks'.

    The mean's sign may be another: one large difference outweighs many small ones there, not here.

    >>> signed_rank_direction(np.array([-0.01, -0.02, -0.03, 0.5]))
    -1
    """
    moved = np.round(differences, DIGITS)
    moved = moved[moved != 0]
    return int(np.sign((np.sign(moved) * stats.rankdata(np.abs(moved))).sum()))
