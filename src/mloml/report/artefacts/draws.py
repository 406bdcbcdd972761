"""Waveform drawn twenty times: how much an error depends on which samples were drawn."""

import math

import pandas as pd

from mloml import paper
from mloml.experiments.study import StudyResult
from mloml.paper.statistics import PRINTED_ROUNDING, spread_of_draws
from mloml.report.document import Artefact, Table
from mloml.report.recipe import Recipe

COLUMNS = [
    "algorithm", "variance", "draws", "splits", "variance_error", "deviation", "split_deviation", "mean",
    "paper_mean", "z_with_draws", "z_without_draws",
]  # fmt: skip


def build(result: StudyResult) -> Artefact:
    """Return the variance between draws, for every algorithm that has two complete draws."""
    frame = draws_frame(result.frame, result.study.protocol.splits)
    compared = frame.dropna(subset=["paper_mean"])
    outside, ignored = (int((compared[z].abs() > 2).sum()) for z in ("z_with_draws", "z_without_draws"))
    values = {"spread": frame, "compared": len(compared), "outside": outside, "ignored": ignored}
    return Artefact(values, (Table("draws", frame, "Variance between draws"),))


def draws_frame(frame: pd.DataFrame, splits: int) -> pd.DataFrame:
    """Return the variance between draws of each algorithm, and where the paper's mean lies.

    The paper's samples are one more draw: ``z_with_draws`` is the distance of its mean from the mean of our
    draws in standard errors that allow for this, ``z_without_draws`` in those that do not.

    Parameters
    ----------
    frame : DataFrame
        One row per cell; each dataset is a draw. Draws without all their splits are left out.
    splits : int
        Of each draw.
    """
    done = frame[(frame["status"] == "ok") & (frame["split"] < splits)]
    table = paper.table2()
    printed = table[table["dataset"] == "waveform"].set_index("algorithm")
    rows = []
    for algorithm, cells in done.groupby("algorithm", sort=False):
        errors = [list(part) for _, part in cells.groupby("dataset", sort=False)["error"]]
        whole = [part for part in errors if len(part) == splits]
        if len(whole) < 2 or splits < 2:
            continue
        spread = spread_of_draws(whole)
        variance, by_splits = max(0.0, spread.between), spread.within / spread.splits
        row = [algorithm, variance, spread.draws, spread.splits, spread.error, math.sqrt(variance)]
        row += [math.sqrt(spread.within), spread.mean]
        mean = with_draws = without_draws = math.nan
        if algorithm in printed.index:
            mean, std = (float(printed[column][algorithm]) for column in ("error", "std"))
            of_paper = std**2 / paper.SPLITS + PRINTED_ROUNDING
            ours = (variance + by_splits) / spread.draws
            with_draws = (spread.mean - mean) / math.sqrt(ours + of_paper + variance)
            without_draws = (spread.mean - mean) / math.sqrt(by_splits / spread.draws + of_paper)
        rows.append((*row, mean, with_draws, without_draws))
    return pd.DataFrame(rows, columns=COLUMNS)


RECIPE = Recipe(
    "draws",
    "Waveform: how much an error depends on the draw",
    "Twenty draws of the generator, so that another draw's means can be compared with the paper's.",
    build,
    in_all=False,
)
