"""What is published is what the code makes of the published cells: no page is older than its numbers."""

import json
from hashlib import sha256

import matplotlib
import pandas as pd
import pytest
from tests.published.oracle import REFERENCE, needs_reference

from mloml.report import publish

matplotlib.use("Agg")
redraw = pytest.importorskip("tools.redraw", reason="the tools are not part of an installed wheel")
pytestmark = needs_reference


@pytest.mark.slow
@pytest.mark.parametrize("name", redraw.NAMES)
def test_pages_and_tables_are_those_that_the_code_makes_of_the_cells(name, tmp_path, monkeypatch):
    monkeypatch.setattr(publish, "METADATA", {})  # pictures depend on fonts
    redraw.redraw(name, REFERENCE, tmp_path)
    made = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    assert {f"{redraw.WHAT[name]}.md", "artefact.json"} <= set(made)
    for file, text in made.items():
        assert (REFERENCE / name / file).read_text(encoding="utf-8") == text, f"python tools/redraw.py {name}"


def test_errors_along_scans_are_read_from_a_row_per_cell(tmp_path):
    cells = pd.DataFrame(
        {"dataset": "iris", "algorithm": ["moml", "lego"], "split": 0, "error": [1 / 3, 0.2]}
    )
    table = cells[redraw.PLACE].assign(**{"0": [None, 0.2], "1": [0.6, None], "2": [0.3333333333, None]})
    table.to_csv(tmp_path / "scan_errors.csv", index=False)
    records = redraw._records(cells, tmp_path)
    assert [record["scan_errors"] for record in records] == [[0.6, 1 / 3], None]


def test_errors_get_their_digits_back():
    assert redraw.rows_behind(1 / 3, [0.1587301587, 0.3333333333]) == 63
    assert redraw.rows_behind(0.0, [0.0, 0.0]) == 1
    with pytest.raises(ValueError, match="not a share"):
        redraw.rows_behind(0.1234567891, [0.9876543219])


def test_a_manifest_says_which_files_are_of_a_later_revision():
    for path in REFERENCE.glob("*/manifest.json"):
        manifest = json.loads(path.read_text(encoding="utf-8"))
        for file in manifest.get("redrawn", {"files": []})["files"]:
            assert manifest["files"][file] == sha256((path.parent / file).read_bytes()).hexdigest(), path


def test_the_command_names_what_would_change_and_changes_nothing(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "seeds"
    folder.mkdir()
    for part in REFERENCE.glob("seeds/*"):
        if part.is_dir():
            (folder / part.name).symlink_to(part)
        else:
            (folder / part.name).write_bytes(part.read_bytes())
    (folder / "seeds.md").write_text("old")
    monkeypatch.setattr(redraw, "REFERENCE", tmp_path)
    monkeypatch.setattr("sys.argv", ["redraw.py", "--check", "seeds"])
    assert redraw.main() == 1 and "seeds.md" in capsys.readouterr().out
    assert (folder / "seeds.md").read_text() == "old"
    monkeypatch.setattr("sys.argv", ["redraw.py", "seeds"])
    assert redraw.main() == 0 and (folder / "seeds.md").read_text() != "old"
