"""Table II from two seeds: how many verdicts depend on which random halves were drawn."""

import pandas as pd

from mloml import paper
from mloml.experiments.study import StudyResult
from mloml.paper.comparison import SIDES, VERDICTS
from mloml.paper.statistics import OUTCOMES
from mloml.report.artefacts.table2 import REFERENCE
from mloml.report.comparison import ARROWS
from mloml.report.document import TRIAL_ONLY, Artefact, Grid, Table, number
from mloml.report.labels import labels_of, row_name
from mloml.report.recipe import Recipe
from mloml.report.tables import Results, summarise, text_grid

# What each seed says of a cell: agreement with the paper, and win/tie/loss of MLOML-r by two tests.
ANSWERS = {"verdict": VERDICTS, "our_mark": OUTCOMES, "our_mark_corrected": OUTCOMES}
KEY = ["dataset", "algorithm"]


def build(first: StudyResult, second: StudyResult) -> Artefact:
    """Return what Table II says from each seed, side by side."""
    seeds = (first.study.protocol.seed, second.study.protocol.seed)
    one, other = (summarise(result.frame, labels_of(result), REFERENCE) for result in (first, second))
    return compare(one, other, seeds)


def compare(first: Results, second: Results, seeds: tuple[int, int]) -> Artefact:
    """Put both seeds' verdicts and conclusions side by side."""
    both = seeds_frame(first, second)
    if first.labels.trial:
        both = both.assign(verdict=TRIAL_ONLY, verdict_2=TRIAL_ONLY)
    grid = seeds_grid(both, first)
    same = int((both["verdict"] == both["verdict_2"]).sum())
    changes = {answer: change_table(both, answer) for answer in ANSWERS}
    sets = list(dict.fromkeys(both["dataset"].map(row_name)))
    values = {"seeds": seeds, "compared": len(both), "same": same, "changes": changes, "sets": sets}
    tables = (
        Table("seeds", grid, RECIPE.title, latex=grid),
        Table("both", both, "Every cell from both seeds"),
    )
    return Artefact(values, tables)


def compared(results: Results) -> pd.DataFrame:
    """Compare the means from one seed with the paper's."""
    drawn_anew = results.labels.regenerated
    ours = results.complete, results.comparisons
    return paper.compare_means(*ours, paper.table2(), drawn_anew=drawn_anew, draws=paper.draws())


def seeds_frame(first: Results, second: Results) -> pd.DataFrame:
    """Return the cells that both seeds and the paper have; the second seed's columns end in ``_2``."""
    columns = [*KEY, "paper_mean", "our_mean", "verdict", *SIDES]
    one, other = (compared(results)[columns] for results in (first, second))
    again = other.drop(columns=["paper_mean", "paper_mark"])
    return one.merge(again, on=KEY, how="inner", suffixes=("", "_2"), validate="one_to_one")


def change_table(both: pd.DataFrame, answer: str) -> pd.DataFrame:
    """Count the first seed's answers (rows) by the second seed's (columns)."""
    words = list(ANSWERS[answer])
    counts = pd.crosstab(both[answer], both[f"{answer}_2"]).reindex(index=words, columns=words, fill_value=0)
    return counts.rename_axis(index="first seed \\ second seed", columns=None).reset_index()


def seeds_grid(both: pd.DataFrame, results: Results) -> Grid:
    """Lay both means out like Table II, with an arrow where one differs from the paper's."""
    cells = {
        (cell["dataset"], cell["algorithm"]): " / ".join(
            number(cell[f"our_mean{end}"]) + ARROWS.get(cell[f"verdict{end}"], "") for end in ("", "_2")
        )
        for cell in both.to_dict("records")
    }
    rows = [name for name in results.labels.counted if paper.paper_row(name) is not None]
    return text_grid(results.labels, "tab:seeds", cells, rows)


RECIPE = Recipe(
    "seeds",
    "Table II from two seeds",
    "The same study with other random halves, folds and orders of the rows.",
    build,
    variants={"seed0": ("protocol.seed=0",), "seed1": ("protocol.seed=1",)},
    in_all=False,
)
