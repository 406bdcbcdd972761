"""A stack, the same stack untrained, and Euclidean distance: both steps between them, and what they say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mloml import paper
from mloml.paper.statistics import Gain, gain
from mloml.report.document import number
from mloml.report.parts.gains import both_tests, by_outcome
from mloml.report.tables import Results

ENDING = "_untrained"
EUCLIDEAN = "euclidean"
SMALLEST = 0.0005
"""Gains below this are 0 as printed."""


@dataclass(frozen=True)
class Control:
    """One data set under one activation: what an untrained stack gains, what learning adds, and the sum."""

    dataset: str
    title: str
    activation: str
    untrained: Gain
    learning: Gain
    whole: Gain
    published: float | None
    counted: bool


def stacks(algorithms: Iterable[str]) -> list[str]:
    """Return the algorithms of which there is an untrained version as well, in their order.

    >>> stacks(["euclidean", "mloml_s_untrained", "mloml_s", "mloml_r"])
    ['mloml_s']
    """
    known = list(algorithms)
    return [name for name in known if f"{name}{ENDING}" in known]


def controls(results: Results, bases: Iterable[str]) -> list[Control]:
    """Return a control for each activation and data set on which all three methods are complete."""
    labels = results.labels
    complete = set(results.complete[["dataset", "algorithm"]].itertuples(index=False, name=None))
    found = []
    titles = labels.starred(labels.datasets)
    for base in bases:
        for dataset, title in titles.items():
            three = [(dataset, name) for name in (EUCLIDEAN, f"{base}{ENDING}", base)]
            if complete.issuperset(three):
                euclidean, untrained, trained = (results.errors[cell] for cell in three)
                steps = (gain(euclidean, untrained), gain(untrained, trained), gain(euclidean, trained))
                counted = dataset not in labels.uncounted
                found.append(Control(dataset, title, base, *steps, _published(dataset, base), counted))
    return found


def headline(counted: list[Control]) -> str:
    """Say how often stacks are better than Euclidean distance, and how often learning is why."""
    if not counted:
        return "No data set is complete for Euclidean distance, an untrained and a trained stack yet."
    cases = f"{len(counted)} cases (a data set under an activation)"
    whole, untrained, learning = (
        [getattr(control, name) for control in counted] for name in ("whole", "untrained", "learning")
    )
    return (
        f"By the corrected test the trained stack has a lower error than Euclidean distance in "
        f"{both_tests(whole, 'win')} of {cases}; a stack that never learns already has in "
        f"{both_tests(untrained, 'win')}, and has a higher one in {both_tests(untrained, 'loss')}. Learning "
        f"lowers the untrained stack's error in "
        f"{both_tests(learning, 'win')} and raises it in {both_tests(learning, 'loss')}."
    )


def activation_sentence(counted: list[Control], base: str, title: str) -> str:
    """Say where learning itself changes the error under one activation, and the way of each clear gain."""
    mine = [control for control in counted if control.activation == base]
    if not mine:
        return f"{title}: no data set is complete yet."
    ways = [
        f"{c.title} {number(c.whole.before)} → {number(c.untrained.after)} → {number(c.whole.after)}"
        for c in mine
        if c.whole.mark_corrected == "win"
    ]
    clear = f" Euclidean → untrained → trained, where the whole gain is clear: {', '.join(ways)}."
    equal = [c.title for c in mine if c.untrained.low == c.untrained.high == 0.0]
    same = f" Untrained, its error is Euclidean distance's in every split on {', '.join(equal)}."
    learning = by_outcome({control.title: control.learning for control in mine})
    return (
        f"{title}, {len(mine)} data sets, trained against untrained by the corrected test: "
        f"{learning}.{clear if ways else ' Nowhere is the trained stack clearly better than Euclidean.'}"
        f"{same if equal else ''}"
    )


def published_sentence(counted: list[Control], bases: dict[str, str]) -> str:
    """Say what becomes of the gains over Euclidean distance that the paper reports."""
    gains = [c for c in counted if c.published is not None and c.published >= SMALLEST]
    if not gains:
        return "The paper reports no gain over Euclidean distance for what is complete here."
    without = [c for c in gains if c.untrained.mark_corrected == "win"]
    learned = [c for c in gains if c.learning.mark_corrected == "win"]
    both = [c for c in without if c in learned]
    neither = len(gains) - len(without) - len(learned) + len(both)
    return (
        f"In {len(gains)} of these cases the paper's table has a lower error for the stack than for "
        f"Euclidean distance. By the corrected test, here the untrained stack alone is better than Euclidean "
        f"distance in {_cases(without, bases)}; learning improves on the untrained stack in "
        f"{_cases(learned, bases)}; cases in both lists: {len(both)}; in {neither} neither step is clear."
    )


def _published(dataset: str, base: str) -> float | None:
    printed = {(c["dataset"], c["algorithm"]): c["error"] for c in paper.table2().to_dict("records")}
    row = paper.paper_row(dataset)
    if (row, base) not in printed:
        return None
    return round(float(printed[row, EUCLIDEAN] - printed[row, base]), 3)


def _cases(found: list[Control], bases: dict[str, str]) -> str:
    names = (f"{control.title} {bases[control.activation].removeprefix('MLOML-')}" for control in found)
    return f"{len(found)} ({', '.join(names)})" if found else "0"
