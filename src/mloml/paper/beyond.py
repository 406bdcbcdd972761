"""The tests that ``docs/beyond.md`` fixed before any result: which methods are compared with which.

A study is the errors of its methods, see :func:`mloml.paper.statistics.complete_errors`. Methods that are
not part of a study are in no family; those that are, but failed everywhere, stay in theirs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pandas as pd

from mloml.paper.statistics import Halves, Pair, compare_family

EUCLIDEAN, ONE_LAYER, RIVALS = "euclidean", "moml", ("opml", "lmnn")
STACKS = ("mloml_r", "mloml_s", "mloml_t")
UNTRAINED = {name: f"{name}_untrained" for name in STACKS}

Errors = Mapping[str, Halves]


def families(algorithms: Collection[str]) -> dict[str, list[Pair]]:
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
    return {test: [pair for pair in mine if {*pair} <= known] for test, mine in pairs.items()}


def carry_out(first: Errors, second: Errors) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Carry out all tests of a study, and compare its methods with Euclidean of a ``second``: ``scaling``.

    Both studies have the same rows and halves under another scaling. Holm's family of ``scaling`` is the
    learners, as in the test against Euclidean; Euclidean itself is a family of its own.

    Returns
    -------
    over_sets, on_sets : DataFrame
        A row per pair over the data sets, and a row per pair and data set, each with its ``test``.
    """
    tests = [(test, pairs, first) for test, pairs in families(first).items()]
    learners = [Pair(name, EUCLIDEAN) for name in first if name != EUCLIDEAN]
    tests += [("scaling", pairs, second) for pairs in ([Pair(EUCLIDEAN, EUCLIDEAN)], learners)]
    parts = []
    for test, pairs, other in tests:
        both = {pair: (first.get(pair.algorithm, {}), other.get(pair.reference, {})) for pair in pairs}
        parts.append([table.assign(test=test) for table in compare_family(both)])
    over, on_sets = (pd.concat(tables, ignore_index=True) for tables in zip(*parts, strict=True))
    return over, on_sets
