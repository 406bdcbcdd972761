"""Two runs of one study under different protocols: which cells differ, and by what."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import pandas as pd

from mloml.experiments.determinants import IRRELEVANT
from mloml.experiments.lookup import learner_class
from mloml.experiments.preprocessing import needs_pca
from mloml.experiments.selection import unused_parameters
from mloml.report.labels import Labels, labels_of, row_name

if TYPE_CHECKING:
    from mloml.config.schema import Algorithm, Study
    from mloml.experiments.study import StudyResult

ACCIDENTS = {"spect": "spect's label", "mlprove": "mlprove's labels among its features"}
"""What differs where the two runs use different variants of a data set."""
PCA = "how PCA is fitted"

Cells = dict[tuple[str, str], tuple[str, frozenset[str]]]


def differing_cells(first: StudyResult, second: StudyResult) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return why the cells of a row and algorithm can differ between two runs; others are left out.

    Cells with equal keys are the same. Others can differ by the variant of the data, by a setting that the
    learner uses, or by the protocol. Rows go by the paper's names; only counted datasets are looked at.
    """
    sides = [_cells(result.frame, labels_of(result)) for result in (first, second)]
    studies = (first.study, second.study)
    found = {}
    for key in sides[0]:
        if key in sides[1] and sides[0][key] != sides[1][key]:
            row, algorithm = key
            names = [side[key][0] for side in sides]
            other = [ACCIDENTS.get(row, f"another variant of {row}")] if names[0] != names[1] else []
            parts = [*other, *_settings(algorithm, *studies), *_protocol(names[0], *studies)]
            found[key] = tuple(parts)
    return {key: reasons for key, reasons in found.items() if reasons}


def _cells(frame: pd.DataFrame, labels: Labels) -> Cells:
    counted = frame[frame["dataset"].isin(labels.counted)]
    return {
        (row_name(str(dataset)), str(algorithm)): (str(dataset), frozenset(part["key"]))
        for (dataset, algorithm), part in counted.groupby(["dataset", "algorithm"], sort=False)
    }


def _settings(algorithm: str, first: Study, second: Study) -> list[str]:
    """Return settings that differ and that the learner uses: ``MOML's cone (free, split)``."""
    sides = [next(a for a in study.algorithms if a.name == algorithm) for study in (first, second)]
    values = [{**side.params, **{f"grid of {name}": v for name, v in side.grid.items()}} for side in sides]
    unused = _unused(sides[0]) & _unused(sides[1])
    names = [n for n in dict.fromkeys([*values[0], *values[1]]) if n.removeprefix("grid of ") not in unused]
    return [
        f"{sides[0].title}'s {name} ({values[0].get(name)}, {values[1].get(name)})"
        for name in names
        if values[0].get(name) != values[1].get(name)
    ]


def _unused(algorithm: Algorithm) -> set[str]:
    known = {name: value for name, value in algorithm.params.items() if value is not None}
    return unused_parameters(learner_class(algorithm.learner)(**known))


def _protocol(dataset: str, first: Study, second: Study) -> list[str]:
    """Return what differs between the protocols themselves and acts on a data set."""
    features = next(config.features for config in first.datasets if config.name == dataset)
    sides: list[Any] = [first.protocol, second.protocol]
    parts = []
    for field in dataclasses.fields(first.protocol):
        values = [getattr(side, field.name) for side in sides]
        if values[0] == values[1] or f"protocol.{field.name}" in IRRELEVANT:
            continue
        if field.name != "pca":
            parts.append(f"the protocol's {field.name}")
        elif features is None or any(needs_pca(features, pca) for pca in values):
            parts.append(PCA)
    return parts
