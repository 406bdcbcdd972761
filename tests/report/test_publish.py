"""Files of an artefact: the same bytes whatever the day, untouched when equal, gone when out of date."""

import os
from dataclasses import replace

import pytest
from matplotlib.figure import Figure as Drawing

from mloml.report.document import Artefact, Figure

PICTURES = ("line.pdf", "line.png")


@pytest.fixture
def artefact(table2):
    def draw():
        figure = Drawing(figsize=(2, 1))
        figure.subplots().plot([1, 3, 2])
        return figure

    return Artefact({}, table2.tables, (Figure("line", draw, "A line"),))


def test_files_are_the_same_on_every_day_and_name_no_date(artefact, write, tmp_path, monkeypatch):
    made = []
    for year in (0, 10**9):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", str(year))  # what Matplotlib takes for today
        write(artefact, tmp_path / str(year), name="line")
        made.append({path.name: path.read_bytes() for path in (tmp_path / str(year)).iterdir()})
    assert made[0] == made[1] and {*PICTURES, "table2.csv", "table2.tex", "line.md"} <= set(made[0])
    for word in (b"CreationDate", b"ModDate", b"tIME", b"date:create"):
        assert not any(word in made[0][name] for name in PICTURES)


def test_an_equal_file_is_left_alone_and_an_old_picture_goes(artefact, write, tmp_path):
    folder = tmp_path / "line"
    write(artefact, folder)
    files = list(folder.iterdir())
    for file in files:
        os.utime(file, (1, 1))
    (folder / "table2.csv").write_text("changed")
    write(artefact, folder)
    assert [file.name for file in files if file.stat().st_mtime != 1] == ["table2.csv"]
    (old,) = artefact.figures
    write(replace(artefact, figures=(replace(old, ready=False),)), folder)
    assert {file.name for file in files if not file.exists()} == set(PICTURES)
