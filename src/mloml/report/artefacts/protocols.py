"""Two protocols side by side: which conclusions of Table II stay without the paper's accidents."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pandas as pd

from mloml.config.lookup import learner_class
from mloml.config.schema import Algorithm, Study
from mloml.experiments.preprocessing import needs_pca
from mloml.experiments.selection import unused_parameters
from mloml.experiments.study import StudyResult
from mloml.paper.statistics import win_tie_loss
from mloml.report.artefacts.table2 import REFERENCE
from mloml.report.document import Artefact, Table
from mloml.report.labels import labels_of, row_name
from mloml.report.recipe import Recipe
from mloml.report.tables import Results, summarise

COLUMNS = (
    "dataset", "algorithm", "paper_mean", "clean_mean", "paper_mark", "clean_mark", "same",
    "paper_mark_corrected", "clean_mark_corrected", "same_corrected", "differs_by",
)  # fmt: skip
SAME = {"same": "same conclusion", "same_corrected": "same by the corrected test"}
# What differs where the two protocols use different variants of a data set.
ACCIDENTS = {"spect": "spect's label", "mlprove": "mlprove's labels among its features"}
PCA = "how PCA is fitted"

# From an algorithm and the data sets of a row to what differs between the protocols.
WhatDiffers = Callable[[str, tuple[str, str]], list[str]]


def build(paper_result: StudyResult, clean_result: StudyResult) -> Artefact:
    """Return what Table II says under each protocol, side by side."""
    paper, clean = (summarise(r.frame, labels_of(r), REFERENCE) for r in (paper_result, clean_result))
    return compare(paper, clean, partial(what_differs, (paper_result.study, clean_result.study)))


def compare(paper: Results, clean: Results, differs: WhatDiffers) -> Artefact:
    """Return both protocols' conclusions side by side, and those that change."""
    conclusions = conclusions_frame(paper, clean, differs)
    can_change = conclusions[conclusions["differs_by"] != ""]
    rows = dict.fromkeys(row_name(name) for results in (paper, clean) for name in results.labels.counted)
    counts = {
        column: counts_frame(can_change, column)
        for column in ("algorithm", "differs_by", "paper_mark", "paper_mark_corrected")
    }
    reasons = counts["differs_by"].rename(columns={"differs_by": "what differs"})
    values = {
        "compared": len(conclusions),
        "can_change": len(can_change),
        "same": int((can_change["same"] == "yes").sum()),
        "counts": counts,
        "changed": can_change.loc[can_change["same"] == "no", [*COLUMNS[:6], "differs_by"]],
        "absent": [row for row in rows if row not in set(conclusions["dataset"])],
    }
    titles = dict(paper.labels.algorithms)
    tables = (
        Table("counts", counts["algorithm"].replace({"algorithm": titles}), "Win/tie/loss of MLOML-r"),
        Table("reasons", reasons.drop(columns=["paper", "clean"]), "What differs"),
        Table("conclusions", conclusions, "Every comparison under both protocols"),
    )
    return Artefact(values, tables)


def conclusions_frame(paper: Results, clean: Results, differs: WhatDiffers) -> pd.DataFrame:
    """Return both conclusions on each row and algorithm; rows go by the paper's names.

    Only counted datasets that are complete under both protocols are compared. ``differs_by`` is empty where
    method and reference have the same errors in every split, so that the conclusion cannot change.
    """
    table = _marks(paper, "paper").merge(_marks(clean, "clean"), on=["dataset", "algorithm"])
    for test in ("", "_corrected"):
        same = table[f"paper_mark{test}"] == table[f"clean_mark{test}"]
        table[f"same{test}"] = same.map({True: "yes", False: "no"})
    reasons = []
    for row in table.to_dict("records"):
        names, pair = (row["algorithm"], REFERENCE), (row["paper_set"], row["clean_set"])
        moved = [name for name in names if paper.errors[pair[0], name] != clean.errors[pair[1], name]]
        reasons.append(", ".join(dict.fromkeys(reason for name in moved for reason in differs(name, pair))))
    return table.assign(differs_by=reasons)[list(COLUMNS)]


def _marks(results: Results, name: str) -> pd.DataFrame:
    counted = results.comparisons[results.comparisons["dataset"].isin(results.labels.counted)]
    columns = {"mean": "mean", "mark": "mark_paired", "mark_corrected": "mark_corrected", "set": "dataset"}
    marks = {f"{name}_{column}": counted[source] for column, source in columns.items()}
    return pd.DataFrame(
        {"dataset": counted["dataset"].map(row_name), "algorithm": counted["algorithm"], **marks}
    )


def what_differs(studies: tuple[Study, Study], algorithm: str, pair: tuple[str, str]) -> list[str]:
    """Return what differs for a method on a row: the data, a setting that it uses, how PCA is fitted."""
    row = row_name(pair[0])
    variant = [ACCIDENTS.get(row, f"another variant of {row}")] if pair[0] != pair[1] else []
    mine, other = (next(a for a in study.algorithms if a.name == algorithm) for study in studies)
    one, two = _settings(mine), _settings(other)
    settings = [
        f"{mine.title}'s {name} ({one.get(name)}, {two.get(name)})"
        for name in dict.fromkeys([*one, *two])
        if one.get(name) != two.get(name)
    ]
    features = next(config.features for config in studies[0].datasets if config.name == pair[0])
    pca = [study.protocol.pca for study in studies]
    fitted = pca[0] != pca[1] and (features is None or any(needs_pca(features, each) for each in pca))
    return [*variant, *settings, *([PCA] if fitted else [])]


def _settings(algorithm: Algorithm) -> dict[str, Any]:
    """Return the parameters and grids that the learner uses."""
    known = {name: value for name, value in algorithm.params.items() if value is not None}
    unused = unused_parameters(learner_class(algorithm.learner)(**known))
    grids = {f"grid of {name}": values for name, values in algorithm.grid.items() if name not in unused}
    return {name: value for name, value in algorithm.params.items() if name not in unused} | grids


def counts_frame(can_change: pd.DataFrame, by: str) -> pd.DataFrame:
    """Return win/tie/loss of the reference under both protocols, and how many conclusions stay."""
    rows = []
    for name, mine in can_change.groupby(by, sort=False):
        counts = (win_tie_loss(mine[f"{protocol}_mark"]) for protocol in ("paper", "clean"))
        same = (f"{(mine[column] == 'yes').sum()} of {len(mine)}" for column in SAME)
        rows.append((name, *counts, *same))
    return pd.DataFrame(rows, columns=[by, "paper", "clean", *SAME.values()])


RECIPE = Recipe(
    "protocols",
    "Two protocols side by side",
    "Which conclusions stay when nothing leaks.",
    build,
    variants={"paper": ("protocol=paper",), "clean": ("protocol=clean",)},
    experiment="table2",
)
