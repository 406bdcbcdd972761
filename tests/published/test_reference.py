"""How published folders are made anew: by the commands that their manifests name, each as a whole."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

reference = pytest.importorskip("tools.reference", reason="the tools are not part of an installed wheel")
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", reference.DATASETS)
def test_the_command_is_the_one_that_made_what_is_published(name):
    manifest = next((ROOT / "results/reference" / name).rglob("manifest.json"))
    said = shlex.split(json.loads(manifest.read_text(encoding="utf-8"))["command"])
    assert said[1:] == reference.command(name)[1:]


def test_every_published_folder_is_made_by_it_or_of_the_others():
    folders = {path.name for path in (ROOT / "results/reference").iterdir() if path.is_dir()}
    assert folders - {"bench", "claims"} == set(reference.DATASETS)


def test_a_folder_is_replaced_as_a_whole_without_pdfs(tmp_path):
    old, new = tmp_path / "reference" / "fig6", tmp_path / "fig6"
    for path in (old / "gone.csv", new / "fig6.png", new / "fig6.pdf", new / "below" / "cells.csv"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(path.name)
    reference.copy("fig6", new, tmp_path / "reference")
    there = sorted(str(path.relative_to(old)) for path in old.rglob("*") if path.is_file())
    assert there == ["below/cells.csv", "fig6.png"]
    assert [path.name for path in (tmp_path / "reference").iterdir()] == ["fig6"]


@pytest.mark.parametrize(
    ("arguments", "message"), [(["fig9"], "fig9: not one of table1"), (["fig6"], "MLOML_DATA: must name the")]
)
def test_slips_are_answered_before_anything_runs(arguments, message, monkeypatch):
    monkeypatch.delenv("MLOML_DATA", raising=False)
    command = [sys.executable, str(ROOT / "tools/reference.py"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and message in done.stderr


def test_all_folders_are_of_one_revision_without_changes():
    found = {
        (manifest["git"]["revision"], manifest["git"]["dirty"])
        for path in (ROOT / "results/reference").rglob("manifest.json")
        for manifest in [json.loads(path.read_text(encoding="utf-8"))]
    }
    assert len(found) == 1 and not found.pop()[1]


def test_what_is_published_is_small_enough_for_a_repository():
    files = [path for path in (ROOT / "results/reference").rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 15_000_000
