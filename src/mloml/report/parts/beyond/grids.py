"""Tables of a study beyond the paper: mean errors with wins and losses against Euclidean, and ranks."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from mloml.paper.beyond import EUCLIDEAN
from mloml.report.captions import caption
from mloml.report.document import Column, Entry, Figure, Grid, Row, Table, Text, number
from mloml.report.figures.ranks import critical_difference_figure
from mloml.report.parts.beyond.side import Side
from mloml.report.parts.ranks import ranks_sentence

MARK = {"win": "loss", "loss": "win", "tie": ""}
"""Marks of a grid speak of the reference, outcomes of the method."""


def errors_table(side: Side) -> Table:
    """Return the mean errors of all methods on all sets; a gap is a dash with its reason."""
    labels = side.labels
    columns = tuple(
        Column(name, title, note=labels.notes.get(name, "")) for name, title in labels.algorithms.items()
    )
    outcomes = {
        (row["dataset"], row["algorithm"]): row["outcome"]
        for row in side.on_sets[side.on_sets["test"] == "euclidean"].to_dict("records")
    }
    rows = tuple(_row(side, name, outcomes) for name in labels.datasets)
    values = {"splits": labels.splits, "scaling": side.scaling, "protocol": side.name}
    grid = Grid(
        caption("beyond_errors", **values),
        f"tab:beyond-{side.name}",
        columns,
        rows,
        counts=tuple(_counts(side, name) for name in labels.algorithms),
        remarks=(caption("beyond_marks", **values),),
    )
    title = f"Mean errors on {side.scaling}"
    page = (grid, Text(tuple(missing_sentences(side)), heading="What is missing", listed=True))
    return Table(f"errors_{side.name}", title, grid, page, latex=grid)


def missing_sentences(side: Side) -> list[str]:
    """Name every gap with its reason; if there is none, say so."""
    datasets, algorithms = side.labels.datasets, side.labels.algorithms
    if not side.reasons:
        return [f"On {side.scaling} every method has a result on every set."]
    grouped: dict[tuple[str, str], list[str]] = {}
    for (dataset, algorithm), reason in side.reasons.items():
        grouped.setdefault((algorithm, reason), []).append(datasets[dataset])
    return [
        f"{algorithms[algorithm]} on {side.scaling} has no result on {', '.join(names)}: {reason}."
        for (algorithm, reason), names in grouped.items()
    ]


def ranks_table(side: Side) -> tuple[str, Table, Figure]:
    """Return Friedman's test in a sentence, the mean ranks, and Nemenyi's diagram."""
    ranking, labels = side.ranking, side.ranked.labels
    frame = pd.DataFrame(
        {
            "algorithm": [str(name) for name in ranking.ranks.index],
            "mean_rank": ranking.ranks.to_numpy(dtype=float),
            "critical_difference": ranking.critical_difference,
            "sets": len(ranking.datasets),
            "friedman_chi_square": ranking.statistic,
            "friedman_p": ranking.p_value,
        }
    )
    diagram = Figure(
        f"critical_difference_{side.name}",
        f"Critical-difference diagram, {side.scaling}",
        caption("critical_difference"),
        partial(critical_difference_figure, ranking, labels.starred(labels.algorithms)),
        ready=side.finished,
    )
    absent = [title for name, title in labels.algorithms.items() if name not in ranking.ranks.index]
    gap = f" Not ranked, because without any result: {', '.join(absent)}." if absent else ""
    sentence = f"On {side.scaling}: {ranks_sentence(side.ranked, ranking)}{gap}"
    return sentence, Table(f"ranks_{side.name}", f"Mean ranks on {side.scaling}", frame), diagram


def _row(side: Side, dataset: str, outcomes: dict[tuple[str, str], str]) -> Row:
    means = {
        name: float(np.mean(errors[dataset])) for name, errors in side.errors.items() if dataset in errors
    }
    lowest = min((number(mean) for mean in means.values()), key=float, default="")
    entries, details = [], []
    for name in side.labels.algorithms:
        if name in means:
            mark = MARK[outcomes.get((dataset, name), "tie")]
            errors = tuple(side.errors[name][dataset])
            entries.append(Entry(means[name], None, mark, number(means[name]) == lowest, errors=errors))
        else:
            reason = side.reasons[dataset, name]
            entries.append(Entry(note=reason))
            details.append(f"{name}: {reason}")
    labels = side.labels
    return Row(dataset, labels.datasets[dataset], tuple(entries), labels.note_of(dataset), "; ".join(details))


def _counts(side: Side, algorithm: str) -> str:
    row = side.test("euclidean", algorithm) if algorithm != EUCLIDEAN else None
    return f"{row['wins']}/{row['ties']}/{row['losses']}" if row else ""
