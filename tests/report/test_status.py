"""`mloml status`: every artefact of a folder once, in the order in which they were counted."""

import pytest

from mloml.errors import MlomlError
from mloml.report.status import main


def test_jobs_of_a_sweep_come_in_their_order(tmp_path, capsys):
    for number in (10, 2, 1):
        (tmp_path / "sweeps" / "s" / str(number)).mkdir(parents=True)
        (tmp_path / "sweeps" / "s" / str(number) / "manifest.json").write_text("{}")
    main(["--results", str(tmp_path)])
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith(str(tmp_path))]
    assert [line.split(":")[0].rpartition("/")[2] for line in lines] == ["1", "2", "10"]


def test_a_page_for_the_costs_that_cannot_be_read_is_one_line(tmp_path):
    (tmp_path / "page.md").write_bytes(b"\xff\xfe")
    for name, reason in (
        ("no.md", "No such file or directory"),
        ("page.md", "not UTF-8"),
        ("", "Is a directory"),
    ):
        with pytest.raises(MlomlError, match=rf"^--into {tmp_path / name}: cannot be read \({reason}\)$"):
            main(["--cost", "--into", str(tmp_path / name), "--results", str(tmp_path)])


def test_an_artefact_is_compared_with_the_store_of_its_own_results_folder(tmp_path, capsys, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "mloml.experiments.manifest.check", lambda folder, store: asked.append(store.folder) or []
    )
    monkeypatch.setattr("mloml.experiments.manifest.notes", lambda folder: [])
    monkeypatch.chdir(tmp_path)
    for name in ("results", "moved"):
        (tmp_path / name / "table2" / "seed0").mkdir(parents=True)
        (tmp_path / name / "store").mkdir()
    assert main(["moved/table2"]) == main(["moved/table2/seed0"]) == main(["results/table2"]) == 0
    assert main(["moved/table2", "--results", "results"]) == 0
    assert [folder.resolve().parent.name for folder in asked] == ["moved", "moved", "results", "results"]
    with pytest.raises(MlomlError, match="moved/table2 and results/table2 are in different results folders"):
        main(["moved/table2", "results/table2"])
