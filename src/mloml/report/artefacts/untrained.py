"""The untrained control: which part of each gain of a stack over Euclidean distance is learning."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pandas as pd

from mloml import paper
from mloml.paper.statistics import Gain
from mloml.report.document import Artefact, Table
from mloml.report.gains import count_gains, gains_of, one_row_each
from mloml.report.labels import labels_of
from mloml.report.recipe import Recipe
from mloml.report.tables import Results, build_grid, summarise

if TYPE_CHECKING:
    from mloml.experiments.study import StudyResult

ENDING = "_untrained"
EUCLIDEAN = "euclidean"
SHALLOW = ("moml", "moml_split")
# Published gains below this are 0 as printed.
SMALLEST = 0.0005


def build(result: StudyResult) -> Artefact:
    """Return each stack beside its untrained self, from the cells there are."""
    titles = {algorithm.name: algorithm.title for algorithm in result.study.algorithms}
    bases = stacks(titles)
    groups = {name: titles[base] for base in bases for name in (f"{base}{ENDING}", base)}
    labels = labels_of(result, groups)
    results = summarise(result.frame, labels, {f"{base}{ENDING}": base for base in bases})
    columns = {**titles, **{name: "untrained" if name.endswith(ENDING) else "trained" for name in groups}}
    grid = build_grid(results, "tab:untrained", titles=columns)
    steps = steps_of(results, bases)
    gains = gains_frame(steps, results)
    shown = one_row_each(steps, results, {}, ["text"], "{step}").drop(columns="counted")
    values = {
        "total": count_gains(steps, ["step"]).set_index("step").to_dict("index"),
        "steps": count_gains(steps, ["activation", "step"]),
        "published": published_counts(gains),
        "gains": shown.assign(
            dataset=shown["dataset"].map(labels.starred(labels.datasets)), published=gains["published_gain"]
        ),
    }
    tables = (
        Table("untrained", grid, RECIPE.title, latex=grid),
        Table("gains", gains, "How much of each gain is learning?"),
    )
    return Artefact(values, tables)


def stacks(algorithms: Iterable[str]) -> list[str]:
    """Return the algorithms of which there is an untrained version as well, in their order.

    >>> stacks(["euclidean", "mloml_s_untrained", "mloml_s", "mloml_r"])
    ['mloml_s']
    """
    known = list(algorithms)
    return [name for name in known if f"{name}{ENDING}" in known]


def steps_of(results: Results, bases: Iterable[str]) -> pd.DataFrame:
    """Return what an untrained stack gains, what learning adds, and the whole gain, on each data set."""
    return gains_of(
        results,
        {
            base: {
                "untrained": (EUCLIDEAN, f"{base}{ENDING}"),
                "learning": (f"{base}{ENDING}", base),
                "whole": (EUCLIDEAN, base),
            }
            for base in bases
        },
    )


def gains_frame(steps: pd.DataFrame, results: Results) -> pd.DataFrame:
    """Return every number: mean errors, the paper's gain, and each step with its interval and both tests."""
    errors = {"euclidean": EUCLIDEAN, "untrained": f"{{}}{ENDING}", "trained": "{}"}
    errors |= {name: name for name in SHALLOW}
    frame = one_row_each(steps, results, errors, Gain._fields[2:], "{step}_{part}")
    printed = paper.table2().set_index(["dataset", "algorithm"])["error"].to_dict()
    rows = zip(frame["dataset"].map(paper.paper_row), frame["activation"], strict=True)
    published = [
        round(printed[row, EUCLIDEAN] - printed[row, base], 3) if (row, base) in printed else None
        for row, base in rows
    ]
    frame.insert(2 + len(errors), "published_gain", published)
    return frame


def published_counts(gains: pd.DataFrame) -> dict[str, int]:
    """Count the gains that the paper reports, by which step is significant here (corrected test)."""
    if gains.empty:
        return {}
    reported = gains[gains["counted"].astype(bool) & (gains["published_gain"] >= SMALLEST)]
    untrained, learning = (reported[f"{step}_mark_corrected"] == "win" for step in ("untrained", "learning"))
    counts = {"untrained": untrained, "learning": learning, "both": untrained & learning}
    counts["neither"] = ~(untrained | learning)
    return {"gains": len(reported), **{name: int(found.sum()) for name, found in counts.items()}}


RECIPE = Recipe(
    "untrained",
    "The untrained control: how much of each gain is learning?",
    "Euclidean distance, a stack that never learns, and the same stack trained.",
    build,
)
