"""What a triplet costs under FP, BP and FBP."""

from __future__ import annotations

import pandas as pd

from mloml.report.captions import caption
from mloml.report.document import Table, Text
from mloml.report.parts.strategies import STRATEGIES


def cost_table(cost: pd.DataFrame) -> Table:
    """Return the costs of :func:`mloml.paper.timing.propagation.cost_per_triplet` in words."""
    page = (
        Text(("The paper's text calls FP the fastest of the three strategies.", cost_sentence(cost))),
        _printed(cost),
        Text((caption("cost"),)),
    )
    return Table("cost", "Cost per triplet of FP, BP and FBP", cost, page)


def cost_sentence(cost: pd.DataFrame) -> str:
    """Say how BP and FBP compare with FP.

    >>> rows = [(4, "relu", "fp", 2.0, 1.0), (4, "relu", "bp", 1.5, 0.75), (4, "relu", "fbp", 5.0, 2.5)]
    >>> names = ["features", "activation", "strategy", "microseconds", "times_fp"]
    >>> cost_sentence(pd.DataFrame(rows, columns=names))
    'Measured here, BP costs 0.75 to 0.75 times as much as FP, and FBP 2.5 to 2.5 times.'
    """
    spans = {name: part["times_fp"] for name, part in cost.groupby("strategy")}
    bp, fbp = _span(spans["bp"]), _span(spans["fbp"])
    return f"Measured here, BP costs {bp} times as much as FP, and FBP {fbp} times."


def _span(values: pd.Series) -> str:
    return f"{values.min():.2g} to {values.max():.2g}"


def _printed(cost: pd.DataFrame) -> pd.DataFrame:
    rows: dict[tuple[int, str], dict[str, str]] = {}
    for cell in cost.to_dict("records"):
        row = rows.setdefault(
            (cell["features"], cell["activation"]),
            {"features": str(cell["features"]), "activation": cell["activation"]},
        )
        row[STRATEGIES[cell["strategy"]]] = (
            f"{cell['microseconds']:.2f} ({cell['lowest']:.2f} to {cell['highest']:.2f})"
        )
        if cell["strategy"] != "fp":
            row[f"{STRATEGIES[cell['strategy']]} / FP"] = f"{cell['times_fp']:.2f}"
    return pd.DataFrame(list(rows.values()))
