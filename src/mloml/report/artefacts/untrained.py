"""The untrained control: which part of each gain of a stack over Euclidean distance is learning."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from mloml.paper.statistics import Gain
from mloml.report.captions import caption
from mloml.report.document import DASH, Artefact, Block, Table, Text, number
from mloml.report.labels import Labels, labels_of
from mloml.report.parts.control import (
    ENDING,
    Control,
    activation_sentence,
    controls,
    headline,
    published_sentence,
    stacks,
)
from mloml.report.parts.gains import gain_text, signed
from mloml.report.recipe import Recipe
from mloml.report.tables import Results, build_grid, summarise

if TYPE_CHECKING:
    from mloml.experiments.study import StudyResult

SHALLOW = ("moml", "moml_split")
ENDS = ("before", "after")


def build(result: StudyResult) -> Artefact:
    """Return each stack beside its untrained self, from the cells there are."""
    names = [algorithm.name for algorithm in result.study.algorithms]
    titles = {algorithm.name: algorithm.title for algorithm in result.study.algorithms}
    bases = {name: titles[name] for name in stacks(names)}
    groups = {name: bases[base] for base in bases for name in (f"{base}{ENDING}", base)}
    labels = labels_of(result, groups)
    results = summarise(result.frame, labels, {f"{base}{ENDING}": base for base in bases})
    found = controls(results, bases)
    counted = [control for control in found if control.counted]
    values = {"splits": labels.splits, "protocol": result.study.protocol.name}
    columns = {name: labels.algorithms[name] for name in names}
    columns |= {name: "untrained" if name.endswith(ENDING) else "trained" for name in groups}
    remarks = [caption("untrained_marks", **values)]
    grid = build_grid(results, caption("untrained", **values), "tab:untrained", None, columns, remarks)
    sentences = tuple(activation_sentence(counted, base, title) for base, title in bases.items())
    published = published_sentence(counted, bases)
    page: list[Block] = [grid, Text((*sentences, published), listed=True)]
    for base, title in bases.items():
        if any(control.activation == base for control in found):
            page += [Text(heading=f"{title}: Euclidean, untrained, trained"), _printed(found, base, results)]
    page.append(Text((caption("untrained_gains") + labels.footnotes(labels.starred(labels.datasets)),)))
    tables = (
        Table("untrained", RECIPE.title, grid, tuple(page), latex=grid),
        Table("gains", "How much of each gain is learning?", controls_frame(found, results)),
    )
    return Artefact(headline(counted), (*sentences, published), tables)


def controls_frame(found: list[Control], results: Results) -> pd.DataFrame:
    """Return every number: both steps and their sum, each with its interval and both tests."""
    means = _means(results)
    rows = []
    for control in found:
        row = {
            "dataset": control.dataset,
            "activation": control.activation,
            "euclidean": control.whole.before,
            "untrained": control.untrained.after,
            "trained": control.whole.after,
            **{name: means.get((control.dataset, name)) for name in SHALLOW},
            "published_gain": control.published,
        }
        for name in ("untrained", "learning", "whole"):
            step: Gain = getattr(control, name)
            row |= {f"{name}_{part}": value for part, value in step._asdict().items() if part not in ENDS}
        rows.append({**row, "counted": control.counted})
    return pd.DataFrame(rows)


def _printed(found: list[Control], base: str, results: Results) -> pd.DataFrame:
    labels, means = results.labels, _means(results)
    rows = []
    for control in found:
        if control.activation == base:
            shallow = {labels.algorithms[name]: name for name in SHALLOW if name in labels.algorithms}
            rows.append(
                {
                    "data set": _title(control, labels),
                    "Euclidean": number(control.whole.before),
                    "untrained": number(control.untrained.after),
                    "trained": number(control.whole.after),
                    "gain without learning": gain_text(control.untrained),
                    "gain by learning": gain_text(control.learning),
                    "whole gain": gain_text(control.whole),
                    "the paper's": DASH if control.published is None else signed(control.published),
                    **{title: _mean(means.get((control.dataset, name))) for title, name in shallow.items()},
                }
            )
    return pd.DataFrame(rows)


def _means(results: Results) -> dict[tuple[str, str], float]:
    return {(c["dataset"], c["algorithm"]): c["mean"] for c in results.complete.to_dict("records")}


def _mean(value: float | None) -> str:
    return DASH if value is None else number(value)


def _title(control: Control, labels: Labels) -> str:
    return control.title if control.counted else f"{control.title}, not counted"


RECIPE = Recipe(
    "untrained",
    "The untrained control: how much of each gain is learning?",
    "Euclidean distance, a stack that never learns, and the same stack trained.",
    build,
)
