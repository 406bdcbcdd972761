"""A small results folder, as the experiments leave it behind, and results of studies that never ran."""

import json
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import pytest

from mloml import paper
from mloml.config.schema import Algorithm, DatasetConfig, ProtocolConfig, Study
from mloml.experiments.manifest import Source
from mloml.experiments.study import StudyResult
from mloml.report.document import Artefact, Column, Entry, Grid, Row, Table
from mloml.report.publish import context_of, publish
from mloml.report.recipe import Recipe

matplotlib.use("Agg")

TITLES = {"euclidean": "Euclidean", "moml": "MOML", "mloml_r": "MLOML-r"}
DATASETS = ("wine", "iris", "balance", "spect")
TEMPLATE = """\
{% extends "artefact.md" %}
{% block headline %}{{ count }} of {{ who }} agree.{% endblock %}
{% block page %}
{% call table("table2") %}
Errors of {{ who }}.

Bold: best.
{% endcall %}

## Ranks

Others are elsewhere, see [claims](../claims/claims.md).
{% endblock %}
"""


@pytest.fixture
def errors():
    """Errors of thirty splits by dataset and algorithm."""
    rng = np.random.default_rng(0)
    return {(d, a): tuple(rng.uniform(0, 0.4, 30).round(4).tolist()) for d in DATASETS for a in TITLES}


@pytest.fixture
def table2(errors):
    """Table II of three sets and three algorithms, one set below the rule, and verdicts."""
    rows = [_row(errors, dataset) for dataset in DATASETS]
    columns = tuple(Column(name, title) for name, title in TITLES.items())
    grid = Grid("t", columns, tuple(rows[:3]), (rows[3],), ("1/2/0", "0/3/0", ""))
    verdicts = pd.DataFrame({"dataset": ["iris", "wine"], "difference": [0.01, -0.2], "verdict": ["x", "y"]})
    tables = (Table("table2", grid, "Table II", grid), Table("paper_comparison", verdicts, "Verdicts"))
    return Artefact({"count": 3, "who": "<script>alert(1)</script>"}, tables)


@pytest.fixture
def write(tmp_path):
    """Return a function that publishes an artefact, with a template of its own if there is a text."""

    def made(artefact: Artefact, folder: Path, template: str = "", name: str = "") -> str:
        file = tmp_path / "template.md"
        file.write_text(template)
        recipe = Recipe(name or folder.name, "Table II: errors", "Means.", lambda: artefact)
        recipe = Recipe(**{**vars(recipe), "template": file if template else None})
        context = context_of(recipe, [], "python experiments/table2.py") | {"titles": TITLES}
        return publish(artefact, recipe, context, folder)

    return made


@pytest.fixture
def results(tmp_path, table2, errors, write):
    """Table II with its cells, its manifest and a failure; the rest is missing."""
    folder = tmp_path / "results" / "table2"
    write(table2, folder, TEMPLATE)
    cells = [(*place, "ok", error) for place, found in errors.items() for error in found]
    cells.append(("pems", "moml", "missing", None))
    columns = ["dataset", "algorithm", "status", "error"]
    pd.DataFrame(cells, columns=columns).to_csv(folder / "cells.csv", index=False)
    manifest = {"config": {"protocol": {"name": "paper"}}, "git": {"revision": "0123456789abcdef"}}
    (folder / "manifest.json").write_text(json.dumps(manifest | {"state": "complete"}))
    (folder / "failures.csv").write_text("dataset,algorithm,error\niris,lmnn,<b>no</b>\n")
    return folder.parent


def _row(errors, dataset):
    means = {name: float(np.mean(errors[dataset, name])) for name in TITLES}
    best = min(means, key=means.get)
    entries = (
        Entry(mean, float(np.std(errors[dataset, name], ddof=1)), best=name == best)
        for name, mean in means.items()
    )
    return Row(dataset, dataset, tuple(entries))


@pytest.fixture
def make_result(tmp_path):
    """Return a function that makes a study's result, its cells drawn around the paper's own means.

    ``keep`` decides which cells are finished, ``missing`` names data sets that could not be loaded.
    """

    def make(
        datasets=("iris", "wine", "spect_paper", "waveform", "spect"),
        algorithms=("euclidean", "lego", "oasis", "slmoml", "moml", "mloml_r"),
        splits=8,
        published=None,
        protocol="paper",
        missing=(),
        keep=lambda dataset, algorithm, split: True,
    ):
        table = paper.table2() if published is None else published
        printed = table.set_index(["dataset", "algorithm"])[["error", "std"]]
        titles = {name: title for title, name in paper.ALGORITHMS.items()}
        notes = {"slmoml": "reconstruction", "spect_paper": "the last feature was taken for the label"}
        study = Study(
            name="table",
            datasets=[DatasetConfig(name=d, title=d, footnote=notes.get(d)) for d in datasets],
            algorithms=[Algorithm(a, titles.get(a, a), "Euclidean", note=notes.get(a)) for a in algorithms],
            protocol=ProtocolConfig(name=protocol, splits=splits),
        )
        records = []
        for dataset in [name for name in datasets if name not in missing]:
            rng = np.random.default_rng(len(dataset))
            common = rng.normal(size=splits)
            for algorithm in algorithms:
                mean, std = printed.loc[(dataset.removesuffix("_paper"), algorithm.removesuffix("_cv"))]
                noise = 0.9 * common + 0.4 * rng.normal(size=splits)
                errors = np.clip(mean + std * noise, 0, 1)
                records += [_record(dataset, algorithm, split, float(e)) for split, e in enumerate(errors)]
        frame = pd.DataFrame(records)[["dataset", "algorithm", "split", "error"]]
        done = [keep(*place) for place in frame[["dataset", "algorithm", "split"]].to_numpy()]
        frame = frame.assign(status=np.where(done, "ok", "missing"), error=frame["error"].where(done))
        finished = [record for record, ok in zip(records, done, strict=True) if ok]
        sources = {name: Source("c", "generated", name == "waveform") for name in ("waveform", "iris")}
        reasons = dict.fromkeys(missing, "no copy in the cache")
        return StudyResult(study, tmp_path, frame, finished, pd.DataFrame(), reasons, sources=sources)

    return make


def _record(dataset, algorithm, split, error):
    """Return a cell; cross-validation prefers the first value in even splits and the second in odd ones."""
    grid = [{"params": {}, "cv_error": None, "test_error": error}]
    if algorithm not in ("euclidean", "oasis"):
        grid = [
            {"params": {"gamma": 0.01}, "cv_error": 0.2 + 0.1 * (split % 2), "test_error": error},
            {"params": {"gamma": 0.1}, "cv_error": 0.25, "test_error": error - 0.001},
        ]
    cell = {"dataset": dataset, "algorithm": algorithm, "split": split, "error": error}
    return {**cell, "grid": grid, "scan_errors": [error + 0.02, error + 0.01, error]}
