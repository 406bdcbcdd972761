"""Table I: the datasets, the paper's figures beside ours."""

import dataclasses

import pandas as pd

from mloml.config.schema import Study
from mloml.datasets import load
from mloml.errors import DatasetUnavailableError
from mloml.experiments.study import StudyResult
from mloml.paper import published
from mloml.report.document import DASH, Artefact, Table, frame_grid
from mloml.report.labels import row_name
from mloml.report.recipe import Measured, Recipe

SIZES = ["instances", "features", "classes"]
# Beside each other, as printed.
PAIRS = [column for size in SIZES for column in (f"paper_{size}", size)]


def build(result: StudyResult, frame: pd.DataFrame) -> Artefact:
    """Return Table I from the frame of :func:`measure`."""
    here = frame[frame["instances"].notna()]
    values = {
        "known": len(published.DATASETS),
        "absent": [name for name in published.DATASETS if name not in set(here["dataset"].map(row_name))],
        "different": differences(here),
        "remarks": [(row["dataset"], row["note"]) for row in frame.to_dict("records") if row["note"]],
        "reasons": list(dict.fromkeys(result.missing.values())),
    }
    shown = frame[["dataset", *PAIRS, "source"]].astype(object).fillna(DASH)
    shown = shown.rename(columns={f"paper_{size}": f"{size} (paper)" for size in SIZES})
    return Artefact(values, (Table("table1", frame, RECIPE.title, latex=frame_grid(shown, "tab:table1")),))


def measure(study: Study) -> Measured:
    """Load every data set and put its size beside the paper's; a variant has the paper's row of its base.

    The frame has one row per data set: ``paper_*`` and own sizes (missing where the data are), source, note,
    and why it is missing. The data are kept without their features: PEMS-SF alone takes half a gigabyte.
    """
    paper = published.table1().set_index("dataset")[SIZES].add_prefix("paper_")
    rows, loaded, missing = [], {}, {}
    for config in study.datasets:
        row: dict[str, object] = {
            "dataset": config.name,
            "source": "missing",
            "note": config.note or "",
            "missing": "",
        }
        try:
            data = load(config, study.data)
            row["source"] = "regenerated" if data.regenerated else data.source
            row |= dict(zip(SIZES, (*data.X.shape, len(data.labels)), strict=True))
            loaded[config.name] = dataclasses.replace(data, X=data.X[:0].copy())
        except DatasetUnavailableError as error:
            missing[config.name] = str(error)
            row |= {"source": "missing", "missing": str(error)}
        rows.append({**paper.reindex([config.base or config.name]).iloc[0], **row})
    frame = pd.DataFrame(rows, columns=["dataset", *paper, *SIZES, "source", "note", "missing"])
    return Measured(frame.astype(dict.fromkeys(PAIRS, "Int64")), loaded, missing)


def differences(here: pd.DataFrame) -> pd.DataFrame:
    """Return where sizes differ from the paper's."""
    rows = [
        (row["dataset"], size, int(row[size]), int(row[f"paper_{size}"]))
        for row in here[here["paper_instances"].notna()].to_dict("records")
        for size in SIZES
        if row[size] != row[f"paper_{size}"]
    ]
    return pd.DataFrame(rows, columns=["dataset", "size", "here", "paper"])


RECIPE = Recipe(
    "table1", "Table I: the datasets", "Rows, features and classes.", build, before=measure, work="data"
)
