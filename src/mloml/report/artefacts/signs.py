"""Signs of the principal axes: how far an untrained stack's error moves with an arbitrary choice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from mloml.report.captions import caption
from mloml.report.document import DASH, Artefact, Table, Text, number
from mloml.report.labels import Labels, labels_of
from mloml.report.recipe import Recipe
from mloml.report.tables import summarise

if TYPE_CHECKING:
    from mloml.experiments.study import StudyResult

FIXED = "fixed"
"""The run whose axes have their largest loading positive, as in all other tables."""
RANDOM = tuple(range(1, 11))


def build(*results: StudyResult) -> Artefact:
    """Return the mean errors under each choice of signs."""
    return compare(signs_frame(results), labels_of(results[0]))


def signs_frame(results: tuple[StudyResult, ...]) -> pd.DataFrame:
    """Return a row per data set, algorithm and choice of signs: the mean error, where it is complete."""
    rows = []
    for result in results:
        signs = result.study.protocol.pca.signs
        complete = summarise(result.frame, labels_of(result), {}).complete
        for cell in complete.to_dict("records"):
            choice = FIXED if signs is None else str(signs)
            rows.append((cell["dataset"], cell["algorithm"], choice, cell["mean"]))
    return pd.DataFrame(rows, columns=["dataset", "algorithm", "signs", "mean"])


def compare(frame: pd.DataFrame, labels: Labels) -> Artefact:
    """Say for each data set and method how far the error moves."""
    sentences = tuple(
        _sentence(part, f"{labels.algorithms[str(algorithm)]} on {labels.datasets[str(dataset)]}")
        for (dataset, algorithm), part in frame.groupby(["dataset", "algorithm"], sort=False)
        if len(part) > 1
    )
    headline = "Signs matter only after PCA, and no data set that needs it is complete here."
    moved = tuple(sentence for sentence in sentences if sentence.endswith(MOVES))
    if sentences:
        headline = " ".join(moved) or "No mean error changes with the signs of the principal axes."
    rest = tuple(sentence for sentence in sentences if sentence not in moved)
    page = (Text((caption("signs"),)), Text(sentences, listed=True), _printed(frame, labels))
    return Artefact(headline, rest, (Table("signs", RECIPE.title, frame, page),))


MOVES = "random ones."


def _sentence(part: pd.DataFrame, what: str) -> str:
    fixed = part.loc[part["signs"] == FIXED, "mean"]
    random = part.loc[part["signs"] != FIXED, "mean"]
    if float(part["mean"].max() - part["mean"].min()) < 1e-12:
        return f"{what}: {number(part['mean'].iloc[0])} whatever the signs ({len(part)} choices)."
    usual = f"{number(fixed.iloc[0])} with the usual signs, " if len(fixed) else ""
    return (
        f"{what}: {usual}{number(random.min())} to {number(random.max())} (median {number(random.median())}) "
        f"over {len(random)} {MOVES}"
    )


def _printed(frame: pd.DataFrame, labels: Labels) -> pd.DataFrame:
    wide = frame.pivot(index=["dataset", "algorithm"], columns="signs", values="mean")  # noqa: PD010
    choices = [name for name in (FIXED, *map(str, RANDOM)) if name in wide.columns]
    rows = [
        [
            labels.datasets[row["dataset"]],
            labels.algorithms[row["algorithm"]],
            *(_mean(row[c]) for c in choices),
        ]
        for row in wide.reset_index().to_dict("records")
    ]
    return pd.DataFrame(rows, columns=["data set", "method", *choices])


def _mean(value: float) -> str:
    return DASH if pd.isna(value) else number(value)


RECIPE = Recipe(
    "signs",
    "Signs of the principal axes",
    "Untrained stacks after PCA, whose axes point either way.",
    build,
    variants={
        FIXED: ("protocol.pca.signs=null",),
        **{f"signs_{seed}": (f"protocol.pca.signs={seed}",) for seed in RANDOM},
    },
    in_all=False,
)
