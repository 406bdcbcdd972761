"""PEMS-SF: what was predicted for every method of Table II, beside what came out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mloml.paper.published import pems_prediction
from mloml.report.document import Artefact, Table
from mloml.report.labels import labels_of
from mloml.report.recipe import Recipe
from mloml.report.tables import summarise

if TYPE_CHECKING:
    from mloml.experiments.study import StudyResult


def build(result: StudyResult) -> Artefact:
    """Return prediction and result side by side; the verdict is empty where there is no result yet."""
    found = summarise(result.frame, labels_of(result), {}).complete
    found = found.rename(columns={"mean": "our_mean", "std": "our_std"}).drop(columns=["splits", "complete"])
    both = pems_prediction().merge(found, how="left", on=["dataset", "algorithm"]).drop(columns="dataset")
    ours = both["our_mean"]
    places = [ours < both["low"], ours > both["high"], ours.notna()]
    both = both.assign(verdict=np.select(places, ["lower", "higher", "holds"], ""))
    return Artefact({"both": both}, (Table("pems", both, "Prediction and result"),))


RECIPE = Recipe(
    "pems",
    "PEMS-SF: prediction and result",
    "Errors on the one data set that was never looked at, predicted before its file could be had.",
    build,
    in_all=False,
)
