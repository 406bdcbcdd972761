"""The tests that ``docs/beyond.md`` fixed before any result: which methods are compared with which.

A study is the errors of its methods, see :func:`mloml.paper.statistics.over_sets.complete_errors`. Methods
that were not asked for are in no family; those that were, but failed everywhere, stay in theirs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from mloml.paper.statistics.over_sets import Halves, Pair, compare_family

EUCLIDEAN, ONE_LAYER, RIVALS = "euclidean", "moml", ("opml", "lmnn")
STACKS = {"mloml_r": "ReLU", "mloml_s": "sigmoid", "mloml_t": "tanh"}
"""Three layers, by the activation between them."""
UNTRAINED = {name: f"{name}_untrained" for name in STACKS}
TESTS = ("euclidean", "untrained", "layers", "rivals")
"""Against Euclidean; trained against untrained; three layers against one; MLOML against OPML and LMNN."""

Errors = Mapping[str, Halves]


def families(algorithms: Sequence[str]) -> dict[str, list[Pair]]:
    """Return the pairs of each test, among the methods of a study.

    >>> families(["euclidean", "moml", "mloml_r"])["layers"]
    [Pair(algorithm='mloml_r', reference='moml')]
    """
    pairs = {
        "euclidean": [Pair(name, EUCLIDEAN) for name in algorithms if name != EUCLIDEAN],
        "untrained": [Pair(name, untrained) for name, untrained in UNTRAINED.items()],
        "layers": [Pair(name, ONE_LAYER) for name in STACKS],
        "rivals": [Pair(name, rival) for rival in RIVALS for name in STACKS],
    }
    known = set(algorithms)
    return {test: [pair for pair in asked if {*pair} <= known] for test, asked in pairs.items()}


def carry_out(errors: Errors, algorithms: Sequence[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Carry out all tests of one study: a row per pair over the sets, and a row per pair and set."""
    over, on_sets = [], []
    for test, pairs in families(algorithms).items():
        sides = {pair: (errors.get(pair.algorithm, {}), errors.get(pair.reference, {})) for pair in pairs}
        summary, each = compare_family(sides)
        over.append(summary.assign(test=test))
        on_sets.append(each.assign(test=test))
    return _first(pd.concat(over, ignore_index=True)), _first(pd.concat(on_sets, ignore_index=True))


def compare_scalings(
    errors: Errors, other: Errors, algorithms: Sequence[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Compare every method of one study with Euclidean of the other: same rows, same halves, other scaling.

    Holm's family is the learners, as in the test against Euclidean; Euclidean itself is a family of its own.
    """
    reference = other.get(EUCLIDEAN, {})
    learners = [name for name in algorithms if name != EUCLIDEAN]
    parts = [
        compare_family({Pair(name, EUCLIDEAN): (errors.get(name, {}), reference) for name in names})
        for names in ([EUCLIDEAN], learners)
    ]
    over, on_sets = (pd.concat(side, ignore_index=True) for side in zip(*parts, strict=True))
    return _first(over.assign(test="scaling")), _first(on_sets.assign(test="scaling"))


def _first(table: pd.DataFrame) -> pd.DataFrame:
    return table[["test", *(name for name in table.columns if name != "test")]]
