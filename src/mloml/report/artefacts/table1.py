"""Table I: the datasets, the paper's figures beside ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from mloml.paper import published
from mloml.report.document import DASH, Artefact, Table, Text, frame_grid
from mloml.report.recipe import Measured, Recipe

if TYPE_CHECKING:
    from mloml.config.schema import Study
    from mloml.experiments.study import StudyResult

SIZES = ("instances", "features", "classes")


def build(result: StudyResult, frame: pd.DataFrame) -> Artefact:
    """Return Table I from a frame of :func:`mloml.datasets.overview.overview`."""
    headline = difference_sentence(frame)
    shown = _shown(frame)
    pairs = zip(frame["dataset"], frame["note"], strict=True)
    notes = tuple(f"{name}: {note}" for name, note in pairs if note)
    reasons = tuple(dict.fromkeys(result.missing.values()))
    page = (Text((headline,)), shown, Text(notes, listed=True), Text(reasons, listed=True))
    latex = frame_grid(shown, "The datasets: the paper's figures, and ours.", "tab:table1", notes)
    table = Table("table1", RECIPE.title, frame, page, latex, hidden=("note", "missing"))
    return Artefact(headline, tables=(table,))


def measure(study: Study) -> Measured:
    """Describe the datasets that are here."""
    from mloml.datasets.overview import overview

    configs = {config.name: config for config in study.datasets}
    frame, loaded = overview(configs, study.data, published.table1())
    missing = frame[frame["missing"] != ""]
    return Measured(frame, loaded, dict(zip(missing["dataset"], missing["missing"], strict=True)))


def difference_sentence(frame: pd.DataFrame) -> str:
    """Say where ours differ from the paper's figures, and what is missing."""
    here = frame[frame["instances"].notna() & frame["paper_instances"].notna()]
    different = [
        f"{row['dataset']} ({size}: {row[size]}, paper {row[f'paper_{size}']})"
        for _, row in here.iterrows()
        for size in SIZES
        if row[size] != row[f"paper_{size}"]
    ]
    missing = list(frame.loc[frame["instances"].isna(), "dataset"])
    text = f"{len(here)} of {len(frame)} datasets are here. "
    text += f"Different from the paper: {'; '.join(different)}." if different else "All agree with the paper."
    return text + (f" Missing: {', '.join(missing)}." if missing else "")


def _shown(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the printed columns, with a dash where there is nothing."""
    shown = pd.DataFrame({"dataset": frame["dataset"]})
    for size in SIZES:
        shown[f"{size} (paper)"] = frame[f"paper_{size}"]
        shown[size] = frame[size]
    shown["source"] = frame["source"]
    return shown.astype(object).where(shown.notna(), DASH)


RECIPE = Recipe(
    "table1", "Table I: the datasets", "Rows, features and classes.", build, before=measure, work="data"
)
