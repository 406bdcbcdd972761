"""The untuned arm: Table II with first guesses, beside the interpretations that were chosen by errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from mloml.paper.comparison import VERDICTS
from mloml.paper.published import ACCIDENTS, ALGORITHMS, OWN
from mloml.report.artefacts.seeds import KEY, compared, seeds_grid
from mloml.report.artefacts.table2 import REFERENCE
from mloml.report.document import TRIAL_ONLY, Artefact, Table
from mloml.report.labels import labels_of
from mloml.report.recipe import Recipe
from mloml.report.tables import summarise

if TYPE_CHECKING:
    from mloml.experiments.study import StudyResult

# How the columns of each arm end.
ARMS = {"untuned": "", "tuned": "_2"}
NAMES = ",".join(ALGORITHMS.values())


def build(untuned: StudyResult, tuned: StudyResult) -> Artefact:
    """Return both arms beside the paper, over the entries that both have."""
    labels, wrong = labels_of(tuned), {*ACCIDENTS.values()}
    right = untuned.frame[~untuned.frame["dataset"].isin(list(wrong))].replace({"dataset": ACCIDENTS})
    arms = [summarise(frame, labels, REFERENCE) for frame in (right, tuned.frame)]
    both = compared(arms[0]).merge(compared(arms[1]), on=KEY, suffixes=("", "_2"))
    if labels.trial:
        both = both.assign(verdict=TRIAL_ONLY, verdict_2=TRIAL_ONLY)
    counts, grid = counts_frame(both), seeds_grid(both, arms[1])
    values = {
        "counts": counts,
        "whole": counts.head(2).set_index("arm").to_dict("index") if len(both) else {},
        "left_out": [pairs for pairs in untuned.study.leave_out if wrong.isdisjoint(pairs["datasets"])],
        "means": means_frame(both),
    }
    every = Table("both", both, "Every entry in both arms")
    shown = Table("untuned", grid, RECIPE.title, latex=grid), Table("counts", counts, "Agreement by arm")
    return Artefact(values, (*shown, every))


def counts_frame(both: pd.DataFrame) -> pd.DataFrame:
    """Count the entries of each arm that agree with the paper, and average Welch's statistic squared."""
    rows = []
    own, same = both["algorithm"].isin(OWN), ~both["dataset"].isin(list(ACCIDENTS.values()))
    for sets, on in (("all", same | True), ("without spect and mlprove", same)):
        for methods, of in (("all", own | True), ("the paper's own", own)):
            cells = both[on & of]
            for arm, end in ARMS.items():
                counts = [int((cells[f"verdict{end}"] == verdict).sum()) for verdict in VERDICTS]
                squares = (cells[f"statistic{end}"] ** 2).mean()
                rows.append((sets, methods, arm, len(cells), *counts, squares))
    return pd.DataFrame(rows, columns=["data sets", "methods", "arm", "entries", *VERDICTS, "mean z²"])


def means_frame(both: pd.DataFrame) -> pd.DataFrame:
    """Return each method's mean error over the data sets that are the same in both arms and the paper."""
    cells = both[~both["dataset"].isin(list(ACCIDENTS.values()))].groupby("algorithm", sort=False)
    columns = {"paper": "paper_mean", **{arm: f"our_mean{end}" for arm, end in ARMS.items()}}
    return cells.agg(sets=("dataset", "count"), **{k: (c, "mean") for k, c in columns.items()}).reset_index()


RECIPE = Recipe(
    "untuned",
    "The untuned arm: Table II with first guesses",
    "How much of the agreement is owed to interpretations that were chosen by test errors.",
    build,
    variants={
        "untuned": ("protocol=untuned",),
        "tuned": (
            "protocol=paper",
            f"algorithms=[{NAMES}]",
            f"leave_out=[{{algorithms:[{NAMES}],datasets:[{','.join(ACCIDENTS)}]}}]",
        ),
    },
    in_all=False,
)
