"""Compare methods on one data set after the other, and over many data sets.

Frames have one row per cell: ``dataset``, ``algorithm``, ``split``, ``error``.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from mloml.arrays import Array
from mloml.paper.statistics.means import DIGITS
from mloml.paper.statistics.paired import LEVEL, gain, holm, outcome, wilcoxon

COLUMNS = (
    "dataset", "algorithm", "reference", "splits", "mean", "std", "reference_mean", "difference",
    "p_paired", "mark_paired", "p_corrected", "mark_corrected", "p_wilcoxon", "p_holm", "mark_holm",
)  # fmt: skip
OUTCOMES = ("win", "tie", "loss")


def against_reference(frame: pd.DataFrame, reference: str | Mapping[str, str]) -> pd.DataFrame:
    """Test each algorithm against its reference over the splits both have.

    Parameters
    ----------
    frame : DataFrame
        Finished cells only; at most one row per (dataset, algorithm, split).
    reference : str or mapping
        The reference's name, or the reference of each algorithm (Table III: FP of the same activation).
        Algorithms without a reference, and references themselves, are left out.

    Returns
    -------
    DataFrame
        One row per comparison, columns :data:`COLUMNS`; marks speak of the reference. Holm's family is all
        comparisons in ``frame``.

    Examples
    --------
    >>> frame = pd.DataFrame({"dataset": "iris", "algorithm": ["a"] * 3 + ["b"] * 3,
    ...                       "split": [0, 1, 2] * 2, "error": [0.1, 0.2, 0.1, 0.3, 0.4, 0.32]})
    >>> table = against_reference(frame, "a")
    >>> table[["algorithm", "splits", "mark_paired", "mark_corrected"]].values.tolist()
    [['b', 3, 'win', 'win']]
    """
    rows = []
    for dataset, cells in frame.groupby("dataset", sort=False):
        # pivot, not pivot_table: a split that occurs twice must raise, not be averaged.
        errors = cells.pivot(index="split", columns="algorithm", values="error")  # noqa: PD010
        for algorithm in dict.fromkeys(cells["algorithm"]):
            other = reference if isinstance(reference, str) else reference.get(algorithm)
            if other is None or other == algorithm or other not in errors:
                continue
            both = errors[[algorithm, other]].dropna()
            if len(both):
                ours, theirs = both.to_numpy(dtype=float).T
                found, std = gain(ours, theirs), ours.std(ddof=1) if len(both) > 1 else 0.0
                means = found.before, std, found.after, found.gain
                tests = *found[-4:], wilcoxon(ours, theirs).p_value
                rows.append((str(dataset), algorithm, other, len(both), *means, *tests))
    table = pd.DataFrame(rows, columns=list(COLUMNS[:-2]))
    table["p_holm"] = holm(table["p_wilcoxon"].to_numpy(dtype=float))
    table["mark_holm"] = list(map(outcome, table["difference"], table["p_holm"]))
    return table


def counts_against_reference(
    comparisons: pd.DataFrame, datasets: Collection[str], mark: str = "mark_paired"
) -> pd.DataFrame:
    """Count wins, ties and losses of the reference against each algorithm over ``datasets``.

    Examples
    --------
    >>> comparisons = pd.DataFrame({"dataset": ["iris", "wine"], "algorithm": "lego", "reference": "mloml_r",
    ...                             "mark_paired": ["win", "tie"]})
    >>> counts_against_reference(comparisons, ["iris", "wine"]).values.tolist()
    [['mloml_r', 'lego', 1, 1, 0]]
    """
    counted = comparisons[comparisons["dataset"].isin(list(datasets))]
    rows = []
    for algorithm in dict.fromkeys(comparisons["algorithm"]):
        mine = counted[counted["algorithm"] == algorithm]
        reference = comparisons.loc[comparisons["algorithm"] == algorithm, "reference"].iloc[0]
        rows.append((reference, algorithm, *(int((mine[mark] == name).sum()) for name in OUTCOMES)))
    return pd.DataFrame(rows, columns=["reference", "algorithm", *OUTCOMES])


def win_tie_loss(marks: pd.Series) -> str:
    """Count marks as the paper prints them.

    >>> win_tie_loss(pd.Series(["win", "tie", "win"]))
    '2/1/0'
    """
    return "/".join(str(int((marks == name).sum())) for name in OUTCOMES)


def surviving(comparisons: pd.DataFrame, mark: str) -> tuple[int, int]:
    """Return how many marks of the plain test stay under another test, and how many there are.

    >>> table = pd.DataFrame({"mark_paired": ["win", "loss", "tie"], "mark_holm": ["win", "tie", "tie"]})
    >>> surviving(table, "mark_holm")
    (1, 2)
    """
    marked = comparisons[comparisons["mark_paired"] != "tie"]
    return int((marked["mark_paired"] == marked[mark]).sum()), len(marked)


# The errors of a method's splits, by dataset; only datasets on which every split has one.
Halves = Mapping[str, Sequence[float]]

ON_A_SET = ("dataset", "splits", "mean", "reference_mean", "difference", "p_corrected", "outcome")
OVER_SETS = ("sets", "median_difference", "wins", "ties", "losses", "p_wilcoxon", "p_holm", "verdict")
PLURALS = {"win": "wins", "tie": "ties", "loss": "losses"}


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


def on_each_set(errors: Halves, reference: Halves) -> pd.DataFrame:
    """Test a method against another on each set that both have, by the corrected resampled t-test.

    ``outcome`` speaks of the method: ``win`` is a significantly smaller error than the reference's.

    >>> table = on_each_set({"iris": (0.1, 0.11, 0.1)}, {"iris": (0.3, 0.32, 0.31), "wine": (0.2, 0.2, 0.2)})
    >>> table[["dataset", "outcome"]].values.tolist()
    [['iris', 'win']]
    """
    rows = []
    for dataset in [name for name in errors if name in reference]:
        found, splits = gain(reference[dataset], errors[dataset]), len(errors[dataset])
        means = found.after, found.before, found.after - found.before
        rows.append((dataset, splits, *means, found.p_corrected, found.mark_corrected))
    return pd.DataFrame(rows, columns=list(ON_A_SET))


def compare_family(sides: Mapping[Pair, tuple[Halves, Halves]]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Compare all pairs of one family, with Holm's correction of Wilcoxon's test over all of them.

    Parameters
    ----------
    sides : mapping
        The errors of both sides of each pair. A pair without a common set stays in the family, with p = 1.

    Returns
    -------
    over_sets : DataFrame
        A row per pair: ``algorithm``, ``reference`` and :data:`OVER_SETS`. ``verdict`` is ``smaller`` or
        ``larger`` if the algorithm's errors are, significantly; otherwise it is empty.
    on_sets : DataFrame
        A row per pair and set: ``algorithm``, ``reference`` and :data:`ON_A_SET`.
    """
    rows: list[dict[str, Any]] = []
    lines = []
    for pair, (errors, reference) in sides.items():
        sets = on_each_set(errors, reference)
        rows.append({**pair._asdict(), **_summary(sets)})
        lines += [(*pair, *line) for line in sets.itertuples(index=False)]
    table = pd.DataFrame(rows, columns=[*Pair._fields, *OVER_SETS, "direction"])
    table["p_holm"] = holm(table["p_wilcoxon"].to_numpy(dtype=float))
    direction = table.pop("direction").map({-1: "smaller", 0: "", 1: "larger"})
    table["verdict"] = direction.where(table["p_holm"] < LEVEL, "")
    return table, pd.DataFrame(lines, columns=[*Pair._fields, *ON_A_SET])


def _summary(sets: pd.DataFrame) -> dict[str, Any]:
    counts = {word: int((sets["outcome"] == one).sum()) for one, word in PLURALS.items()}
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


def signed_rank_direction(differences: Array) -> int:
    """Return the sign of what Wilcoxon's test tests: the positive ranks' sum less the negative ranks'.

    The mean's sign may be another: one large difference outweighs many small ones there, not here.

    >>> signed_rank_direction(np.array([-0.01, -0.02, -0.03, 0.5]))
    -1
    """
    moved = np.round(differences, DIGITS)
    moved = moved[moved != 0]
    return int(np.sign((np.sign(moved) * stats.rankdata(np.abs(moved))).sum()))
