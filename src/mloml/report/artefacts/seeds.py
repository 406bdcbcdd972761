"""Table II from two seeds: how many verdicts hang on which random halves were drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from mloml import paper
from mloml.paper.comparison import AGREES, SIDES, VERDICTS
from mloml.paper.statistics.compare import OUTCOMES, win_tie_loss
from mloml.report.artefacts.table2 import REFERENCE
from mloml.report.captions import caption
from mloml.report.document import Artefact, Block, Grid, Table, Text, number
from mloml.report.labels import labels_of
from mloml.report.parts.paper_comparison import ARROWS
from mloml.report.recipe import Recipe
from mloml.report.tables import Results, summarise, text_grid

if TYPE_CHECKING:
    from mloml.experiments.study import StudyResult

TESTS = {"our_mark": "by the paper's paired test", "our_mark_corrected": "by the corrected test"}
KEY = ["dataset", "algorithm"]


def build(first: StudyResult, second: StudyResult) -> Artefact:
    """Return what Table II says from each seed, side by side."""
    seeds = (first.study.protocol.seed, second.study.protocol.seed)
    one, other = (summarise(result.frame, labels_of(result), REFERENCE) for result in (first, second))
    return compare(one, other, seeds)


def compare(first: Results, second: Results, seeds: tuple[int, int]) -> Artefact:
    """Put both seeds' verdicts and conclusions side by side."""
    both = seeds_frame(first, second)
    findings = tuple(filter(None, (conclusions_sentence(both, seeds, column) for column in TESTS)))
    changes = [change_table(both, column) for column in ("verdict", *TESTS)]
    grid = seeds_grid(both, first, seeds)
    page: tuple[Block, ...] = (
        Text((caption("seeds", first=seeds[0], second=seeds[1]),)),
        grid,
        Text(heading="Agreement with the paper"),
        changes[0],
        *(
            block
            for column, words in zip(TESTS, changes[1:], strict=True)
            for block in (Text(heading=f"Win, tie or loss of MLOML-r {TESTS[column]}"), words)
        ),
    )
    tables = (
        Table("seeds", RECIPE.title, grid, page, latex=grid),
        Table("both", "Every cell from both seeds", both),
    )
    return Artefact(verdicts_sentence(both, seeds), findings, tables)


def seeds_frame(first: Results, second: Results) -> pd.DataFrame:
    """Return the cells that both seeds and the paper have; the second seed's columns end in ``_2``."""
    sides = [
        paper.compare_means(
            side.complete,
            side.comparisons,
            paper.table2(),
            drawn_anew=side.labels.regenerated,
            draws=paper.draws(),
        )[[*KEY, "paper_mean", "our_mean", "verdict", *SIDES]]
        for side in (first, second)
    ]
    again = sides[1].drop(columns=["paper_mean", "paper_mark"])
    return sides[0].merge(again, on=KEY, how="inner", suffixes=("", "_2"), validate="one_to_one")


def verdicts_sentence(both: pd.DataFrame, seeds: tuple[int, int]) -> str:
    """Say how many verdicts on agreement with the paper are the same from both seeds."""
    if both.empty:
        return "No cell is complete from both seeds yet."
    agree, again = (both[column] == AGREES for column in ("verdict", "verdict_2"))
    same = int((both["verdict"] == both["verdict_2"]).sum())
    return (
        f"{same} of {len(both)} verdicts on agreement with the paper are the same from seed {seeds[0]} and "
        f"seed {seeds[1]}: {int(agree.sum())} and {int(again.sum())} cells agree, "
        f"{int((agree & again).sum())} from both, {int((agree | again).sum())} from at least one."
    )


def conclusions_sentence(both: pd.DataFrame, seeds: tuple[int, int], column: str) -> str:
    """Say how many conclusions on MLOML-r are the same from both seeds, by one test."""
    known = both[(both[column] != "") & (both[f"{column}_2"] != "")]
    if known.empty:
        return ""
    mine, again = known[column], known[f"{column}_2"]
    same = int((mine == again).sum())
    turned = int(((mine != again) & (mine != "tie") & (again != "tie")).sum())
    found = mine != "tie"  # ties are many, and stay easily
    return (
        f"Win, tie or loss of MLOML-r {TESTS[column]} is the same in {same} of {len(known)} comparisons: "
        f"{win_tie_loss(mine)} from seed {seeds[0]}, {win_tie_loss(again)} from seed {seeds[1]}; of the "
        f"{int(found.sum())} that are no tie from seed {seeds[0]}, {int((found & (mine == again)).sum())} "
        f"stay; {turned} turn from win to loss or back."
    )


def change_table(both: pd.DataFrame, column: str) -> pd.DataFrame:
    """Count the first seed's answers (rows) by the second seed's (columns)."""
    words = list(VERDICTS if column == "verdict" else OUTCOMES)
    known = both[(both[column] != "") & (both[f"{column}_2"] != "")]
    rows = [
        (mine, *(int(((known[column] == mine) & (known[f"{column}_2"] == again)).sum()) for again in words))
        for mine in words
    ]
    return pd.DataFrame(rows, columns=["first seed \\ second seed", *words])


def seeds_grid(both: pd.DataFrame, results: Results, seeds: tuple[int, int]) -> Grid:
    """Lay both means out like Table II, with an arrow where one differs from the paper's."""
    cells = {
        (cell["dataset"], cell["algorithm"]): " / ".join(
            number(cell[f"our_mean{end}"]) + ARROWS.get(cell[f"verdict{end}"], "") for end in ("", "_2")
        )
        for cell in both.to_dict("records")
    }
    rows = [name for name in results.labels.counted if paper.paper_row(name) is not None]
    title = f"Mean errors from seed {seeds[0]} / seed {seeds[1]}."
    return text_grid(results.labels, title, "tab:seeds", cells, caption("seeds_arrows"), rows)


RECIPE = Recipe(
    "seeds",
    "Table II from two seeds",
    "The same study with other random halves, folds and orders of the rows.",
    build,
    variants={"seed0": ("protocol.seed=0",), "seed1": ("protocol.seed=1",)},
    in_all=False,
)
