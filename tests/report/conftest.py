"""A small results folder, as the experiments leave it behind."""

import json

import matplotlib
import numpy as np
import pandas as pd
import pytest

from mloml.report.document import Artefact, Column, Entry, Grid, Row, Table, Text
from mloml.report.publish import publish

matplotlib.use("Agg")

TITLES = {"euclidean": "Euclidean", "moml": "MOML", "mloml_r": "MLOML-r"}
DATASETS = ("wine", "iris", "balance", "spect")


@pytest.fixture
def errors():
    """Errors of thirty splits by dataset and algorithm."""
    rng = np.random.default_rng(0)
    return {(d, a): tuple(rng.uniform(0, 0.4, 30).round(4).tolist()) for d in DATASETS for a in TITLES}


@pytest.fixture
def table2(errors):
    """Table II of three sets and three algorithms, one set below the rule, verdicts and one failure."""
    rows = [_row(errors, dataset) for dataset in DATASETS]
    columns = tuple(Column(name, title) for name, title in TITLES.items())
    grid = Grid(
        "Errors.", "t", columns, tuple(rows[:3]), (rows[3],), ("1/2/0", "0/3/0", ""), ("Bold: best.",)
    )
    page = (
        grid,
        Text(("Of 3 marks, 1 survives.",), details="paper_comparison"),
        Text(("Others are elsewhere.",), heading="Ranks", details="gone"),
    )
    verdicts = pd.DataFrame(
        {
            "dataset": ["iris", "wine"],
            "difference": [0.01, -0.2],
            "verdict": ["agrees", "differs: ours lower"],
        }
    )
    return Artefact(
        "It works.",
        ("Of 3 marks, 1 survives.",),
        (Table("table2", "Table II", grid, page, grid), Table("paper_comparison", "Verdicts", verdicts)),
        name="table2",
        title="Table II: errors",
        about="Means.",
        failures=pd.DataFrame(
            {"dataset": ["iris"], "algorithm": ["lmnn"], "error": ["<script>alert(1)</script>"]}
        ),
        titles=TITLES,
        command="python experiments/table2.py",
    )


@pytest.fixture
def results(tmp_path, table2):
    """Table II with its manifest, and the theory in words; the rest is missing."""
    publish(table2, tmp_path / "table2")
    config = {"protocol": {"name": "paper"}}
    manifest = {"config": config, "git": {"revision": "0123456789abcdef"}, "state": "complete"}
    (tmp_path / "table2" / "manifest.json").write_text(json.dumps(manifest))
    theory = Artefact(
        "It <i>fails</i>.",
        ("Theorem 1.", "Theorem `2`."),
        notes=(Text(("The bound is <b>false</b>.",)), Text(("More.",), heading="Theorem 2")),
        name="theory",
        title="Theory",
    )
    publish(theory, tmp_path / "theory")
    return tmp_path


def _row(errors, dataset):
    means = {name: np.mean(errors[dataset, name]) for name in TITLES}
    best = min(means, key=means.get)
    entries = tuple(
        Entry(
            float(means[a]),
            float(np.std(errors[dataset, a], ddof=1)),
            best=a == best,
            errors=errors[dataset, a],
        )
        for a in TITLES
    )
    return Row(dataset, dataset, entries)
