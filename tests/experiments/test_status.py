"""`mloml status`: which artefacts match, and what their cells cost."""

import shutil

import pytest
from tests.experiments.test_manifest import artefact  # noqa: F401

from mloml.errors import MlomlError
from mloml.experiments.status import main

# ruff: noqa: F811


def test_status_answers_with_words_and_an_exit_code(artefact, capsys):
    folder, store, cells = artefact
    results = ["--results", str(folder.parent)]
    assert main(results) == 0
    assert capsys.readouterr().out == f"{folder}: matches the store\n"
    store.path(cells[0]).write_text("damaged")
    assert main([str(folder), *results]) == 1
    output = capsys.readouterr().out
    assert "small: differs" in output
    assert f"damaged: {store.path(cells[0])}" in output


def test_the_reference_is_looked_at_only_when_it_is_named(artefact, capsys):
    folder, *_ = artefact
    reference = folder.parent / "reference"
    shutil.copytree(folder, reference / "small")
    assert main(["--results", str(folder.parent)]) == 0
    assert capsys.readouterr().out == f"{folder}: matches the store\n"
    assert main([str(reference / "small")]) == 0  # its cells are in the store of these results
    assert capsys.readouterr().out == f"{reference / 'small'}: matches the store\n"
    assert main(["--results", str(reference)]) == 1


def test_jobs_of_a_sweep_come_in_their_order(tmp_path, capsys):
    with pytest.raises(MlomlError, match="no artefact there yet"):
        main(["--results", str(tmp_path)])
    for number in (10, 2, 1):
        (tmp_path / "sweeps" / "s" / str(number)).mkdir(parents=True)
        (tmp_path / "sweeps" / "s" / str(number) / "manifest.json").write_text("{}")
    main(["--results", str(tmp_path)])
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith(str(tmp_path))]
    assert [line.split(":")[0].rpartition("/")[2] for line in lines] == ["1", "2", "10"]


def test_jobs_of_a_sweep_are_one_line_and_those_that_differ_have_their_own(artefact, capsys):
    folder, *_ = artefact
    sweep = folder.parent / "sweeps" / "s"
    for number in range(12):
        shutil.copytree(folder, sweep / str(number))
    (sweep / "sweep.csv").write_text("")
    assert main([str(sweep)]) == 0
    assert capsys.readouterr().out == f"{sweep}: 12 jobs match the store\n"
    (sweep / "10" / "cells.csv").unlink()
    assert main(["--results", str(folder.parent)]) == 1
    first, second, third, fourth = capsys.readouterr().out.splitlines()
    assert first == f"{folder}: matches the store" and second == f"{sweep}: 1 of 12 jobs differ"
    assert third == f"{sweep / '10'}: differs" and "cells.csv" in fourth
    assert main([str(sweep / "3")]) == 0
    assert capsys.readouterr().out == f"{sweep / '3'}: matches the store\n"


def test_an_artefact_is_compared_with_the_store_of_its_own_results_folder(artefact, tmp_path, monkeypatch):
    folder, *_ = artefact
    monkeypatch.chdir(tmp_path)
    shutil.copytree(folder.parent, "moved")
    shutil.rmtree(folder.parent / "store")
    (folder.parent / "store").mkdir()
    assert main(["moved/small"]) == 0
    assert main(["results/small"]) == main(["moved/small", "--results", "results"]) == 1
    with pytest.raises(MlomlError, match="moved/small and results/small are in different results folders"):
        main(["moved/small", "results/small"])
