"""Ranks of all algorithms over the counted datasets."""

from __future__ import annotations

from math import nan
from typing import Any

import pandas as pd

from mloml.paper.statistics import Ranking, holm, outcome, rank_algorithms, wilcoxon
from mloml.report.tables import Results

COLUMNS = (
    "algorithm", "mean_rank", "difference_to_reference", "critical_difference", "nemenyi",
    "p_wilcoxon", "p_holm", "wilcoxon_holm",
)  # fmt: skip


def ranking_of(results: Results) -> Ranking:
    """Rank the algorithms over the counted datasets on which all of them are complete."""
    means = results.means().dropna(axis="columns", how="all")
    return rank_algorithms(means.dropna(axis="index", how="any"))


def ranks_frame(results: Results, ranking: Ranking, reference: str) -> pd.DataFrame:
    """Return the mean ranks, and whether each differs from the reference's.

    Two tests over datasets (Demšar 2006): Nemenyi's, which the diagram draws, and Wilcoxon's of the mean
    errors with Holm's correction. Marks speak of the reference; without it in the ranking they are empty.
    """
    names = [str(name) for name in ranking.ranks.index]
    known = reference in names
    means = results.means().reindex(index=list(ranking.datasets))
    others = [name for name in names if known and name != reference]
    tests = {name: wilcoxon(means[name], means[reference]) for name in others}
    adjusted = dict(zip(others, holm([test.p_value for test in tests.values()]), strict=True))
    ranks = ranking.ranks.to_numpy()
    table = pd.DataFrame({"algorithm": names, "mean_rank": ranks}).assign(
        difference_to_reference=ranks - (float(ranking.ranks[reference]) if known else nan),
        critical_difference=ranking.critical_difference,
        p_wilcoxon=[tests[name].p_value if name in tests else nan for name in names],
        p_holm=[adjusted.get(name, nan) for name in names],
        wilcoxon_holm=[
            outcome(tests[name].difference, adjusted[name]) if name in tests else "" for name in names
        ],
    )
    table["nemenyi"] = [
        _nemenyi(difference, ranking.critical_difference) if name in tests else ""
        for name, difference in zip(names, table["difference_to_reference"], strict=True)
    ]
    return table[list(COLUMNS)]


def ranking_values(results: Results, ranking: Ranking) -> dict[str, Any]:
    """Return over what the ranks were taken, and what Friedman's test says, for a template."""
    return {
        "algorithms": len(ranking.ranks),
        "datasets": len(ranking.datasets),
        "left_out": [name for name in results.labels.counted if name not in ranking.datasets],
        "statistic": ranking.statistic,
        "p_value": ranking.p_value,
        "critical_difference": ranking.critical_difference,
        "known": len(ranking.datasets) > 1 and len(ranking.ranks) > 1,
    }


def _nemenyi(difference: float, critical: float) -> str:
    if abs(difference) <= critical:
        return "tie"
    return "win" if difference > 0 else "loss"
