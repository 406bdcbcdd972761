"""Table III: BP, FBP and FP for three activations, and what the paper's text claims about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mloml import paper
from mloml.report.captions import caption
from mloml.report.document import Artefact, Block, Figure, Grid, Table, Text
from mloml.report.figures.curves import curve_frame
from mloml.report.labels import labels_of
from mloml.report.parts.agreement import agreement_picture
from mloml.report.parts.bp_rate import QUESTION, compare_rates
from mloml.report.parts.convergence import compare_convergence
from mloml.report.parts.cost import cost_sentence, cost_table
from mloml.report.parts.curves import points_table
from mloml.report.parts.paper_comparison import compare_with_paper, shared_sentence
from mloml.report.parts.strategies import STRATEGIES, activations, references, strategy_of
from mloml.report.parts.strictness import count_tables, strictness_sentence
from mloml.report.recipe import Recipe
from mloml.report.tables import Results, build_grid, summarise

if TYPE_CHECKING:
    import pandas as pd

    from mloml.config.schema import Study
    from mloml.experiments.study import StudyResult


def build(result: StudyResult, cost: pd.DataFrame) -> Artefact:
    """Return Table III from the cells there are, and what a triplet costs under each strategy."""
    protocol = result.study.protocol
    names = [algorithm.name for algorithm in result.study.algorithms]
    titles = activations(names)
    labels = labels_of(result, {name: titles[strategy_of(name)[0]] for name in names})
    results = summarise(result.frame, labels, references(names))
    wrong_markers = caption("table3_wrong_markers")
    agreement, compared = compare_with_paper(
        results, paper.table3(), paper.table3_counts(), "Table III", [wrong_markers]
    )
    picture = agreement_picture(compared[1].numbers, labels, "Table III", result.finished)
    rate_headline, rate, bp_rate = compare_rates(results, protocol.bp_rate)
    speed, convergence, scans, splits = compare_convergence(result, labels)
    points = points_table(curve_frame(result.records, "scan_errors", "scan"), "scan")
    price = (cost_sentence(cost),)
    strictness = strictness_sentence(results, paper.table3())
    shared = shared_sentence(compared[1].frame, "Table III")
    grid = table3(results, protocol.name)
    page: tuple[Block, ...] = (
        grid,
        Text((strictness, "Every p-value is in tests.csv.")),
        Text((agreement, shared, wrong_markers), details="paper_comparison"),
        *picture,
        Text(rate, QUESTION, listed=True, details="bp_rate"),
        Text(speed, "Does FP speed up BP's convergence?", listed=True, details="convergence"),
        Text(price, "What does a triplet cost?", listed=True, details="cost"),
    )
    main = Table("table3", RECIPE.title, grid, page, latex=grid)
    return Artefact(
        " ".join(filter(None, (agreement, shared, rate_headline))),
        tuple(filter(None, (strictness, *rate, *speed, *price))),
        (
            main,
            *compared,
            *count_tables(results),
            bp_rate,
            convergence,
            cost_table(cost),
            scans,
            splits,
            points,
        ),
        (*picture, *(block for block in convergence.page if isinstance(block, Figure))),
    )


def table3(results: Results, protocol: str) -> Grid:
    """Return Table III in the paper's layout: BP, FBP and FP of each activation."""
    shown = [name for name in results.labels.algorithms if strategy_of(name)[1] != "bp_cv"]
    titles = {name: STRATEGIES[strategy_of(name)[1]] for name in shown}
    values = {"splits": results.labels.splits, "protocol": protocol}
    remarks = [caption("table3_marks", **values)]
    return build_grid(results, caption("table3", **values), "tab:table3", shown, titles, remarks)


def measure(study: Study) -> pd.DataFrame:
    """Time a triplet under each strategy."""
    from mloml.paper.timing.propagation import cost_per_triplet

    return cost_per_triplet()


RECIPE = Recipe(
    "table3",
    "Table III: propagation strategies",
    "BP, FBP and FP with ReLU, sigmoid and tanh.",
    build,
    before=measure,
)
