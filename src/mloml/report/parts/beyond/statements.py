"""The page's tables of what is said, with the numbers beside it: a row per method or claim, both studies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pandas as pd

from mloml.paper.beyond import EUCLIDEAN, ONE_LAYER, RIVALS, STACKS, UNTRAINED
from mloml.report.document import DASH
from mloml.report.parts.beyond import verdicts
from mloml.report.parts.beyond.side import Side
from mloml.report.parts.beyond.words import evidence

Said = tuple[str, str]
"""What is said, and the numbers it rests on."""


def help_frame(sides: Sequence[Side]) -> pd.DataFrame:
    """Say of every method whether it helps, in both studies."""

    def say(side: Side, name: str) -> Said | None:
        row = side.test("euclidean", name)
        return (verdicts.helps(row), evidence(row, side.n_sets)) if row else None

    return _by_study("method", titles_of(sides, without=(EUCLIDEAN,)), sides, say)


def layers_frame(sides: Sequence[Side]) -> pd.DataFrame:
    """Say for each activation whether three layers are better than one, which is MOML."""

    def say(side: Side, stack: str) -> Said | None:
        row = side.test("layers", stack, ONE_LAYER)
        return (verdicts.layers(row), evidence(row, side.n_sets)) if row else None

    return _by_study("activation", STACKS, sides, say)


def rivals_frame(sides: Sequence[Side]) -> pd.DataFrame:
    """Say of each activation and rival whether the stack beats it."""
    titles = titles_of(sides)
    claims = {
        f"{stack} {rival}": f"{titles[stack]} beats {titles[rival]}"
        for stack in STACKS
        for rival in (ONE_LAYER, *RIVALS)
        if {stack, rival} <= set(titles)
    }

    def say(side: Side, claim: str) -> Said | None:
        stack, rival = claim.split()
        row = verdicts.against(side, stack, rival)
        return (verdicts.beats(row, titles[rival]), evidence(row, side.n_sets)) if row else None

    return _by_study("claim", claims, sides, say)


def scaling_frame(sides: Sequence[Side], over: pd.DataFrame) -> pd.DataFrame:
    """Hold every method against Euclidean under the other scaling; ``over`` is :func:`scaling.across`'s."""
    rows = {(row["study"], row["algorithm"]): row for row in over.to_dict("records")}

    def say(side: Side, name: str) -> Said | None:
        row = rows.get((side.name, name))
        return (verdicts.scaling(row), evidence(row, side.n_sets)) if row else None

    frame = _by_study("method", titles_of(sides, without=(EUCLIDEAN,)), sides, say)
    first, second = (side.scaling for side in sides)
    return frame.rename(
        columns={
            f"on {first}": f"on {first}, Euclidean on {second}",
            f"on {second}": f"on {second}, Euclidean on {first}",
        }
    )


def learning_frame(sides: Sequence[Side]) -> pd.DataFrame:
    """Say for each activation whether learning the layers helps, or the non-linearity alone."""
    lines = []
    for stack, activation in STACKS.items():
        for side in sides:
            said = verdicts.learning(side, stack)
            if said is not None:
                tests = (
                    side.test("untrained", stack, UNTRAINED[stack]),
                    side.test("euclidean", UNTRAINED[stack]),
                    side.test("euclidean", stack),
                )
                lines.append([activation, side.scaling, said, *(evidence(t, side.n_sets) for t in tests)])
    compared = ("trained against untrained", "untrained against Euclidean", "trained against Euclidean")
    return pd.DataFrame(lines, columns=["activation", "on", "what is said", *compared])


def titles_of(sides: Sequence[Side], without: Sequence[str] = ()) -> dict[str, str]:
    """Return the printed titles of the methods of both studies, in the order of the tables."""
    found = {name: title for side in sides for name, title in side.labels.algorithms.items()}
    return {name: title for name, title in found.items() if name not in without}


def _by_study(
    corner: str,
    subjects: Mapping[str, str],
    sides: Sequence[Side],
    say: Callable[[Side, str], Said | None],
) -> pd.DataFrame:
    """Return a row per subject; those of which no study can say anything are left out."""
    lines = []
    for name, title in subjects.items():
        found = [say(side, name) for side in sides]
        if any(found):
            lines.append([title, *(text for said in found for text in (said or (DASH, DASH)))])
    columns = [text for side in sides for text in (f"on {side.scaling}", f"{side.scaling}: numbers")]
    return pd.DataFrame(lines, columns=[corner, *columns])
