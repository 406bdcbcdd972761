"""A small results folder, as the experiments leave it behind."""

import json

import matplotlib
import numpy as np
import pandas as pd
import pytest

matplotlib.use("Agg")

TITLES = {"euclidean": "Euclidean", "moml": "MOML", "mloml_r": "MLOML-r"}


@pytest.fixture
def results(tmp_path):
    """Table II of three sets and three algorithms, findings and one failure; the rest is missing."""
    rng = np.random.default_rng(0)
    folder = tmp_path / "table2"
    folder.mkdir()
    datasets = ["wine", "iris", "balance", "spect"]
    cells = pd.DataFrame(
        [(d, a, s, round(rng.uniform(0, 0.4), 4)) for d in datasets for a in TITLES for s in range(30)],
        columns=["dataset", "algorithm", "split", "error"],
    )
    cells.assign(chosen="{}", seconds=1.0, status="ok").to_csv(folder / "cells.csv", index=False)
    table2_layout(cells, datasets).to_csv(folder / "table2.csv", index=False)
    algorithms = [{"name": name, "title": title} for name, title in TITLES.items()]
    config = {"algorithms": algorithms, "protocol": {"name": "paper"}}
    manifest = {"config": config, "git": {"revision": "0123456789abcdef"}, "state": "complete"}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    pd.DataFrame({"dataset": ["iris"], "algorithm": ["lmnn"], "error": ["<script>alert(1)</script>"]}).to_csv(
        folder / "failures.csv", index=False
    )
    verdicts = {
        "dataset": ["iris", "wine"],
        "difference": [0.01, -0.2],
        "verdict": ["agrees", "differs: ours lower"],
    }
    pd.DataFrame(verdicts).to_csv(folder / "paper_comparison.csv", index=False)
    theory = tmp_path / "theory"
    theory.mkdir()
    (theory / "theory.md").write_text("# Theory\n\nThe bound is <b>false</b>.\n\n## Theorem 2\n\nMore.\n")
    (theory / "findings.md").write_text("# In short\n\nIt <i>fails</i>.\n\n- Theorem 1.\n- Theorem 2.\n")
    return tmp_path


def table2_layout(cells, datasets):
    """Return the paper's layout: mean±std with marks, the best of a row with an asterisk, notes last."""
    lines = [[dataset, *_texts(cells, dataset), ""] for dataset in datasets[:-1]]
    lines.append(["win/tie/loss", "1/2/0", "0/3/0", "", ""])
    lines.append([datasets[-1], *_texts(cells, datasets[-1]), "not counted"])
    return pd.DataFrame(lines, columns=["dataset", *TITLES.values(), "note"])


def _texts(cells, dataset):
    part = cells[cells["dataset"] == dataset].groupby("algorithm")["error"]
    mean, std = part.mean(), part.std()
    best = mean.idxmin()
    return [f"{mean[a]:.3f}±{std[a]:.3f}".replace("0.", ".") + ("*" if a == best else "") for a in TITLES]
