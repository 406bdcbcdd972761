"""A table of one's own: errors, win/tie/loss of a reference, ranks, a figure.

    mloml compare datasets=[..] algorithms=[..] [reference=NAME] [overrides] [--config-dir FOLDER]
    mloml compare 'datasets=[iris,wine]' 'algorithms=[euclidean,kissme,moml]' reference=moml
    mloml compare 'datasets=[{use: csv, path: mine.csv, label: class}]' 'algorithms=[euclidean,moml]'

Without a reference the others are tested against the first algorithm.
"""

from functools import partial
from math import nan

import pandas as pd

from mloml.experiments.study import StudyResult
from mloml.paper.statistics import OUTCOMES
from mloml.report.artefacts.table2 import rank
from mloml.report.document import Artefact, Figure, Table
from mloml.report.figures.comparisons import means_figure
from mloml.report.labels import labels_of
from mloml.report.recipe import Recipe
from mloml.report.tables import Results, build_grid, count_tables, summarise


def build(result: StudyResult) -> Artefact:
    """Return errors, tests against the reference, and ranks, from the cells there are."""
    labels, reference = labels_of(result), str(result.study.reference)
    results = summarise(result.frame, labels, reference)
    counts, _ = count_tables(results)
    ranking, rank_tables, rank_figures = rank(results, result.finished, reference)
    by_corrected = counts.frame.set_index("algorithm")[[f"{outcome}_corrected" for outcome in OUTCOMES]]
    values = {
        "reference": labels.algorithms[reference],
        "sets": results.comparisons["dataset"].nunique(),
        "counts": {
            labels.algorithms[str(name)]: "/".join(map(str, row)) for name, *row in by_corrected.itertuples()
        },
        "ranking": ranking,
    }
    titles = {**labels.datasets, **labels.algorithms}
    drawn = results.complete.replace({"dataset": titles, "algorithm": titles})
    keys = ["dataset", "algorithm"] if len(labels.datasets) > 1 else ["algorithm"]
    draw, ready = partial(means_figure, drawn, keys), result.finished and len(drawn) > 0
    grid = build_grid(results, f"tab:{result.folder.name}")
    tables = (Table("compare", numbers_frame(results), RECIPE.title, latex=grid), counts, *rank_tables)
    return Artefact(values, tables, (Figure("errors", draw, "Mean errors", ready=ready), *rank_figures))


def numbers_frame(results: Results) -> pd.DataFrame:
    """Return mean, deviation and tests of each algorithm on each data set; no mean without all splits."""
    cells = results.summary.copy()
    cells.loc[~cells["complete"], ["mean", "std"]] = nan
    tests = results.comparisons.drop(columns=["mean", "std", "splits"])
    return cells.drop(columns="complete").merge(tests, on=["dataset", "algorithm"], how="left")


RECIPE = Recipe("compare", "Errors of several algorithms", "A table of one's own, with tests.", build)
