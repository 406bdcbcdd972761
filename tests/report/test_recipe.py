"""Artefacts by name: those of the project, and a stranger's, from a module, a template and an experiment."""

import ast
import json

import pandas as pd
import pytest

from mloml.command_line import Command
from mloml.config import conf_dir, repository
from mloml.errors import ConfigError
from mloml.report.page import gather
from mloml.report.recipe import find_recipe, recipes
from mloml.report.reproduce import reproduce, run, study_and_folder

MODULE = """
from mloml.report.document import Artefact, Table
from mloml.report.recipe import Recipe


def build(result):
    spread = result.frame.groupby(["dataset", "algorithm"])["error"].agg(["min", "max"]).reset_index()
    return Artefact({"count": len(spread)}, (Table("spread", spread, "Smallest and largest error"),))


RECIPE = Recipe("spread", "Spread of the errors", "How far errors go.", build, experiment="table2")
"""
TEMPLATE = """\
{% extends "artefact.md" %}
{% block headline %}{{ count }} methods.{% endblock %}
{% block page %}{% call table("spread") %}Errors over {{ splits }} splits.{% endcall %}{% endblock %}
"""
SMALL = [
    "datasets=[iris]",
    "algorithms=[euclidean]",
    "protocol.splits=2",
    "execution.n_jobs=1",
    "protocol.full=2",
]


def test_every_recipe_has_its_experiment_and_its_template_and_stands_in_the_papers_order() -> None:
    found = recipes()
    assert list(found)[:4] == ["table1", "table2", "table3", "fig4"]
    for name, recipe in found.items():
        assert recipe.name == name and recipe.title and recipe.about and recipe.template
        experiment = conf_dir() / "experiment" / f"{recipe.experiment or name}.yaml"
        assert experiment.is_file() or recipe.work == "reading"


def test_every_script_is_its_docstring_and_one_call() -> None:
    root = repository()
    if root is None:
        pytest.skip("the scripts are not part of an installed wheel")
    asked = set()
    for script in (root / "experiments").glob("*.py"):
        docstring, _, call = ast.parse(script.read_text(encoding="utf-8")).body
        assert isinstance(docstring, ast.Expr)
        asked.add(call.body[0].value.args[0].value)  # type: ignore[attr-defined]
    assert asked == {*recipes(), "report"}


def test_an_unknown_artefact_is_one_line_with_a_suggestion(tmp_path, monkeypatch) -> None:
    with pytest.raises(ConfigError, match="tabel2: no such artefact; did you mean 'table2'"):
        find_recipe("tabel2")
    with pytest.raises(ConfigError, match="must be a module with a RECIPE"):
        find_recipe("no.such.module")
    (tmp_path / "strange_kitchen").mkdir()
    (tmp_path / "strange_kitchen" / "soup.py").write_text("RECIPE = 'soup'")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError, match=r"soup\.RECIPE: must be a mloml\.report\.recipe\.Recipe"):
        find_recipe("strange_kitchen.soup")


def test_after_ctrl_c_all_says_how_to_go_on_with_all(tmp_path, monkeypatch, capsys) -> None:
    def interrupted(*_: object) -> int:
        raise SystemExit(130)

    monkeypatch.setattr("mloml.report.reproduce.reproduce", interrupted)
    words = ["all", f"execution.results={tmp_path}"]
    with pytest.raises(SystemExit):
        run(words, Command("mloml", ("reproduce", *words)))
    assert f"mloml reproduce all execution.results={tmp_path}" in capsys.readouterr().out.splitlines()[-1]


def test_a_strangers_artefact_is_made_by_its_import_path_and_shown(tmp_path, monkeypatch, capsys) -> None:
    package = tmp_path / "strange_artefacts"
    package.mkdir()
    (package / "spread.py").write_text(MODULE)
    (package / "spread.md").write_text(TEMPLATE)
    monkeypatch.syspath_prepend(tmp_path)
    results = tmp_path / "results"
    overrides = [*SMALL, f"execution.results={results}"]
    command = Command("mloml", ("reproduce", "strange_artefacts.spread", *overrides))
    assert reproduce("strange_artefacts.spread", overrides, command) == 0
    assert "in short: 1 methods." in capsys.readouterr().out
    (folder,) = results.glob("spread-*")
    cells = pd.read_csv(folder / "cells.csv")
    spread = pd.read_csv(folder / "spread.csv").iloc[0]
    assert (spread["min"], spread["max"]) == pytest.approx((cells["error"].min(), cells["error"].max()))
    document = json.loads((folder / "artefact.json").read_text())
    assert document["command"].startswith("mloml reproduce strange_artefacts.spread 'datasets=[iris]'")
    assert "execution" not in document["command"]
    section = next(section for section in gather(results) if section.name == folder.name)
    assert "Errors over 2 splits." in section.html and "Euclidean" in section.html


@pytest.mark.parametrize("name", ["table1", "seeds"])
def test_a_small_run_never_replaces_the_whole_one(name) -> None:
    def folder(*overrides: str) -> str:
        return study_and_folder(find_recipe(name), overrides)[1].as_posix()

    plain, small = f"results/{name}", ("protocol=lite", "datasets=[iris,wine]")
    assert folder() == folder("execution.n_jobs=1") == folder("protocol=paper") == plain
    assert folder(*small).startswith(f"{plain}-datasets-iris_wine-protocol-lite-")
    assert folder(*small) == folder(*reversed(small)) != folder("protocol=lite", "datasets=[iris,balance]")
    assert folder("name=mine", *small) == "results/mine"


def test_the_seeds_of_the_study_of_two_seeds_are_its_own() -> None:
    with pytest.raises(ConfigError, match=r"protocol\.seed=3"):
        reproduce("seeds", ["protocol.seed=3"], Command("mloml", ("reproduce", "seeds")))
