"""Table II: every algorithm on every dataset, with tests, ranks and the comparison with the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from mloml import paper
from mloml.experiments.selection import choose_per_dataset, choose_per_split, oracle
from mloml.paper.statistics import Ranking, holm, outcome, wilcoxon
from mloml.report.comparison import compare_with_paper
from mloml.report.document import Artefact, Figure, Grid, Table, number
from mloml.report.figures.comparisons import critical_difference_figure
from mloml.report.gains import gains_of
from mloml.report.labels import Labels, labels_of
from mloml.report.recipe import Recipe
from mloml.report.tables import (
    Results,
    build_grid,
    count_tables,
    ranking_of,
    ranking_values,
    summarise,
    text_grid,
)  # fmt: skip

if TYPE_CHECKING:
    from mloml.experiments.study import StudyResult

REFERENCE, EUCLIDEAN = "mloml_r", "euclidean"
RANKS = [
    "algorithm", "mean_rank", "difference_to_reference", "critical_difference", "nemenyi",
    "p_wilcoxon", "p_holm", "wilcoxon_holm",
]  # fmt: skip
# Three ways to choose the step size, from the same cells.
SELECTIONS = {"per_split": "per split", "per_dataset": "one per dataset", "oracle": "oracle, not achievable"}
CHOOSE = {"per_split": choose_per_split, "per_dataset": choose_per_dataset, "oracle": oracle}


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


def rank(
    results: Results, ready: bool, reference: str = REFERENCE
) -> tuple[dict[str, Any], tuple[Table, ...], tuple[Figure, ...]]:
    """Rank the algorithms, unless the study has a single counted data set: there is nothing to rank over."""
    labels = results.labels
    if len(labels.counted) < 2 or len(labels.algorithms) < 2:
        return {}, (), ()
    ranking = ranking_of(results)
    titles = labels.starred(labels.algorithms)
    draw = partial(critical_difference_figure, ranking, titles)
    return (
        ranking_values(results, ranking),
        (Table("ranks", ranks_frame(results, ranking, reference), "Mean ranks"),),
        (Figure("critical_difference", draw, "Critical-difference diagram", ready=ready),),
    )


def ranks_frame(results: Results, ranking: Ranking, reference: str) -> pd.DataFrame:
    """Return the mean ranks, and whether each differs from the reference's.

    Two tests over datasets (Demšar 2006): Nemenyi's, which the diagram draws, and Wilcoxon's of the mean
    errors with Holm's correction. Marks speak of the reference; without it in the ranking they are empty.
    """
    means, critical = results.means().reindex(index=list(ranking.datasets)), ranking.critical_difference
    table = ranking.ranks.rename_axis("algorithm").to_frame("mean_rank").assign(critical_difference=critical)
    table["difference_to_reference"] = table["mean_rank"] - ranking.ranks.get(reference, nan)
    others = [name for name in table.index if reference in table.index and name != reference]
    tests = [wilcoxon(means[name], means[reference]) for name in others]
    p_values = [test.p_value for test in tests]
    tested = pd.DataFrame({"p_wilcoxon": p_values, "p_holm": holm(p_values)}, index=others, dtype=float)
    pairs = zip(tests, tested["p_holm"], strict=True)
    tested["wilcoxon_holm"] = [outcome(test.difference, p) for test, p in pairs]
    beyond = table["difference_to_reference"][others]
    tested["nemenyi"] = [outcome(difference, abs(difference) <= critical) for difference in beyond]
    table, marks = table.join(tested), ["wilcoxon_holm", "nemenyi"]
    table[marks] = table[marks].astype(object).fillna("")
    return table.reset_index()[RANKS]


def selections_frame(records: Sequence[Mapping[str, Any]], labels: Labels) -> pd.DataFrame:
    """Return mean and deviation of the test error under each selection, for complete cells with a choice."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for record in records:
        groups.setdefault((record["dataset"], record["algorithm"]), []).append(dict(record))
    rows = []
    for dataset in labels.datasets:
        for algorithm in labels.algorithms:
            mine = sorted(groups.get((dataset, algorithm), []), key=lambda record: record["split"])
            if len(mine) == labels.splits and max(len(record["grid"]) for record in mine) > 1:
                errors = (np.array([choice.error for choice in choose(mine)]) for choose in CHOOSE.values())
                found = ((part.mean(), part.std(ddof=1) if len(part) > 1 else nan) for part in errors)
                rows.append((dataset, algorithm, len(mine), *chain(*found)))
    columns = [f"{name}_{part}" for name in SELECTIONS for part in ("mean", "std")]
    return pd.DataFrame(rows, columns=["dataset", "algorithm", "splits", *columns])


def closeness(selections: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Compare each selection with the paper: if it is the paper's, the mean z² is near 1."""
    groups = {}
    for name, title in SELECTIONS.items():
        means = selections.rename(columns={f"{name}_mean": "mean", f"{name}_std": "std"})
        groups[title] = paper.compare_means(means, pd.DataFrame(), published)
    return paper.agreement_worth(groups, "step size chosen")


def selections_grid(selections: pd.DataFrame, labels: Labels) -> Grid:
    """Return the three means of every dataset and algorithm in one entry."""
    cells = {
        (cell["dataset"], cell["algorithm"]): " / ".join(number(cell[f"{name}_mean"]) for name in SELECTIONS)
        for cell in selections.to_dict("records")
    }
    return text_grid(labels, "tab:selections", cells)


RECIPE = Recipe(
    "table2",
    "Table II: error rates of all algorithms",
    "Mean and standard deviation of the 5-NN test error over the splits.",
    build,
)
