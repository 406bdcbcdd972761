"""What is published is what the code makes of the published cells: no sentence is older than its numbers."""

from __future__ import annotations

import json

import matplotlib
import pytest
from tests.published.oracle import REFERENCE, needs_reference

from mloml.report import publish

matplotlib.use("Agg")
redraw = pytest.importorskip("tools.redraw", reason="the tools are not part of an installed wheel")
pytestmark = needs_reference


@pytest.mark.slow
@pytest.mark.parametrize("name", redraw.NAMES)
def test_texts_and_tables_are_those_that_the_code_makes_of_the_cells(name, tmp_path, monkeypatch):
    monkeypatch.setattr(publish, "_drawn", lambda figure: {})  # pictures depend on fonts
    redraw.redraw(name, REFERENCE, tmp_path)
    made = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    assert {"findings.md", "artefact.json"} <= set(made)
    for file, text in made.items():
        assert (REFERENCE / name / file).read_text(encoding="utf-8") == text, f"python tools/redraw.py {name}"


def test_errors_get_their_digits_back():
    assert redraw._rows(1 / 3, [0.1587301587, 0.3333333333]) == 63
    assert redraw._rows(0.0, [0.0, 0.0]) == 1
    with pytest.raises(ValueError, match="not a share"):
        redraw._rows(0.1234567891, [0.9876543219])


def test_a_manifest_says_which_files_are_of_a_later_revision():
    for path in REFERENCE.glob("*/manifest.json"):
        manifest = json.loads(path.read_text(encoding="utf-8"))
        redrawn = manifest.get("redrawn", {"files": []})["files"]
        for file in redrawn:
            sums = redraw.sha256((path.parent / file).read_bytes()).hexdigest()
            assert manifest["files"][file] == sums, path


def test_the_command_names_what_would_change_and_changes_nothing(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "signs"
    for part in ("signs.csv", "findings.md", "artefact.json", "signs.md"):
        folder.mkdir(exist_ok=True)
        (folder / part).write_bytes((REFERENCE / "signs" / part).read_bytes())
    for run in (REFERENCE / "signs").iterdir():
        if run.is_dir():
            (folder / run.name).symlink_to(run)
    (folder / "findings.md").write_text("old")
    monkeypatch.setattr(redraw, "REFERENCE", tmp_path)
    monkeypatch.setattr("sys.argv", ["redraw.py", "--check", "signs"])
    assert redraw.main() == 1
    assert capsys.readouterr().out == "signs: findings.md\n"
    assert (folder / "findings.md").read_text() == "old"
    monkeypatch.setattr("sys.argv", ["redraw.py", "signs"])
    assert redraw.main() == 0 and "old" not in (folder / "findings.md").read_text()


@pytest.mark.parametrize("name", ["differences", "fig6", "table9"])
def test_what_cannot_be_made_from_the_published_files_is_refused(name, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["redraw.py", name])
    with pytest.raises(SystemExit):
        redraw.main()
    assert f"{name}: cannot be made from what is published; expected table2" in capsys.readouterr().err
