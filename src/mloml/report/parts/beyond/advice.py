"""Which learner when: the methods at a glance, and what follows from the tests and the costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from mloml.paper.beyond import EUCLIDEAN
from mloml.report.document import DASH, number
from mloml.report.parts.beyond.side import Side
from mloml.report.parts.beyond.words import duration

SAID = {"smaller": "helps", "larger": "harms", "": "nothing shown"}


def glance(sides: Sequence[Side]) -> pd.DataFrame:
    """Return a row per method: what is said, relative error, mean rank and cost, study by study."""
    titles = {name: title for side in sides for name, title in side.labels.algorithms.items()}
    lines = []
    for name, title in titles.items():
        line: dict[str, str] = {"method": title}
        for side in sides:
            words = {"": side.scaling}
            line |= {words.get(word, f"{side.short}: {word}"): text for word, text in _of(side, name).items()}
        lines.append(line)
    return pd.DataFrame(lines).fillna(DASH)


def _of(side: Side, name: str) -> dict[str, str]:
    if name not in side.labels.algorithms:
        return {}
    test, cost = side.test("euclidean", name), _cost(side, name)
    said = SAID[test["verdict"]] if test and test["sets"] else DASH
    relative = cost["relative_error"]
    return {
        "": said,
        "error": number(relative) if np.isfinite(relative) else DASH,
        "rank": f"{side.ranking.ranks[name]:.1f}" if name in side.ranking.ranks else DASH,
        "cost": duration(cost["seconds_per_row"]),
    }


def advice_sentences(side: Side) -> tuple[str, ...]:
    """Say what a reader may take: what helps most, what helps at the least cost, and what is not known."""
    tests = {name: row for name in side.learners if (row := side.test("euclidean", name)) and row["sets"]}
    if not tests:
        return ()
    helping = [name for name, row in tests.items() if row["verdict"] == "smaller"]
    titles = side.labels.algorithms
    if not helping:
        return (f"On {side.scaling} no method is shown to help; Euclidean needs no training.",)
    costs = {name: _cost(side, name) for name in helping}
    best = min(helping, key=lambda name: costs[name]["relative_error"])
    cheap = min(helping, key=lambda name: costs[name]["seconds_per_row"])
    plain = duration(_cost(side, EUCLIDEAN)["seconds_per_row"])
    lowest, cheapest = _priced(best, side, costs), _priced(cheap, side, costs)
    if len(helping) == 1:
        said = f"On {side.scaling} {lowest} is the only one that helps"
    elif best == cheap:
        said = f"On {side.scaling}, of the {len(helping)} that help, {lowest} has the lowest error and cost"
    else:
        said = (
            f"On {side.scaling}, of the {len(helping)} that help, {lowest} has the lowest mean error and "
            f"{cheapest} the lowest cost"
        )
    return (
        f"{said}; Euclidean itself takes {plain}.",
        *_alike(side, best, [titles[name] for name in helping]),
    )


def _alike(side: Side, best: str, helping: Sequence[str]) -> tuple[str, ...]:
    """Say from which methods the best cannot be told by its rank: the lowest of several is no proof."""
    ranking = side.ranking
    if best not in ranking.ranks or len(helping) < 2 or not np.isfinite(ranking.critical_difference):
        return ()
    gaps = (ranking.ranks - ranking.ranks[best]).abs()
    alike = [
        side.labels.algorithms[str(name)]
        for name, gap in gaps.items()
        if name != best and gap <= ranking.critical_difference
    ]
    title = side.labels.algorithms[best]
    if not alike:
        return (f"By their ranks {title} can be told from every other method (Nemenyi).",)
    return (
        f"That {title} is lower than the others was not tested; by their ranks it cannot be told from "
        f"{', '.join(alike)} (Nemenyi).",
    )


def _priced(name: str, side: Side, costs: dict[str, dict[str, Any]]) -> str:
    cost = costs[name]
    return (
        f"{side.labels.algorithms[name]} ({number(cost['relative_error'])} of Euclidean's error, "
        f"{duration(cost['seconds_per_row'])} per training row)"
    )


def _cost(side: Side, name: str) -> dict[str, Any]:
    return {str(k): v for k, v in side.cost[side.cost["algorithm"] == name].iloc[0].items()}
