"""Compare every algorithm of a long frame of errors with a reference, dataset by dataset.

The frame has one row per cell: ``dataset``, ``algorithm``, ``split``, ``error``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pandas as pd

from mloml.paper.statistics.paired import corrected_t, holm, outcome, paired_t, wilcoxon

COLUMNS = (
    "dataset", "algorithm", "reference", "splits", "mean", "std", "reference_mean", "difference",
    "p_paired", "mark_paired", "p_corrected", "mark_corrected", "p_wilcoxon", "p_holm", "mark_holm",
)  # fmt: skip
OUTCOMES = ("win", "tie", "loss")


def against_reference(
    frame: pd.DataFrame, reference: str | Mapping[str, str], test_to_train: float = 1.0, alpha: float = 0.05
) -> pd.DataFrame:
    """Test each algorithm against its reference over the splits both have.

    Parameters
    ----------
    frame : DataFrame
        Finished cells only; at most one row per (dataset, algorithm, split).
    reference : str or mapping
        The reference's name, or the reference of each algorithm (Table III: FP of the same activation).
        Algorithms without a reference, and references themselves, are left out.
    test_to_train : float
        Ratio of the corrected test, 1 for halves.
    alpha : float
        Level of all tests. Holm's family is all comparisons in ``frame``.

    Returns
    -------
    DataFrame
        One row per comparison, columns :data:`COLUMNS`; marks speak of the reference.

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
                rows.append(_compare(str(dataset), algorithm, other, both, test_to_train, alpha))
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    table["p_holm"] = holm(table["p_wilcoxon"].to_numpy(dtype=float))
    table["mark_holm"] = [
        outcome(d, p, alpha) for d, p in zip(table["difference"], table["p_holm"], strict=True)
    ]
    return table


def _compare(
    dataset: str, algorithm: str, reference: str, errors: pd.DataFrame, test_to_train: float, alpha: float
) -> dict[str, object]:
    ours, theirs = errors[algorithm].to_numpy(dtype=float), errors[reference].to_numpy(dtype=float)
    plain, corrected = paired_t(ours, theirs), corrected_t(ours, theirs, test_to_train)
    return {
        "dataset": dataset,
        "algorithm": algorithm,
        "reference": reference,
        "splits": len(ours),
        "mean": float(ours.mean()),
        "std": float(ours.std(ddof=1)) if len(ours) > 1 else 0.0,
        "reference_mean": float(theirs.mean()),
        "difference": plain.difference,
        "p_paired": plain.p_value,
        "mark_paired": outcome(plain.difference, plain.p_value, alpha),
        "p_corrected": corrected.p_value,
        "mark_corrected": outcome(corrected.difference, corrected.p_value, alpha),
        "p_wilcoxon": wilcoxon(ours, theirs).p_value,
    }


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
