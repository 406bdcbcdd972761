"""What the sweeps show, in sentences that say how they came about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from mloml.paper.comparison import AGREES
from mloml.report.parts.knobs import Knob
from mloml.report.parts.sweeps import held_out, sign_test

if TYPE_CHECKING:
    from mloml.config.schema import Study

POST_HOC = (
    "Post hoc: knobs and values were chosen after looking at the paper's test errors. With several values "
    "tried, the best of them looks better than it is, and a value that agrees is not shown to be the "
    "authors'."
)


def knob_sentence(knob: Knob, counts: pd.DataFrame, verdicts: pd.DataFrame) -> str:
    """Say how the default and the best of the other values agree with the paper, and what that is worth."""
    mine = counts[counts["knob"] == knob.name]
    if mine.empty:
        return f"{knob.title}: no cell has all {len(knob.values)} values yet."
    default = mine[mine["reading"] == "default"].iloc[0]
    others = mine[mine["reading"] == "tried"]
    start = (
        f"{knob.title}: at the default ({knob.default}) {default[AGREES]} of {default['cells']} cells agree "
        f"with the paper"
    )
    best = others[others[AGREES] == others[AGREES].max()]
    top = best.iloc[0]
    if top[AGREES] <= default[AGREES]:
        return f"{start}; none of the {len(others)} other values has more."
    p_value = sign_test(int(top["gained"]), int(top["lost"]), len(others))
    beyond = "not more than chance can do" if p_value >= 0.05 else "more than chance explains"
    return (
        f"{start}; {top[AGREES]} at {_either(best['value'])}, the best of {len(others)} other values tried "
        f"(post hoc). {top['gained']} cells come to agree and {top['lost']} cease to, {beyond} "
        f"(sign test, p = {p_value:.2g} counting the tries). With the value picked on the other data sets, "
        f"{held_out(knob, verdicts)} agree."
    )


def headline(knobs: Sequence[Knob], counts: pd.DataFrame, verdicts: pd.DataFrame) -> str:
    """Sum the sweeps up: where another value agrees more often, and where that outlasts a fair choice."""
    swept = [knob for knob in knobs if (counts["knob"] == knob.name).any()]
    if not swept:
        return "No sweep is complete on any data set yet."
    more, outlasting = [], []
    for knob in swept:
        mine = counts[counts["knob"] == knob.name]
        default = int(mine.loc[mine["reading"] == "default", AGREES].iloc[0])
        if int(mine[AGREES].max()) > default:
            more.append(knob.title)
            outlasting += [knob.title] if held_out(knob, verdicts) > default else []
    listed = f": {'; '.join(outlasting)}" if outlasting else ""
    return (
        f"Post hoc, held against the paper's test errors: in {len(more)} of {len(swept)} sweeps some value "
        f"agrees with the paper in more cells than the default does; with the value picked on the other "
        f"data sets that is so in {len(outlasting)}{listed}."
    )


def left_out_sentences(study: Study, datasets: Mapping[str, str]) -> tuple[str, ...]:
    """Say which values were not run on which data sets."""
    titles = {algorithm.name: algorithm.title for algorithm in study.algorithms}
    sentences = []
    for pairs in study.leave_out:
        algorithms = [titles[name] for name in pairs["algorithms"] if name in titles]
        rows = [datasets[name] for name in pairs["datasets"] if name in datasets]
        if algorithms and rows:
            sentences.append(
                f"Not run, to keep the sweep short: {', '.join(algorithms)} on {', '.join(rows)}; these "
                f"data sets are not counted in that sweep."
            )
    return tuple(sentences)


def power_sentence(splits: int) -> str:
    """Say why a count here is not the count of the main tables."""
    return (
        f"Every value has the same {splits} splits. With fewer than in the main tables Welch's test sees "
        f"less: a default that disagrees there may agree here. Under a correct reading one cell in twenty "
        f"disagrees by chance. Cells of one data set are not independent of each other, "
        f"which the sign test neglects."
    )


def _either(names: pd.Series) -> str:
    return " and at ".join(names)
