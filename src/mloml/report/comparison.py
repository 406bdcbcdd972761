"""The paper's numbers beside ours: verdicts counted, conclusions compared, every difference drawn."""

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import pandas as pd

from mloml import paper
from mloml.paper.comparison import AGREES, HIGHER, KNOWN_DRAWS, LOWER, UNKNOWN_DRAWS
from mloml.paper.interpretations import count_by_look
from mloml.paper.published import OWN, draws
from mloml.paper.statistics import surviving
from mloml.report.document import Figure, Grid, Table, number
from mloml.report.figures.comparisons import agreement_figure, agreement_numbers
from mloml.report.labels import Labels
from mloml.report.tables import Results, text_grid

ARROWS = {LOWER: "↓", HIGHER: "↑"}
KINDS = ("the paper's own methods", "published baselines", "reconstructions")
# The note of an algorithm that we rebuilt without its own paper.
RECONSTRUCTION = "reconstruction"
# The control: the same tests with a column of the paper that is another method's.
CONTROL, EUCLIDEAN_CONTROL = "{}, another of their columns", "Euclidean distance, columns of {}"


class Comparison(NamedTuple):
    """What an artefact shows of the comparison with the paper; ``values`` are for ``comparison.md``."""

    verdicts: pd.DataFrame
    values: dict[str, Any]
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...]


def compare_with_paper(
    results: Results, published: pd.DataFrame, printed_counts: pd.DataFrame, name: str, ready: bool
) -> Comparison:
    """Compare complete cells with the paper's.

    Parameters
    ----------
    results : Results
    published, printed_counts : DataFrame
        The paper's table and its win/tie/loss row (:mod:`mloml.paper`).
    name : str
        "Table II", say.
    ready : bool
        Whether the figure can be drawn.
    """
    labels = results.labels
    verdicts = paper.compare_means(
        results.complete, results.comparisons, published, drawn_anew=labels.regenerated, draws=draws()
    )
    kinds, interpretations = kinds_of(verdicts, labels.notes), count_by_look(verdicts)
    worth, gains = worth_of(verdicts, kinds), paper.compare_gains(verdicts, results.errors)
    differing = gains[gains["verdict"] != AGREES].drop(columns=["verdict"])
    notes = verdicts["note"].astype(str).str
    values = {
        "printed_table": name,
        "agreement": agreement_counts(verdicts),
        "control": worth.set_index("our means beside").to_dict("index").get(CONTROL.format(KINDS[0]), {}),
        "gains": len(gains),
        "other_gains": differing.assign(dataset=differing["dataset"].map(labels.starred(labels.datasets))),
        "conclusions": paper.compare_conclusions(verdicts, printed_counts),
        "significant": significant_counts(results, published),
        "interpretations": {
            "questions": len(interpretations) - 1,
            **dict(zip(("tried", "decided", "seen", "unseen"), interpretations.iloc[-1, 1:], strict=True)),
        },
        "other_draws": int(notes.contains(KNOWN_DRAWS, regex=False).sum()),
        "unknown_draws": int(notes.contains(UNKNOWN_DRAWS, regex=False).sum()),
    }
    label = f"tab:{name.lower().replace(' ', '-')}-paper"
    grid = comparison_grid(results, verdicts, label)
    tables = (
        Table("paper_comparison_counts", paper.verdict_counts(verdicts), "Verdicts by algorithm"),
        Table("paper_comparison", verdicts, "Ours (the paper's)", latex=grid),
        Table("paper_comparison_kinds", kind_counts(verdicts, kinds), "Verdicts by kind of method"),
        Table("agreement_worth", worth, "What agreement is worth"),
        *([Table("gains_over_euclidean", gains, "Gains over Euclidean distance")] if len(gains) else []),
        Table("readings", interpretations, "Interpretations of the paper, and how cells agree"),
    )
    return Comparison(verdicts, values, tables, _agreement(verdicts, labels, name, ready))


