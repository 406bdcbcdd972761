"""Waveform drawn twenty times: how much an error depends on which rows were drawn."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pandas as pd

from mloml import paper
from mloml.paper.statistics.draws import Spread, spread_of_draws
from mloml.paper.statistics.means import PRINTED_ROUNDING
from mloml.report.captions import caption
from mloml.report.document import Artefact, Table, Text, number
from mloml.report.recipe import Recipe

if TYPE_CHECKING:
    from mloml.experiments.study import StudyResult

COLUMNS = (
    "algorithm", "variance", "draws", "splits", "variance_error", "deviation", "split_deviation", "mean",
    "paper_mean", "z_with_draws", "z_without_draws",
)  # fmt: skip


def draws_frame(frame: pd.DataFrame, splits: int) -> pd.DataFrame:
    """Return the variance between draws of each algorithm, and where the paper's mean lies.

    Parameters
    ----------
    frame : DataFrame
        One row per cell; each dataset is a draw. Draws without all their splits are left out.
    splits : int
        Of each draw.
    """
    done = frame[(frame["status"] == "ok") & (frame["split"] < splits)]
    table = paper.table2()
    printed = {c["algorithm"]: c for c in table[table["dataset"] == "waveform"].to_dict("records")}
    rows = []
    for algorithm, cells in done.groupby("algorithm", sort=False):
        errors = [list(part) for _, part in cells.groupby("dataset", sort=False)["error"]]
        whole = [part for part in errors if len(part) == splits]
        if len(whole) < 2 or splits < 2:
            continue
        spread = spread_of_draws(whole)
        variance = max(0.0, spread.between)
        row = [algorithm, variance, spread.draws, spread.splits, spread.error, math.sqrt(variance)]
        row += [math.sqrt(spread.within), spread.mean]
        rows.append((*row, *_beside_paper(spread, variance, printed.get(algorithm))))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _beside_paper(
    spread: Spread, variance: float, theirs: dict[Any, Any] | None
) -> tuple[float, float, float]:
    """Return the paper's mean and its distance from the mean of all draws, its rows being one more draw."""
    if theirs is None:
        return math.nan, math.nan, math.nan
    ours = (variance + spread.within / spread.splits) / spread.draws
    splits_only = spread.within / spread.splits / spread.draws
    of_paper = float(theirs["std"]) ** 2 / paper.SPLITS + PRINTED_ROUNDING
    difference = spread.mean - float(theirs["error"])
    with_draws = difference / math.sqrt(ours + of_paper + variance)
    return float(theirs["error"]), with_draws, difference / math.sqrt(splits_only + of_paper)


def build(result: StudyResult) -> Artefact:
    """Return the variance between draws, for every algorithm that has two complete draws."""
    frame = draws_frame(result.frame, result.study.protocol.splits)
    titles = {algorithm.name: algorithm.title for algorithm in result.study.algorithms}
    sentences = tuple(_sentence(row, titles) for row in frame.to_dict("records"))
    short = _headline(frame) if len(frame) else "No two draws are complete yet."
    page = (Text((caption("draws"),)), Text((short,)), _printed(frame, titles), Text((caption("draws_use"),)))
    return Artefact(short, sentences, (Table("draws", RECIPE.title, frame, page),))


def _headline(frame: pd.DataFrame) -> str:
    low, high = float(frame["deviation"].min()), float(frame["deviation"].max())
    compared = frame.dropna(subset=["paper_mean"])
    outside = [int((compared[column].abs() > 2).sum()) for column in ("z_with_draws", "z_without_draws")]
    return (
        f"Apart from splits, the mean error on waveform varies from draw to draw with a standard deviation "
        f"of {number(low)} to {number(high)} over {len(frame)} algorithms "
        f"({int(frame['draws'].min())} draws). Of the {len(compared)} printed means, {outside[0]} "
        f"lie more than two standard errors from the mean of our draws; {outside[1]} would, if the draw "
        f"were not reckoned with."
    )


def _sentence(row: dict[Any, Any], titles: dict[str, str]) -> str:
    zero = " (the estimate was not above zero)" if row["variance"] == 0 else ""
    return (
        f"{titles[str(row['algorithm'])]}: between draws {number(row['deviation'])}{zero}, between the "
        f"splits of a draw {number(row['split_deviation'])}, from {int(row['draws'])} draws "
        f"of {int(row['splits'])} splits."
    )


def _printed(frame: pd.DataFrame, titles: dict[str, str]) -> pd.DataFrame:
    records = frame.to_dict("records")
    there = [not math.isnan(row["paper_mean"]) for row in records]
    return pd.DataFrame(
        {
            "algorithm": [titles[str(row["algorithm"])] for row in records],
            "mean": [number(row["mean"]) for row in records],
            "paper": [number(r["paper_mean"]) if ok else "" for r, ok in zip(records, there, strict=True)],
            "between draws": [number(row["deviation"]) for row in records],
            "between splits": [number(row["split_deviation"]) for row in records],
            "z": [f"{r['z_with_draws']:.1f}" if ok else "" for r, ok in zip(records, there, strict=True)],
        }
    )


RECIPE = Recipe(
    "draws",
    "Waveform: how much an error depends on the draw",
    "Twenty draws of the generator, so that another draw's means can be compared with the paper's.",
    build,
    in_all=False,
)
