"""Ranks of all algorithms over the counted datasets: a table, a diagram and a sentence."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import pandas as pd

from mloml.paper.statistics import Ranking, holm, outcome, rank_algorithms, wilcoxon
from mloml.report.captions import caption
from mloml.report.document import Block, Figure, Table, Text
from mloml.report.figures.ranks import critical_difference_figure
from mloml.report.tables import Results

COLUMNS = (
    "algorithm", "mean_rank", "difference_to_reference", "critical_difference", "nemenyi",
    "p_wilcoxon", "p_holm", "wilcoxon_holm",
)  # fmt: skip


class Ranks(NamedTuple):
    """What is shown of the ranks: a sentence, files, and blocks of a page. All are empty for a single set."""

    sentence: str
    tables: tuple[Table, ...] = ()
    page: tuple[Block, ...] = ()
    figures: tuple[Figure, ...] = ()


def rank(results: Results, reference: str, ready: bool) -> Ranks:
    """Rank the algorithms; the diagram is drawn when ``ready``.

    A study that asks for a single counted dataset has nothing to rank over, now or later.
    """
    if len(results.labels.counted) < 2 or len(results.labels.algorithms) < 2:
        return Ranks("")
    titles = results.labels.starred(results.labels.algorithms)
    ranking = ranking_of(results)
    frame = ranks_frame(results, ranking, reference)
    diagram = Figure(
        "critical_difference",
        "Critical-difference diagram",
        caption("critical_difference"),
        partial(critical_difference_figure, ranking, titles),
        ready=ready,
    )
    printed = pd.DataFrame(
        {
            "algorithm": [titles[name] for name in frame["algorithm"]],
            "mean rank": [f"{value:.2f}" for value in frame["mean_rank"]],
            "Nemenyi": frame["nemenyi"],
            "Wilcoxon over datasets, Holm's p": [
                "" if pd.isna(p) else f"{p:.3f} ({mark})"
                for p, mark in zip(frame["p_holm"], frame["wilcoxon_holm"], strict=True)
            ],
        }
    )
    sentence = ranks_sentence(results, ranking)
    page = (Text((sentence,), heading="Ranks"), diagram, printed)
    return Ranks(sentence, (Table("ranks", "Mean ranks", frame),), page, (diagram,))


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
    table = pd.DataFrame({"algorithm": names, "mean_rank": ranking.ranks.to_numpy()})
    table["critical_difference"] = ranking.critical_difference
    known = reference in names
    own = float(ranking.ranks[reference]) if known else float("nan")
    table["difference_to_reference"] = table["mean_rank"] - own
    means = results.means().reindex(index=list(ranking.datasets))
    others = [name for name in names if name != reference] if known else []
    tests = {name: wilcoxon(means[name], means[reference]) for name in others}
    adjusted = dict(zip(others, holm([test.p_value for test in tests.values()]), strict=True))
    table["p_wilcoxon"] = [tests[name].p_value if name in tests else None for name in names]
    table["p_holm"] = [adjusted.get(name) for name in names]
    table["wilcoxon_holm"] = [
        outcome(tests[name].difference, adjusted[name]) if name in tests else "" for name in names
    ]
    table["nemenyi"] = [
        _nemenyi(difference, ranking) if name in tests else ""
        for name, difference in zip(names, table["difference_to_reference"], strict=True)
    ]
    return table[list(COLUMNS)]


def ranks_sentence(results: Results, ranking: Ranking) -> str:
    """Say over what the ranks were taken, and what Friedman's test says."""
    if len(ranking.datasets) < 2 or len(ranking.ranks) < 2:
        return "Ranks need at least two algorithms that are complete on two datasets."
    left_out = [name for name in results.labels.counted if name not in ranking.datasets]
    gap = (
        f" Left out, because not all algorithms are complete there: {', '.join(left_out)}."
        if left_out
        else ""
    )
    return (
        f"Mean ranks of {len(ranking.ranks)} algorithms over {len(ranking.datasets)} datasets "
        f"(1 is best): Friedman's chi-square is {ranking.statistic:.1f} (p = {ranking.p_value:.2g}); "
        f"mean ranks that differ by less than {ranking.critical_difference:.2f} cannot be told apart "
        f"(Nemenyi, level {ranking.alpha:g}).{gap}"
    )


def _nemenyi(difference: float, ranking: Ranking) -> str:
    if abs(difference) <= ranking.critical_difference:
        return "tie"
    return "win" if difference > 0 else "loss"
