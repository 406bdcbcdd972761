"""The studies beyond the paper, run as a person does, on next to nothing."""

from __future__ import annotations

import json
import re

import pandas as pd
import pytest

from mloml.command_line import Command
from mloml.config.compose import compose_study
from mloml.config.paths import repository
from mloml.report.parts.beyond.side import _part_taken
from mloml.report.reproduce import _size, reproduce

FEW = ["datasets=[appendicitis,banknote]", "algorithms=[euclidean,kissme,lda,nca]", "execution.n_jobs=1"]


def test_both_studies_have_ten_splits_unless_asked_otherwise() -> None:
    assert _size("beyond", []) == ["protocol.splits=10", "protocol.scans=20", "protocol.folds=5"]
    lite = compose_study("table2", ["protocol=lite"]).protocol
    assert _size("beyond", ["protocol=lite"])[0] == f"protocol.splits={lite.splits}"
    assert _size("beyond", ["protocol=lite", "protocol.splits=2"])[0] == "protocol.splits=2"


@pytest.mark.parametrize(
    ("protocol", "rows", "scale"), [("clean", "unit", None), ("standardised", "standardised", "auto")]
)
def test_the_studies_are_those_of_the_rule(protocol, rows, scale) -> None:
    study = compose_study("beyond", [f"protocol={protocol}"])
    assert (len(study.datasets), len(study.algorithms), study.protocol.splits) == (22, 19, 10)
    assert study.protocol.rows == rows and study.protocol.pca.fit == "train"
    parameters = {algorithm.name: algorithm.params for algorithm in study.algorithms}
    assert all(
        parameters[name]["scale"] == scale for name in ("moml", "opml", "mloml_r", "mloml_r_untrained")
    )
    assert all(parameters[f"mloml_{a}_untrained"]["gamma"] == 0 for a in "rst")


@pytest.mark.slow
def test_it_runs_small_and_names_its_folders(tmp_path) -> None:
    overrides = [
        *FEW,
        "protocol.splits=2",
        "protocol.scans=1",
        "protocol.folds=2",
        f"execution.results={tmp_path}",
    ]
    assert reproduce("beyond", overrides, Command("mloml", ("reproduce", "beyond", *overrides))) == 0
    for study in ("clean", "standardised"):
        cells = pd.read_csv(tmp_path / "beyond" / study / "cells.csv")
        assert len(cells) == 16 and set(cells["status"]) == {"ok"} and set(cells["protocol"]) == {study}
    document = json.loads((tmp_path / "beyond" / "artefact.json").read_text(encoding="utf-8"))
    assert document["headline"].startswith("2 sets that the paper never saw, 2 random halves of each.")
    assert (tmp_path / "beyond" / "beyond.md").is_file()


def test_every_set_of_which_a_part_was_taken_says_so_in_the_tables() -> None:
    root = repository()
    if root is None:
        pytest.skip("the rule is not part of an installed wheel")
    rule = (root / "docs" / "beyond.md").read_text(encoding="utf-8")
    taken = dict(re.findall(r"^\| (\w+) \| ([\d,]+ x \d+.*?) \|", rule, re.M))
    study = compose_study("beyond")
    assert set(taken) == {config.name for config in study.datasets}
    for config in study.datasets:
        whole = re.search(r"\(of ([\d,]+)", taken[config.name])
        assert (whole[1] in _part_taken(config)) if whole else not _part_taken(config), config.name
