"""What scaling does: every method under one scaling against Euclidean under the other."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from mloml.analysis.beyond import EUCLIDEAN, compare_scalings
from mloml.reporting.parts.beyond.side import Side
from mloml.reporting.parts.beyond.words import evidence


def across(sides: Sequence[Side]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Compare the methods of each study with Euclidean of the other; ``study`` is the methods'."""
    over, on_sets = [], []
    for side, other in _directions(sides):
        summary, each = compare_scalings(side.errors, other.errors, list(side.labels.algorithms))
        over.append(summary.assign(study=side.name))
        on_sets.append(each.assign(study=side.name))
    return pd.concat(over, ignore_index=True), pd.concat(on_sets, ignore_index=True)


def scaling_sentences(sides: Sequence[Side], over: pd.DataFrame) -> tuple[str, ...]:
    """Say which learners Euclidean beats without learning, merely under the other scaling."""
    sentences = [_plain(sides, over)]
    for side, other in _directions(sides):
        rows = over[(over["study"] == side.name) & (over["algorithm"] != EUCLIDEAN)].to_dict("records")
        beaten: dict[str, list[str]] = {"larger": [], "smaller": [], "": []}
        for row in rows:
            said = f"{side.labels.algorithms[row['algorithm']]} ({evidence(row)})"
            beaten[row["verdict"] if row["sets"] else ""].append(said)
        plain = f"Euclidean on {other.scaling}"
        sentences.append(
            f"{plain} beats {len(beaten['larger'])} of {len(rows)} methods on {side.scaling}"
            f"{_list(beaten['larger'])}; {len(beaten['smaller'])} beat it{_list(beaten['smaller'])}; for "
            f"{len(beaten[''])} no difference is shown{_list(beaten[''])}."
        )
    return tuple(sentences)


def scaling_in_short(sides: Sequence[Side], over: pd.DataFrame) -> str:
    """Say for each direction how many learners Euclidean beats under the other scaling."""
    parts = []
    for side, other in _directions(sides):
        rows = over[(over["study"] == side.name) & (over["algorithm"] != EUCLIDEAN)]
        lost, won = (int((rows["verdict"] == word).sum()) for word in ("larger", "smaller"))
        parts.append(
            f"Euclidean on {other.scaling} beats {lost} of {len(rows)} methods on {side.scaling} and is "
            f"beaten by {won}"
        )
    return f"Scaling costs nothing: {'; '.join(parts)}."


def _plain(sides: Sequence[Side], over: pd.DataFrame) -> str:
    first, second = sides
    row = over[(over["study"] == first.name) & (over["algorithm"] == EUCLIDEAN)].iloc[0].to_dict()
    better = {"smaller": (first, second), "larger": (second, first)}.get(row["verdict"])
    numbers = f"{first.scaling} less {second.scaling}: {evidence(row)}"
    if better is None:
        return (
            f"Euclidean by itself: no difference between the two scalings is shown on these sets ({numbers})."
        )
    return f"Euclidean by itself errs less on {better[0].scaling} than on {better[1].scaling} ({numbers})."


def _directions(sides: Sequence[Side]) -> list[tuple[Side, Side]]:
    first, second = sides
    return [(first, second), (second, first)]


def _list(names: Sequence[str]) -> str:
    return f": {', '.join(names)}" if names else ""
