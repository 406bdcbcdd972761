"""Table II: every algorithm on every dataset, with tests, ranks and the comparison with the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mloml import paper
from mloml.report.captions import caption
from mloml.report.document import Artefact, Block, Grid, Table, Text
from mloml.report.labels import labels_of
from mloml.report.parts.agreement import agreement_picture
from mloml.report.parts.below import below_sentences
from mloml.report.parts.paper_comparison import compare_with_paper
from mloml.report.parts.ranks import rank
from mloml.report.parts.readings import readings_sentence
from mloml.report.parts.selections import compare_selections
from mloml.report.parts.strictness import count_tables, strictness_sentence
from mloml.report.recipe import Recipe
from mloml.report.tables import Results, build_grid, summarise

if TYPE_CHECKING:
    from mloml.experiments.study import StudyResult

REFERENCE, REFERENCE_TITLE = "mloml_r", "MLOML-r"


def build(result: StudyResult) -> Artefact:
    """Return Table II from the cells there are."""
    labels = labels_of(result)
    results = summarise(result.frame, labels, REFERENCE)
    agreement, compared = compare_with_paper(results, paper.table2(), paper.table2_counts(), "Table II")
    picture = agreement_picture(compared[1].numbers, labels, "Table II", result.finished)
    ranks = rank(results, REFERENCE, result.finished)
    strictness = strictness_sentence(results, paper.table2())
    chosen = readings_sentence(compared[-1].frame)
    below = tuple(below_sentences(results))
    grid = table2(results, result.study.protocol.name)
    starred = labels.notes.keys() & labels.algorithms.keys()
    page: tuple[Block, ...] = (
        grid,
        Text((strictness, "Every p-value is in tests.csv.")),
        Text((agreement,), details="paper_comparison"),
        Text((chosen,), details="readings"),
        *picture,
        Text(below, heading="Below the rule" if below else "", listed=True),
        *ranks.page,
        Text(("*: see the footnotes of the table.",) if starred else ()),
        Text(("Step sizes can be chosen in other ways.",), details="selections"),
    )
    counts, tests = count_tables(results)
    selections = compare_selections(result.records, labels, paper.table2())
    main = Table("table2", RECIPE.title, grid, page, latex=grid)
    tables = (main, *compared, counts, *ranks.tables, selections, tests)
    findings = tuple(filter(None, (strictness, chosen, *below, ranks.sentence)))
    if not labels.counted:  # then what is below the rule is all there is
        agreement, findings = " ".join((agreement, *below)), ()
    return Artefact(agreement, findings, tables, (*picture, *ranks.figures))


def table2(results: Results, protocol: str) -> Grid:
    """Return Table II in the paper's layout."""
    known = REFERENCE in results.labels.algorithms
    absent = [row for row in paper.DATASETS if row not in {*results.labels.datasets.values()}]
    values = {"splits": results.labels.splits, "reference": REFERENCE_TITLE, "protocol": protocol}
    remark = f"No marks: {REFERENCE_TITLE} is not among the algorithms."
    remarks = [caption("table2_marks", **values) if known else remark]
    remarks += [f"Rows of the paper that were not asked for: {', '.join(absent)}."] if absent else []
    return build_grid(results, caption("table2", **values), "tab:table2", remarks=remarks)


RECIPE = Recipe(
    "table2",
    "Table II: error rates of all algorithms",
    "Mean and standard deviation of the 5-NN test error over the splits.",
    build,
)
