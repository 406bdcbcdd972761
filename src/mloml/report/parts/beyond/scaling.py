"""What scaling does: every method under one scaling against Euclidean under the other."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from mloml.paper.beyond import compare_scalings
from mloml.report.parts.beyond.side import Side


def across(sides: Sequence[Side]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Compare the methods of each study with Euclidean of the other; ``study`` is the methods'.

    Both studies halve the same rows in the same way, so that splits can be paired.
    """
    first, second = sides
    over, on_sets = [], []
    for side, other in ((first, second), (second, first)):
        summary, each = compare_scalings(side.errors, other.errors, list(side.labels.algorithms))
        over.append(summary.assign(study=side.name))
        on_sets.append(each.assign(study=side.name))
    return pd.concat(over, ignore_index=True), pd.concat(on_sets, ignore_index=True)
