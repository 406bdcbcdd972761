"""How many layers: a chosen depth against fixed ones, stacks of batch learners against their first layer."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from mloml.experiments.study import StudyResult
from mloml.paper.published import DATASETS
from mloml.paper.statistics import Pair
from mloml.report.artefacts import beyond
from mloml.report.artefacts.beyond import EUCLIDEAN, SCALINGS, STACKS, Scaled
from mloml.report.document import Artefact, Figure, Table
from mloml.report.figures.comparisons import depths_figure
from mloml.report.recipe import Recipe

FIXED = (1, 3, 5)
AUTO = {f"{name}_auto": name for name in STACKS}
TITLES = dict(zip(STACKS, ("MLOML-r", "MLOML-s", "MLOML-t"), strict=True))
# Data sets of beyond that took part in a trial before the rule was written.
TRIAL = {"glass", "vehicle", "sonar", "vowel", "bands", "newthyroid", "segment", "banknote", "haberman"}
# What a chosen depth is compared with, by the end of its name.
AGAINST = {"1": "one layer", "3": "three layers", "5": "five layers", EUCLIDEAN: "Euclidean distance"}
GROUPS = ("new", "untouched", "all")
# The tests of ``docs/depth.md``, and what it fixed for errors that are smaller, larger, and neither.
FAMILIES = {
    "depth": [
        Pair(auto, reference)
        for auto, name in AUTO.items()
        for reference in (*(f"{name}_{depth}" for depth in FIXED), EUCLIDEAN)
    ],
    "batch": [
        Pair("kissme_3", "kissme_1"), Pair("lmnn_3", "lmnn_1"), Pair("lmdml_3", "lmdml_1"),
        Pair("kissme_moml", "kissme_1"),
    ],
}  # fmt: skip
SAID = {
    "depth": ["choosing helps", "choosing harms", "no difference is shown"],
    "batch": ["layers help", "layers harm", "no difference is shown"],
}


def build(unit: StudyResult, standardised: StudyResult) -> Artefact:
    """Return the answers that the rule gives, with the tests and choices behind them."""
    studies = [with_fixed_depths(beyond.scaled(result)) for result in (unit, standardised)]
    titles = {**studies[0].labels.algorithms, **studies[1].labels.algorithms}
    over, on_sets = beyond.stacked(map(carry_out, studies))
    choices = pd.concat([choices_frame(study) for study in studies], ignore_index=True)
    said = {f"{t}_{group}": answers(over, t, group, titles) for t in FAMILIES for group in GROUPS}
    verdicts = said["depth_new"].groupby("verdict").size()
    values: dict[str, Any] = {
        "sets": {group: len(members(studies[0], group)) for group in GROUPS},
        "studies": {study.name: SCALINGS[study.name] for study in studies},
        "counts": {words: int(verdicts.get(words, 0)) for words in SAID["depth"]},
        "helped": helped(over),
        "means": pd.concat([means_frame(study) for study in studies], ignore_index=True),
        "shares": shares_frame(choices),
        "gaps": beyond.gaps_frame(*studies),
        **said,
    }
    tables = [Table("over_sets", over, "Tests over data sets"), Table("on_sets", on_sets, "Tests on each")]
    fixed = pd.concat([fixed_frame(study) for study in studies], ignore_index=True)
    tables.append(Table("fixed_depths", fixed, "Test error of every split with fixed depths"))
    marks = on_sets[(on_sets["group"] == "all") & (on_sets["reference"] == EUCLIDEAN)]
    for study in studies:
        grid = beyond.errors_grid(study, marks.assign(test=EUCLIDEAN))
        title = f"Mean errors on {SCALINGS[study.name]}"
        tables.append(Table(f"errors_{study.name}", grid, title, latex=grid))
    draw = partial(depths_figure, choices, studies[0].labels.datasets, SCALINGS, TITLES)
    ready = unit.finished and standardised.finished
    return Artefact(values, tuple(tables), (Figure("choices", draw, "Chosen depths", choices, ready),))


def with_fixed_depths(study: Scaled) -> Scaled:
    """Return the study with one, three and five layers as methods: entries of the grids of automatic cells.

    The step size is that with the smallest validation error at the depth, ties to the smaller.
    """
    errors: dict[str, Any] = {}
    titles: dict[str, str] = {}
    for name, title in study.labels.algorithms.items():
        for depth in FIXED if name in AUTO else ():
            fixed = f"{AUTO[name]}_{depth}"
            titles[fixed] = title.replace("auto", str(depth))
            errors[fixed] = {
                dataset: tuple(fixed_error(record, depth) for record in records_of(study, name, dataset))
                for dataset in study.errors[name]
            }
        errors[name], titles[name] = study.errors[name], title
    return replace(study, errors=errors, labels=replace(study.labels, algorithms=titles))


def records_of(study: Scaled, algorithm: str, dataset: str) -> list[dict[str, Any]]:
    """Return the records of all splits in their order."""
    mine = [r for r in study.result.records if (r["algorithm"], r["dataset"]) == (algorithm, dataset)]
    return sorted(mine, key=lambda record: int(record["split"]))


def fixed_error(record: Mapping[str, Any], depth: int) -> float:
    """Return the test error of a stack of so many layers, its step size chosen by cross-validation.

    >>> entries = [({"n_layers": 1, "gamma": 0.1}, 0.3, 0.5), ({"n_layers": 1, "gamma": 0.2}, 0.2, 0.4),
    ...            ({"n_layers": 3, "gamma": 0.1}, 0.1, 0.1)]
    >>> grid = [{"params": p, "cv_error": cv, "test_error": test} for p, cv, test in entries]
    >>> fixed_error({"grid": grid}, 1)
    0.4
    """
    entries = [entry for entry in record["grid"] if entry["params"]["n_layers"] == depth]
    return float(min(entries, key=lambda entry: (entry["cv_error"], entry["params"]["gamma"]))["test_error"])


def members(study: Scaled, group: str) -> list[str]:
    """Return the data sets of a group: those of beyond, those without the trial's, or all."""
    sets = [name for name in study.labels.datasets if name not in study.labels.missing]
    new = [name for name in sets if name not in DATASETS]
    return {"all": sets, "new": new, "untouched": [name for name in new if name not in TRIAL]}[group]


