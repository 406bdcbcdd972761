"""Artefacts by name: those of the project, and a stranger's, from a module and an experiment."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pandas as pd
import pytest

import mloml
from mloml.command_line import Command
from mloml.config.paths import conf_dir, repository
from mloml.errors import ConfigError
from mloml.report.page import gather, write_report
from mloml.report.recipe import find_recipe, recipes
from mloml.report.reproduce import reproduce, run

MODULE = """
import pandas as pd

from mloml.report.document import Artefact, Table, Text
from mloml.report.recipe import Recipe


def build(result):
    spread = result.frame.groupby(["dataset", "algorithm"])["error"].agg(["min", "max"]).reset_index()
    table = Table("spread", "Smallest and largest error", spread, (Text(("Over the splits.",)),))
    return Artefact(f"{len(spread)} methods.", tables=(table,))


RECIPE = Recipe("spread", "Spread of the errors", "How far errors go.", build, experiment="table2")
"""
SMALL = ["datasets=[iris]", "algorithms=[euclidean]", "protocol.splits=2", "execution.n_jobs=1"]


def test_every_recipe_has_an_experiment_and_stands_in_the_papers_order() -> None:
    found = recipes()
    assert list(found)[:4] == ["table1", "table2", "table3", "fig4"]
    for name, recipe in found.items():
        assert recipe.name == name and recipe.title and recipe.about.endswith(".")
        experiment = conf_dir() / "experiment" / f"{recipe.experiment or name}.yaml"
        assert experiment.is_file() or recipe.work == "reading"


def test_every_script_is_its_docstring_and_one_call() -> None:
    root = repository()
    if root is None:
        pytest.skip("the scripts are not part of an installed wheel")
    scripts = sorted((root / "experiments").glob("*.py"))
    asked = set()
    for script in scripts:
        text = script.read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 20, script
        docstring, _, call = ast.parse(text).body
        assert isinstance(docstring, ast.Expr)
        asked.add(call.body[0].value.args[0].value)  # type: ignore[attr-defined]
    assert asked == {*recipes(), "report"}


def test_the_command_line_is_read_in_one_place() -> None:
    package = Path(mloml.__file__).parent
    reading = [
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr == "argv" and isinstance(node.ctx, ast.Load)
    ]
    # watch.py is a program of its own, which runs beside a worker.
    assert set(reading) - {"datasets/bundle/__main__.py", "datasets/bundle/compare.py"} == {
        "command_line.py",
        "execution/watch.py",
    }


def test_an_unknown_artefact_is_one_line_with_a_suggestion() -> None:
    with pytest.raises(ConfigError, match="tabel2: no such artefact; did you mean 'table2'"):
        find_recipe("tabel2")
    with pytest.raises(ConfigError, match="must be a module with a RECIPE"):
        find_recipe("no.such.module")


def test_after_ctrl_c_all_says_how_to_go_on_with_all(tmp_path, monkeypatch, capsys) -> None:
    def interrupted(*_: object) -> int:
        raise SystemExit(130)

    monkeypatch.setattr("mloml.report.reproduce.reproduce", interrupted)
    words = ["all", f"execution.results={tmp_path}"]
    with pytest.raises(SystemExit):
        run(words, Command("mloml", ("reproduce", *words)))
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == f"to go on with all of them: mloml reproduce all execution.results={tmp_path}"


def test_a_recipe_that_is_something_else_is_refused(tmp_path, monkeypatch) -> None:
    (tmp_path / "strange_kitchen").mkdir()
    (tmp_path / "strange_kitchen" / "soup.py").write_text("RECIPE = 'soup'")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError, match=r"soup\.RECIPE: must be a mloml\.reporting\.recipe\.Recipe"):
        find_recipe("strange_kitchen.soup")


def test_a_strangers_artefact_is_made_by_its_import_path_and_shown(tmp_path, monkeypatch, capsys) -> None:
    package = tmp_path / "strange_artefacts"
    package.mkdir()
    (package / "spread.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    results = tmp_path / "results"
    overrides = [*SMALL, f"execution.results={results}"]
    command = Command("mloml", ("reproduce", "strange_artefacts.spread", *overrides))
    assert reproduce("strange_artefacts.spread", overrides, command) == 0
    assert "in short: 1 methods." in capsys.readouterr().out
    folder = results / "spread"
    cells = pd.read_csv(folder / "cells.csv")
    spread = pd.read_csv(folder / "spread.csv").iloc[0]
    assert (spread["min"], spread["max"]) == pytest.approx((cells["error"].min(), cells["error"].max()))
    document = json.loads((folder / "artefact.json").read_text())
    assert document["command"].startswith("mloml reproduce strange_artefacts.spread 'datasets=[iris]'")
    assert "execution" not in document["command"] and document["sources"] == {"iris": "bundled"}
    section = next(section for section in gather(results) if section.name == "spread")
    assert section.main is not None and section.main.columns == ["dataset", "algorithm", "min", "max"]
    assert [cell.text for cell in section.main.groups[0][0][:2]] == ["iris", "Euclidean"]
    assert "Spread of the errors" in write_report(results).read_text(encoding="utf-8")
