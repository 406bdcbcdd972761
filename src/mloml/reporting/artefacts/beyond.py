"""Beyond the paper: does it help on data the paper never saw? Two studies, by a rule fixed beforehand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from mloml.reporting.captions import caption
from mloml.reporting.document import Artefact, Block, Figure, Table, Text
from mloml.reporting.figures.cost import cost_figure
from mloml.reporting.parts.beyond import statements
from mloml.reporting.parts.beyond.advice import advice_sentences, glance
from mloml.reporting.parts.beyond.grids import errors_table, missing_sentences, ranks_table
from mloml.reporting.parts.beyond.scaling import across, scaling_in_short, scaling_sentences
from mloml.reporting.parts.beyond.side import Side, side_of
from mloml.reporting.recipe import Recipe

if TYPE_CHECKING:
    from mloml.execution.study import StudyResult


def build(unit: StudyResult, standardised: StudyResult) -> Artefact:
    """Return the page "Which learner when" and the tables behind it."""
    return document([side_of(unit), side_of(standardised)])


def document(sides: Sequence[Side]) -> Artefact:
    """Return the artefact of two studies whose tests are carried out."""
    over, on_sets = across(sides)
    ranks = [ranks_table(side) for side in sides]
    picture = cost_picture(sides)
    headline = " ".join([_sets(sides), *map(statements.claims_in_short, sides)])
    findings = (
        *(text for side in sides if (text := statements.layers_in_short(side))),
        *map(statements.help_in_short, sides),
        *(sentence for side in sides for sentence in advice_sentences(side)),
        scaling_in_short(sides, over),
    )
    notes: tuple[Block, ...] = (
        Text((caption("beyond_rule"),)),
        Text((headline, *findings), heading="In short", listed=True),
        Text(heading="The methods at a glance"),
        glance(sides),
        Text((caption("beyond_glance"),)),
        Text(statements.help_sentences(sides), heading="Does learning help?", listed=True),
        _both(
            sides, statements.learning_sentences, "Does learning the layers help, or the non-linearity alone?"
        ),
        _both(sides, statements.layer_sentences, "Do three layers help, against one?"),
        _both(sides, statements.rival_sentences, "Does MLOML beat MOML, OPML and LMNN?"),
        _both(sides, statements.where_sentences, "Where?"),
        Text((caption("beyond_scaling"),), heading="What scaling alone does"),
        Text(scaling_sentences(sides, over), listed=True),
        Text(tuple(sentence for sentence, _, _ in ranks), heading="Ranks", listed=True),
        *(diagram for _, _, diagram in ranks),
        Text((picture.caption,), heading=picture.title),
        picture,
        _both(sides, missing_sentences, "What is missing"),
        sides[0].labels.notes_text(),
    )
    tables = (
        *map(errors_table, sides),
        Table("over_sets", "Every test over sets", _over_sets(sides, over)),
        *(table for _, table, _ in ranks),
        Table("on_sets", "Every test on a single set", _on_sets(sides, on_sets)),
    )
    return Artefact(headline, findings, tables, (*(d for _, _, d in ranks), picture), notes)


def cost_picture(sides: Sequence[Side]) -> Figure:
    """Return the figure of cost against accuracy, both studies as panels."""
    numbers = pd.concat([side.cost.assign(study=side.name) for side in sides], ignore_index=True)
    numbers = numbers[["study", *(name for name in numbers.columns if name != "study")]]
    titles = {name: title for side in sides for name, title in side.labels.algorithms.items()}
    studies = {side.name: f"{side.scaling} ({side.name})" for side in sides}
    return Figure(
        "cost",
        "Cost against accuracy",
        caption("beyond_cost"),
        partial(cost_figure, numbers, studies, titles),
        numbers,
        ready=all(side.finished for side in sides),
    )


def _sets(sides: Sequence[Side]) -> str:
    """Say on how much data, before anything is claimed."""
    counts = dict.fromkeys(len(side.labels.datasets) - len(side.labels.missing) for side in sides)
    sampled = sorted({side.labels.splits for side in sides})
    sets = " and ".join(map(str, counts))
    return f"On {sets} sets that the paper never saw, {' and '.join(map(str, sampled))} random halves each:"


def _both(sides: Sequence[Side], say: Callable[[Side], Sequence[str]], heading: str) -> Text:
    sentences = tuple(sentence for side in sides for sentence in say(side))
    return Text(sentences, heading if sentences else "", listed=True)


def _over_sets(sides: Sequence[Side], over: pd.DataFrame) -> pd.DataFrame:
    return _stacked([side.over_sets.assign(study=side.name) for side in sides], over)


def _on_sets(sides: Sequence[Side], on_sets: pd.DataFrame) -> pd.DataFrame:
    return _stacked([side.on_sets.assign(study=side.name) for side in sides], on_sets)


def _stacked(parts: Sequence[pd.DataFrame], scaling: pd.DataFrame) -> pd.DataFrame:
    """Return all studies' tests in one table; those of scaling compare with Euclidean of the other study."""
    table = pd.concat([*parts, scaling], ignore_index=True)
    return table[["study", *(name for name in table.columns if name != "study")]]


RECIPE = Recipe(
    "beyond",
    "Beyond the paper: which learner when",
    "Twenty-two data sets that the paper never saw, on unit rows and on standardised features.",
    build,
    protocols=("clean", "standardised"),
    experiment="beyond",
    in_all=False,
)
