"""Beyond the paper: does it help on data the paper never saw? Two studies, by a rule fixed beforehand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from mloml.report.captions import caption
from mloml.report.document import Artefact, Block, Figure, Table, Text
from mloml.report.figures.cost import cost_figure
from mloml.report.parts.beyond import statements, summary
from mloml.report.parts.beyond.advice import advice_sentences, glance
from mloml.report.parts.beyond.grids import errors_table, missing_sentences, ranks_table
from mloml.report.parts.beyond.scaling import across
from mloml.report.parts.beyond.side import Side, side_of
from mloml.report.recipe import Recipe

if TYPE_CHECKING:
    from mloml.experiments.study import StudyResult


def build(unit: StudyResult, standardised: StudyResult) -> Artefact:
    """Return the page "Which learner when" and the tables behind it."""
    return document([side_of(unit), side_of(standardised)])


def document(sides: Sequence[Side]) -> Artefact:
    """Return the artefact of two studies whose tests are carried out."""
    over, on_sets = across(sides)
    ranks = [ranks_table(side) for side in sides]
    picture = cost_picture(sides)
    size, claims = summary.size_sentence(sides), tuple(map(summary.claims_sentence, sides))
    layers = tuple(filter(None, map(summary.layers_sentence, sides)))
    learning = tuple(filter(None, map(summary.learning_sentence, sides)))
    helping = tuple(filter(None, (*map(summary.help_sentence, sides), summary.differing_sentence(sides))))
    advice = tuple(sentence for side in sides for sentence in advice_sentences(side))
    scaled = summary.scaling_sentences(sides, over)
    notes: tuple[Block, ...] = (
        Text((size, caption("beyond_rule"))),
        *_table("The methods at a glance", glance(sides), advice, caption("beyond_glance")),
        *_table("Does MLOML beat MOML, OPML and LMNN?", statements.rivals_frame(sides), claims),
        *_table("Do three layers help, against one?", statements.layers_frame(sides), layers),
        *_table(
            "Learning the layers, or the non-linearity alone?", statements.learning_frame(sides), learning
        ),
        *_table("Does learning help?", statements.help_frame(sides), helping),
        _both(sides, summary.where_sentences, "Where?"),
        Text((caption("beyond_scaling"),), heading="What scaling alone does"),
        *_table("", statements.scaling_frame(sides, over), scaled),
        Text(tuple(sentence for sentence, _, _ in ranks), heading="Ranks", listed=True),
        *(diagram for _, _, diagram in ranks),
        Text((picture.caption,), heading=picture.title),
        picture,
        _both(sides, missing_sentences, "What is missing"),
        sides[0].labels.notes_text(),
    )
    tables = (
        *map(errors_table, sides),
        Table("over_sets", "Every test over sets", _stacked([side.over_sets for side in sides], sides, over)),
        *(table for _, table, _ in ranks),
        Table(
            "on_sets",
            "Every test on a single set",
            _stacked([side.on_sets for side in sides], sides, on_sets),
        ),
    )
    findings = (*layers, *learning, *helping, *advice, *scaled)
    return Artefact(" ".join([size, *claims]), findings, tables, (*(d for _, _, d in ranks), picture), notes)


def cost_picture(sides: Sequence[Side]) -> Figure:
    """Return the figure of cost against accuracy, both studies as panels."""
    numbers = pd.concat([side.cost.assign(study=side.name) for side in sides], ignore_index=True)
    numbers = numbers[["study", *(name for name in numbers.columns if name != "study")]]
    titles = {name: title for side in sides for name, title in side.labels.algorithms.items()}
    studies = {side.name: side.scaling for side in sides}
    return Figure(
        "cost",
        "Cost against accuracy",
        caption("beyond_cost"),
        partial(cost_figure, numbers, studies, titles),
        numbers,
        ready=all(side.finished for side in sides),
    )


def _table(
    heading: str, frame: pd.DataFrame, said: Sequence[str] = (), remark: str = ""
) -> tuple[Block, ...]:
    """Return a section: what is said, the table, and a remark below it; nothing if the table has no rows."""
    below = (Text((remark,)),) if remark else ()
    return (Text(tuple(said), heading, listed=True), frame, *below) if len(frame) else ()


def _both(sides: Sequence[Side], say: Callable[[Side], Sequence[str]], heading: str) -> Text:
    sentences = tuple(sentence for side in sides for sentence in say(side))
    return Text(sentences, heading if sentences else "", listed=True)


def _stacked(parts: Sequence[pd.DataFrame], sides: Sequence[Side], scaling: pd.DataFrame) -> pd.DataFrame:
    """Return all studies' tests in one table; those of scaling compare with Euclidean of the other study."""
    named = [part.assign(study=side.name) for part, side in zip(parts, sides, strict=True)]
    table = pd.concat([part for part in (*named, scaling) if len(part)] or [scaling], ignore_index=True)
    return table[["study", *(name for name in table.columns if name != "study")]]


RECIPE = Recipe(
    "beyond",
    "Beyond the paper: which learner when",
    "Twenty-two data sets that the paper never saw, on unit rows and on standardised features.",
    build,
    variants={"clean": ("protocol=clean",), "standardised": ("protocol=standardised",)},
    experiment="beyond",
    in_all=False,
)
