"""Which readings of the paper were tried, and how cells agree by what they were in choosing between them."""

from __future__ import annotations

import pandas as pd

from mloml.paper.readings import LOOKS, choices, count_by_look
from mloml.report.captions import caption
from mloml.report.document import Table, Text
from mloml.report.markdown import frame_to_markdown

TITLE = "Readings of the paper, and the cells they were chosen on"


def readings_table(comparison: pd.DataFrame) -> Table:
    """Return, for every choice between readings, agreement by what a cell was in making it."""
    counts = count_by_look(comparison)
    page = (
        Text(
            (readings_sentence(counts), caption("readings")),
            heading="Agreement, and how readings were chosen",
        ),
        counts,
    )
    return Table("readings", TITLE, counts, page)


def readings_sentence(counts: pd.DataFrame) -> str:
    """Say how many cells were used in choosing between readings, and how they agree beside the others."""
    total = counts.iloc[-1]
    if all(total[look].endswith(" of 0") for look in LOOKS):
        return ""
    decided, seen, unseen = (total[look] for look in LOOKS)
    return (
        f"For {len(counts) - 1} questions that the paper leaves open, {total['readings tried']} readings "
        f"were tried by comparing errors with its tables. Cells that decided some choice agree in {decided}, "
        f"cells that were only seen in {seen}, cells that no choice looked at in {unseen}."
    )


def readings_page() -> str:
    """Return the page of the documentation that lists all choices: ``docs/reproduction/readings.md``."""
    rows = [
        (
            choice.name,
            choice.what,
            choice.tried,
            choice.chosen,
            ", ".join(choice.decided_on) or "–",
            ", ".join(choice.also_seen) or "–",
        )
        for choice in choices()
    ]
    names = ["choice", "between what", "tried", "chosen", "decided on", "also seen"]
    table = frame_to_markdown(pd.DataFrame(rows, columns=names))
    words = caption("readings_page", total=sum(row[2] for row in rows))
    return f"# Readings that were tried\n\n{words}\n\n{table}\n"
