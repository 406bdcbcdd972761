"""The picture of every cell of a table, ours against the paper."""

from __future__ import annotations

from functools import partial

import pandas as pd

from mloml.paper import paper_row
from mloml.report.captions import caption
from mloml.report.document import Figure, Grid
from mloml.report.figures.agreement import agreement_figure, agreement_numbers
from mloml.report.labels import Labels


def agreement_picture(
    comparison: pd.DataFrame | Grid, labels: Labels, name: str, ready: bool
) -> tuple[Figure, ...]:
    """Return the picture of a comparison with the paper's table ``name``; none before there is anything."""
    if isinstance(comparison, Grid):
        raise TypeError("a picture needs the numbers of a comparison, not their grid")
    rows = [row for row in labels.counted if paper_row(row) is not None and row in set(comparison["dataset"])]
    shown = comparison[comparison["dataset"].isin(rows)]
    columns = [column for column in labels.algorithms if column in set(shown["algorithm"])]
    if not columns:
        return ()
    datasets, algorithms = labels.starred(rows), labels.starred(columns)
    algorithms = {
        column: f"{labels.groups.get(column, '')}\n{title}".strip() for column, title in algorithms.items()
    }
    numbers = agreement_numbers(shown)
    return (
        Figure(
            "agreement",
            f"{name}: every cell, ours against the paper",
            caption("agreement") + labels.footnotes({**datasets, **algorithms}),
            partial(agreement_figure, numbers, datasets, algorithms),
            numbers,
            page=True,
            ready=ready,
        ),
    )
