"""Table II: every algorithm on every dataset, with tests, ranks and the comparison with the paper."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from mloml import paper
from mloml.report.comparison import compare_with_paper
from mloml.report.document import Artefact, Figure, Table
from mloml.report.figures.comparisons import critical_difference_figure
from mloml.report.gains import gains_of
from mloml.report.labels import labels_of
from mloml.report.ranking import ranking_of, ranking_values, ranks_frame
from mloml.report.recipe import Recipe
from mloml.report.selections import closeness, selections_frame, selections_grid
from mloml.report.tables import Results, build_grid, count_tables, summarise

if TYPE_CHECKING:
    from mloml.experiments.study import StudyResult

REFERENCE, EUCLIDEAN = "mloml_r", "euclidean"


def build(result: StudyResult) -> Artefact:
    """Return Table II from the cells there are."""
    labels = labels_of(result)
    results = summarise(result.frame, labels, REFERENCE)
    compared = compare_with_paper(results, paper.table2(), paper.table2_counts(), "Table II", result.finished)
    grid = build_grid(results, "tab:table2")
    selections = selections_frame(result.records, labels)
    ranking, rank_tables, rank_figures = rank(results, result.finished)
    values = {
        **compared.values,
        "marked": REFERENCE in labels.algorithms,
        "absent": [row for row in paper.DATASETS if row not in labels.datasets.values()],
        "uncounted": uncounted_frame(results),
        "ranking": ranking,
        "selections_grid": selections_grid(selections, labels),
        "closeness": closeness(selections, paper.table2()),
    }
    counts, tests = count_tables(results)
    tables = (
        Table("table2", grid, RECIPE.title, latex=grid),
        *compared.tables,
        counts,
        *rank_tables,
        Table("selections", selections, "Three ways of choosing the step size"),
        tests,
    )
    return Artefact(values, tables, (*compared.figures, *rank_figures))


def uncounted_frame(results: Results) -> pd.DataFrame:
    """Compare every learner with Euclidean distance on the data sets that the table does not count."""
    learners = [name for name in results.labels.algorithms if name != EUCLIDEAN]
    gains = gains_of(results, {name: {"learning": (EUCLIDEAN, name)} for name in learners})
    shown = gains[~gains["counted"].astype(bool)].sort_values("dataset", kind="stable")
    names = {"activation": "algorithm", "before": "Euclidean", "after": "error", "text": "gain"}
    shown = shown.assign(dataset=shown["dataset"].map(results.labels.datasets))
    return shown[["dataset", *names]].rename(columns=names)


def rank(results: Results, ready: bool) -> tuple[dict[str, Any], tuple[Table, ...], tuple[Figure, ...]]:
    """Rank the algorithms, unless the study has a single counted data set: there is nothing to rank over."""
    labels = results.labels
    if len(labels.counted) < 2 or len(labels.algorithms) < 2:
        return {}, (), ()
    ranking = ranking_of(results)
    titles = labels.starred(labels.algorithms)
    draw = partial(critical_difference_figure, ranking, titles)
    return (
        ranking_values(results, ranking),
        (Table("ranks", ranks_frame(results, ranking, REFERENCE), "Mean ranks"),),
        (Figure("critical_difference", draw, "Critical-difference diagram", ready=ready),),
    )


RECIPE = Recipe(
    "table2",
    "Table II: error rates of all algorithms",
    "Mean and standard deviation of the 5-NN test error over the splits.",
    build,
)
