"""Manifests, and whether an artefact still matches the store."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from mloml.config.schema import Algorithm, ProtocolConfig, Study
from mloml.datasets import DataSettings, catalogue
from mloml.errors import MlomlError
from mloml.experiments.cell import Cell
from mloml.report import cell_cost as cost
from mloml.report import status as provenance
from mloml.experiments import surroundings
from mloml.experiments.manifest import Source, check, write_manifest
from mloml.experiments.running import running
from mloml.experiments.store import Store


@pytest.fixture
def artefact(tmp_path):
    """A finished artefact of two cells in ``results/small``, and its store."""
    study = Study(
        name="small",
        datasets=[catalogue()["iris"]],
        algorithms=[Algorithm("euclidean", "Euclidean", "Euclidean")],
        protocol=ProtocolConfig(splits=2),
        data=DataSettings(dir="/home/somebody/data"),
    )
    store = Store(tmp_path / "results" / "store")
    cells = [Cell("iris", "c" * 64, study.algorithms[0], study.protocol, split) for split in range(2)]
    for cell in cells:
        record = {"key": cell.key, "error": 0.1 + cell.split / 3, "chosen": {}, "seconds": {"total": 1.5}}
        names = {"dataset": "iris", "algorithm": "euclidean", "split": cell.split, "protocol": "paper"}
        store.put(cell, record | names)
    folder = tmp_path / "results" / "small"
    folder.mkdir()
    frame = store.frame(cells)
    frame.to_csv(folder / "cells.csv", index=False)
    (folder / "table.tex").write_text("a table")
    write_manifest(folder, study, frame, {"iris": Source("c" * 64, "bundled")}, wall_seconds=2.0)
    return folder, store, cells


def test_a_manifest_tells_where_an_artefact_comes_from(artefact):
    folder, *_ = artefact
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["state"] == "complete"
    assert manifest["config"]["protocol"]["splits"] == 2
    assert manifest["seeds"]["protocol"] == 0
    assert {"python", "numpy", "scikit-learn", "numba", "mloml"} <= set(manifest["versions"])
    assert manifest["datasets"]["iris"] == {"checksum": "c" * 64, "source": "bundled", "regenerated": False}
    assert manifest["machine"]["cores"] >= 1
    assert manifest["wall_seconds"] == 2.0
    assert manifest["cell_seconds"] == 3.0
    assert manifest["cells"]["ok"] == 2
    assert set(manifest["files"]) == {"cells.csv", "table.tex"}


def test_a_manifest_names_no_folder_of_anybody(artefact):
    folder, *_ = artefact
    text = (folder / "manifest.json").read_text()
    assert "somebody" not in text
    assert str(Path.home()) not in text.replace(json.loads(text)["command"], "")


def test_the_git_revision_says_whether_there_are_changes(tmp_path, monkeypatch):
    def git(*arguments):
        subprocess.run(["git", "-C", str(tmp_path), *arguments], check=True, capture_output=True)

    monkeypatch.setattr(surroundings, "repository", lambda: tmp_path)
    assert surroundings.git_revision() is None
    git("init", "-q")
    (tmp_path / "file").write_text("one")
    git("add", "file")
    git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one")
    clean = surroundings.git_revision()
    assert len(clean["revision"]) == 40
    assert clean["dirty"] is False
    (tmp_path / "file").write_text("two")
    assert surroundings.git_revision() == clean | {"dirty": True}


def test_an_untouched_artefact_matches(artefact):
    folder, store, _ = artefact
    assert check(folder, store) == []


def test_a_changed_file_is_noticed(artefact):
    folder, store, _ = artefact
    (folder / "table.tex").write_text("a better table")
    assert check(folder, store) == ["table.tex was changed after the run"]
    (folder / "table.tex").unlink()
    assert check(folder, store) == ["table.tex is gone"]


def test_cells_that_left_the_store_or_changed_there_are_noticed(artefact):
    folder, store, cells = artefact
    store.put(cells[0], store.get(cells[0]) | {"error": 0.9})
    store.path(cells[1]).unlink()
    assert check(folder, store) == [
        "1 cells are not in the store any more",
        "1 cells have another error in the store",
    ]


def test_code_that_changed_since_is_noticed(artefact, monkeypatch):
    folder, store, _ = artefact
    monkeypatch.setattr("mloml.experiments.fingerprint.fingerprint", lambda learner: "other")
    assert check(folder, store) == ["the code behind Euclidean changed since: the next run computes anew"]


def test_an_unfinished_artefact_says_so(artefact):
    folder, store, _ = artefact
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | {"state": "running"}))
    with running(folder):
        assert check(folder, store) == ["unfinished (running): 2 of 2 cells"]
    assert check(folder, store) == ["unfinished (killed, nobody runs it any more): 2 of 2 cells"]
    (folder / "manifest.json").write_text("{")
    assert check(folder, store) == ["the manifest is damaged"]
    (folder / "manifest.json").unlink()
    assert "no manifest" in check(folder, store)[0]


def test_status_answers_with_words_and_an_exit_code(artefact, capsys):
    folder, store, cells = artefact
    results = ["--results", str(folder.parent)]
    assert provenance.main(results) == 0
    assert "small: matches the store" in capsys.readouterr().out
    store.path(cells[0]).write_text("damaged")
    assert provenance.main([str(folder), *results]) == 1
    output = capsys.readouterr().out
    assert "small: differs" in output
    assert f"damaged: {store.path(cells[0])}" in output


def test_status_looks_at_the_reference_only_when_it_is_named(artefact, capsys):
    folder, *_ = artefact
    reference = folder.parent / "reference"
    shutil.copytree(folder, reference / "small")
    assert provenance.main(["--results", str(folder.parent)]) == 0
    assert capsys.readouterr().out == f"{folder}: matches the store\n"
    assert provenance.main([str(reference / "small")]) == 0  # its cells are in the store of these results
    assert capsys.readouterr().out == f"{reference / 'small'}: matches the store\n"
    assert provenance.main(["--results", str(reference)]) == 1
    assert f"{reference / 'small'}: differs\n  2 cells are not in" in capsys.readouterr().out


def test_status_of_an_empty_folder_says_what_to_do(tmp_path):
    with pytest.raises(MlomlError, match="no artefact there yet"):
        provenance.main(["--results", str(tmp_path)])


def test_costs_are_measured_from_the_stored_cells(artefact, capsys):
    folder, *_ = artefact
    assert provenance.main(["--cost", "--results", str(folder.parent)]) == 0
    output = capsys.readouterr().out
    assert "| euclidean | 1.50 | 1.50 |" in output
    assert "| 2 | 0:00:22 |" in output  # 30 splits of 1.5 s on two cores


def test_costs_are_written_into_a_page_between_its_markers(artefact, tmp_path):
    folder, *_ = artefact
    page = tmp_path / "page.md"
    page.write_text(f"before\n{cost.BEGIN}\nold figures\n{cost.END}\nafter\n")
    arguments = ["--into", str(page), "--results", str(folder.parent)]
    provenance.main(arguments)
    once = page.read_text()
    assert once.startswith("before\n")
    assert once.endswith("after\n")
    assert "| euclidean | 1.50 |" in once
    assert "old figures" not in once
    provenance.main(arguments)
    assert page.read_text() == once
    page.write_text("no markers")
    with pytest.raises(MlomlError, match="has no place for costs"):
        provenance.main(arguments)


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"{", b"null", b"[]", b"3", b"\xff\xfe\x00", b"{}"),
        b'{"state": "complete", "files": [], "code": 3, "cells": null}',
        b'{"state": "running", "files": {"cells.csv": 1}, "code": {"MOML": []}, "cells": 7}',
    ],
)
def test_a_damaged_manifest_is_a_finding(artefact, content):
    folder, store, _ = artefact
    (folder / "manifest.json").write_bytes(content)
    findings = check(folder, store)
    assert findings
    assert all("\n" not in line for line in findings)
    assert "damaged" in findings[0]


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2,3\n4\n", b"\xff\xfe\x00\n1", b"key,status\n1,ok\n"])
def test_damaged_cells_are_a_finding(artefact, content):
    folder, store, _ = artefact
    (folder / "cells.csv").write_bytes(content)
    assert any("damaged" in line or "cells.csv" in line for line in check(folder, store))
