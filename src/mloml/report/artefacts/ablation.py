"""One knob at a time: how far an error moves with each thing that the paper leaves open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from mloml.paper.statistics import Halves, complete_errors, on_each_set
from mloml.report.artefacts.differences import Knob, knobs_beside
from mloml.report.document import TRIAL_ONLY, Artefact, Table, number
from mloml.report.gains import signed
from mloml.report.recipe import Recipe

if TYPE_CHECKING:
    from mloml.experiments.study import StudyResult

COLUMNS = (
    "knob", "value", "algorithm", "dataset", "splits", "mean", "default_mean", "difference", "p_corrected",
    "verdict",
)  # fmt: skip
DEFAULT, SAME = "default", "unchanged"
# What is said of a value, from the outcome of its test against the default.
VERDICTS = {"win": "lower", "tie": "not significant", "loss": "higher"}
ARROWS = {"lower": "↓", "higher": "↑"}
KNOBS = knobs_beside(__file__)


def build(*results: StudyResult) -> Artefact:
    """Return every value beside its default; the results differ in what is done with tied votes."""
    errors: dict[str, Halves] = {}
    for result in results:
        found = complete_errors(result.frame, result.study.protocol.splits)
        ties = result.study.protocol.ties
        errors |= {name if ties == "smallest" else f"{name}_{ties}": halves for name, halves in found.items()}
    cases = cases_frame(KNOBS, errors)
    if results[0].study.protocol.is_trial:
        cases = cases.assign(verdict=TRIAL_ONLY)
    summary = summary_frame(cases, KNOBS)
    values = {
        "summary": summary,
        "cases": int(summary["sets"].sum()),
        "moved": int(cases["verdict"].isin(list(ARROWS)).sum()),
        "knobs": [(knob, means_frame(knob, cases)) for knob in KNOBS],
    }
    every = Table("ablation", cases, "Every value against the default")
    return Artefact(values, (every, Table("summary", summary, RECIPE.title)))


def cases_frame(knobs: Sequence[Knob], errors: Mapping[str, Halves]) -> pd.DataFrame:
    """Return a row for every value and method of a knob on each data set; the errors go by algorithm."""
    parts = [pd.DataFrame(columns=list(COLUMNS))]
    for knob in knobs:
        for value, methods in knob.values.items():
            for method, name in methods.items():
                mine, default = errors.get(name, {}), errors.get(knob.values[knob.default][method], {})
                table = on_each_set(mine, default).rename(columns={"reference_mean": "default_mean"})
                pairs = zip(table["dataset"], table["outcome"], strict=True)
                said = [SAME if mine[on] == default[on] else VERDICTS[outcome] for on, outcome in pairs]
                table["verdict"] = said if value != knob.default else DEFAULT
                parts.append(table.assign(knob=knob.name, value=value, algorithm=method))
    return pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)[list(COLUMNS)]


def summary_frame(cases: pd.DataFrame, knobs: Sequence[Knob]) -> pd.DataFrame:
    """Count the verdicts on every value but the defaults, and tell its largest difference."""
    rows: list[dict[str, Any]] = []
    for knob in knobs:
        others = cases[(cases["knob"] == knob.name) & (cases["value"] != knob.default)]
        for (value, method), mine in others.groupby(["value", "algorithm"], sort=False):
            row = {"knob": knob.title, "value": value, "algorithm": method, "sets": len(mine)}
            row |= {said: int((mine["verdict"] == said).sum()) for said in (SAME, *ARROWS)}
            top = max(mine.to_dict("records"), key=lambda case: abs(case["difference"]))
            rows.append(row | {"largest": signed(top["difference"]), "on": top["dataset"]})
    return pd.DataFrame(rows, columns=["knob", "value", "algorithm", "sets", SAME, *ARROWS, "largest", "on"])


def means_frame(knob: Knob, cases: pd.DataFrame) -> pd.DataFrame:
    """Return the mean errors of a knob's values, with an arrow where one differs from the default's."""
    mine = cases[cases["knob"] == knob.name]
    pairs = zip(mine["mean"], mine["verdict"], strict=True)
    mine = mine.assign(mean=[number(mean) + ARROWS.get(verdict, "") for mean, verdict in pairs])
    table = mine.pivot_table("mean", ["algorithm", "dataset"], "value", aggfunc="first", sort=False)
    return table.reindex(columns=list(knob.values)).reset_index()


ONLY = "algorithms=[euclidean,mloml_r]"
RECIPE = Recipe(
    "ablation",
    "One knob at a time",
    "How far an error moves with each thing that the paper leaves open.",
    build,
    variants={
        "ties_smallest": ("protocol.ties=smallest",),
        "ties_alphabetical": ("protocol.ties=alphabetical", ONLY),
        "ties_nearest": ("protocol.ties=nearest", ONLY),
    },
    in_all=False,
)
