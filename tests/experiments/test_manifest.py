"""Manifests, and whether an artefact still matches the store."""

import json
import subprocess
from pathlib import Path

import pandas as pd
import pytest

from mloml.config.schema import Algorithm, DataSettings, ProtocolConfig, Study
from mloml.datasets import catalogue
from mloml.experiments import manifest as provenance
from mloml.experiments.cell import Cell
from mloml.experiments.manifest import Source, write_manifest
from mloml.experiments.store import Store, cells_frame
from mloml.experiments.study import StudyResult
from mloml.files import running


def check(folder, store):
    return provenance.check(folder, store)[0]


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
    frame = cells_frame(cells, store.get_all(cells))
    frame.to_csv(folder / "cells.csv", index=False)
    (folder / "table.tex").write_text("a table")
    sources = {"iris": Source("c" * 64, "bundled")}
    result = StudyResult(study, folder, frame, [], pd.DataFrame(), {}, sources=sources)
    write_manifest(result, wall_seconds=2.0)
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

    monkeypatch.setattr(provenance, "repository", lambda: tmp_path)
    assert provenance.git_revision() is None
    git("init", "-q")
    (tmp_path / "file").write_text("one")
    git("add", "file")
    git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one")
    clean = provenance.git_revision()
    assert len(clean["revision"]) == 40
    assert clean["dirty"] is False
    (tmp_path / "file").write_text("two")
    assert provenance.git_revision() == clean | {"dirty": True}


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
    monkeypatch.setattr("mloml.experiments.manifest.code_hash", lambda learner, root: "other")
    assert check(folder, store) == ["the code behind Euclidean changed since: the next run computes anew"]


def test_an_unfinished_artefact_says_so(artefact):
    folder, store, _ = artefact
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | {"state": "running"}))
    with running(folder):
        assert check(folder, store) == ["unfinished (running): 2 of 2 cells"]
    assert check(folder, store) == ["unfinished (killed, nobody runs it any more): 2 of 2 cells"]
    (folder / "manifest.json").write_text("{")
    assert "damaged" in check(folder, store)[0]
    (folder / "manifest.json").unlink()
    assert "no manifest" in check(folder, store)[0]


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
