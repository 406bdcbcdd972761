"""Table I: the datasets, the paper's figures beside ours."""

import pandas as pd

from mloml.config.schema import Study
from mloml.experiments.study import StudyResult
from mloml.paper import published
from mloml.report.document import DASH, Artefact, Table, frame_grid
from mloml.report.recipe import Measured, Recipe

SIZES = ("instances", "features", "classes")


def build(result: StudyResult, frame: pd.DataFrame) -> Artefact:
    """Return Table I from a frame of :func:`mloml.datasets.overview`."""
    here = frame[frame["instances"].notna()]
    values = {
        "here": len(here),
        "datasets": len(frame),
        "different": differences(here),
        "remarks": [(row["dataset"], row["note"]) for row in frame.to_dict("records") if row["note"]],
        "reasons": list(dict.fromkeys(result.missing.values())),
    }
    table = Table("table1", frame, RECIPE.title, latex=frame_grid(_shown(frame), "tab:table1"))
    return Artefact(values, (table,))


def measure(study: Study) -> Measured:
    """Describe the datasets that are here."""
    from mloml.datasets import overview

    configs = {config.name: config for config in study.datasets}
    frame, loaded = overview(configs, study.data, published.table1())
    missing = frame[frame["missing"] != ""]
    return Measured(frame, loaded, dict(zip(missing["dataset"], missing["missing"], strict=True)))


def differences(here: pd.DataFrame) -> pd.DataFrame:
    """Return where sizes differ from the paper's."""
    rows = [
        (row["dataset"], size, int(row[size]), int(row[f"paper_{size}"]))
        for row in here[here["paper_instances"].notna()].to_dict("records")
        for size in SIZES
        if row[size] != row[f"paper_{size}"]
    ]
    return pd.DataFrame(rows, columns=["dataset", "size", "here", "paper"])


def _shown(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the printed columns, with a dash where there is nothing."""
    pairs = [column for size in SIZES for column in (f"paper_{size}", size)]
    shown = frame[["dataset", *pairs, "source"]].astype(object)
    shown = shown.where(shown.notna(), DASH)
    return shown.rename(columns={f"paper_{size}": f"{size} (paper)" for size in SIZES})


RECIPE = Recipe(
    "table1", "Table I: the datasets", "Rows, features and classes.", build, before=measure, work="data"
)