def carry_out(study: Scaled) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Carry out the tests of one study over each group of data sets, see ``compare_family``."""
    parts = []
    for group in GROUPS:
        sets = members(study, group)
        errors = {
            name: {dataset: found[dataset] for dataset in sets if dataset in found}
            for name, found in study.errors.items()
        }
        parts.append(beyond.carried_out(FAMILIES, errors, errors, study=study.name, group=group))
    return beyond.stacked(parts)


def answers(over: pd.DataFrame, test: str, group: str, titles: Mapping[str, str]) -> pd.DataFrame:
    """Return what the rule says of each pair of a test over a group, with the numbers behind it."""
    mine = over[(over["test"] == test) & (over["group"] == group)]
    titled = mine.replace({side: dict(titles) for side in Pair._fields})
    return beyond.answers_by(lambda _: SAID[test], titled)


def helped(over: pd.DataFrame) -> dict[str, int]:
    """Count the comparisons on new data sets in which choosing helps, by what it is compared with."""
    found = over[(over["test"] == "depth") & (over["group"] == "new") & (over["verdict"] == "smaller")]
    against = list(found["reference"].str.split("_").str[-1])
    return {words: against.count(end) for end, words in AGAINST.items()}


def means_frame(study: Scaled) -> pd.DataFrame:
    """Return the mean error over the data sets of a group on which all depths have one, by activation."""
    rows = []
    for auto, name in AUTO.items():
        depths = {"Euclidean": EUCLIDEAN, **{str(n): f"{name}_{n}" for n in FIXED}, "auto": auto}
        found = {heading: study.errors.get(each, {}) for heading, each in depths.items()}
        for group in GROUPS:
            sets = [d for d in members(study, group) if all(d in errors for errors in found.values())]
            table = np.array([[np.mean(errors[d]) for d in sets] for errors in found.values()])
            means = table.mean(axis=1) if sets else np.full(len(found), np.nan)
            rows.append((TITLES[name], SCALINGS[study.name], group, len(sets), *means))
    return pd.DataFrame(rows, columns=["algorithm", "study", "group", "sets", *depths])


def choices_frame(study: Scaled) -> pd.DataFrame:
    """Return how often each depth was chosen, as a share of the splits, by data set and activation."""
    rows = []
    for auto, name in AUTO.items():
        for dataset in study.errors.get(auto, {}):
            chosen = [int(record["chosen"]["n_layers"]) for record in records_of(study, auto, dataset)]
            shares = [chosen.count(depth) / len(chosen) for depth in range(FIXED[-1] + 1)]
            rows += [(study.name, name, dataset, depth, share) for depth, share in enumerate(shares)]
    return pd.DataFrame(rows, columns=["study", "algorithm", "dataset", "depth", "share"])


def fixed_frame(study: Scaled) -> pd.DataFrame:
    """Return the errors with fixed depths, a column per split: no ``cells.csv`` has them."""
    rows: list[tuple[object, ...]] = []
    for name in (f"{stack}_{depth}" for stack in STACKS for depth in FIXED):
        rows += [(study.name, name, dataset, *found) for dataset, found in study.errors.get(name, {}).items()]
    return pd.DataFrame(rows, columns=["study", "algorithm", "dataset", *range(study.labels.splits)])


def shares_frame(choices: pd.DataFrame) -> pd.DataFrame:
    """Return how often each depth was chosen over all data sets."""
    named = choices.replace({"study": SCALINGS, "algorithm": TITLES})
    means = named.pivot_table("share", ["algorithm", "study"], "depth", sort=False)
    return means.rename(columns=str).reset_index().rename_axis(columns=None)


RECIPE = Recipe(
    "depth",
    "How many layers",
    "A chosen depth against fixed ones, and stacks of batch learners against their first layer.",
    build,
    variants={"clean": ("protocol=clean",), "standardised": ("protocol=standardised",)},
    experiment="depth",
    in_all=False,
)