def agreement_counts(verdicts: pd.DataFrame) -> dict[str, int]:
    """Count compared cells by their verdict."""
    found = verdicts["verdict"]
    counts = {"agrees": AGREES, "lower": LOWER, "higher": HIGHER}
    return {"cells": len(found), **{name: int((found == verdict).sum()) for name, verdict in counts.items()}}


def kinds_of(verdicts: pd.DataFrame, notes: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the compared algorithms by kind."""
    rebuilt = {name for name, note in notes.items() if RECONSTRUCTION in note}
    places = {n: 0 if n.startswith(OWN) else 1 + (n in rebuilt) for n in verdicts["algorithm"]}
    return {KINDS[k]: [n for n in places if places[n] == k] for k in sorted({*places.values()})}


def kind_counts(verdicts: pd.DataFrame, kinds: Mapping[str, list[str]]) -> pd.DataFrame:
    """Count verdicts separately for each kind of method."""
    parts = [verdicts[verdicts["algorithm"].isin(names)].assign(algorithm=k) for k, names in kinds.items()]
    return paper.verdict_counts(pd.concat([verdicts[:0], *parts])).rename(columns={"algorithm": "kind"})


def worth_of(verdicts: pd.DataFrame, kinds: Mapping[str, list[str]]) -> pd.DataFrame:
    """Return what agreement is worth by kind of method, and in wrong columns of the paper."""
    groups = {kind: verdicts[verdicts["algorithm"].isin(names)] for kind, names in kinds.items()}
    controls = {CONTROL.format(k): paper.other_columns(verdicts, names, names) for k, names in kinds.items()}
    groups |= {"all": verdicts, **controls}
    groups |= {EUCLIDEAN_CONTROL.format(KINDS[0]): paper.other_columns(verdicts, ["euclidean"], OWN)}
    return paper.agreement_worth(groups)


def significant_counts(results: Results, published: pd.DataFrame) -> pd.DataFrame:
    """Count comparisons that are significant by the paper's test, and those that stricter tests confirm.

    Comparisons that the paper has as well are counted apart from those that are only ours.
    """
    compared = results.comparisons[results.comparisons["dataset"].isin(results.labels.counted)]
    printed = set(zip(published["dataset"], published["algorithm"], strict=True))
    pairs = zip(compared["dataset"].map(paper.paper_row), compared["algorithm"], strict=True)
    in_paper = pd.Series([pair in printed for pair in pairs], index=compared.index, dtype=bool)
    rows = []
    for where, part in (("in the paper too", compared[in_paper]), ("only here", compared[~in_paper])):
        if len(part):
            corrected, paired = surviving(part, "mark_corrected")
            rows.append((where, len(part), paired, corrected, surviving(part, "mark_holm")[0]))
    tests = ["paired t-test", "corrected t-test", "Wilcoxon's test, Holm"]
    return pd.DataFrame(rows, columns=["comparisons", "number", *tests])


def comparison_grid(results: Results, verdicts: pd.DataFrame, label: str) -> Grid:
    """Lay the comparison out like the table it is about; datasets without a printed row are left out."""
    cells = {
        (cell["dataset"], cell["algorithm"]): f"{number(cell['our_mean'])} ({number(cell['paper_mean'])})"
        + ARROWS.get(cell["verdict"], "")
        for cell in verdicts.to_dict("records")
    }
    rows = [name for name in results.labels.counted if paper.paper_row(name) is not None]
    return text_grid(results.labels, label, cells, rows)


def _agreement(verdicts: pd.DataFrame, labels: Labels, name: str, ready: bool) -> tuple[Figure, ...]:
    """Return the figure of every difference; none before there is anything to compare."""
    shown = verdicts[verdicts["dataset"].isin(labels.counted)]
    if shown.empty:
        return ()
    datasets = labels.starred(row for row in labels.counted if row in set(shown["dataset"]))
    algorithms = {
        column: title.replace(" ", "\n")
        for column, title in labels.starred(labels.algorithms).items()
        if column in set(shown["algorithm"])
    }
    numbers = agreement_numbers(shown)
    draw = partial(agreement_figure, numbers, datasets, algorithms)
    return (Figure("agreement", draw, f"{name}: our errors minus the paper's", numbers, ready),)
