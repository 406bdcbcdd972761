"""What a method costs and what it gains: seconds per training row against errors relative to Euclidean's."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from mloml.paper.beyond import EUCLIDEAN, Errors

COLUMNS = ("algorithm", "sets", "seconds_per_row", "relative_error")


def cost_frame(frame: pd.DataFrame, errors: Errors, rows: Mapping[str, int | None]) -> pd.DataFrame:
    """Return seconds per training row and relative errors, a row per method.

    Parameters
    ----------
    frame : DataFrame
        Cells: dataset, algorithm, split, seconds, status.
    errors : mapping
        Complete errors by algorithm and dataset.
    rows : mapping
        Rows of each dataset; half of them are trained on.

    Returns
    -------
    DataFrame
        ``seconds_per_row`` is the median over the sets of the median over the splits: the first cell of a
        worker may have to compile. ``relative_error`` is the mean error over the ``sets`` that the method
        and Euclidean both have, divided by Euclidean's mean error over the same sets.
    """
    done = frame[(frame["status"] == "ok") & frame["dataset"].isin([n for n, size in rows.items() if size])]
    sizes = done["dataset"].map(rows).to_numpy(dtype=float)
    per_row = done.assign(per_row=done["seconds"].to_numpy(dtype=float) / (sizes / 2))
    medians = per_row.groupby(["algorithm", "dataset"])["per_row"].median()
    seconds = medians.groupby("algorithm").median()
    lines = []
    for name in errors:
        count, relative = relative_error(errors, name)
        lines.append((name, count, float(seconds.get(name, np.nan)), relative))
    return pd.DataFrame(lines, columns=list(COLUMNS))


def relative_error(errors: Errors, algorithm: str) -> tuple[int, float]:
    """Return the number of sets that a method has in common with Euclidean, and its relative error there.

    >>> relative_error({"euclidean": {"a": (0.2, 0.4), "b": (0.1, 0.1)}, "moml": {"a": (0.1, 0.2)}}, "moml")
    (1, 0.5)
    """
    own, plain = errors[algorithm], errors.get(EUCLIDEAN, {})
    common = [name for name in own if name in plain]
    below = sum(float(np.mean(plain[name])) for name in common)
    above = sum(float(np.mean(own[name])) for name in common)
    return len(common), round(above / below, 12) if below > 0 else float("nan")
